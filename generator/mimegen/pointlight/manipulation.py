"""The base class of all manipulations: a name, parameters, a published source, and a stage."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mimegen.base.yaml_file import Strict
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.spec import DotStyle
from mimegen.pointlight.view import View

Stage = Literal["time", "person", "world", "view", "picture"]
STAGES: tuple[Stage, ...] = ("time", "person", "world", "view", "picture")
# The parameter that limits a manipulation to one performer.
WHO = "who"
ALL_STYLES: tuple[DotStyle, ...] = get_args(DotStyle)


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything a manipulation may need besides the dots.

    ``roots`` (F, P, 3) are the performers' positions in the world; ``pixels`` converts a length
    such as ``0.1deg`` to pixels; ``rng`` is the manipulation's own random generator. ``room`` (2,)
    is how far the performers' dots may come from the picture's middle, sideways and upwards in
    pixels, whether upright, inverted or scrambled; only manipulations of the picture get it.
    ``box`` (2, 2) holds the corners of the dots of one performer who is manipulated alone.
    """

    rng: np.random.Generator
    fps: float
    width: int
    height: int
    roots: FloatArray
    pixels: Callable[[str], float]
    room: FloatArray = field(default_factory=lambda: np.zeros(2))
    box: FloatArray | None = None

    @property
    def middle(self) -> FloatArray:
        """The point (2,) about which flips are made: the picture's middle, or one performer's."""
        if self.box is None:
            return np.array([self.width, self.height]) / 2
        return np.asarray(self.box.mean(axis=0))

    def paths(self, dots: DotTracks) -> FloatArray:
        """Return the position (F, D, 3) of the performer that each dot belongs to."""
        return self.roots[:, np.maximum(dots.performers, 0)]


class Manipulation(Strict):
    """One manipulation; a subclass holds its parameters.

    ``stage`` is what it works on: times of the clip (``time``), one performer's body (``person``),
    dots in the world (``world``), the view (``view``), or dots in the picture (``picture``).
    ``algorithm`` describes the rule and its published source; ``version`` is raised when results
    change. ``main`` is the parameter that ``name=value`` sets, ``only_on`` the styles that show it,
    where the stage does not say. ``keeps_steps`` is whether feet still come to the ground when the
    performer's do.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    algorithm: ClassVar[str]
    version: ClassVar[int] = 1
    main: ClassVar[str | None] = None
    only_on: ClassVar[tuple[DotStyle, ...]] = ()
    keeps_steps: ClassVar[bool] = True

    @property
    def performer(self) -> int | None:
        """The index of the only performer that it changes; None if it changes all."""
        return None

    @property
    def applied_to(self) -> Stage:
        """The stage of this manipulation with its parameters."""
        return self.stage

    @property
    def styles(self) -> tuple[DotStyle, ...]:
        """The styles in which it is seen: a silhouette has no dots that could be moved."""
        if self.only_on:
            return self.only_on
        moves_bodies = self.applied_to in ("time", "person", "view")
        return ALL_STYLES if moves_bodies else ("dots", "stick")

    def source_times(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return the changed times (N,), in seconds; for the ``time`` stage."""
        return moments

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the changed dots; for the ``world`` and ``picture`` stages."""
        return dots

    def scale(self, dots: DotTracks, setting: Setting) -> float:
        """Return the size that it gives figures, as a factor; for the ``picture`` stage."""
        return 1.0

    def travel(self, roots: FloatArray) -> FloatArray:
        """Return the performers' positions (F, P, 3) after the change; for the ``world`` stage."""
        return roots

    def see(self, view: View, setting: Setting, frames: int) -> View:
        """Return the changed view; for the ``view`` stage."""
        return view

    def random_choices(self, setting: Setting) -> dict[str, Any]:
        """Return what the seed decided, as far as a row has to state it; uses up ``setting.rng``.
        """
        return {}

    def facts(self) -> dict[str, Any]:
        """Return the manipulation's entry in the manifest."""
        return {"name": self.name, "parameters": self.model_dump(mode="json"),
                "algorithm": self.algorithm, "version": self.version, "stage": self.applied_to}


class OfPeople(Manipulation):
    """A manipulation of all performers or, with ``who``, of one of two.

    ``who`` is 1 or 2, as in the names of the dots: ``2:head`` is a dot of the second performer.
    """

    who: Literal[1, 2] | None = None

    @property
    def performer(self) -> int | None:
        """The index of the only performer that it changes; None if it changes all."""
        return None if self.who is None else self.who - 1

    @property
    def styles(self) -> tuple[DotStyle, ...]:
        """The styles in which it is seen: one silhouette cannot be flipped in the picture alone."""
        found = super().styles
        if self.who is None or self.applied_to != "picture":
            return found
        return tuple(style for style in found if style != "silhouette")


def applied(step: Manipulation, dots: DotTracks, setting: Setting) -> DotTracks:
    """Return dots that a manipulation of the world or the picture changed: all, or one performer's.
    """
    if step.performer is None:
        return step.apply(dots, setting)
    own = dots.performers == step.performer
    if not own.any():
        raise ValueError(f"no dot of performer {step.performer + 1} is left")
    first = int(np.flatnonzero(own)[0])
    others = np.flatnonzero(~own)
    part = dots.chosen(np.flatnonzero(own))
    changed = step.apply(part, replace(setting, box=part.box()))
    whole = dots.chosen(others[others < first]).joined(changed).joined(
        dots.chosen(others[others > first]))
    if not whole.own.size:
        raise ValueError("no dot is left; leave out fewer")
    return whole


def uniform_in(rng: np.random.Generator, low: NDArray[Any], high: NDArray[Any],
               count: int) -> FloatArray:
    """Return points (count, 2), uniform in a box."""
    return np.asarray(low + rng.random((count, 2)) * (high - low))
