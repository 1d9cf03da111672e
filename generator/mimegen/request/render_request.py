"""One typed request for clips: what to show, by whom, where, and how to film it."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mimegen.base.errors import RequestError, with_given
from mimegen.gait.walker import KNOBS
from mimegen.groundtruth.kinds import ENGINES, Engine
from mimegen.readers.options import FPS_OF_FILE, ReadOptions, parse_trim, take_number
from mimegen.request.altering import Altering
from mimegen.request.values import (
    Elevation,
    Folders,
    Frequencies,
    Intensities,
    Lens,
    Names,
    Seeds,
    Sunlight,
    Tempo,
    Texts,
)

# What is said of walkers.
GAIT = ("speed", "cadence", "step_length", "phase", "direction", "treadmill", "cycles", *KNOBS)
SOURCES = ("action", "scene", "motion", "permutations")
# Options that mean nothing without one of these sources.
_NEEDS = {
    **dict.fromkeys(("label", "aligned", "misaligned", "licence", "partner", "trim", "stack",
                     "mapping", "skeleton", "subject", "fps_of_file", "smpl_model"), ("motion",)),
    "take": ("action", "motion"),
    **dict.fromkeys(GAIT, ("action",)),
    **dict.fromkeys(("stance", "intensity", "frequency"), ("action",)),
    "style": ("action", "scene"),
}
_WHY = {
    "label": "; library actions define their labels", "style": "; recordings have no style",
    "take": "; a scene has one take",
    **dict.fromkeys(("aligned", "misaligned", "licence"), "; library actions define their own"),
    **dict.fromkeys(("stance", "intensity", "frequency"), ", and its actions must be cues"),
}
# A specification declares its clips completely; only these may be combined with it.
_BESIDE_PERMUTATIONS = {"permutations", "config", "device", "passes", "passes_from", "library"}


# Texts that are names of the library, or files.
_NAMES_OR_FILES = {"aligned", "character", "config", "misaligned", "partner_character", "scene"}


def option(field: str) -> str:
    """Return the command line's name of a field."""
    return "--map" if field == "mapping" else f"--{field.replace('_', '-')}"


class RenderRequest(BaseModel):
    """What ``mimegen render`` is asked for. Each field is the option of the same name.

    Lists may be written as one text with commas. Exactly one of ``action``, ``scene``, ``motion``
    and ``permutations`` is given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Names = Field(None, description="actions and cues by id, label or alias; all; cues;"
                          " set:NAME")
    scene: Names = Field(None, description="scenes by name or file; all")
    motion: Path | None = Field(None, description="a motion capture file")
    permutations: Path | None = Field(None, description="a file that mimegen permute wrote")
    partner: Path | None = Field(None, description="the second person's motion file")
    label: Texts = ()
    aligned: str | None = None
    misaligned: str | None = None
    licence: str = "not stated"
    trim: str = "auto"
    stack: str | None = None
    mapping: Path | None = None
    skeleton: Path | None = None
    subject: str | None = None
    fps_of_file: float | None = Field(None, ge=FPS_OF_FILE[0], le=FPS_OF_FILE[1])
    smpl_model: Path | None = None
    variants: Names = "all"
    character: str | None = None
    partner_character: str | None = None
    config: str = "auto"
    take: str | None = None
    seed: Seeds = range(1)
    set_seed: int | None = Field(None, ge=0, le=999_999_999)
    fault: Texts = ()
    style: str | None = None
    speed: float | None = Field(None, description="of a gait, in m/s; below 0 walks backwards")
    cadence: float | None = Field(None, description="of a gait, in steps a minute")
    step_length: float | None = Field(None, description="of a gait, in metres")
    phase: float | None = Field(None, ge=0, le=1, description="of a gait's cycle, to begin with")
    direction: float | None = Field(None, ge=-360, le=360, description="degrees to the left")
    treadmill: bool | None = None
    cycles: float | None = Field(None, gt=0, le=60, description="of a gait, of two steps each")
    gender: float | None = Field(None, description="of a walker, in standard deviations: a man")
    weight: float | None = Field(None, description="of a walker: heavy")
    nervous: float | None = Field(None, description="of a walker: nervous")
    happy: float | None = Field(None, description="of a walker: happy")
    age: float | None = Field(None, description="of a walker: old")
    fatigue: float | None = Field(None, description="of a walker: tired")
    intoxicated: float | None = Field(None, description="of a walker: drunk")
    stance: Names = None
    intensity: Intensities = None
    frequency: Frequencies = None
    tempo: Tempo = None
    mirror: bool = False
    elevation: Elevation = None
    lens: Lens = None
    light: Sunlight = None
    harmonise: bool = False
    camera: Literal["fixed", "follow"] = "fixed"
    device: str = "auto"
    passes: Names = None
    passes_from: Engine = ENGINES[0]
    library: Folders = ()

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """Return a request. Raises RequestError, naming the option, for a wrong value."""
        unknown = sorted(fields.keys() - cls.model_fields.keys())
        if unknown:
            raise RequestError(f"unknown option {unknown[0]!r}; expected one of"
                               f" {', '.join(cls.model_fields)}")
        try:
            return cls(**fields)
        except ValidationError as problem:
            raise RequestError(_first_line(problem)) from problem

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        given = self.model_fields_set
        sources = [name for name in SOURCES if getattr(self, name) is not None]
        if self.permutations is not None:
            _refuse_beside_permutations(given)
        if len(sources) > 1:
            raise ValueError(f"{' and '.join(map(option, sources))} are mutually exclusive")
        for name in (name for name in _NEEDS if name in given):
            if not set(sources) & set(_NEEDS[name]):
                needed = " or ".join(map(option, _NEEDS[name]))
                raise ValueError(f"{option(name)} requires {needed}{_WHY.get(name, '')}")
        return self

    def anywhere(self, **chosen: str) -> Self:
        """Return the request with these fields set, and files named by their whole paths."""
        named = {name: _whole_path(value, name in _NAMES_OR_FILES)
                 for name, value in self if name in self.model_fields_set}
        return self.model_copy(update=named | chosen)

    @property
    def reading(self) -> ReadOptions:
        """How the motion file is read. Raises RequestError for a wrong trim or take."""
        return ReadOptions(self.stack, self.mapping, self.skeleton, parse_trim(self.trim),
                           self.subject, self.fps_of_file, take_number(self.take), self.smpl_model)

    @property
    def gait(self) -> dict[str, float | bool]:
        """What is said of the walkers of gaits."""
        asked = {name: getattr(self, name) for name in GAIT}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def altering(self) -> Altering:
        """What differs from the take and the config as they are."""
        return Altering.of(self.tempo, self.mirror, self.elevation, self.lens, self.light,
                           self.harmonise, self.camera)


def _whole_path(value: Any, may_be_file: bool) -> Any:
    """Return a path, paths, or a text of files and names with commas, with whole paths."""
    if isinstance(value, Path):
        return value.resolve()
    if isinstance(value, tuple):
        return tuple(_whole_path(each, False) for each in value)
    if may_be_file and value is not None:
        return ",".join(str(Path(name).resolve()) if Path(name).suffix and Path(name).is_file()
                        else name for name in map(str.strip, value.split(",")))
    return value


def _refuse_beside_permutations(given: set[str]) -> None:
    other = [name for name in RenderRequest.model_fields
             if name in given - _BESIDE_PERMUTATIONS]
    if other:
        raise ValueError(f"{option(other[0])}: cannot be combined with --permutations, whose file"
                         " defines the clips completely")


def _first_line(problem: ValidationError) -> str:
    first = problem.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return message
    return f"{option(str(first['loc'][0]))}: {with_given(message, first['input'])}"
