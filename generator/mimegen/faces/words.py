"""Words that control a face: channels, action units, emotions, ARKit's weights and visemes.

Each word is a weighted sum of shape units on either side (`characters/face_units.py`) and of the
lids. The tables are in rigs/faces/; units.yaml and pairs.yaml define how sums that are impossible
for a face are corrected.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from pydantic import Field, RootModel

from mimegen.base.easing import ramp
from mimegen.base.errors import did_you_mean, near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.motion.quaternions import FloatArray

SIDES = ("Left", "Right")
Sided: TypeAlias = tuple[str, str]
Values: TypeAlias = Mapping[str, FloatArray]
# The word for the lids, those for the gaze (degrees left and up), and the prefix of visemes.
CLOSED = "closed"
LOOKS = ("look_left", "look_up")
VISEME = "viseme_"
OTHER = {"L": "R", "R": "L", "": ""}
# Action units in brackets, which only some people showed.
BRACKETS = re.compile(r"\[[^]]*\]")
# FACS' numbers from this one on are movements of the head and the eyes.
FIRST_OF_HEAD = 51
ACTION_UNIT = re.compile(r"AU(\d+)([LR]?)")


class Parted(Strict):
    """Units that an open jaw suppresses.

    ``jaw`` holds the values of jawOpen at which this begins and at which they are gone.
    """

    units: tuple[str, ...]
    jaw: tuple[float, float]


class UnitsFile(Strict):
    """The contents of rigs/faces/units.yaml, which explains its parts."""

    units: tuple[str, ...]
    channels: dict[str, dict[str, float]]
    most: float
    widest: float
    parted: Parted


def units_file() -> UnitsFile:
    """Return the contents of rigs/faces/units.yaml."""
    return read_yaml_once(data_file("rigs/faces/units.yaml"), UnitsFile)


class UnitPair(Strict):
    """Two units (or a unit and the lids), and the units to add where both act on the same side."""

    units: tuple[str, str]
    adds: dict[str, float]


class PairsFile(Strict):
    """The contents of rigs/faces/pairs.yaml, which explains its parts."""

    begins: float = Field(ge=0, lt=1)
    pairs: tuple[UnitPair, ...]
    limits: dict[str, float]


class ActionUnit(Strict):
    """An action unit of FACS.

    It has a name, the shape units it consists of on one side (``does``), and a flag whether people
    can move one side alone.
    """

    name: str
    does: dict[str, float]
    sides: bool = True


class ActionUnits(Strict):
    """The contents of rigs/faces/action_units.yaml, which explains its parts."""

    intensities: dict[str, float]
    units: dict[int, ActionUnit]


class Arkit(Strict):
    """The contents of rigs/faces/arkit.yaml, which explains its parts."""

    sided: tuple[str, ...]
    middle: tuple[str, ...]
    lids: dict[str, float]
    looks: dict[str, float]
    read: dict[int, tuple[str, ...]]


class HeadTurn(Strict):
    """A turn of the head in degrees: to the left, up, and tilted down on the left side."""

    left: float = 0.0
    up: float = 0.0
    tilt: float = 0.0


class Emotion(Strict):
    """A recipe for an emotion at intensity 1.

    ``units`` are action units; head and gaze (left, up) are in degrees, times in seconds.
    ``asymmetry`` is the standard deviation of the difference between the sides. ``after`` holds the
    combinations of units in published works that the recipe follows; it is empty for mimegen's own
    recipes.
    """

    units: dict[str, float]
    head: HeadTurn = HeadTurn()
    look: tuple[float, float] = (0.0, 0.0)
    onset_s: float = Field(default=0.5, gt=0)
    offset_s: float = Field(default=0.7, gt=0)
    asymmetry: float = Field(default=0.06, ge=0, le=0.5)
    kind: str
    gaia: bool = True
    after: dict[str, str] = Field(default_factory=dict)
    note: str = ""

    @property
    def source(self) -> str:
        """The works that it follows, with added and omitted units, in one line."""
        if not self.after:
            return f"mimegen's own: {self.note}"
        works = "; ".join(f"{face_works()[work].name} ({units})" for work, units in
                          self.after.items())
        told, usual = (_numbers(" ".join(texts)) for texts in (
            self.after.values(), [BRACKETS.sub("", units) for units in self.after.values()]))
        shown = {int(one[1]) for one in map(ACTION_UNIT.fullmatch, self.units) if one}
        parts = [f"after {works}", self.note, _listed("added", shown - told),
                 _listed("left out", {one for one in usual - shown if one < FIRST_OF_HEAD})]
        return "; ".join(filter(None, parts))


def _numbers(units: str) -> set[int]:
    """Return FACS' numbers in a combination of units such as 1+2+5B or 4+15 [1+6]."""
    return set(map(int, re.findall(r"\d+", units)))


def _listed(word: str, numbers: Collection[int]) -> str:
    return f"{word} {', '.join(map(str, sorted(numbers)))}" if numbers else ""


class FaceWork(Strict):
    """A published work that recipes follow: its short name, reference, and what was compared."""

    name: str
    cites: str
    compared: str
    doi: str | None = None


def face_works() -> Mapping[str, FaceWork]:
    """Return the contents of rigs/faces/sources.yaml."""
    return read_yaml_once(data_file("rigs/faces/sources.yaml"), RootModel[dict[str, FaceWork]]).root


def pairs_file() -> PairsFile:
    """Return the contents of rigs/faces/pairs.yaml."""
    return read_yaml_once(data_file("rigs/faces/pairs.yaml"), PairsFile)


def action_units() -> ActionUnits:
    """Return the contents of rigs/faces/action_units.yaml."""
    return read_yaml_once(data_file("rigs/faces/action_units.yaml"), ActionUnits)


def arkit() -> Arkit:
    """Return the contents of rigs/faces/arkit.yaml."""
    return read_yaml_once(data_file("rigs/faces/arkit.yaml"), Arkit)


def emotions() -> Mapping[str, Emotion]:
    """Return the contents of rigs/faces/emotions.yaml."""
    return read_yaml_once(data_file("rigs/faces/emotions.yaml"), RootModel[dict[str, Emotion]]).root


def like_emotion(word: str) -> str:
    """Return a hint at the emotion that an unknown word may mean, such as anger for angry."""
    known = read_yaml_once(data_file("rigs/faces/emotion_words.yaml"), RootModel[dict[str, str]])
    meant = known.root.get(word.strip().lower())
    return did_you_mean([meant]) if meant else near_misses(word, emotions())


def visemes() -> Mapping[str, dict[str, float]]:
    """Return the contents of rigs/faces/visemes.yaml."""
    return read_yaml_once(data_file("rigs/faces/visemes.yaml"),
                          RootModel[dict[str, dict[str, float]]]).root


def arkit_names() -> tuple[str, ...]:
    """Return the names of ARKit's 52 weights, such as browDownLeft."""
    known = arkit()
    sided = (*known.sided, *known.lids, *known.looks)
    return (*(name + side for name in sided for side in SIDES), *known.middle)


def arkit_name(text: str) -> str | None:
    """Return ARKit's weight for a spelling such as BrowDownLeft or browDown_L; None if unknown."""
    plain = re.sub(r"[^a-z]", "", re.split(r"[.:|]", text)[-1].lower())
    sides = {"l": f"{plain}eft", "r": f"{plain}ight"}
    known = _plain_arkit_names()
    return known.get(plain) or known.get(sides.get(plain[-1:], ""))


@lru_cache(maxsize=1)
def _plain_arkit_names() -> Mapping[str, str]:
    return {name.lower(): name for name in arkit_names()}


@lru_cache(maxsize=1)
def words() -> Mapping[str, Mapping[Sided, float]]:
    """Return the units that each word adds at 1, by name and side; the looks are not included."""
    plain = {name: _on(SIDES, does) for name, does in units_file().channels.items()}
    units = _unit_words()
    recipes = {name: emotion.units for name, emotion in emotions().items()}
    recipes |= {VISEME + name: does for name, does in visemes().items()}
    sums = {name: _sum(units, does) for name, does in recipes.items()}
    return {**plain, **units, **_arkit_words(), **sums}


def known_word(name: str) -> str:
    """Return a word unchanged; raises ValueError, with similar words, for an unknown one."""
    if name in words() or name in LOOKS:
        return name
    one = ACTION_UNIT.fullmatch(name)
    if one and one[2] and f"AU{one[1]}" in words():
        raise ValueError(f"{name}: action unit {one[1]} moves both sides; use AU{one[1]}")
    raise ValueError(f"a face knows no {name!r}{near_misses(name, [*words(), *LOOKS])}")


def known_unit(name: str) -> str:
    """Return the name of an action unit, emotion or viseme unchanged.

    Raises ValueError, with similar names, for others.
    """
    if ACTION_UNIT.fullmatch(name) or name in emotions() or name.startswith(VISEME):
        return known_word(name)
    likely = near_misses(name, [*units_file().channels, *LOOKS, *emotions(), "AU12"])
    raise ValueError(f"a face knows no {name!r}{likely}")


def in_units(values: Values) -> dict[str, FloatArray]:
    """Return values (F,) by word, with emotions and visemes replaced by their action units."""
    written: dict[str, FloatArray] = {}
    for word, value in values.items():
        for unit, share in _recipe(word).items():
            written[unit] = written.get(unit, 0.0) + share * value
    return written


def _recipe(word: str) -> Mapping[str, float]:
    """Return the action units of an emotion or a viseme; another word stands for itself."""
    if word in emotions():
        return emotions()[word].units
    if word.startswith(VISEME):
        return visemes()[word.removeprefix(VISEME)]
    return {word: 1.0}


def mirrored_word(word: str) -> str:
    """Return the word for the other side; words for both sides are returned unchanged."""
    one = ACTION_UNIT.fullmatch(word)
    if one:
        return f"AU{one[1]}{OTHER[one[2]]}"
    for side, other in (SIDES, SIDES[::-1]):
        if word.endswith(side):
            return word.removesuffix(side) + other
    return word


def intensity(value: object) -> float:
    """Return the strength of an action unit, given as a number or as one of FACS' letters A to E.

    Raises ValueError for anything else.
    """
    letters = action_units().intensities
    if isinstance(value, str) and value.upper() in letters:
        return letters[value.upper()]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, or a letter from A to E, not {value!r}")
    return float(value)


def _unit_words() -> dict[str, Mapping[Sided, float]]:
    found: dict[str, Mapping[Sided, float]] = {}
    for number, unit in action_units().units.items():
        found[f"AU{number}"] = _on(SIDES, unit.does)
        if unit.sides:
            found |= {f"AU{number}{side[0]}": _on((side,), unit.does) for side in SIDES}
    return found


def _arkit_words() -> dict[str, Mapping[Sided, float]]:
    known = arkit()
    middle = {name: _on(SIDES, {name: 1.0}) for name in known.middle}
    sided = {name + side: _on((side,), {name: 1.0}) for name in known.sided for side in SIDES}
    lids = {name + side: _on((side,), {CLOSED: size})
            for name, size in known.lids.items() for side in SIDES}
    return {**middle, **sided, **lids}


def _on(sides: Sequence[str], does: Mapping[str, float]) -> dict[Sided, float]:
    return {(unit, side): size for unit, size in does.items() for side in sides}


def _sum(units: Mapping[str, Mapping[Sided, float]],
         recipe: Mapping[str, float]) -> dict[Sided, float]:
    total: dict[Sided, float] = {}
    for word, share in recipe.items():
        for key, size in units[word].items():
            total[key] = total.get(key, 0.0) + share * size
    return total


def summed(first: Values, second: Values) -> dict[str, FloatArray]:
    """Return the sums of two sets of values, by word."""
    return {**first, **{word: first.get(word, 0.0) + value for word, value in second.items()}}


def shaped(values: Values, frames: int) -> dict[Sided, FloatArray]:
    """Return the values (F,) of units and lids, by name and side, for words' values (F,).

    Sums that are impossible for a face are limited and corrected.
    """
    total = {(unit, side): np.zeros(frames) for unit in (*units_file().units, CLOSED)
             for side in SIDES}
    for word, value in values.items():
        for key, size in words().get(word, {}).items():
            total[key] = total[key] + size * value
    return _possible(total)


def _possible(total: Mapping[Sided, FloatArray]) -> dict[Sided, FloatArray]:
    """Return units limited to what a face can do: by itself, in pairs, and with an open jaw."""
    known = units_file()
    most = _corrected(_limited(total))
    together = ramp((most["jawOpen", SIDES[0]] + most["jawOpen", SIDES[1]]) / 2,
                    known.parted.jaw[1], known.parted.jaw[0])
    for side in SIDES:
        most["mouthClose", side] = np.minimum(most["mouthClose", side], most["jawOpen", side])
        for unit in known.parted.units:
            most[unit, side] = most[unit, side] * together
    return most


def _limited(total: Mapping[Sided, FloatArray]) -> dict[Sided, FloatArray]:
    """Return units limited to their own ranges."""
    known, limits = units_file(), pairs_file().limits
    return {(unit, side): np.clip(value, known.widest, 1.0) if unit == CLOSED else
            np.clip(value, 0.0, limits.get(unit, known.most))
            for (unit, side), value in total.items()}


def _corrected(values: Mapping[Sided, FloatArray]) -> dict[Sided, FloatArray]:
    """Return units with the corrections for pairs of units that act together, limited again."""
    known, added = pairs_file(), dict(values)
    for pair in known.pairs:
        for side in SIDES:
            first, second = (np.clip((values[unit, side] - known.begins) / (1 - known.begins),
                                     0.0, 1.0) for unit in pair.units)
            for unit, size in pair.adds.items():
                added[unit, side] = added[unit, side] + size * first * second
    return _limited(added)
