"""Let characters perform motions at the requested frame rate."""

from collections.abc import Mapping, Sequence

from mimegen.characters.character import Character, Performance
from mimegen.motion import Motion
from mimegen.motion.editing import resampled
from mimegen.motion.rounding import rounded
from mimegen.retarget.transfer import retarget_scene


def performed(sources: Sequence[tuple[Motion, Mapping[str, str] | None]],
              characters: Sequence[Character], fps: float,
              hand_shape: str) -> tuple[Performance, ...]:
    """Let characters perform motions of one scene, as in `retarget_scene`, at ``fps``."""
    return tuple(_at_rate(performance, fps)
                 for performance in retarget_scene(sources, characters, hand_shape=hand_shape))


def _at_rate(performance: Performance, fps: float) -> Performance:
    if performance.motion.fps == fps:
        return performance
    return Performance(performance.character, rounded(resampled(performance.motion, fps)))
