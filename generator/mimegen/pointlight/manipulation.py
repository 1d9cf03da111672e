"""What every manipulation of a display has: a name, parameters, a source, a stage of the work."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mimegen.base.yaml_file import Strict
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.view import View

Stage = Literal["time", "world", "view", "picture"]
STAGES: tuple[Stage, ...] = ("time", "world", "view", "picture")


@dataclass(frozen=True, eq=False)
class Setting:
    """What a manipulation may need to know besides the dots.

    ``roots`` (F, P, 3) are the performers' places in the world, ``pixels`` turns a length such as
    ``0.1deg`` into pixels, ``rng`` is the manipulation's own generator. ``room`` (2,) is how far to
    the side and how far up, in pixels from the picture's middle, the performers' dots may come,
    upright, inverted or scrambled; only manipulations of the picture know it.
    """

    rng: np.random.Generator
    fps: float
    width: int
    height: int
    roots: FloatArray
    pixels: Callable[[str], float]
    room: FloatArray = field(default_factory=lambda: np.zeros(2))

    def paths(self, dots: DotTracks) -> FloatArray:
        """Return the place (F, D, 3) of the performer that each dot belongs to."""
        return self.roots[:, np.maximum(dots.performers, 0)]


class Manipulation(Strict):
    """One manipulation; a subclass holds its parameters.

    ``stage`` says what it works on: moments of the clip (``time``), dots in the world, the view,
    or dots in the picture; ``algorithm`` names the rule and its published source, ``version`` is
    raised when results change. ``main`` is the parameter that ``name=value`` sets.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    algorithm: ClassVar[str]
    version: ClassVar[int] = 1
    main: ClassVar[str | None] = None

    def moments(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return other moments (N,), in seconds, for the ``time`` stage."""
        return moments

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return other dots, for the ``world`` and ``picture`` stages."""
        return dots

    def travel(self, roots: FloatArray) -> FloatArray:
        """Return where the performers (F, P, 3) are afterwards, for the ``world`` stage."""
        return roots

    def see(self, view: View, setting: Setting, frames: int) -> View:
        """Return another view, for the ``view`` stage."""
        return view

    def facts(self) -> dict[str, Any]:
        """Return what the manifest says of it."""
        return {"name": self.name, "parameters": self.model_dump(mode="json"),
                "algorithm": self.algorithm, "version": self.version, "stage": self.stage}


def uniform_in(rng: np.random.Generator, low: NDArray[Any], high: NDArray[Any],
               count: int) -> FloatArray:
    """Return points (count, 2), uniform in a box."""
    return np.asarray(low + rng.random((count, 2)) * (high - low))
