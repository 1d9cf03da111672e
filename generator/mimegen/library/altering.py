"""Alter performances: swap left and right."""

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Performance
from mimegen.motion.editing import counterparts, mirrored, moved
from mimegen.motion.motion import Motion
from mimegen.motion.rounding import rounded
from mimegen.motion.skeleton import Skeleton

# Largest difference, in metres, between the two sides of a skeleton that can be mirrored.
UNEVEN_M = 0.01


def mirrored_scene(scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
    """Return all performers' mirror images.

    The mirror is a vertical plane through the stage's centre and MIME's camera at angle 0, so that
    this camera sees the scene as in a mirror. Raises RequestError for a character whose two sides
    differ.
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
