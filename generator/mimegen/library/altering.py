"""Performances altered: faster or slower, and with left and right swapped."""

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Performance
from mimegen.motion.editing import counterparts, mirrored, moved
from mimegen.motion.motion import Motion
from mimegen.motion.rounding import rounded
from mimegen.motion.skeleton import Skeleton

# What the two sides of a skeleton may differ by, where it is to be mirrored.
UNEVEN_M = 0.01


def mirrored_scene(scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
    """Return all performers' mirror images, as a camera at MIME's angle 0 would see in a mirror.

    Raises RequestError for a character whose two sides are not alike.
    """
    return tuple(Performance(performance.character, _mirrored(performance))
                 for performance in scene)


def _mirrored(performance: Performance) -> Motion:
    if not _is_even(performance.character.skeleton):
        raise RequestError("cannot be mirrored: its joints are not named Left... and Right..., or"
                           " the sides of its rest pose differ")
    return rounded(moved(mirrored(performance.motion), np.zeros(3), 2 * MIME_AZIMUTH_DEG))


def _is_even(skeleton: Skeleton) -> bool:
    others = counterparts(skeleton.names)
    image = skeleton.heads[others] * np.array([-1.0, 1.0, 1.0])
    return bool((others != np.arange(len(others))).any()
                and np.abs(image - skeleton.heads).max() < UNEVEN_M)
