"""Project the world into the picture: orthographic and perspective views of a whole clip."""

from dataclasses import dataclass, replace

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.spec import Display
from mimegen.shots.camera import Camera


@dataclass(frozen=True, eq=False)
class View:
    """A projection of world points into the picture.

    ``middle`` (3,) is the point that the picture is centred on; ``turn`` is a quaternion from view
    to world axes (x right, y up, z to the viewer); ``scale`` is in pixels per metre at the middle's
    distance. ``distance`` is the camera's in metres, infinite for an orthographic view. ``turns``
    (F, 4), if given, rotate the world about the middle in each frame before projection. ``camera``,
    if given, is the stage's own and does the projection instead.
    """

    width: int
    height: int
    middle: FloatArray
    turn: FloatArray
    scale: float
    distance: float = np.inf
    turns: FloatArray | None = None
    camera: Camera | None = None

    def project(self, points: FloatArray) -> FloatArray:
        """Return points (F, N, 3) as pixels right, pixels down, and metres beyond the middle."""
        if self.turns is not None:
            points = self.middle + quaternions.rotate(self.turns[:, None], points - self.middle)
        if self.camera is not None:
            seen = self.camera.project(points)
            seen[..., 2] -= self.distance
            return seen
        local = quaternions.rotate(quaternions.conjugate(self.turn), points - self.middle)
        share = 1 / (1 - local[..., 2] / self.distance)
        x = self.width / 2 + self.scale * share * local[..., 0]
        y = self.height / 2 - self.scale * share * local[..., 1]
        return np.stack([x, y, -local[..., 2]], axis=-1)

    def at(self, frame: int) -> "View":
        """Return the view of one frame."""
        return self if self.turns is None else replace(self, turns=self.turns[frame:frame + 1])

    def every(self, stride: int) -> "View":
        """Return the view of every nth frame."""
        return self if self.turns is None else replace(self, turns=self.turns[::stride])

    def turned(self, turns: FloatArray) -> "View":
        """Return the view of a world rotated by (F, 4) about its middle, after earlier rotations.
        """
        if self.turns is not None:
            turns = quaternions.multiply(turns, self.turns)
        return replace(self, turns=turns)


def view_from(azimuth_deg: float, elevation_deg: float) -> FloatArray:
    """Return the quaternion (4,) from view to world axes; azimuth 0 faces the person's front."""
    euler = np.array([90.0 - elevation_deg, 0.0, azimuth_deg])
    return quaternions.from_euler("xyz", euler)


def framed_view(display: Display, dots: DotTracks, stature: float, angle_deg: float = 0.0) -> View:
    """Return the display's view of dots in the world, turned by a further angle about Z.

    Middle and scale are the same for every angle, so that views differ in nothing else: the picture
    holds the circles that the dots describe as the view turns. ``stature`` is the performer's
    standing height in metres.
    """
    points = dots.positions[:, dots.own].reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=-1)]
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    radius = np.linalg.norm(points[:, :2] - middle[:2], axis=1)
    distance = display.camera_distance_m if display.projection == "perspective" else np.inf
    elevation = np.radians(display.elevation_deg)
    above = np.abs(points[:, 2] - middle[2])
    rise = above * np.cos(elevation) + radius * np.sin(abs(elevation))
    depth = radius * np.cos(elevation) + above * np.sin(abs(elevation))
    nearer = np.maximum(0.1, 1 - depth / distance)
    share = 1 - 2 * display.margin
    dot = display.pixels(display.dot_diameter)
    room = np.array([display.width, display.height]) * share - dot
    wide = max(float(np.max(radius / nearer)), 1e-3)
    tall = max(float(np.max(rise / nearer)), 1e-3)
    scale = float(min(room[0] / (2 * wide), room[1] / (2 * tall)))
    if display.figure_height is not None:
        scale = display.pixels(display.figure_height) / stature
    return View(display.width, display.height, middle,
                view_from(display.azimuth_deg + angle_deg, display.elevation_deg), scale, distance)


def camera_view(camera: Camera, dots: DotTracks) -> View:
    """Return the stage's own view of dots in the world, so that dots lie on the rendered body."""
    points = dots.positions[:, dots.own].reshape(-1, 3)
    middle = np.nanmean(points, axis=0)
    depth = float(camera.project(middle)[2])
    return View(camera.width, camera.height, middle, np.array(camera.rotation),
                camera.focal_pixels / depth, depth, camera=camera)
