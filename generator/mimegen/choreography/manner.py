"""Manners of a cue: its stance, intensity and frequency, applied by editing its score."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.choreography.places import Place
from mimegen.choreography.repetition_noise import middles
from mimegen.choreography.score import FaceKey, HandKey, Key, Phase, Score
from mimegen.choreography.tracks import timeline

# Size of a cue's movements at intensity 0, as a fraction of those written.
MIN_SIZE_SHARE = 0.35
# The fields of keys that the intensity scales.
SIZED = ("turn", "lean", "tilt", "up", "forward", "left", "heel",
         *(name for name in FaceKey.model_fields if name not in ("how", "units", "say")))


@dataclass(frozen=True)
class CueManner:
    """How a cue is performed; None leaves a value as in its score.

    ``intensity`` is from 0 to 1, where 1 is as written. ``frequency`` is the number of times that
    its movement is made.
    """

    stance: str | None = None
    intensity: float | None = None
    frequency: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words for this manner in a clip's name."""
        numbers = (("intensity", self.intensity), ("frequency", self.frequency))
        return (*([self.stance] if self.stance else []),
                *(f"{word}{value:g}" for word, value in numbers if value is not None))

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the values that are given."""
        return tuple(name for name, value in asdict(self).items() if value is not None)


AS_WRITTEN = CueManner()


def in_manner(score: Score, manner: CueManner) -> Score:
    """Return a score with a manner's intensity and frequency; its stance is already applied.

    Raises RequestError for a frequency if the score repeats nothing.
    """
    if manner.frequency is not None:
        score = _with_repetitions(score, manner.frequency)
    return score if manner.intensity is None else _with_intensity(score, manner.intensity)


def _with_repetitions(score: Score, times: int) -> Score:
    """Return a score that makes its movement so often, with every seed: its count varies no more.
    """
    if not score.repeat:
        raise RequestError(f"{score.source}: --frequency {times}: it is held, not repeated;"
                           " leave --frequency out")
    first, *rest = score.repeat
    counted = first.model_copy(update={"times": times, "least": min(first.least, times)})
    return score.model_copy(update={
        "repeat": (counted, *rest), "vary": score.vary.model_copy(update={"repeats": 0})})


def _with_intensity(score: Score, intensity: float) -> Score:
    """Scale turns relative to the first phase, and hands relative to their mean positions."""
    factor = MIN_SIZE_SHARE + (1 - MIN_SIZE_SHARE) * intensity
    about = middles(timeline(score))
    begins = dict(score.phases[0].moves())
    return score.model_copy(update={"phases": (
        score.phases[0],
        *(_sized_phase(phase, factor, begins, about) for phase in score.phases[1:]))})


def _sized_phase(phase: Phase, factor: float, begins: dict[str, Key], about: Any) -> Phase:
    moves = {track: _sized(track, key, factor, begins.get(track), about)
             for track, key in phase.moves() if track not in phase.props and track != "walk"}
    return phase.model_copy(update={**moves, "hands": None, "feet": None})


def _sized(track: str, key: Key, factor: float, begin: Key | None, about: Any) -> Key:
    update: dict[str, Any] = {}
    for name in SIZED:
        if (value := getattr(key, name, None)) is not None:
            start = getattr(begin, name, None) or 0.0
            update[name] = start + factor * (value - start)
    if isinstance(key, FaceKey):
        update["units"] = {word: factor * value for word, value in key.units.items()}
    if isinstance(key, HandKey) and key.to is not None and (track, key.to.anchor) in about:
        middle = about[track, key.to.anchor]
        out, ahead, up = map(float, middle + factor * (np.array(key.to.offset) - middle))
        update["to"] = Place(key.to.anchor, (out, ahead, up))
    return key.model_copy(update=update)
