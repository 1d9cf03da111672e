"""Walkers: a request of speed, knobs and manner, and the parameters of the gait that follow."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Finite, Strict, read_yaml_once
from mimegen.gait.norms import GRAVITY, Norms, between, norms_of, runs_from

KNOBS = ("gender", "weight", "nervous", "happy", "age", "fatigue", "intoxicated")
# Knobs beyond this many standard deviations would break the body.
MOST_Z = 6.0
# Ranges that a request may ask for.
SLOWEST_M_S = 0.2
FASTEST_M_S = 7.0
CADENCES_PER_MIN = (40.0, 260.0)
STEP_LENGTHS_M = (0.15, 2.2)
Foot = tuple[Finite, ...]


class GaitChanges(Strict):
    """Changes to a gait (mocap/gait_manners.yaml).

    Those in ``_deg`` and ``_cm``, and ``knee_first``, are added; all others are fractions by which
    a value grows. ``head_deg`` turns the head down, ``hands_deg`` closes the fingers.
    ``knee_first`` is by what fraction of a swing the foot rises earlier on stairs, ``uneven``
    changes how much steps differ.
    """

    speed: Finite = 0
    step_length: Finite = 0
    cadence: Finite = 0
    stance: Finite = 0
    width_cm: Finite = 0
    toe_out_deg: Finite = 0
    sway: Finite = 0
    rise: Finite = 0
    pelvis_turn: Finite = 0
    pelvis_drop: Finite = 0
    pitch: Finite = 0
    lift: Finite = 0
    lift_cm: Finite = 0
    knee_first: Finite = 0
    crouch_cm: Finite = 0
    thorax_turn: Finite = 0
    roll_deg: Finite = 0
    lean_deg: Finite = 0
    head_deg: Finite = 0
    arm_swing: Finite = 0
    arm_middle_deg: Finite = 0
    arms_out_deg: Finite = 0
    elbow_deg: Finite = 0
    elbow_swing: Finite = 0
    hands_deg: Finite = 0
    shoulders_up_deg: Finite = 0
    shoulders_back_deg: Finite = 0
    shoulders: Finite = 0
    hips: Finite = 0
    uneven: Finite = 0


class Stairs(Strict):
    """The measures of a stair's step; a ``rise_cm`` below 0 leads down."""

    rise_cm: Finite
    tread_cm: Finite


class Favours(Strict):
    """A limp that spares the right leg: how far the trunk leans over it."""

    roll_deg: Finite


class GaitManner(Strict):
    """A manner of walking or running, such as marching or climbing stairs.

    ``contacts`` are the phases of landing and lifting, in pairs, of the left and the right foot.
    """

    kind: Literal["walk", "run"]
    speed: Finite | None = None
    backwards: bool = False
    toes_first: bool = False
    contacts: tuple[Foot, Foot] | None = None
    steps: Stairs | None = None
    favours: Favours | None = None
    changes: GaitChanges = Field(default_factory=GaitChanges)


class _WalkerFile(Strict):
    knobs: dict[str, GaitChanges]
    styles: dict[str, GaitChanges]
    manners: dict[str, GaitManner]


def _file() -> _WalkerFile:
    return read_yaml_once(data_file("mocap/gait_manners.yaml"), _WalkerFile)


def manners() -> dict[str, GaitManner]:
    """Return the manners of walking and running by name."""
    return _file().manners


def affects() -> dict[str, GaitChanges]:
    """Return the styles of affect by name."""
    return _file().styles


@dataclass(frozen=True)
class Walker:
    """A request for a gait; None leaves a value to follow from the manner and the other values.

    ``speed`` is in m/s, below 0 backwards; ``cadence`` is in steps per minute, ``step_length`` in
    metres. ``phase`` is where in the cycle to begin, as a fraction from the left foot's contact on.
    The knobs (``gender`` to ``intoxicated``) are in standard deviations between people.
    ``slope_deg`` is uphill above 0. ``seed`` draws the walker's own gait and its variation between
    steps; seed 0 has the mean gait. Raises RequestError for values outside their range or unknown
    names.
    """

    manner: str = "walk"
    speed: float | None = None
    cadence: float | None = None
    step_length: float | None = None
    phase: float = 0.0
    style: str = "neutral"
    slope_deg: float = 0.0
    gender: float = 0.0
    weight: float = 0.0
    nervous: float = 0.0
    happy: float = 0.0
    age: float = 0.0
    fatigue: float = 0.0
    intoxicated: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        _known("manner", self.manner, manners())
        _known("style", self.style, affects())
        if self.speed is not None:
            _within("speed", abs(self.speed), (SLOWEST_M_S, FASTEST_M_S), "m/s")
        if self.cadence is not None:
            _within("cadence", self.cadence, CADENCES_PER_MIN, "steps a minute")
        if self.step_length is not None:
            _within("step length", self.step_length, STEP_LENGTHS_M, "m")
        _within("phase", self.phase, (0.0, 1.0), "of the cycle")
        _within("slope", self.slope_deg, (-15.0, 15.0), "degrees")
        for name in KNOBS:
            _within(name, getattr(self, name), (-MOST_Z, MOST_Z), "standard deviations")
        if None not in (self.speed, self.cadence, self.step_length):
            raise RequestError("walker: give two of speed, cadence and step length; the third"
                               " follows")

    @property
    def knobs(self) -> dict[str, float]:
        """The knobs that are not 0, by name."""
        return {name: getattr(self, name) for name in KNOBS if getattr(self, name)}

    def facts(self) -> dict[str, Any]:
        """Return the request and the facts of its pace, for a manifest."""
        asked = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**asked, **pace_of(self).facts()}


def _known(what: str, name: str, names: Any) -> None:
    if name not in names:
        raise RequestError(f"walker: no {what} '{name}'{near_misses(name, names)}")


def _within(what: str, value: float, limits: tuple[float, float], unit: str) -> None:
    if not limits[0] <= value <= limits[1]:
        raise RequestError(f"walker: {what} {value:g}: expected {limits[0]:g} to {limits[1]:g}"
                           f" {unit}")


@dataclass(frozen=True)
class Pace:
    """The parameters of a gait: speeds in m/s, lengths in m, angles in degrees, ``stride_s`` in s.

    ``stance`` and ``contacts`` are fractions of the cycle, ``pace`` is v / sqrt(g * leg). Values
    with ``swing``, ``turn``, ``roll`` and ``drop`` in their names are half ranges; ``sway`` and
    ``rise`` are whole ranges.
    """

    norms: Norms = field(repr=False, compare=False)
    manner: GaitManner = field(repr=False, compare=False)
    name: str
    kind: str
    speed: float
    stride_s: float
    pace: float
    stance: float
    backwards: bool
    slope_deg: float
    contacts: tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]
    width: float
    toe_out: float
    sway: float
    rise: float
    rise_share: float
    pelvis_turn: float
    pelvis_drop: float
    pelvis_tilt: float
    pitch: float
    lift: float
    lift_m: float
    knee_first: float
    crouch: float
    thorax_turn: float
    roll: float
    nod: float
    lean: float
    head: float
    arm_swing: float
    arm_middle: float
    arms_out: float
    elbow: float
    elbow_swing: float
    late: float
    hands: float
    shoulders_up: float
    shoulders_back: float
    shoulders: float
    hips: float
    uneven: float

    @property
    def stride(self) -> float:
        """The length of a cycle (two steps), in metres."""
        return self.speed * self.stride_s

    def facts(self) -> dict[str, Any]:
        """Return speed, cadence, step length, stance and kind of gait, for a manifest."""
        return {"speed": round(-self.speed if self.backwards else self.speed, 4),
                "cadence": round(120 / self.stride_s, 3), "step_length": round(self.stride / 2, 4),
                "stance_share": round(self.stance, 4), "gait": self.kind}

    def lasting(self, stride_s: float) -> "Pace":
        """Return the same gait at the same speed, in cycles that last ``stride_s`` seconds."""
        return replace(self, stride_s=stride_s)


# Leg length and stature of the standard skeleton, in metres.
LEG_M = 0.9103
STATURE_M = 1.7332


def pace_of(walker: Walker) -> Pace:
    """Return the parameters of a walker's gait on the standard skeleton."""
    manner = manners()[walker.manner]
    changes = _changes(walker, manner)
    speed, stride_s, norms, kind = _timing(walker, manner, changes)
    pace = speed / (GRAVITY * LEG_M) ** 0.5
    stance = min(max(norms.stance.at(speed) * changes.factor("stance"), 0.12), 0.8)
    return Pace(norms, manner, walker.manner, kind, speed, stride_s, pace, stance,
                manner.backwards or (walker.speed or 0.0) < 0, walker.slope_deg,
                _contacts(manner, stance), **_body(norms, changes, speed, pace))


class _Changed:
    """The sum of all changes to a gait: factors multiply, the others add."""

    def __init__(self) -> None:
        self.factors: dict[str, float] = {}
        self.added: dict[str, float] = {}

    def add(self, changes: GaitChanges, z: float) -> None:
        """Add changes ``z`` times: factors to the power of ``z``, added values times ``z``."""
        for name in changes.model_fields_set:
            value = getattr(changes, name)
            if name.endswith(("_deg", "_cm")) or name == "knee_first":
                self.added[name] = self.added.get(name, 0.0) + z * value
            else:
                self.factors[name] = self.factors.get(name, 1.0) * max(1.0 + value, 0.05) ** z

    def factor(self, name: str) -> float:
        """Return the factor on a value, 1 if nothing changes it."""
        return self.factors.get(name, 1.0)

    def plus(self, name: str) -> float:
        """Return what is added to a value, 0 if nothing changes it."""
        return self.added.get(name, 0.0)


def _changes(walker: Walker, manner: GaitManner) -> _Changed:
    changed = _Changed()
    changed.add(manner.changes, 1.0)
    changed.add(affects()[walker.style], 1.0)
    for name, z in walker.knobs.items():
        changed.add(_file().knobs[name], z)
    return changed


def _timing(walker: Walker, manner: GaitManner,
            changes: _Changed) -> tuple[float, float, Norms, str]:
    """Return speed (m/s), seconds per cycle, norms and their name.

    Requested values are used as they are; the others follow from the norms and the changes.
    """
    speed = abs(walker.speed) if walker.speed is not None else None
    kind = _kind(walker, manner, speed)
    norms = norms_of(kind)
    usual = (speed or manner.speed or norms.speed) * (
        1.0 if speed else changes.factor("speed"))
    step = usual / norms.strides_per_minute.at(usual, STATURE_M) * 30 * changes.factor(
        "step_length") / (changes.factor("cadence") if speed else 1.0)
    cadence = 60 * usual / step if speed else norms.strides_per_minute.at(
        usual, STATURE_M) * 2 * changes.factor("cadence")
    if manner.steps is not None:
        step = manner.steps.tread_cm / 100
        cadence = 60 * usual / step
    step, cadence = walker.step_length or step, walker.cadence or cadence
    if speed is not None:
        cadence, step = ((cadence, 60 * speed / cadence) if walker.cadence
                         else (60 * speed / step, step))
    return step * cadence / 60, 120 / cadence, norms, kind


def _kind(walker: Walker, manner: GaitManner, speed: float | None) -> Literal["walk", "run"]:
    """Return the kind of gait: a walk above a certain speed is a run, a run below it a walk."""
    if walker.manner not in ("walk", "run") or speed is None:
        return manner.kind
    return "run" if speed > runs_from() else "walk"


def _contacts(manner: GaitManner, stance: float
              ) -> tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]:
    if manner.contacts is None:
        return ((0.0, stance),), ((0.5, 0.5 + stance),)
    left, right = (tuple(zip(times[::2], times[1::2], strict=True)) for times in manner.contacts)
    return left, right


def _body(norms: Norms, changes: _Changed, speed: float, pace: float) -> dict[str, float]:
    """Return the parameters of pelvis, feet and upper body, by their names in ``Pace``."""
    factor, plus = changes.factor, changes.plus
    pelvis, arms, thorax = norms.pelvis, norms.arms, norms.thorax
    grown = min((pace / pelvis.pace) ** pelvis.power, 1.6)
    return {
        "width": max(norms.width + plus("width_cm") / 100, 0.0),
        "toe_out": norms.toe_out + plus("toe_out_deg"),
        "sway": between(norms.sway, speed) * factor("sway"),
        "rise": between(norms.rise, speed) * factor("rise") if norms.rise else 0.0,
        "rise_share": factor("rise"),
        "pelvis_turn": pelvis.turn * grown * factor("pelvis_turn"),
        "pelvis_drop": pelvis.drop * grown * factor("pelvis_drop"),
        "pelvis_tilt": pelvis.tilt * grown,
        "pitch": min(factor("pitch"), 1.15),
        "lift": factor("lift"), "lift_m": plus("lift_cm") / 100,
        "knee_first": plus("knee_first"), "crouch": plus("crouch_cm") / 100,
        "thorax_turn": thorax.turn * grown * factor("thorax_turn"),
        "roll": max(thorax.roll + plus("roll_deg"), 0.0), "nod": thorax.nod,
        "lean": thorax.lean + plus("lean_deg"), "head": plus("head_deg"),
        "arm_swing": (arms.swing_at_rest + arms.swing_per_speed * speed) * factor("arm_swing"),
        "arm_middle": arms.middle + plus("arm_middle_deg"),
        "arms_out": max(arms.out + plus("arms_out_deg"), 3.0),
        "elbow": min(max(arms.elbow + plus("elbow_deg"), 4.0), 125.0),
        "elbow_swing": arms.elbow_per_speed * speed * factor("elbow_swing") * factor("arm_swing"),
        "late": arms.late, "hands": plus("hands_deg"),
        "shoulders_up": plus("shoulders_up_deg"), "shoulders_back": plus("shoulders_back_deg"),
        "shoulders": factor("shoulders"), "hips": factor("hips"),
        "uneven": factor("uneven"),
    }
