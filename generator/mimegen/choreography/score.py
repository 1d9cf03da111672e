"""Scores: a performance as key poses and trajectories, written in YAML."""

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
    """Where one track is at a phase's time. What is left out stays as it was.

    What is ``once`` is done at that phase alone.
    """

    once: ClassVar[tuple[str, ...]] = ()
    how: Arrival = "stop"

    def held(self) -> Self:
        """Return the key of a track that stays as this one left it."""
        return self.model_copy(update=dict.fromkeys(self.once)) if self.once else self


class Turned(Key):
    """Turned from upright: to the person's left, forward, tilted to their left, in degrees."""

    turn: Degrees | None = None
    lean: Degrees | None = None
    tilt: Degrees | None = None


class PelvisKey(Turned):
    """The pelvis: moved from its place in quiet standing, and turned."""

    left: Centimetres | None = None
    forward: Centimetres | None = None
    up: Centimetres | None = None


class GazeKey(Key):
    """What the person looks at."""

    to: PlaceField


class PropKey(Turned):
    """An invisible thing: its place, and how it is turned in the frame of what it is placed on."""

    to: PlaceField | None = None


class Prop(Strict):
    """An imagined thing: what it is and, where lint shall hold hands to it, its form.

    A ``rod`` runs through its frame ``along`` a direction, ``length`` centimetres at most between
    two hands; a ``ring`` of some ``radius`` lies about its frame, facing forward. What may spill
    stays ``upright`` within so many degrees.
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
    """The ball of a foot: its place on the floor; toes turned out; heel lifted, in degrees."""

    to: PlaceField | None = None
    turn: Degrees | None = None
    heel: Degrees | None = None


class WalkKey(Key):
    """Where the performer has walked to: from the start, turned from it, in how many steps.

    ``lift`` raises the feet higher than walking does; ``first`` is the foot that sets off;
    ``since`` is the moment of setting off, where that is not the line before.
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
    """Return a text. Raises ValueError for one that cannot be spoken."""
    assert speech_of(text)
    return text


# What a face's units are called where a score is written out to be hashed: keys stay so.
WRITTEN_UNITS = "told"
Speakable = Annotated[str, AfterValidator(_speakable)]


class FaceKey(Key):
    """The face, each channel from 0, at rest: see ``rigs/faces/units.yaml`` for what they are at 1.

    Lids ``closed`` (below 0: wide open), ``brows`` raised, ``frown``, ``smile``, corners of the
    mouth that ``droop``, lips ``pressed``, ``jaw`` open; the eyes look left and up by degrees.
    Beside them are ``units``: action units, as ``AU12: 0.6``, ``AU12L: B``, and emotions, as
    ``anger: 0.7``; what is not mentioned stays as it was. A text to ``say`` begins at the phase.
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
        """Gather action units and emotions. Raises ValueError for what a face does not know."""
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
    """A hand: which point of it is where, how it is turned, its shape, where the elbow points.

    ``palm`` and ``fingers`` are the directions that these face; with only one of them the hand
    rolls about it as the forearm likes. ``bar`` is where the thumb's end of a held bar points.
    ``loose`` lets the hand hang from the forearm; ``straight`` keeps it in line with the forearm,
    rolled as ``palm`` says. Directions are in the frame of the place.
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
    """A moment, and what the tracks that move towards it have reached by then."""

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
        """Go over the tracks that this phase mentions, ``hands`` and ``feet`` as both sides."""
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
    """The span after ``after`` up to ``until`` is performed ``times`` times.

    By other seeds it may be performed more or less often; ``least`` 0 lets it be left out.
    """

    after: Seconds
    until: Seconds
    times: int = Field(ge=1, le=50)
    least: int = Field(default=1, ge=0, le=50)


class Variety(Strict):
    """How far other seeds than 0 may go from the score as it is written."""

    tempo: float = Field(default=0.15, ge=0, le=0.5)
    amplitude: float = Field(default=0.14, ge=0, le=0.5)
    stance: float = Field(default=1.0, ge=0, le=3)
    repeats: int = Field(default=1, ge=0, le=5)
    mirror: bool = True


class Stands(Strict):
    """Where the second performer starts, as the first one sees it, and how far they are turned."""

    left: Centimetres = 0.0
    forward: Centimetres = 120.0
    turn: Degrees = 180.0


class Partner(Strict):
    """The second performer of a scene: the same clock and repeats, phases of their own."""

    about: str
    stands: Stands = Stands()
    balanced: bool = True
    props: dict[str, PropField] = Field(default_factory=dict)
    phases: tuple[Phase, ...] = Field(min_length=1)


class Score(Strict):
    """One take of an action. Lengths are centimetres on the standard person of 1.73 m.

    ``facing`` turns the whole take to the person's left on the stage, in degrees, so that MIME's
    camera, 48.5 degrees to the left of the stage's front, sees its best side. ``balanced`` says
    that the performer could stand like this without anything to sit or lean on. ``stances`` are
    those in which a cue may be performed, the usual one first.
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
        """Whether it is a scene's, put together of others, so that no hand must reach exactly."""
        return self._compiled

    @property
    def take(self) -> str:
        """The take's name, from its file's."""
        return Path(self._source).name.removesuffix(".score.yaml")

    @property
    def name(self) -> str:
        """What seeds know this performer's part by."""
        return f"{self.action} {self.take}{self._performer}"

    def came_from(self, source: str, compiled: bool = False) -> None:
        """Note the file that it was read from, and whether it was put together of others."""
        self._source, self._compiled = source, compiled

    def parts(self) -> tuple["Score", ...]:
        """Return each performer's part, as a score of its own."""
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
