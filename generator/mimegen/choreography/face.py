"""Faces: the ``face`` track of a score as values over time, by channel, and speech."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mimegen.base.seeds import generator
from mimegen.base.vectors import product
from mimegen.choreography.life import SmallMovements, life_of, life_values
from mimegen.choreography.score import FaceKey, Score
from mimegen.choreography.timing import frame_times
from mimegen.choreography.tracks import (
    Clock,
    TimedKey,
    Timeline,
    eased_weights,
    track_keys,
    values_of,
)
from mimegen.choreography.variation import Rendition, vary
from mimegen.faces.speech import giving_way, pace_of, speech_of, spoken
from mimegen.faces.words import Values, in_units, mirrored_word, summed
from mimegen.motion.quaternions import FloatArray

CHANNELS = tuple(name for name in FaceKey.model_fields if name not in ("how", "units", "say"))

# Least time assumed for speaking a text.
MIN_DURATION_S = 0.1


def moves_face(score: Score) -> bool:
    """Return whether a score moves any performer's face."""
    return any(phase.face is not None for part in score.parts() for phase in part.phases)


def faces(score: Score, seed: int, fps: float, style: str | None = None
          ) -> tuple[Mapping[str, FloatArray], ...]:
    """Return the values (F,) of each performer's face by channel, at ``fps``.

    They belong to the take that ``perform_scene`` makes of the same score, seed and style.
    """
    return tuple(_face(rendition, part, seed, fps) for part, rendition in
                 zip(score.parts(), vary(score, seed, style), strict=True))


def _face(rendition: Rendition, part: Score, seed: int, fps: float) -> Mapping[str, FloatArray]:
    line = rendition.line
    moments = frame_times(line.duration, fps)
    late = life_of(part.name, SmallMovements(seed), line).lateness("head", moments)
    keys = track_keys(line.phases, "face", FaceKey())
    weights = eased_weights(keys, Clock(moments, late), life_values().follow["face"])
    values = dict(zip(CHANNELS, product(weights, values_of(keys, CHANNELS)).T, strict=True))
    values |= in_units(_units(keys, weights))
    values = _speaking(values, utterances(line, seed, part.name), moments)
    if not rendition.mirror:
        return values
    return {mirrored_word(word): -value if word == "look_left" else value
            for word, value in values.items()}


def _units(keys: Sequence[TimedKey], weights: FloatArray) -> dict[str, FloatArray]:
    """Return the values (F,) of action units and emotions, blended by the keys' weights (F, K).

    A word that a key does not mention keeps its last value.
    """
    units: list[Mapping[str, float]] = [{}]
    for key in keys:
        assert isinstance(key.key, FaceKey)
        units.append({**units[-1], **key.key.units})
    return {word: product(weights, np.array([[one.get(word, 0.0)] for one in units[1:]]))[:, 0]
            for word in units[-1]}


class Utterance(NamedTuple):
    """A spoken text: its beginning in seconds, its pace (1 is usual), its random generator."""

    text: str
    begins: float
    pace: float
    rng: np.random.Generator

    @property
    def ends(self) -> float:
        """When the text ends, in seconds."""
        return self.begins + speech_of(self.text).duration / self.pace


def utterances(line: Timeline, seed: int, name: str) -> Iterator[Utterance]:
    """Yield the texts that a performer says, spoken faster if the time is short.

    ``line`` is the performer's timeline; ``seed`` and ``name`` seed the random draws.
    """
    texts = [(phase.face.say, phase.at) for phase in line.phases
             if phase.face is not None and phase.face.say is not None]
    ends = (*(begins for _, begins in texts[1:]), line.duration)
    for number, ((text, begins), end) in enumerate(zip(texts, ends, strict=False)):
        rng = generator(seed, name, "speech", number)
        least = speech_of(text).duration / max(end - begins, MIN_DURATION_S)
        yield Utterance(text, begins, max(pace_of(rng), least), rng)


def _speaking(values: Values, says: Iterable[Utterance], moments: FloatArray
              ) -> dict[str, FloatArray]:
    """Return the values (F,) with the movements of speech added."""
    speaking = dict(values)
    for text, begins, pace, rng in says:
        shown = spoken(speech_of(text), (moments - begins) * pace, rng)
        speaking = summed(giving_way(speaking, shown.speaking), shown.values)
    return speaking
