"""Predict the fraction of Cycles' rays to lights that go to the sky.

Cycles' light tree (Conty Estevez and Kulla, Importance sampling of many lights with adaptive tree
splitting, 2018) first chooses between distant and nearby lights, by their power and distance, and
among distant ones between sky and sun.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Nearby:
    """All lamps and glowing surfaces: radiance times area, and their bounding box (2, 3)."""

    power: float
    box: FloatArray

    def importance(self, places: FloatArray) -> FloatArray:
        """Return their importance (P,) at positions (P, 3): power over squared distance.

        The distance is to the box's centre, and at least a quarter of the box's diagonal.
        """
        middle = self.box.mean(axis=0)
        least = np.linalg.norm(self.box[1] - middle) / 2
        far = np.maximum(np.linalg.norm(places - middle, axis=1), np.maximum(least, 1e-3))
        return np.asarray(self.power / far**2)


def nearby(lamps: FloatArray, glowing: Sequence[tuple[float, NDArray[np.float32]]]) -> Nearby:
    """Return all nearby lights as one.

    ``lamps`` (L, 10) are as from ``lamp_parts``; ``glowing`` holds radiances and the triangles
    (T, 3, 3) that have them.
    """
    powers = [float(lamps[:, 6:9].mean(axis=1).sum() / np.pi)]
    corners = [lamps[:, :3]]
    for radiance, triangles in glowing:
        one, two = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
        powers.append(radiance * float(np.linalg.norm(np.cross(one, two), axis=1).sum()) / 2)
        corners.append(triangles.reshape(-1, 3).astype(float))
    places = np.concatenate(corners)
    if len(places) == 0:
        return Nearby(0.0, np.zeros((2, 3)))
    return Nearby(sum(powers), np.stack([places.min(axis=0), places.max(axis=0)]))


def rays_to_sky(sky: float, sun: float, near: Nearby) -> Callable[[FloatArray], FloatArray]:
    """Return a function from positions (P, 3) to the fraction (P,) of light rays to the sky.

    ``sky`` is the sky's mean radiance times pi, ``sun`` the sun's irradiance on the ground.
    """
    # The probability of each choice is the mean of two estimates: by the maximum that a light may
    # send, and by the minimum, which is 0 for the sky and for nearby lights.
    of_far = (sky / max(sky + sun, 1e-9) + (0.0 if sun > 0 else 1.0)) / 2

    def share(places: FloatArray) -> FloatArray:
        """Return the fraction (P,) for positions (P, 3)."""
        if near.power == 0:
            return np.full(len(places), of_far)
        far = (sky + sun) / np.maximum(sky + sun + near.importance(places), 1e-9)
        return np.asarray(of_far * (far + 0.5) / 2)

    return share
