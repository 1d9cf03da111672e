"""What a camera sees first at places of the picture, from triangles alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

NEAREST_M = 0.01


@dataclass(frozen=True, eq=False)
class Hits:
    """The nearest triangle at each place.

    ``depth`` (N,) lies along the camera's axis, infinite where there is none; ``triangle`` (N,) is
    its number, -1 for none.
    """

    depth: FloatArray
    triangle: NDArray[np.intp]


def first_hits(seen: FloatArray, triangles: NDArray[np.intp], places: FloatArray) -> Hits:
    """Return what is seen first at ``places`` (N, 2) of the picture.

    ``seen`` (V, 3) are vertices as ``Camera.project`` returns them. Triangles are ordered by their
    left ends, so that each place is compared with those about its column only.
    """
    x, y, depth = (column[triangles.T] for column in seen.T)
    low_x, high_x = x.min(axis=0), x.max(axis=0)
    low_y, high_y = y.min(axis=0), y.max(axis=0)
    # A triangle that reaches behind the camera has no shape in the picture.
    ahead = depth.min(axis=0) > NEAREST_M
    numbers = np.flatnonzero(ahead & (low_y <= places[:, 1].max()) & (high_y >= places[:, 1].min()))
    numbers = numbers[np.argsort(low_x[numbers], kind="stable")]
    if not len(numbers):
        return Hits(np.full(len(places), np.inf), np.full(len(places), -1))
    left, right, low, high = (edge[numbers] for edge in (low_x, high_x, low_y, high_y))
    # No triangle that begins further left than the widest one is wide can reach this column.
    starts = np.searchsorted(left, places[:, 0] - (right - left).max())
    ends = np.searchsorted(left, places[:, 0], side="right")
    found = []
    for (across, down), start, end in zip(places, starts, ends, strict=True):
        near = slice(start, end)
        about = (right[near] >= across) & (low[near] <= down) & (high[near] >= down)
        chosen = numbers[near][about]
        corners = np.stack([x[:, chosen] - across, y[:, chosen] - down, depth[:, chosen]])
        found.append(_nearest(corners, chosen))
    depths, hit = zip(*found, strict=True)
    return Hits(np.array(depths), np.array(hit))


def _nearest(corners: FloatArray, numbers: NDArray[np.intp]) -> tuple[float, int]:
    """Return depth and number of the nearest of triangles (3, 3, T) about the place (0, 0).

    One over depth is linear in the picture; the area beside an edge is the weight of the corner
    across from it.
    """
    x, y, depth = corners
    # Twice the signed areas between the place and each edge; all of one sign where it lies inside.
    areas = x * np.roll(y, -1, axis=0) - np.roll(x, -1, axis=0) * y
    total = areas.sum(axis=0)
    # Either sign, for triangles are seen from both sides; those seen edge-on have no area.
    inside = ((areas >= 0).all(axis=0) | (areas <= 0).all(axis=0)) & (np.abs(total) > 1e-12)
    if not inside.any():
        return np.inf, -1
    weights = np.roll(areas[:, inside], -1, axis=0) / total[inside]
    depths = 1.0 / (weights / depth[:, inside]).sum(axis=0)
    nearest = int(depths.argmin())
    return float(depths[nearest]), int(numbers[inside][nearest])
