"""The axes of permutations: axes.yaml as typed values, and the options --axes and --fix."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.yaml_file import Finite, Strict, read_yaml
from mimegen.faults.fault import fault_kinds
from mimegen.plan.front import side_degrees, side_name

Value = str | float
SEED = "seed"
SET_SEED = "set_seed"
CHARACTER = "character"
MISLEADING = "misleading"
FAULT = "fault"
FAULT_AMOUNT = "fault_amount"
NO_FAULT = "none"
AZIMUTH = "azimuth"
OWN_PAIR = "own"
BY_RULE = "rule"
# How a cue is performed. "own" leaves it to the cue, and is the only value if the take is no cue or
# cannot vary in it.
STANCE = "stance"
INTENSITY = "intensity"
FREQUENCY = "frequency"
OWN_MANNER = "own"
MANNERS = (STANCE, INTENSITY, FREQUENCY)
# Axes whose levels are their only valid words.
_CLOSED = {"style", "mirror", MISLEADING, STANCE}


# Of a seed written by the user; JSON readers do not agree on larger whole numbers.
MAX_DIGITS = 9


class NumberAxis(Strict):
    """Numbers within a range: drawn from a grid at random, from a few ``levels`` in a design."""

    about: str
    range: tuple[Finite, Finite]
    step: float = Field(gt=0)
    levels: tuple[Finite, ...] = Field(min_length=2)
    usual: Finite | None
    drawn: bool = True

    @model_validator(mode="after")
    def _is_within_itself(self) -> Self:
        if not all(self.range[0] <= level <= self.range[1] for level in self.levels):
            raise ValueError(f"levels: expected values within the range {self.range[0]:g} to"
                             f" {self.range[1]:g}")
        return self

    @property
    def grid(self) -> tuple[float, ...]:
        """All numbers that can be drawn."""
        low, high = self.range
        steps = np.arange(round((high - low) / self.step) + 1)
        return tuple(float(number) for number in np.round(low + self.step * steps, 9))

    def value(self, text: str) -> float:
        """Return the number in a text; raises ValueError, saying what was expected."""
        low, high = self.range
        try:
            number = float(text)
        except ValueError:
            raise ValueError(f"expected a number from {low:g} to {high:g}") from None
        if not low <= number <= high:
            raise ValueError(f"expected {low:g} to {high:g} ({self.about})")
        return number


class ChoiceAxis(Strict):
    """A choice of several words."""

    about: str
    levels: tuple[str, ...] = Field(min_length=1)
    usual: str
    drawn: bool = True

    @property
    def grid(self) -> tuple[str, ...]:
        """All words that can be drawn."""
        return self.levels


class FaultAxis(Strict):
    """A kind of fault."""

    about: str
    usual: str
    drawn: bool = True

    @property
    def levels(self) -> tuple[str, ...]:
        """All kinds of faults."""
        return tuple(fault_kinds())

    @property
    def grid(self) -> tuple[str, ...]:
        """All kinds of faults."""
        return self.levels


class SeedAxis(Strict):
    """A whole number ``below`` a limit, drawn anew for every clip."""

    about: str
    below: int = Field(gt=1)
    usual: str
    drawn: bool = True


class Unseen(Strict):
    """How much clips must differ from those of given manifests; ``azimuth`` in degrees."""

    azimuth: float = Field(ge=0, le=90)
    person: dict[str, float]


class Axes(Strict):
    """All axes by kind, and the distances that make a clip count as unseen."""

    numbers: dict[str, NumberAxis]
    choices: dict[str, ChoiceAxis]
    faults: dict[str, FaultAxis]
    seeds: dict[str, SeedAxis]
    unseen: Unseen

    @property
    def levelled(self) -> dict[str, NumberAxis | ChoiceAxis | FaultAxis]:
        """The axes that designs balance, by name."""
        return {**self.choices, **self.faults, **self.numbers}

    @property
    def all(self) -> dict[str, NumberAxis | ChoiceAxis | FaultAxis | SeedAxis]:
        """Every axis by name."""
        return {**self.seeds, **self.levelled}


@cache
def axes() -> Axes:
    """Return the axes of axes.yaml."""
    return read_yaml(Path(__file__).with_name("axes.yaml"), Axes)


@dataclass(frozen=True)
class Freedom:
    """Which axes are drawn and which are fixed to a value; all others have their usual value."""

    drawn: frozenset[str]
    fixed: Mapping[str, Value]

    @classmethod
    def of(cls, names: str | None, fixes: Iterable[str]) -> Self:
        """Return the axes named in ``A,B`` and the values in texts ``axis=value``.

        Raises RequestError for an unknown axis, a value out of range, and an axis that is fixed
        twice or both drawn and fixed.
        """
        fixed = _fixed(fixes)
        known = axes().all
        if names is None:
            free = {name for name, axis in known.items() if axis.drawn}
        else:
            free = {_known(name.strip()) for name in names.split(",")}
            if both := sorted(free & fixed.keys()):
                raise RequestError(f"--axes {both[0]}: is also fixed to {fixed[both[0]]}; remove it"
                                   " from --axes or from --fix")
        return cls(frozenset(free - fixed.keys()), fixed)

    def levels_of(self, name: str) -> tuple[str, ...]:
        """Return the possible words of an axis: all levels if it is drawn, else its one value."""
        axis = axes().all[name]
        assert isinstance(axis, ChoiceAxis), "numbers and seeds have no words"
        return axis.levels if name in self.drawn else (str(self.usual(name)),)

    def usual(self, name: str) -> Value | None:
        """Return the value of an axis that is not drawn; None for the render config's own."""
        return self.fixed.get(name, axes().all[name].usual)


def _known(name: str) -> str:
    if name not in axes().all:
        raise RequestError(f"no axis '{name}'{near_misses(name, axes().all)}")
    return name


def _fixed(texts: Iterable[str]) -> dict[str, Value]:
    """Return the values of axes in texts ``axis=value``. Raises RequestError for invalid ones."""
    fixed: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise RequestError(f"--fix {text}: expected AXIS=VALUE, as in lens=50")
        found = _value(_known(name.strip()), value.strip())
        if fixed.setdefault(name.strip(), found) != found:
            raise RequestError(f"--fix {name}: is fixed to two values, {fixed[name.strip()]} and"
                               f" {found}")
    return fixed


def _value(name: str, text: str) -> Value:
    """Return an axis's value; names of library items are only looked up where they are used."""
    axis = axes().all[name]
    if name == AZIMUTH and (side := side_degrees(text)) is not None:
        return side_name(side)
    if isinstance(axis, NumberAxis):
        try:
            return axis.value(text)
        except ValueError as problem:
            raise RequestError(f"--fix {name}={text}: {problem}") from problem
    known = _known_words(axis, name)
    if known is not None and text not in known:
        raise RequestError(f"--fix {name}={text}: no such {name}{near_misses(text, known)}")
    if name in (SEED, SET_SEED) and not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise RequestError(f"--fix {name}={text}: expected a whole number")
    return text


def _known_words(axis: object, name: str) -> tuple[str, ...] | None:
    """Return all possible words of an axis; None if the library defines them."""
    if isinstance(axis, FaultAxis):
        return *axis.levels, axis.usual
    return axis.levels if isinstance(axis, ChoiceAxis) and name in _CLOSED else None
