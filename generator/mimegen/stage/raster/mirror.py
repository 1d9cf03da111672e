"""What a set's level floor mirrors: the set drawn once more, upside down, as if under the floor.

Shaders look into that picture along the directions of a lobe (GGX, its visible facets sampled as
in Heitz, Sampling the GGX distribution of visible normals, 2018).
"""

from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera
from mimegen.stage.crop import Region
from mimegen.stage.raster.view import to_picture
from mimegen.stage.scenery.scenery import SetMaterial

# Nothing lower counts as standing on the floor; all that is level below belongs to it.
FLOOR_M = 0.05
LEVEL_COSINE = 0.99
# A floor rougher than this is lit from all around.
ROUGHEST = 0.6
# The mirrored picture reaches so far beyond the camera's, in its widths and heights.
ASIDE, BELOW = 0.2, 0.7
# Its pixels for one of the camera's.
FINE = 0.75
# A floor that shines has so much area, in square metres; smaller things are passed over.
LEAST_AREA_M2 = 1.0
MIRRORED = np.diag([1.0, 1.0, -1.0, 1.0])


class FloorMirror:
    """The textures of what is mirrored, and how shaders find a place in them."""

    def __init__(self, context: moderngl.Context, camera: Camera, farthest_m: float,
                 nearest_m: float) -> None:
        width, height = camera.width, camera.height
        self.region: Region = (-int(ASIDE * width), 0, int((1 + ASIDE) * width),
                               int((1 + BELOW) * height))
        left, top, right, bottom = self.region
        size = (int(FINE * (right - left)), int(FINE * (bottom - top)))
        self._light = context.texture(size, 4, dtype="f2")
        self._depth = context.depth_texture(size)
        self._light.repeat_x = self._light.repeat_y = False
        self._depth.repeat_x = self._depth.repeat_y = False
        self._depth.compare_func = ""
        self._depth.filter = moderngl.NEAREST, moderngl.NEAREST
        self._drawn = context.framebuffer(self._light, self._depth)
        self.matrix = to_picture(camera, self.region, farthest_m, nearest_m)
        self._depths = np.array([nearest_m, farthest_m])
        self._texels = FINE * camera.focal_pixels

    def start(self) -> None:
        """Draw into it from now on."""
        self._drawn.use()
        self._drawn.clear()

    def found_by(self, light_unit: int, depth_unit: int) -> dict[str, Any]:
        """Make what is drawn known to shaders; return their uniform values."""
        self._light.build_mipmaps()
        self._light.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        self._light.use(light_unit)
        self._depth.use(depth_unit)
        return {"floor_share": 1.0, "to_floor": self.matrix, "floor_depths": self._depths,
                "floor_texels": self._texels}


def mirrored_eye(eye: FloatArray) -> FloatArray:
    """Return where an eye (3,) stands in the mirror."""
    return np.asarray(eye * [1.0, 1.0, -1.0])


def has_mirror(parts: Mapping[str, NDArray[np.float32]], materials: Mapping[str, SetMaterial]
               ) -> bool:
    """Return whether the floor shines, by the corners (N, 15) of what is drawn."""
    return any(_floor_area(corners) > LEAST_AREA_M2 for name, corners in parts.items()
               if materials[name].coat > 0 or materials[name].roughness < ROUGHEST)


def _floor_area(corners: NDArray[np.float32]) -> float:
    """Return the area in square metres of the triangles that are level and lie on the floor."""
    level = ((corners[:, 2] < FLOOR_M) & (corners[:, 5] > LEVEL_COSINE)).reshape(-1, 3).all(axis=1)
    first, second, third = corners[:, :3].reshape(-1, 3, 3)[level].swapaxes(0, 1)
    return float(np.linalg.norm(np.cross(second - first, third - first), axis=1).sum() / 2)
