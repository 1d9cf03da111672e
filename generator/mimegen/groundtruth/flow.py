"""How far each pixel's surface moves in the picture from frame to frame, and where it is lost."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mimegen.groundtruth.seen import Floats, SeenSurface, on_canvas, union
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region

# What lies no further behind the other frame's surface is still on it.
SAME_SURFACE_M = 0.01


def flow_to(now: SeenSurface, other: SeenSurface, places: Floats, camera: Camera
            ) -> tuple[Floats, NDArray[np.bool_], Region]:
    """Return the flow (h, w, 2) in pixels, where it is occluded (h, w), and their region.

    ``places`` (h, w, 3) are where in the world the surface of ``now`` is in the frame of ``other``.
    A point is occluded where it leaves the picture or another surface lies before it there; the
    background stands still, and is occluded where a figure comes to stand before it.
    """
    region = union(now.region, other.region)
    depth = cast(Floats, on_canvas(now.depth, now.region, region, np.inf))
    later = cast(Floats, on_canvas(other.depth, other.region, region, np.inf))
    there = np.isfinite(depth)
    # Flow is where a point of the surface goes, so it is projected from the other frame's place and
    # not searched for in the picture.
    moved = camera.project(cast(Floats, on_canvas(places, now.region, region))[there].astype(float))
    rows, columns = np.nonzero(there)
    # Pixels are looked at in their middles, half a pixel from their corner.
    middles = np.stack([columns + region[0], rows + region[1]], axis=-1) + 0.5
    flow = np.zeros((*depth.shape, 2), np.float32)
    flow[there] = moved[:, :2] - middles
    # Of the background: it stands still, so it is lost exactly where a figure is later.
    occluded = np.isfinite(later)
    occluded[there] = _is_lost(moved, later, region, camera)
    return flow, occluded, region


def _is_lost(moved: NDArray[np.float64], depth: Floats, region: Region, camera: Camera
             ) -> NDArray[np.bool_]:
    """Return which points (N,), given as pixels and depth, are not seen in a depth map.

    The farthest of the four pixels about a point decides, for surfaces are seen at a slant.
    """
    x, y, deep = moved.T
    outside = (x < 0) | (y < 0) | (x >= camera.width) | (y >= camera.height) | (deep <= 0)
    # A border of nothing, so that the four pixels about a point at the edge exist.
    framed = np.pad(depth, 1, constant_values=np.inf)
    column = np.clip(np.floor(np.nan_to_num(x) - 0.5) - region[0] + 1, 0, framed.shape[1] - 2)
    row = np.clip(np.floor(np.nan_to_num(y) - 0.5) - region[1] + 1, 0, framed.shape[0] - 2)
    at = row.astype(int), column.astype(int)
    farthest = np.max([framed[at[0] + down, at[1] + aside] for down in (0, 1) for aside in (0, 1)],
                      axis=0)
    return np.asarray(outside | (farthest < deep - SAME_SURFACE_M))
