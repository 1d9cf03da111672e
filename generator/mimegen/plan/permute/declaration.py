"""Declarations: descriptions of clips, one per line of SPEC.jsonl."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.yaml_file import Finite, Strict
from mimegen.choreography.manner import CueManner
from mimegen.manifest.pair import PairFacts

VIDEO = "video"
OWN_STYLE = "own"


class Following(Strict):
    """A second take, performed right after the declared one by the same person."""

    action: str = Field(min_length=1)
    take: str = Field(min_length=1)
    motion_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Declaration(Strict):
    """The complete description of one clip. Angles are in degrees.

    ``azimuth`` turns the camera from the config's own position. ``sub_seed`` counts the take seeds
    that were rejected, ``frame_redraws`` how often the clip was redrawn because its pictures were
    similar to others, ``view_redraws`` how often camera and place were redrawn because they hardly
    showed the place (None for never). ``elevation`` and ``lens`` are None if the config's camera is
    the same for every action. ``stance``, ``intensity`` and ``frequency`` describe a cue's
    performance; None leaves them to the cue. ``emotion`` is shown by the first performer's face;
    ``fault`` is a deliberate fault of amount ``fault_amount``. ``then`` is performed after the take
    in the same clip; ``reverse`` plays the whole clip backwards.
    """

    action: str = Field(min_length=1)
    take: str = Field(min_length=1)
    motion_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    seed: int = Field(ge=0)
    sub_seed: int = Field(default=0, ge=0)
    style: str
    mirror: bool
    tempo: float = Field(gt=0.25, lt=4)
    character: str = Field(min_length=1)
    partner: str | None = None
    background_kind: Literal["blank", "aligned", "misaligned", "named"]
    background: str = Field(min_length=1)
    set_seed: int | None = Field(default=None, ge=0)
    azimuth: Finite
    elevation: Finite | None = Field(default=None, ge=-10, le=80)
    lens: Finite | None = Field(default=None, gt=0)
    light_azimuth: Finite
    light_elevation: Finite = Field(gt=0, le=90)
    light_strength: Finite = Field(ge=0)
    display: str = Field(min_length=1)
    config: str = Field(min_length=1)
    stance: str | None = None
    intensity: Finite | None = Field(default=None, ge=0, le=1)
    frequency: int | None = Field(default=None, ge=1)
    emotion: str | None = None
    fault: str | None = None
    fault_amount: Finite | None = Field(default=None, gt=0, le=1)
    frame_redraws: int = Field(default=0, ge=0)
    view_redraws: int | None = Field(default=None, ge=1)
    reverse: Literal[True] | None = None
    then: Following | None = None
    pair: PairFacts | None = None

    @model_validator(mode="after")
    def _has_fault_and_amount(self) -> Self:
        if (self.fault is None) != (self.fault_amount is None):
            raise ValueError("fault and fault_amount require each other")
        return self

    @property
    def manner(self) -> CueManner:
        """How the declared cue is performed."""
        return CueManner(self.stance, self.intensity, self.frequency)

    def content(self) -> dict[str, Any]:
        """Return the declaration as JSON content, without fields that do not apply."""
        return self.model_dump(mode="json", exclude_none=True)


@dataclass(frozen=True)
class Permutation:
    """A declaration and its number in the specification, counted from 0."""

    number: int
    declaration: Declaration

    @cached_property
    def name(self) -> str:
        """The end of the clip's name: its number and a hash of its declaration."""
        return f"{self.number}_{content_key(self.declaration.content())[:10]}"

    def content(self) -> dict[str, Any]:
        """Return the manifest's entry for the permutation."""
        return {"number": self.number, **self.declaration.content()}


def read_spec(path: Path) -> Sequence[Permutation]:
    """Read a specification.

    Raises RequestError, naming file and line, for an invalid declaration.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror}); expected a file that"
                           " mimegen permute wrote") from problem
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: not UTF-8 text") from problem
    if not lines:
        raise RequestError(f"{path}: contains no declaration")
    return [Permutation(number, _declaration(line, f"{path}: line {number + 1}"))
            for number, line in enumerate(lines)]


def _declaration(line: str, place: str) -> Declaration:
    """Return the declaration in a line; raises RequestError naming ``place`` if it is invalid."""
    try:
        return Declaration.model_validate(json.loads(line))
    except ValidationError as problem:
        first = problem.errors()[0]
        field = ".".join(map(str, first["loc"])) or "it"
        raise RequestError(f"{place}: {field}: {first['msg']}") from problem
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{place}: not valid JSON") from problem
