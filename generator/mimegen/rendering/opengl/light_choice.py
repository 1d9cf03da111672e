"""How many of the rays that Cycles sends to lights it sends to the sky.

Its light tree (Conty Estevez and Kulla, Importance sampling of many lights with adaptive tree
splitting, 2018) first draws between what shines from far away and what shines nearby, by their
power and how near a place is; then between sky and sun.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Nearby:
    """All lamps and glowing things: radiance times area, and the box (2, 3) that they are in."""

    power: float
    box: FloatArray

    def importance(self, places: FloatArray) -> FloatArray:
        """Return how much they count at places (P, 3), nearer than half the box as at that."""
        middle = self.box.mean(axis=0)
        least = np.linalg.norm(self.box[1] - middle) / 2
        far = np.maximum(np.linalg.norm(places - middle, axis=1), np.maximum(least, 1e-3))
        return np.asarray(self.power / far**2)


def nearby(lamps: FloatArray, glowing: Sequence[tuple[float, NDArray[np.float32]]]) -> Nearby:
    """Return lamps (L, 10), ``lamp_parts``, and triangles (T, 3, 3) with their radiance as one."""
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
    """Return what tells of places (P, 3) the share (P,) of rays to lights that go to the sky.

    ``sky`` is its mean radiance times pi, ``sun`` the sun's irradiance on the ground.
    """
    # Each choice is the mean of two: by the most that a light may send, and by the least, which is
    # nothing for the sky and, from among them, for things nearby.
    of_far = (sky / max(sky + sun, 1e-9) + (0.0 if sun > 0 else 1.0)) / 2

    def share(places: FloatArray) -> FloatArray:
        if near.power == 0:
            return np.full(len(places), of_far)
        far = (sky + sun) / np.maximum(sky + sun + near.importance(places), 1e-9)
        return np.asarray(of_far * (far + 0.5) / 2)

    return share
