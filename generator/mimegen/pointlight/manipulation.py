"""The base class of all manipulations: a name, parameters, a published source, and a stage."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mimegen.base.yaml_file import Strict
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.spec import DotStyle
from mimegen.pointlight.view import View

Stage = Literal["time", "world", "view", "picture"]
STAGES: tuple[Stage, ...] = ("time", "world", "view", "picture")
ALL_STYLES: tuple[DotStyle, ...] = get_args(DotStyle)


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything a manipulation may need besides the dots.

    ``roots`` (F, P, 3) are the performers' positions in the world; ``pixels`` converts a length
    such as ``0.1deg`` to pixels; ``rng`` is the manipulation's own random generator. ``room`` (2,)
    is how far the performers' dots may come from the picture's middle, sideways and upwards in
    pixels, whether upright, inverted or scrambled; only manipulations of the picture get it.
    """

    rng: np.random.Generator
    fps: float
    width: int
    height: int
    roots: FloatArray
    pixels: Callable[[str], float]
    room: FloatArray = field(default_factory=lambda: np.zeros(2))

    def paths(self, dots: DotTracks) -> FloatArray:
        """Return the position (F, D, 3) of the performer that each dot belongs to."""
        return self.roots[:, np.maximum(dots.performers, 0)]


class Manipulation(Strict):
    """One manipulation; a subclass holds its parameters.

    ``stage`` is what it works on: times of the clip (``time``), dots in the world (``world``), the
    view (``view``), or dots in the picture (``picture``). ``algorithm`` describes the rule and its
    published source; ``version`` is raised when results change. ``main`` is the parameter that
    ``name=value`` sets, ``only_on`` the styles that show it, where the stage does not say.
    ``keeps_steps`` is whether feet still come to the ground when the performer's do.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    algorithm: ClassVar[str]
    version: ClassVar[int] = 1
    main: ClassVar[str | None] = None
    only_on: ClassVar[tuple[DotStyle, ...]] = ()
    keeps_steps: ClassVar[bool] = True

    @property
    def styles(self) -> tuple[DotStyle, ...]:
        """The styles in which it is seen: a silhouette has no dots that could be moved."""
        if self.only_on:
            return self.only_on
        return ALL_STYLES if self.stage in ("time", "view") else ("dots", "stick")

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
                "algorithm": self.algorithm, "version": self.version, "stage": self.stage}


def uniform_in(rng: np.random.Generator, low: NDArray[Any], high: NDArray[Any],
               count: int) -> FloatArray:
    """Return points (count, 2), uniform in a box."""
    return np.asarray(low + rng.random((count, 2)) * (high - low))
