"""Scores: performances as key poses and trajectories, written in YAML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from mimegen.base.yaml_file import Strict
from mimegen.choreography.places import Direction, DirectionField, PlaceField
from mimegen.faces.speech import speech_of
from mimegen.faces.words import intensity, known_unit

Arrival = Literal["stop", "pass", "impact"]
Degrees = Annotated[float, Field(ge=-720, le=720, allow_inf_nan=False)]
Centimetres = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


class Key(Strict):
    """The state of one track at a phase's time; a field left out keeps its last value.

    Fields in ``once`` apply to that phase alone. ``how`` is how the key is reached: at rest, in
    passing, or with an impact.
    """

    once: ClassVar[tuple[str, ...]] = ()
    how: Arrival = "stop"

    def held(self) -> Self:
        """Return the key of a track that stays as this key left it, without its ``once`` fields."""
        return self.model_copy(update=dict.fromkeys(self.once)) if self.once else self


class Turned(Key):
    """A rotation from upright in degrees: turn to the left, lean forward, tilt to the left."""

    turn: Degrees | None = None
    lean: Degrees | None = None
    tilt: Degrees | None = None


class PelvisKey(Turned):
    """The pelvis: its displacement from its place in quiet standing, and its rotation."""

    left: Centimetres | None = None
    forward: Centimetres | None = None
    up: Centimetres | None = None


class GazeKey(Key):
    """The point that the person looks at."""

    to: PlaceField


class PropKey(Turned):
    """An imagined object: its position, and its rotation in the frame of its anchor."""

    to: PlaceField | None = None


class Prop(Strict):
    """An imagined object: a description and, for lint to keep hands on it, a form.

    A ``rod`` runs ``along`` a direction through the origin of its frame; two hands on it are
    ``length`` centimetres apart at most. A ``ring`` of a ``radius`` in centimetres lies around the
    origin, facing forward. An object that may spill is tipped by at most ``upright`` degrees.
    """

    about: str
    form: Literal["rod", "ring"] | None = None
    along: DirectionField = Direction(0, 0, 1)
    length: Annotated[float, Field(gt=0, le=1000)] | None = None
    radius: Annotated[float, Field(gt=0, le=500)] | None = None
    upright: Annotated[float, Field(gt=0, le=180)] | None = None

    @model_validator(mode="after")
    def _check_size(self) -> "Prop":
        size = {"rod": self.length, "ring": self.radius}
        if self.form is not None and size[self.form] is None:
            raise ValueError(f"a {self.form} has a {'length' if self.form == 'rod' else 'radius'}")
        return self


def _prop(value: Any) -> Any:
    return {"about": value} if isinstance(value, str) else value


PropField = Annotated[Prop, BeforeValidator(_prop)]


class FootKey(Key):
    """A foot: the position of its ball on the floor; toes' turn out and heel's lift in degrees."""

    to: PlaceField | None = None
    turn: Degrees | None = None
    heel: Degrees | None = None


class WalkKey(Key):
    """Where the performer has walked to: position and turn relative to the start, and steps.

    ``lift`` raises the feet, in centimetres, higher than walking does. ``first`` is the foot that
    sets off, ``since`` the time of setting off, by default that of the phase before.
    """

    left: Centimetres | None = None
    forward: Centimetres | None = None
    turn: Degrees | None = None
    steps: int | None = Field(default=None, ge=1, le=100)
    lift: Annotated[float, Field(ge=0, le=60)] | None = None
    first: Literal["left", "right"] | None = None
    since: Seconds | None = None


class ShouldersKey(Key):
    """Both shoulders raised and drawn forward, in degrees."""

    up: Degrees | None = None
    forward: Degrees | None = None


def _speakable(text: str) -> str:
    """Return the text. Raises ValueError if it cannot be spoken."""
    assert speech_of(text)
    return text


# The name of a face's ``units`` in a score that is serialised to be hashed: it must not change, so
# that content keys stay the same.
WRITTEN_UNITS = "told"
Speakable = Annotated[str, AfterValidator(_speakable)]


class FaceKey(Key):
    """The face, by channels that are 0 at rest; ``rigs/faces/units.yaml`` defines their value 1.

    Lids ``closed`` (below 0: wide open), ``brows`` raised, ``frown``, ``smile``, corners of the
    mouth that ``droop``, lips ``pressed``, ``jaw`` open; the eyes look left and up, in degrees.
    ``units`` are action units, such as ``AU12: 0.6`` or ``AU12L: B``, and emotions, such as
    ``anger: 0.7``; those not mentioned keep their value. A text to ``say`` begins at the phase.
    """

    once: ClassVar[tuple[str, ...]] = ("say",)

    closed: Annotated[float, Field(ge=-0.35, le=1)] | None = None
    brows: Annotated[float, Field(ge=0, le=1.5)] | None = None
    frown: Annotated[float, Field(ge=0, le=1.5)] | None = None
    smile: Annotated[float, Field(ge=0, le=1.5)] | None = None
    droop: Annotated[float, Field(ge=0, le=1.5)] | None = None
    pressed: Annotated[float, Field(ge=0, le=1)] | None = None
    jaw: Annotated[float, Field(ge=0, le=1.5)] | None = None
    look_left: Annotated[float, Field(ge=-40, le=40)] | None = None
    look_up: Annotated[float, Field(ge=-35, le=35)] | None = None
    say: Speakable | None = None
    units: dict[str, Annotated[float, Field(ge=0, le=1.5)]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, given: object) -> object:
        """Gather action units and emotions in ``units``. Raises ValueError for unknown ones."""
        if not isinstance(given, dict) or "units" in given:
            return given
        units = {name: value for name, value in given.items() if name not in cls.model_fields}
        return {name: value for name, value in given.items() if name not in units} | (
            {"units": {known_unit(str(name)): intensity(value) for name, value in units.items()}}
            if units else {})

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        if "units" in content:
            content[WRITTEN_UNITS] = content.pop("units")
        return content


class HandKey(Key):
    """A hand: the position of one of its points, its rotation and shape, the elbow's direction.

    The point to ``touch`` is at ``to``. ``palm`` and ``fingers`` are the directions that these
    face; if only one is given, the hand rolls about it as the forearm prefers. ``bar`` is the
    direction of the thumb's end of a held bar. ``loose`` lets the hand hang from the forearm;
    ``straight`` keeps it in line with the forearm, rolled to the direction of ``palm``. Directions
    are in the frame of the anchor.
    """

    to: PlaceField | None = None
    touch: Literal["palm", "skin", "fingertips", "pinch", "knuckles", "wrist"] | None = None
    palm: DirectionField | None = None
    fingers: DirectionField | None = None
    bar: DirectionField | None = None
    loose: bool = False
    straight: bool = False
    shape: str | None = None
    elbow: DirectionField | None = None


class Phase(Strict):
    """A time, and the keys that tracks have reached by then."""

    at: Seconds
    walk: WalkKey | None = None
    pelvis: PelvisKey | None = None
    chest: Turned | None = None
    head: Turned | None = None
    gaze: GazeKey | None = None
    shoulders: ShouldersKey | None = None
    face: FaceKey | None = None
    hands: HandKey | None = None
    left_hand: HandKey | None = None
    right_hand: HandKey | None = None
    feet: FootKey | None = None
    left_foot: FootKey | None = None
    right_foot: FootKey | None = None
    props: dict[str, PropKey] = Field(default_factory=dict)
    line: int = 0

    def moves(self) -> Iterator[tuple[str, Key]]:
        """Yield the tracks that this phase mentions; ``hands`` and ``feet`` give both sides."""
        for track in ("walk", "pelvis", "chest", "head", "gaze", "shoulders", "face"):
            if (key := getattr(self, track)) is not None:
                yield track, key
        for limb, both in (("hand", self.hands), ("foot", self.feet)):
            for side in ("left", "right"):
                own = getattr(self, f"{side}_{limb}")
                if (key := own if own is not None else both) is not None:
                    yield f"{side}_{limb}", key
        yield from self.props.items()


class Repeat(Strict):
    """A span, after ``after`` up to and including ``until``, that is performed ``times`` times.

    Seeds other than 0 may perform it more or less often, at least ``least`` times; 0 lets them
    leave it out.
    """

    after: Seconds
    until: Seconds
    times: int = Field(ge=1, le=50)
    least: int = Field(default=1, ge=0, le=50)


class Variety(Strict):
    """How far seeds other than 0 may deviate from the score as written."""

    tempo: float = Field(default=0.15, ge=0, le=0.5)
    amplitude: float = Field(default=0.14, ge=0, le=0.5)
    stance: float = Field(default=1.0, ge=0, le=3)
    repeats: int = Field(default=1, ge=0, le=5)
    mirror: bool = True


class Stands(Strict):
    """Where the second performer starts, in cm from the first, and their turn in degrees."""

    left: Centimetres = 0.0
    forward: Centimetres = 120.0
    turn: Degrees = 180.0


class Partner(Strict):
    """The second performer of a score: their own phases, with the first's clock and repeats."""

    about: str
    stands: Stands = Stands()
    balanced: bool = True
    props: dict[str, PropField] = Field(default_factory=dict)
    phases: tuple[Phase, ...] = Field(min_length=1)


class Score(Strict):
    """One take of an action. Lengths are centimetres on the standard person of 1.73 m.

    ``facing`` turns the whole take to the person's left on the stage, in degrees, so that MIME's
    camera, 48.5 degrees to the left of the stage's front, sees its best side. ``balanced`` is true
    if the performer could do this without anything to sit or lean on. ``stances`` are those in
    which a cue may be performed, the usual one first.
    """

    action: str
    about: str
    duration: float = Field(gt=0.2, le=600)
    facing: Degrees = 0.0
    balanced: bool = True
    stances: tuple[str, ...] = ()
    props: dict[str, PropField] = Field(default_factory=dict)
    vary: Variety = Variety()
    repeat: tuple[Repeat, ...] = ()
    phases: tuple[Phase, ...] = Field(min_length=1)
    partner: Partner | None = None
    _source: str = PrivateAttr(default="score")
    _performer: str = PrivateAttr(default="")
    _compiled: bool = PrivateAttr(default=False)

    @property
    def source(self) -> str:
        """The file the score was read from, for messages."""
        return self._source

    @property
    def compiled(self) -> bool:
        """Whether the score was compiled from a scene; then no hand must reach exactly."""
        return self._compiled

    @property
    def take(self) -> str:
        """The take's name, derived from the file's name."""
        return Path(self._source).name.removesuffix(".score.yaml")

    @property
    def name(self) -> str:
        """The name of this performer's part, from which random generators are seeded."""
        return f"{self.action} {self.take}{self._performer}"

    def came_from(self, source: str, compiled: bool = False) -> None:
        """Record the file that the score came from, and whether it was compiled from a scene."""
        self._source, self._compiled = source, compiled

    def parts(self) -> tuple["Score", ...]:
        """Return each performer's part as a separate score."""
        if self.partner is None:
            return (self,)
        partner = self.partner
        own = self.model_copy(update={"partner": None})
        other = own.model_copy(update={
            "about": partner.about, "balanced": partner.balanced, "props": partner.props,
            "phases": partner.phases,
        })
        other._performer = " partner"
        return own, other
