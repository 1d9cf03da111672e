"""A pinhole camera: projection between world coordinates and pixels."""

from dataclasses import dataclass

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# The width of a full-frame sensor, and the default of Blender's cameras.
SENSOR_WIDTH_MM = 36.0


@dataclass(frozen=True)
class Camera:
    """A camera with Blender's axes: it looks along its local -Z, and +Y is up in the picture.

    ``position`` is in metres; ``rotation`` is the quaternion w x y z from camera to world axes.
    The sensor's width covers the picture's width.
    """

    position: tuple[float, float, float]
    rotation: tuple[float, float, float, float]
    lens_mm: float
    width: int
    height: int
    sensor_width_mm: float = SENSOR_WIDTH_MM

    @property
    def focal_pixels(self) -> float:
        """The focal length in pixels."""
        return self.lens_mm / self.sensor_width_mm * self.width

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Return world directions (..., 3) through pixels x y (..., 2).

        Directions are not normalised: their length along the camera's axis is 1.
        """
        x = (pixels[..., 0] - self.width / 2) / self.focal_pixels
        y = (self.height / 2 - pixels[..., 1]) / self.focal_pixels
        return quaternions.rotate(self.rotation, np.stack([x, y, -np.ones_like(x)], axis=-1))

    def project(self, points: FloatArray) -> FloatArray:
        """Return pixels x y and depth in metres (..., 3) of world points (..., 3).

        X points right and y down; the picture's upper left corner is (0, 0) and the centre of its
        first pixel (0.5, 0.5). Depth is along the camera's axis.
        """
        local = quaternions.rotate(
            quaternions.conjugate(self.rotation), points - np.array(self.position)
        )
        depth = -local[..., 2]
        x = self.width / 2 + self.focal_pixels * local[..., 0] / depth
        y = self.height / 2 - self.focal_pixels * local[..., 1] / depth
        return np.stack([x, y, depth], axis=-1)

    def ground_points(self, pixels: FloatArray) -> FloatArray:
        """Return X Y (..., 2) of the ground, Z = 0, seen at pixels (..., 2); NaN above the horizon.
        """
        rays = self.rays(pixels)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = -self.position[2] / rays[..., 2:]
        points = np.array(self.position[:2]) + reach * rays[..., :2]
        return np.where(reach > 0, points, np.nan)

    @property
    def horizon_y(self) -> float:
        """The horizon's position in pixels from the top, at the middle of the picture's width."""
        forward = quaternions.rotate(self.rotation, np.array([0.0, 0.0, -1.0]))
        level = unit([forward[0], forward[1], 0.0])
        far = np.array(self.position) + level * 1e7
        return float(self.project(far)[1])
