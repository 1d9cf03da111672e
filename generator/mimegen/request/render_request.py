"""The typed request for clips: what they show, who performs it, where, and how it is filmed."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mimegen.base.asked import Heading, asked
from mimegen.base.errors import RequestError, near_misses, with_given
from mimegen.gait.walker import KNOBS
from mimegen.groundtruth.kinds import ENGINES, KINDS, Engine
from mimegen.plan.variants import GROUPS, MIME
from mimegen.readers.options import FPS_OF_FILE, ReadOptions, parse_trim, take_number
from mimegen.rendering.surroundings import SUFFIXES
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
    axis_range,
    picture_from,
)
from mimegen.shots.config import WORLDS

# Fields that describe walkers, for gaits.
GAIT = ("speed", "cadence", "step_length", "phase", "direction", "treadmill", "cycles", *KNOBS)
SOURCES = ("action", "scene", "motion", "permutations")
# Options, each with the sources of which it requires one.
_NEEDS = {
    **dict.fromkeys(("label", "group", "aligned", "misaligned", "licence", "partner", "trim",
                     "stack", "mapping", "skeleton", "subject", "fps_of_file", "smpl_model"),
                    ("motion",)),
    "take": ("action", "motion"),
    **dict.fromkeys(GAIT, ("action",)),
    **dict.fromkeys(("stance", "intensity", "frequency", "hand"), ("action",)),
    "style": ("action", "scene"),
}
_WHY = {
    "label": "; library actions define their labels", "group": "; library actions define theirs",
    "style": "; recordings have no style",
    "take": "; a scene has one take",
    **dict.fromkeys(("aligned", "misaligned", "licence"), "; library actions define their own"),
    **dict.fromkeys(("stance", "intensity", "frequency"), ", and its actions must be cues"),
}
# A specification defines its clips completely; only these options may be combined with it.
_BESIDE_PERMUTATIONS = {"permutations", "config", "device", "passes", "passes_from", "library"}


# Fields whose text is a name in the library or a file.
_NAMES_OR_FILES = {"aligned", "camera_look", "character", "config", "misaligned",
                   "partner_character", "scene"}


def option(field: str) -> str:
    """Return the command-line option of a field."""
    return "--map" if field == "mapping" else f"--{field.replace('_', '-')}"


class RenderRequest(BaseModel):
    """A request for clips. Each field is the option of ``mimegen render`` of the same name.

    Lists may be written as one text separated by commas. Exactly one of ``action``, ``scene``,
    ``motion`` and ``permutations`` is given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Names = asked(
        None, Heading.TAKES,
        "Actions and cues to render, by id, label, alias or number in a set, as in A16; set:NAME"
        " is all of a set (mimegen list sets).", "A[,B]|all|cues|set:NAME")
    scene: Names = asked(
        None, Heading.TAKES,
        "Scenes of one or two performers to render instead of actions.", "NAME|FILE[,...]|all")
    motion: Path | None = asked(
        None, Heading.MOTION,
        "A motion file (BVH, FBX, GLB, C3D, AMC, SMPL, HumanML3D and others) to render instead of"
        " actions.", "FILE")
    permutations: Path | None = asked(
        None, Heading.TAKES,
        "Render the clips listed in SPEC.jsonl, which mimegen permute wrote. Of the options that"
        " change a clip, only --config may be combined with it.", "SPEC.jsonl")
    partner: Path | None = asked(
        None, Heading.MOTION,
        "The motion file of a second person recorded together with --motion.", "FILE")
    label: Texts = asked(
        (), Heading.MOTION,
        "Label of what --motion shows, a correct answer to questions; may be repeated. "
        " [default: the file's name]")
    group: str | None = asked(
        None, Heading.MOTION,
        "Semantic group of what --motion shows, such as 'combat sport' (mimegen list groups)."
        " Questions take no wrong answers from the same group.  [default: that of the label's"
        " action]", "NAME")
    aligned: str | None = asked(
        None, Heading.MOTION,
        "Background that fits what --motion shows.", "NAME")
    misaligned: str | None = asked(
        None, Heading.MOTION,
        "Background that misleads about what --motion shows.", "NAME")
    licence: str = asked(
        "not stated", Heading.MOTION,
        "Licence of --motion, written to the manifest.")
    trim: str = asked(
        "auto", Heading.MOTION,
        "Part of the motion to use: auto removes T-poses and idle ends; A:B is a range in"
        " seconds, or in frames as 30f:400f.", "auto|none|A:B")
    stack: str | None = asked(
        None, Heading.MOTION,
        "Animation stack to read from an FBX file.", "NAME")
    mapping: Path | None = asked(
        None, Heading.MOTION,
        "YAML file of 'role: bone' lines for bones that are not recognised.", "FILE")
    skeleton: Path | None = asked(
        None, Heading.MOTION,
        "ASF skeleton file of an AMC motion file.", "FILE")
    subject: str | None = asked(
        None, Heading.MOTION,
        "Person to read from a file of several: a C3D file, or the people of a video.", "NAME|ID")
    fps_of_file: float | None = asked(
        None, Heading.MOTION,
        "Frame rate of the recording, if its file gives none or a wrong one.", "RATE",
        ge=FPS_OF_FILE[0], le=FPS_OF_FILE[1])
    smpl_model: Path | None = asked(
        None, Heading.MOTION,
        "SMPL, SMPL-H or SMPL-X model file (npz or pkl) that gives a motion of SMPL its true bone"
        " lengths.", "FILE")
    variants: Names = asked(
        "all", Heading.VARIANTS,
        f"Variants to render: groups ({', '.join(GROUPS)}) or cells such as {MIME[0]},"
        " woman+aligned@270.", "NAME[,NAME]")
    character: str | None = asked(
        None, Heading.VARIANTS,
        "Character for 'base': a name, a rigged FBX or GLB file, or a random person.",
        "NAME|FILE|random:SEED")
    partner_character: str | None = asked(
        None, Heading.VARIANTS,
        "Character of the second performer, in actions and scenes for two.",
        "NAME|FILE|random:SEED")
    config: str = asked(
        "auto", Heading.PICTURE,
        "Render config: size, frame rate, light and quality (mimegen list configs).", "NAME|FILE")
    take: str | None = asked(
        None, Heading.TAKES,
        "Take of the action, or number of the take in a --motion file of several.  [default: the"
        " first]", "T|all|N")
    seed: Seeds = asked(
        range(1), Heading.TAKES,
        "Random seed of the take; A:B renders every seed from A up to, not including, B.", "N|A:B")
    set_seed: int | None = asked(
        None, Heading.VARIANTS,
        "Seed for randomizing all backgrounds; use beach:7 for one.", "N", ge=0, le=999999999)
    fault: Texts = asked(
        (), Heading.TAKES,
        "Fault to add on purpose and its amount, 0 to 1; may be repeated (mimegen list faults).",
        "NAME=AMOUNT")
    style: str | None = asked(
        None, Heading.TAKES,
        "Style of choreographed takes (mimegen list styles).  [default: drawn by the seed]", "NAME")
    speed: float | None = Field(None, description="Speed of a gait in m/s; below 0 walks backwards,"
                                                   " above 2.05 runs.")
    cadence: float | None = Field(None, description="Steps per minute of a gait.")
    step_length: float | None = Field(None, description="Step length of a gait in metres.")
    phase: float | None = Field(None, ge=0, le=1, description="Share of the cycle at which a gait"
                                                              " begins.")
    direction: float | None = Field(None, ge=-360, le=360, description="Direction of a gait in"
                                    " degrees to the walker's left.")
    treadmill: bool | None = Field(None, description="Whether a gait stays in place.")
    cycles: float | None = Field(None, gt=0, le=60, description="Length of a gait in cycles of two"
                                                                " steps.")
    gender: float | None = Field(None, description="Walker from woman (below 0) to man (above 0),"
                                                   " in standard deviations.")
    weight: float | None = Field(None, description="Walker from light to heavy, likewise.")
    nervous: float | None = Field(None, description="Walker from relaxed to nervous, likewise.")
    happy: float | None = Field(None, description="Walker from sad to happy, likewise.")
    age: float | None = Field(None, description="Walker from young to old, likewise.")
    fatigue: float | None = Field(None, description="Walker from rested to tired, likewise.")
    intoxicated: float | None = Field(None, description="Walker from steady to drunk, likewise.")
    hand: Literal["left", "right", "both"] | None = asked(
        None, Heading.TAKES,
        "Hand of hand actions, letters and hand shapes.  [default: drawn by the seed]",
        "left|right|both")
    stance: Names = asked(
        None, Heading.TAKES,
        "Stance in which cues are performed.  [default: each cue's first]", "S[,S]|all")
    intensity: Intensities = asked(
        None, Heading.TAKES,
        "Size of a cue's movements, or of the --emotion, 0 to 1.  [default: 1]", "I[,I]")
    emotion: Names = asked(
        None, Heading.TAKES,
        "Emotion that the first performer's face shows throughout (mimegen list emotions).",
        "E[,E]|all")
    face: Path | None = asked(
        None, Heading.TAKES,
        "Captured face that the first performer's face plays: a CSV of Live Link Face, or a JSON"
        " of BEAT.", "FILE")
    say: str | None = asked(
        None, Heading.TAKES,
        "Text in English that the first performer's mouth speaks, without sound.", "TEXT")
    gaze: str | None = asked(
        None, Heading.TAKES,
        "Gaze target of the first performer.",
        "camera|partner|left_hand|right_hand|LEFT,FORWARD,UP")
    frequency: Frequencies = asked(
        None, Heading.TAKES,
        "Number of times that a cue's movement is repeated.  [default: as written]", "N[,N]")
    tempo: Tempo = asked(
        None, Heading.TAKES,
        f"Playback speed of the take, {axis_range('tempo')} times the original.", "X")
    mirror: bool = asked(
        False, Heading.TAKES,
        "Swap left and right.")
    reverse: bool = asked(
        False, Heading.TAKES,
        "Play the performance backwards.")
    elevation: Elevation = asked(
        None, Heading.PICTURE,
        f"Elevation of the camera in degrees, {axis_range('elevation')}.", "DEG")
    lens: Lens = asked(
        None, Heading.PICTURE,
        f"Focal length on a 36 mm sensor, {axis_range('lens')}; the camera's distance is adjusted.",
        "MM")
    light: Sunlight = asked(
        None, Heading.PICTURE,
        f"Light on the figures. Numbers: a sun at {axis_range('light_azimuth')} degrees around the"
        f" performer, {axis_range('light_elevation')} above the ground,"
        f" {axis_range('light_strength')} times as strong as usual. 'place': as on the background."
        f" An environment map: one of Blender's ({', '.join(WORLDS)}) or a file"
        f" ({' or '.join(SUFFIXES)}); @DEG turns its main light to that azimuth.",
        "AZIMUTH,ELEVATION[,STRENGTH]|place|NAME[@DEG]|FILE[@DEG]")
    harmonise: bool = asked(
        False, Heading.PICTURE,
        "Same as --light place.")
    camera: Literal["fixed", "follow"] = asked(
        "fixed", Heading.PICTURE,
        "'follow' moves the camera closer and pans with the performers.")
    camera_look: str | None = asked(
        None, Heading.PICTURE,
        "Camera to simulate: lens distortion, vignette, grain, sharpening, depth of field,"
        " hand-held movement and compression (mimegen list looks).  [default: the config's, mostly"
        " none]", "phone|dslr|webcam|cctv|none|FILE")
    device: str = asked(
        "auto", Heading.RENDERING,
        "Device that renders: optix, cuda, hip, oneapi, metal or cpu; cuda:1 selects the second"
        " GPU.", "NAME")
    passes: Names = asked(
        None, Heading.PICTURE,
        f"Ground truth to write for every clip: {', '.join(KINDS)}; flow:flo writes .flo files.",
        "NAME[,NAME]|all")
    passes_from: Engine = asked(
        ENGINES[0], Heading.PICTURE,
        "Engine that renders ground-truth passes.")
    library: Folders = ()

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """Return a validated request. Raises RequestError, naming the option, if it is invalid."""
        unknown = sorted(fields.keys() - cls.model_fields.keys())
        if unknown:
            raise RequestError(f"unknown option {unknown[0]!r}"
                               f"{near_misses(unknown[0], cls.model_fields)}")
        try:
            return cls(**fields)
        except ValidationError as problem:
            raise RequestError(_first_line(problem)) from problem

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        """Refuse options that exclude one another or lack a source that they require."""
        given = self.model_fields_set
        sources = [name for name in SOURCES if getattr(self, name) is not None]
        if self.permutations is not None:
            _refuse_beside_permutations(given)
        if len(sources) > 1:
            raise ValueError(f"{' and '.join(map(option, sources))} are mutually exclusive")
        if self.say is not None and self.face is not None:
            raise ValueError("--say and --face are mutually exclusive; both move the mouth")
        if self.emotion is not None:
            given = given - {"intensity"}
        for name in (name for name in _NEEDS if name in given):
            if not set(sources) & set(_NEEDS[name]):
                needed = " or ".join(map(option, _NEEDS[name]))
                raise ValueError(f"{option(name)} requires {needed}{_WHY.get(name, '')}")
        return self

    def anywhere(self, **chosen: str) -> Self:
        """Return a copy with the fields in ``chosen`` set and all files as absolute paths."""
        named = {name: _whole_path(value, name in _NAMES_OR_FILES)
                 for name, value in self if name in self.model_fields_set}
        if isinstance(self.light, str) and (picture := picture_from(self.light)):
            named["light"] = _whole_path(picture[0], True) + self.light.removeprefix(picture[0])
        return self.model_copy(update=named | chosen)

    @property
    def reading(self) -> ReadOptions:
        """Options for reading the motion file. Raises RequestError for an invalid trim or take."""
        return ReadOptions(self.stack, self.mapping, self.skeleton, parse_trim(self.trim),
                           self.subject, self.fps_of_file, take_number(self.take), self.smpl_model)

    @property
    def gait(self) -> dict[str, float | bool]:
        """The options given for gaits and their walkers, without those that were not set."""
        asked = {name: getattr(self, name) for name in GAIT}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def altering(self) -> Altering:
        """The requested changes to the take and the render config."""
        return Altering.of(self.tempo, self.mirror, self.elevation, self.lens, self.light,
                           self.harmonise, self.camera, self.reverse)


def _whole_path(value: Any, may_be_file: bool) -> Any:
    """Return a value with absolute paths; it may be a path, a tuple, or names with commas."""
    if isinstance(value, Path):
        return value.resolve()
    if isinstance(value, tuple):
        return tuple(_whole_path(each, False) for each in value)
    if may_be_file and isinstance(value, str):
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
