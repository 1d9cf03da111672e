"""Optical flow between frames, and the pixels whose surface is occluded in the other frame."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mimegen.groundtruth.visible_surface import Floats, SeenSurface, on_canvas, union
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region

# A point up to this far behind the surface seen in the other frame is taken to be on it.
SAME_SURFACE_M = 0.01


def flow_to(now: SeenSurface, other: SeenSurface, places: Floats, camera: Camera
            ) -> tuple[Floats, NDArray[np.bool_], Region]:
    """Return the flow (h, w, 2) in pixels, the occluded pixels (h, w), and their region.

    ``places`` (h, w, 3) are the world positions, in the frame of ``other``, of the surface seen in
    ``now``. A point is occluded if it leaves the picture or is behind another surface there. The
    background does not move; it is occluded where the other frame shows a figure.
    """
    region = union(now.region, other.region)
    depth = cast(Floats, on_canvas(now.depth, now.region, region, np.inf))
    later = cast(Floats, on_canvas(other.depth, other.region, region, np.inf))
    there = np.isfinite(depth)
    # Flow is exact: it comes from projecting the surface's position in the other frame, not from
    # matching pictures.
    moved = camera.project(cast(Floats, on_canvas(places, now.region, region))[there].astype(float))
    rows, columns = np.nonzero(there)
    # Surfaces are sampled at pixel centres, half a pixel from the corner.
    middles = np.stack([columns + region[0], rows + region[1]], axis=-1) + 0.5
    flow = np.zeros((*depth.shape, 2), np.float32)
    flow[there] = moved[:, :2] - middles
    # The background does not move, so it is occluded exactly where the other frame has a figure.
    occluded = np.isfinite(later)
    occluded[there] = _is_lost(moved, later, region, camera)
    return flow, occluded, region


def _is_lost(moved: NDArray[np.float64], depth: Floats, region: Region, camera: Camera
             ) -> NDArray[np.bool_]:
    """Return which points (N,), given as pixels and depth, are hidden in a depth map.

    A point is compared with the farthest of the four pixels around it, because depth varies between
    pixels on a surface at an angle.
    """
    x, y, deep = moved.T
    outside = (x < 0) | (y < 0) | (x >= camera.width) | (y >= camera.height) | (deep <= 0)
    # An empty border, so that points at the edge have four pixels around them too.
    framed = np.pad(depth, 1, constant_values=np.inf)
    column = np.clip(np.floor(np.nan_to_num(x) - 0.5) - region[0] + 1, 0, framed.shape[1] - 2)
    row = np.clip(np.floor(np.nan_to_num(y) - 0.5) - region[1] + 1, 0, framed.shape[0] - 2)
    at = row.astype(int), column.astype(int)
    farthest = np.max([framed[at[0] + down, at[1] + aside] for down in (0, 1) for aside in (0, 1)],
                      axis=0)
    return np.asarray(outside | (farthest < deep - SAME_SURFACE_M))
