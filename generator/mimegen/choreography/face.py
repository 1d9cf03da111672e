"""What a performer's face does: the ``face`` track of a score in time, by channel."""

from collections.abc import Mapping

from mimegen.base.vectors import product
from mimegen.choreography.life import life_of, liveliness
from mimegen.choreography.score import FaceKey, Score
from mimegen.choreography.timing import frame_moments
from mimegen.choreography.tracks import Clock, eased_weights, track_keys, values_of
from mimegen.choreography.variation import Rendition, vary
from mimegen.motion.quaternions import FloatArray

CHANNELS = tuple(name for name in FaceKey.model_fields if name != "how")


def moves_face(score: Score) -> bool:
    """Say whether anybody's face moves in a score."""
    return any(phase.face is not None for part in score.parts() for phase in part.phases)


def faces(score: Score, seed: int, fps: float, style: str | None = None
          ) -> tuple[Mapping[str, FloatArray], ...]:
    """Return what each performer's face does: values (F,) by channel, at ``fps``.

    They are those of the take that ``perform_scene`` makes of the same score, seed and style.
    """
    return tuple(_face(rendition, part, seed, fps) for part, rendition in
                 zip(score.parts(), vary(score, seed, style), strict=True))


def _face(rendition: Rendition, part: Score, seed: int, fps: float) -> Mapping[str, FloatArray]:
    line = rendition.line
    moments = frame_moments(line.duration, fps)
    late = life_of(part.name, seed, line).lateness("head", moments)
    keys = track_keys(line.phases, "face", FaceKey())
    weights = eased_weights(keys, Clock(moments, late), liveliness().follow["face"])
    values = dict(zip(CHANNELS, product(weights, values_of(keys, CHANNELS)).T, strict=True))
    return values | {"look_left": -values["look_left"]} if rendition.mirror else values
