"""Find the triangle that a camera sees at given points of the picture, without rendering."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

# Triangles that reach nearer to the camera than this are left out.
NEAREST_M = 0.01


@dataclass(frozen=True, eq=False)
class Hits:
    """The nearest triangle at each point of the picture.

    ``depth`` (N,) is along the camera's axis, infinite without a triangle; ``triangle`` (N,) is the
    triangle's index, or -1.
    """

    depth: FloatArray
    triangle: NDArray[np.intp]


def first_hits(seen: FloatArray, triangles: NDArray[np.intp], places: FloatArray) -> Hits:
    """Return the nearest triangles at pixels ``places`` (N, 2).

    ``seen`` (V, 3) are vertices as ``Camera.project`` returns them. Triangles are sorted by their
    left ends, so that each pixel is compared only with those near its column.
    """
    x, y, depth = (column[triangles.T] for column in seen.T)
    low_x, high_x = x.min(axis=0), x.max(axis=0)
    low_y, high_y = y.min(axis=0), y.max(axis=0)
    # The projection of a triangle that reaches behind the camera is not a triangle.
    ahead = depth.min(axis=0) > NEAREST_M
    numbers = np.flatnonzero(ahead & (low_y <= places[:, 1].max()) & (high_y >= places[:, 1].min()))
    numbers = numbers[np.argsort(low_x[numbers], kind="stable")]
    if not len(numbers):
        return Hits(np.full(len(places), np.inf), np.full(len(places), -1))
    left, right, low, high = (edge[numbers] for edge in (low_x, high_x, low_y, high_y))
    # A triangle that starts further left than the width of the widest one cannot reach the pixel.
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
    """Return depth and index of the nearest of the triangles (3, 3, T) that contain (0, 0).

    Depth is interpolated by its inverse, which is linear in the picture.
    """
    x, y, depth = corners
    inside, weights = around_origin(x, y)
    if not inside.any():
        return np.inf, -1
    depths = 1.0 / (weights / depth[:, inside]).sum(axis=0)
    nearest = int(depths.argmin())
    return float(depths[nearest]), int(numbers[inside][nearest])


def around_origin(x: FloatArray, y: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which triangles (3, T) contain (0, 0), and the weights (3, M) of their corners there.

    A corner's barycentric weight is the area between the point and the opposite edge.
    """
    # Twice the signed areas between the point and each edge; all have one sign if it is inside.
    areas = x * np.roll(y, -1, axis=0) - np.roll(x, -1, axis=0) * y
    total = areas.sum(axis=0)
    # Both signs, because triangles are visible from both sides. Those seen edge-on have no area.
    inside = ((areas >= 0).all(axis=0) | (areas <= 0).all(axis=0)) & (np.abs(total) > 1e-12)
    return inside, np.roll(areas[:, inside], -1, axis=0) / total[inside]
