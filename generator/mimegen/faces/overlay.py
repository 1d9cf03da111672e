"""Overlays on a performer's face: an emotion, a captured face, speech, or a gaze."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.faces.capture import Captured, read_captured
from mimegen.faces.gaze import CAMERA, known_gaze
from mimegen.faces.speech import Speech, giving_way, pace_of, slowest, speech_of, spoken
from mimegen.faces.words import (
    ACTION_UNIT,
    Emotion,
    Values,
    emotions,
    in_units,
    known_word,
    like_emotion,
    summed,
    words,
)
from mimegen.motion.quaternions import FloatArray

# When an emotion begins, and the least time for which it stays before it leaves, in seconds; in
# shorter clips it stays to the end.
BEGINS_S = 0.25
RESTS_S = 0.6
# An emotion's strength varies between seeds by a standard deviation, and fluctuates in time by a
# fraction, at a frequency.
STRENGTH_SD = 0.06
FLICKER = 0.05
FLICKER_HZ = 0.45
# The upward part of a head's turn (left, up, tilt).
UP = np.array([0.0, 1.0, 0.0])
NOTHING: Values = MappingProxyType({})
# A captured face that ends before the clip fades within this time, in seconds.
LEAVES_S = 0.4


@dataclass(frozen=True)
class FaceOverlay:
    """An emotion, captured face, text or gaze of the first performer.

    ``filmed`` describes the camera that a gaze at the camera meets, as JSON; without it, the gaze
    goes in the camera's direction.
    """

    emotion: str | None = None
    intensity: float = 1.0
    file: Path | None = None
    say: str | None = None
    gaze: str | None = None
    filmed: str | None = None

    def __post_init__(self) -> None:
        """Raise RequestError for an unknown emotion or gaze, or a text that cannot be spoken."""
        assert self.gaze is None or self._known_gaze
        assert self.say is None or self.speech
        if self.emotion is not None and self.emotion not in emotions():
            raise RequestError(f"--emotion: no emotion '{self.emotion}'"
                               f"{like_emotion(self.emotion)}")

    @cached_property
    def captured(self) -> Captured | None:
        """The captured face; raises RequestError, naming the file, if it is not one."""
        return None if self.file is None else read_captured(self.file)

    @cached_property
    def speech(self) -> Speech | None:
        """The speech, if any; raises RequestError for a text that cannot be spoken."""
        try:
            return None if self.say is None else speech_of(self.say)
        except ValueError as problem:
            raise RequestError(f"--say: {problem}") from problem

    @property
    def _known_gaze(self) -> str:
        try:
            return known_gaze(self.gaze or "")
        except ValueError as problem:
            raise RequestError(f"--gaze: {problem}") from problem

    @property
    def lasts(self) -> float | None:
        """Its own duration in seconds; None if it is as long as the performance under it."""
        if self.captured is not None:
            return self.captured.duration
        return None if self.speech is None else BEGINS_S + slowest(self.speech) + RESTS_S

    @property
    def words(self) -> tuple[str, ...]:
        """The words that identify this overlay in the names of clips."""
        strength = "" if self.intensity == 1 else f"{self.intensity:g}"
        face = () if self.file is None else (f"face{file_hash(self.file)[:6]}",)
        speech = () if self.say is None else (f"say{content_key(self.say)[:6]}",)
        gaze = () if self.gaze is None else (f"gaze_{_as_word(self.gaze)}",)
        shown = () if self.emotion is None else (f"{self.emotion}{strength}",)
        return (*shown, *face, *speech, *gaze)

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest records of it."""
        source = {} if self.emotion is None else {
            "emotion": self.emotion, "intensity": self.intensity,
            "source": emotions()[self.emotion].source}
        if self.speech is not None:
            source |= {"say": self.say, "duration_s": round(self.speech.duration, 3)}
        if self.gaze is not None:
            source |= {"gaze": self.gaze}
        if self.filmed is not None:
            source |= {"filmed": json.loads(self.filmed)}
        captured = self.captured
        return source if captured is None or self.file is None else {
            **source, "file": self.file.name, "sha256": file_hash(self.file),
            "fps": round(captured.fps, 3), "duration_s": round(captured.duration, 3)}

    def pace(self, rng: np.random.Generator) -> float:
        """Return the tempo of speech as a factor; it is the first draw from ``rng``, if any."""
        return 1.0 if self.speech is None else pace_of(rng)

    def spoken_span(self, rng: np.random.Generator) -> tuple[float, float] | None:
        """Return the beginning and end of the speech in seconds, with the tempo from ``rng``.

        None if nothing is said.
        """
        if self.speech is None:
            return None
        return BEGINS_S, BEGINS_S + self.speech.duration / self.pace(rng)

    def faces(self, moments: FloatArray, rng: np.random.Generator, cued: Values = NOTHING
              ) -> tuple[dict[str, FloatArray], FloatArray]:
        """Return values (F,) by word, and the head's turn (F, 3) in degrees left, up and tilted.

        ``moments`` (F,) are in seconds. ``cued`` values are included in the result.
        """
        values: dict[str, FloatArray] = {}
        head = np.zeros((len(moments), 3))
        pace = self.pace(rng)
        if self.emotion is not None:
            recipe = emotions()[self.emotion]
            course = self.intensity * course_of(recipe, moments, rng)
            values = uneven(in_units({self.emotion: course}), recipe.asymmetry, rng)
            values |= dict(zip(("look_left", "look_up"), course * np.array(recipe.look)[:, None],
                               strict=True))
            head = course[:, None] * np.array([recipe.head.left, recipe.head.up, recipe.head.tilt])
        if self.captured is not None:
            values = summed(values, self.captured.at(moments, LEAVES_S))
        values = summed(cued, values)
        if self.speech is not None:
            shown = spoken(self.speech, (moments - BEGINS_S) * pace, rng)
            values = summed(giving_way(values, shown.speaking), shown.values)
            head = head + shown.nod[:, None] * UP
        return values, head


def _as_word(gaze: str) -> str:
    """Return a target of gaze as part of a clip's name."""
    return CAMERA if gaze.startswith(CAMERA) else gaze.replace(",", "_")


def course_of(recipe: Emotion, moments: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the strength (F,) of an emotion over time, 0 to about 1: onset, apex and offset."""
    strength = 1 + STRENGTH_SD * float(rng.standard_normal())
    phase = float(rng.uniform())
    apex = BEGINS_S + recipe.onset_s
    shown = ramp(moments, BEGINS_S, apex)
    end = float(moments[-1])
    if end > apex + recipe.offset_s + RESTS_S:
        shown = shown * ramp(moments, end, end - recipe.offset_s)
    flicker = 1 + FLICKER * np.sin(2 * np.pi * (FLICKER_HZ * moments + phase))
    return np.asarray(strength * shown * flicker)


def uneven(values: Values, asymmetry: float, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Return action units with one side slightly stronger, where people can move one side alone."""
    more = asymmetry * float(rng.standard_normal())
    made: dict[str, FloatArray] = {}
    for word, value in values.items():
        one = ACTION_UNIT.fullmatch(word)
        if one and not one[2] and f"{word}L" in words():
            made |= summed(made, {f"{word}L": value * (1 + more), f"{word}R": value * (1 - more)})
        else:
            made = summed(made, {known_word(word): value})
    return made
