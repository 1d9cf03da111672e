"""How cloth hangs around a limb or the trunk: bridging hollows, narrowing slowly."""

from dataclasses import dataclass

import numpy as np
import scipy

from mimegen.base.decisions import first_least, nearest
from mimegen.motion.quaternions import FloatArray

# Resolution of the grid of radii: angles around the axis, and steps along it.
ANGLES = 48
STEPS = 64


@dataclass(frozen=True, eq=False)
class Stretch:
    """A straight axis inside a limb or the trunk, around which cloth hangs.

    ``start`` (3,) and ``end`` (3,) are in metres; cloth hangs from the start towards the end.
    """

    start: FloatArray
    end: FloatArray

    def coordinates(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return points (N, 3) in cylindrical coordinates.

        They are the angle (N,) in radians, the distance along the axis (N,) and that from it (N,).
        """
        first, second, along = self.axes
        away = points - self.start
        x, y = away @ first, away @ second
        return np.arctan2(y, x), away @ along, np.hypot(x, y)

    @property
    def axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Two unit vectors across the axis, and the one along it."""
        along = (self.end - self.start) / self.length
        least = np.eye(3)[first_least(np.abs(along))]
        first = np.cross(along, least)
        first = first / np.linalg.norm(first)
        return first, np.cross(along, first), along

    @property
    def length(self) -> float:
        """The length of the axis, in metres."""
        return float(np.linalg.norm(self.end - self.start))


def draped(points: FloatArray, tube: Stretch, gap: float, taper: float,
           obstacle: FloatArray) -> FloatArray:
    """Return points (N, 3) moved out from the axis to where cloth around the obstacle hangs.

    ``obstacle`` (M, 3) are the points of the body inside the tube. The cloth's cross-sections are
    convex and ``gap`` metres off it; along the tube the cloth narrows by at most ``taper`` metres
    per metre.
    """
    radii = radius_profile(tube, obstacle)
    radii = convex_sections(radii) + gap
    step = tube.length / (STEPS - 1)
    for row in range(1, STEPS):
        radii[row] = np.maximum(radii[row], radii[row - 1] - taper * step)
    radii = np.maximum(scipy.ndimage.gaussian_filter(radii, (1.5, 1.2), mode=("nearest", "wrap")),
                       radii - 0.004)
    angle, along, radius = tube.coordinates(points)
    grid = (np.linspace(0, tube.length, STEPS), np.linspace(-np.pi, np.pi, ANGLES + 1))
    wrapped = np.concatenate([radii, radii[:, :1]], axis=1)
    target = scipy.interpolate.RegularGridInterpolator(grid, wrapped)(
        np.stack([np.clip(along, 0, tube.length), angle], axis=1)
    )
    _, _, direction = tube.axes
    centre = tube.start + along[:, None] * direction
    reach = np.maximum(target / np.maximum(radius, 1e-6), 1.0)
    return np.asarray(centre + (points - centre) * reach[:, None])


def radius_profile(tube: Stretch, obstacle: FloatArray) -> FloatArray:
    """Return the obstacle's distance from the axis (STEPS, ANGLES), in metres."""
    angle, along, radius = tube.coordinates(obstacle)
    inside = (along > -0.03) & (along < tube.length + 0.03)
    angle, along, radius = angle[inside], along[inside], radius[inside]
    around = 0.15
    places = np.stack([np.cos(angle) * around, np.sin(angle) * around, along], axis=1)
    angles = np.linspace(-np.pi, np.pi, ANGLES, endpoint=False)
    steps = np.linspace(0, tube.length, STEPS)
    wanted = np.stack([
        np.broadcast_to(np.cos(angles) * around, (STEPS, ANGLES)),
        np.broadcast_to(np.sin(angles) * around, (STEPS, ANGLES)),
        np.broadcast_to(steps[:, None], (STEPS, ANGLES)),
    ], axis=-1)
    found = radius[nearest(places, wanted.reshape(-1, 3))].reshape(STEPS, ANGLES)
    return np.asarray(scipy.ndimage.gaussian_filter(found, (1.0, 0.7), mode=("nearest", "wrap")))


def convex_sections(radii: FloatArray) -> FloatArray:
    """Return the radii (S, A) of the convex hulls of star-shaped cross-sections.

    The hull's radius in a direction is the smallest distance to its supporting lines.
    """
    angles = np.linspace(-np.pi, np.pi, radii.shape[1], endpoint=False)
    cosines = np.cos(angles[:, None] - angles)
    support = np.max(radii[:, :, None] * cosines, axis=1)
    with np.errstate(divide="ignore"):
        reach = np.where(cosines > 0.05, support[:, :, None] / cosines, np.inf)
    return np.asarray(np.maximum(reach.min(axis=1), radii))
