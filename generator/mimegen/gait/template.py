"""One cycle in the sagittal plane: published joint angles, adjusted so that the foot stands still.

Forward and up are in metres from a foothold, the point of the floor under the ball of the left
foot, which stands from the start of the cycle. Inclinations of thigh and shin are 0 straight down,
and above 0 with the lower end forward; a foot's pitch is above 0 with the toes up. Angles are in
degrees.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import ramp, smoothstep
from mimegen.gait.fitting import Fit, StanceLegs, fitted, inclinations, leg_line
from mimegen.gait.norms import GRAVITY
from mimegen.gait.skeleton import skeleton_of
from mimegen.gait.walker import Pace
from mimegen.motion import Skeleton

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Number of times in a cycle at which everything is computed; splines interpolate between them.
SAMPLES_PER_CYCLE = 240
# The point of the heel's contact with the floor, behind the ankle.
HEEL_BEHIND_M = 0.045
# A foot comes down flat between the first two fractions of its stance, and its heel rises between
# the last two.
FLAT_FROM = 0.06
FLAT_BY = 0.16
HEEL_RISES_FROM = 0.52
HEEL_RISEN_BY = 0.66
# Least height of the toes' tips, and of the heels, above the floor in swing; round heels touch it.
CLEARANCE_M = 0.004
HEEL_CLEARANCE_M = -0.004
# The toes, bent at lift-off, follow the foot from this fraction of the swing on.
TOES_FOLLOW_FROM = 0.6
# Least bend of the knee in swing.
MIN_KNEE_DEG = 4.5
# Additional pitch of the toes in mid-swing.
TOES_UP_DEG = 20.0
# Within this fraction of a swing, at either end, its speed changes to that of the standing foot.
SPEED_BLEND_SHARE = 0.3
# Fraction of a swing, at either end, in which the angles change to those of the standing foot.
PITCH_BLEND_SHARE = 0.4
# Legs are never straighter than this fraction of their length.
MAX_LEG_EXTENSION = 0.9976
# A runner's stance legs are bent more, to this fraction of that reach.
RUNNING_EXTENSION = 0.984
# Harmonics of twice the cycle's frequency in the pelvis' path.
PELVIS_WAVES = 3
# Pitch of a foot that lands with its toes first.
TOES_DOWN_DEG = -16.0


class FootAtRest(NamedTuple):
    """A foot at rest: ankle, ball, heel and toes' tip, each as forward and up (2,) in metres."""

    ankle: FloatArray
    ball: FloatArray
    heel: FloatArray
    tip: FloatArray

    def ankle_at(self, pitch: FloatArray) -> FloatArray:
        """Return the ankle (..., 2) over a foothold, at pitches about the heel or the ball."""
        about = np.where(np.asarray(pitch)[..., None] > 0, self.heel, self.ball)
        return np.asarray(about + turned(self.ankle - about, pitch))


def turned(vectors: FloatArray, pitch: FloatArray) -> FloatArray:
    """Return vectors (..., 2), forward and up, rotated by pitches (...,) in degrees, toes up."""
    angle = np.deg2rad(np.asarray(pitch, float))
    cosine, sine = np.cos(angle), np.sin(angle)
    forward, up = vectors[..., 0], vectors[..., 1]
    return np.stack([forward * cosine - up * sine, forward * sine + up * cosine], axis=-1)


class Legs(NamedTuple):
    """Measures of a skeleton's legs in metres.

    ``half`` is half the distance between the hips, ``height`` their height, ``hip_behind`` how far
    they are behind the ball of the foot.
    """

    thigh: float
    shin: float
    half: float
    foot: FootAtRest
    height: float
    hip_behind: float

    @property
    def reach(self) -> float:
        """The largest distance from hip to ankle, in metres."""
        return MAX_LEG_EXTENSION * (self.thigh + self.shin)


def legs_of(skeleton: Skeleton) -> Legs:
    """Return the measures of a skeleton's left leg; the right is its mirror image."""
    head, tail = skeleton.heads, skeleton.tails
    hip, knee, ankle, toe = (skeleton.index[f"Left{name}"]
                             for name in ("UpLeg", "Leg", "Foot", "ToeBase"))
    ball = np.array([0.0, head[toe][2]])
    behind = head[toe][1]
    foot = FootAtRest(_side(head[ankle], behind), ball,
                      np.array([behind - head[ankle][1] - HEEL_BEHIND_M, 0.0]),
                      _side(tail[toe], behind))
    return Legs(float(np.linalg.norm(head[knee] - head[hip])),
                float(np.linalg.norm(head[ankle] - head[knee])), float(head[hip][0]), foot,
                float(head[hip][2]), float(head[hip][1] - behind))


def _side(position: FloatArray, ball: float) -> FloatArray:
    """Return a position (3,) as forward of the ball and up (2,)."""
    return np.array([ball - position[1], position[2]])


def even_harmonics(phases: FloatArray, most: int) -> FloatArray:
    """Return cosines and sines (F, 2 * most) of twice, four times ... the phases (F,)."""
    turns = 4 * np.pi * phases[:, None] * np.arange(1, most + 1)
    return np.concatenate([np.cos(turns), np.sin(turns)], axis=1)


@dataclass(frozen=True, eq=False)
class Template:
    """A cycle of the left leg.

    ``stance`` is the fraction of the cycle in which the foot stands, ``pitch`` the standing foot's
    pitch by phase. ``over`` is how far the pelvis, in steady travel, is ahead of the foothold as
    the foot lands. ``ahead_waves`` are its deviations from steady travel, ``raised_mean`` and
    ``raised`` its height above the floor. ``progress`` (0 to 1) and ``height`` (m) are the ankle's
    path in swing, by the fraction of the swing; ``swing_pitch`` is the foot's pitch there.
    """

    pace: Pace
    legs: Legs
    stance: float
    pitch: "CubicSpline"
    over: float
    ahead_waves: FloatArray
    raised_mean: float
    raised: "CubicSpline"
    progress: "CubicSpline"
    height: "CubicSpline"
    swing_pitch: "CubicSpline"

    def ahead(self, phases: FloatArray) -> FloatArray:
        """Return how far (F,) the pelvis is ahead of steady travel, in metres."""
        return np.asarray(even_harmonics(phases, PELVIS_WAVES) @ self.ahead_waves)

    def stance_pitch(self, local: FloatArray) -> FloatArray:
        """Return a standing foot's pitch (F,), in degrees, at phases (F,) of its cycle."""
        return np.asarray(self.pitch(local))


@lru_cache(maxsize=64)
def template_of(pace: Pace) -> Template:
    """Return the cycle of a pace on the skeleton of its walker."""
    return _template(pace, legs_of(skeleton_of(pace)))


def _template(pace: Pace, legs: Legs) -> Template:
    phases = np.arange(SAMPLES_PER_CYCLE) / SAMPLES_PER_CYCLE
    angles = _angles(pace, phases)
    shape = _flight(pace, phases) if pace.kind == "run" else np.zeros(SAMPLES_PER_CYCLE)
    landing, leaving = _standing_pitch(pace, phases / pace.stance, angles[2])
    fit = _fitted(pace, legs, phases, angles, (landing, leaving), shape)
    pitch = _cyclic(pace.pitch * (fit.landing * landing + fit.leaving * leaving), "natural")
    raised = pace.rise_share * (shape + even_harmonics(phases, PELVIS_WAVES) @ fit.up)
    pelvis = PelvisPath(pace, legs, fit, _cyclic(shape, "periodic"))
    return Template(pace, legs, pace.stance, pitch, fit.over, fit.ahead, fit.height - pace.crouch,
                    _cyclic(raised, "periodic"), *_swing(pace, legs, pelvis, angles, pitch))


def _cyclic(values: FloatArray, ends: str) -> "CubicSpline":
    """Return a spline through values (F,) at even phases of a cycle."""
    phases = np.linspace(0.0, 1.0, len(values) + 1)
    return scipy.interpolate.CubicSpline(phases, np.r_[values, values[0]], bc_type=ends)


def _fitted(pace: Pace, legs: Legs, phases: FloatArray, angles: tuple[FloatArray, ...],
            pitches: tuple[FloatArray, FloatArray], shape: FloatArray) -> Fit:
    """Return the fit of the pelvis' path over the standing foot."""
    on = phases <= pace.stance
    thigh, shin, raw = (angle[on] for angle in angles)
    known = StanceLegs(
        phases[on], thigh, shin, raw - shin, pitches[0][on], pitches[1][on],
        _hip_offset(pace, legs, phases[on]), _foot_offset(pace, legs, phases[on]), shape[on],
        pace.stride * phases[on], even_harmonics(phases[on], PELVIS_WAVES), pace.rise,
        (legs.thigh, legs.shin), legs.reach * (RUNNING_EXTENSION if pace.kind == "run" else 1.0))
    none = np.zeros(2 * PELVIS_WAVES)
    rise = np.r_[-pace.rise / 2, none[1:]]
    start = Fit(legs.height - 0.02, none if pace.kind == "run" else rise,
                -pace.stride * pace.stance / 2 - 0.05, none, 1.0, 1.0)
    return fitted(known, legs.foot.ankle_at, start, pace.kind == "walk")


def _angles(pace: Pace, phases: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the inclinations of thigh and shin, and the foot's pitch, at phases (F,)."""
    norms = pace.norms
    shift = norms.pushed_off(pace.pace) - pace.stance
    # Warp time smoothly, so that the published toes leave the floor when this stance ends.
    most = 1 - np.cos(2 * np.pi * pace.stance)
    eased = phases + shift * (1 - np.cos(2 * np.pi * phases)) / most
    hip, knee, ankle = (norms.curve(joint, pace.pace, pace.speed, eased)
                        for joint in ("hip", "knee", "ankle"))
    thigh = hip - norms.standing_tilt
    shin = thigh - knee
    return thigh, shin, ankle + shin


def _standing_pitch(pace: Pace, share: FloatArray,
                    raw: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a foot's pitches (F,) in stance: of coming down, and of the rising heel.

    ``share`` (F,) is the fraction of the stance, ``raw`` (F,) the published pitch.
    """
    down = 1.0 - ramp(share, FLAT_FROM, FLAT_BY)
    up = ramp(share, HEEL_RISES_FROM, HEEL_RISEN_BY)
    landing = np.maximum(raw, 0.0) * down
    if pace.manner.toes_first:
        landing = TOES_DOWN_DEG * (1.0 - ramp(share, 0.0, 0.22))
    return landing, np.minimum(raw, 0.0) * up


def pelvis_turns(pace: Pace, phases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the pelvis' turn (left hip ahead) and drop (left hip raised) (F,), in degrees."""
    pelvis = pace.norms.pelvis
    return (pace.pelvis_turn * _odd_waves(pelvis.turn_waves, phases),
            pace.pelvis_drop * _odd_waves(pelvis.drop_waves, phases))


def _odd_waves(waves: tuple[float, ...], phases: FloatArray) -> FloatArray:
    """Return the sum (F,) of cosines and sines of once, three and five times the phases."""
    turns = 2 * np.pi * phases[:, None] * (2 * np.arange(len(waves) // 2) + 1)
    return np.asarray(np.cos(turns) @ np.array(waves[::2]) + np.sin(turns) @ np.array(waves[1::2]))


def _flight(pace: Pace, phases: FloatArray) -> FloatArray:
    """Return the height (F,) of a runner's body about its mean, in metres, ballistic in flight.

    In stance the floor's force is half a sine (Alexander, "A model of bipedal locomotion on
    compliant legs", 1992; Morin et al. 2005), scaled so that the mean force is the weight.
    """
    count = len(phases)
    steps = len(pace.contacts[0]) * 2
    within = (phases * steps) % 1.0
    stance = min(pace.contacts[0][0][1] - pace.contacts[0][0][0], 1.0 / steps) * steps
    force = np.where(within < stance, np.sin(np.pi * within / stance), 0.0)
    speed = force / force.mean() - 1.0
    for _ in range(2):
        speed = np.cumsum(speed - speed.mean()) / count * pace.stride_s
        speed -= speed.mean()
    return np.asarray(speed * GRAVITY)


class PelvisPath(NamedTuple):
    """The pelvis' path in a cycle, as positions of the left hip and of its ankle to the side."""

    pace: Pace
    legs: Legs
    fit: Fit
    shape: "CubicSpline"

    def hip(self, phases: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the hip's positions (F, 2), forward and up, and the ankle's (F,) aside."""
        pace, fit = self.pace, self.fit
        waves = even_harmonics(phases, PELVIS_WAVES)
        up = fit.height - pace.crouch + pace.rise_share * (
            self.shape(phases % 1.0) + waves @ fit.up)
        ahead = fit.over + pace.stride * phases + waves @ fit.ahead
        return (np.stack([ahead, up], axis=-1) + _hip_offset(pace, self.legs, phases),
                _foot_offset(pace, self.legs, phases))


def _hip_offset(pace: Pace, legs: Legs, phases: FloatArray) -> FloatArray:
    """Return how far (F, 2) the left hip is ahead of and above the pelvis' middle, in metres."""
    turns = np.deg2rad(np.stack(pelvis_turns(pace, phases), axis=-1))
    return np.asarray(legs.half * np.sin(turns))


def _foot_offset(pace: Pace, legs: Legs, phases: FloatArray) -> FloatArray:
    """Return how far (F,) the left foot is to the side of its hip, in metres."""
    sway = 0.5 * pace.sway * np.cos(2 * np.pi * (phases - pace.stance / 2))
    return np.asarray(legs.half + sway - pace.width / 2)


def _swing(pace: Pace, legs: Legs, pelvis: PelvisPath, angles: tuple[FloatArray, ...],
           pitch: "CubicSpline") -> "tuple[CubicSpline, CubicSpline, CubicSpline]":
    """Return the ankle's progress and height, and the foot's pitch, by the fraction of the swing.

    Thigh and shin swing as published, except that both ends join the angles of the standing leg.
    """
    share = np.linspace(0.0, 1.0, SAMPLES_PER_CYCLE // 2 + 1)
    at = pace.stance + share * (1.0 - pace.stance)
    wide = np.linspace(0.0, 1.0, SAMPLES_PER_CYCLE + 1)
    curve = scipy.interpolate.CubicSpline
    thigh, shin, raw = (curve(wide, np.r_[angle, angle[0]], bc_type="periodic")(at % 1.0)
                        for angle in angles)
    pitches = _swing_pitch(pace, share, raw, pitch)
    ends = _end_angles(pace, legs, pelvis, pitch)
    bones = [angle + _end_correction(share, angle, ends[:, number])
             for number, angle in enumerate((thigh, shin))]
    bones[1] = bones[1] - _extra_knee_bend(share, bones[0] - bones[1])
    hip, apart = pelvis.hip(at)
    places = hip + leg_line(bones[0], bones[1], apart, (legs.thigh, legs.shin))
    first, last = places[0], places[-1]
    progress = (places[:, 0] - first[0]) / max(float(last[0] - first[0]), 1e-6)
    height = places[:, 1] - (first[1] + share * (last[1] - first[1]))
    lifted = height + _bump(share) * _clearance_lift(legs, places[:, 1], pitches, share)
    lifted = lifted * pace.lift + _bump(share) * pace.lift_m
    return curve(share, progress), curve(share, lifted), curve(share, pitches)


def _extra_knee_bend(share: FloatArray, knee: FloatArray) -> FloatArray:
    """Return the additional bend (F,) of a knee in swing that keeps it above MIN_KNEE_DEG.

    It is soft, and 0 at both ends of the swing.
    """
    beyond = knee - MIN_KNEE_DEG
    more = 0.5 * (np.hypot(beyond, 2.0) - beyond)
    return np.asarray(more * smoothstep(np.clip(np.minimum(share, 1.0 - share) / 0.4, 0.0, 1.0)))


def _end_angles(pace: Pace, legs: Legs, pelvis: PelvisPath, pitch: "CubicSpline") -> FloatArray:
    """Return the inclinations of thigh and shin at lift-off and landing, then their slopes, (4, 2).

    Slopes are in degrees per swing.
    """
    step = 1e-3
    at = np.array([pace.stance - step, pace.stance, 0.0, step])
    hip, apart = pelvis.hip(at)
    thigh, shin, _ = inclinations(legs.foot.ankle_at(pitch(at)) - hip, apart,
                                  (legs.thigh, legs.shin), 0.9999 * (legs.thigh + legs.shin))
    both = np.stack([thigh, shin], axis=-1)
    swung = (1.0 - pace.stance) / step
    return np.stack([both[1], both[2], (both[1] - both[0]) * swung, (both[3] - both[2]) * swung])


def _end_correction(share: FloatArray, angle: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the correction of an angle (F,) that gives it the values and slopes ``ends`` (4,)."""
    slopes = np.gradient(angle, share)
    return end_blend(share, ends[0] - angle[0], ends[1] - angle[-1], ends[2] - slopes[0],
                     ends[3] - slopes[-1], PITCH_BLEND_SHARE)


def _swing_pitch(pace: Pace, share: FloatArray, raw: FloatArray,
                 pitch: "CubicSpline") -> FloatArray:
    """Return the foot's pitch (F,) in swing, joined to that of the stances before and after."""
    inside, swung = pace.pitch * raw, 1.0 - pace.stance
    ends = np.array([pitch(pace.stance), pitch(0.0), pitch(pace.stance, 1) * swung,
                     pitch(0.0, 1) * swung], float)
    return np.asarray(inside + _end_correction(share, inside, ends))


def end_blend(share: FloatArray, start: float | FloatArray, end: float | FloatArray,
              slope_in: float | FloatArray, slope_out: float | FloatArray,
              fades: float = 1.0) -> FloatArray:
    """Return a curve with the given values and slopes at both ends, at fractions (F, ...) of it.

    The values fade to 0 over the fraction ``fades`` of the curve, the slopes within
    ``SPEED_BLEND_SHARE`` of their end.
    """
    leaving = 1.0 - smoothstep(np.clip(share / fades, 0.0, 1.0))
    arriving = 1.0 - smoothstep(np.clip((1.0 - share) / fades, 0.0, 1.0))
    first = np.clip(share / SPEED_BLEND_SHARE, 0.0, 1.0)
    last = np.clip((1.0 - share) / SPEED_BLEND_SHARE, 0.0, 1.0)
    return np.asarray(start * leaving + end * arriving
                      + SPEED_BLEND_SHARE * (slope_in * first * (1 - first) ** 2
                                             - slope_out * last * (1 - last) ** 2))


def _bump(share: FloatArray) -> FloatArray:
    return np.asarray(16.0 * share**2 * (1 - share) ** 2)


def toes_pitch(share: FloatArray, pitch: FloatArray) -> FloatArray:
    """Return the toes' pitch (F,) in swing: flat as the foot lifts, then nearly the foot's."""
    eased = smoothstep(np.clip(share / TOES_FOLLOW_FROM, 0.0, 1.0))
    return np.asarray(pitch * eased + TOES_UP_DEG * _bump(share))


def _clearance_lift(legs: Legs, ankle: FloatArray, pitch: FloatArray, share: FloatArray) -> float:
    """Return by how many metres a swing must be higher for toes and heel to clear the floor."""
    foot = legs.foot
    heel = ankle + turned(foot.heel - foot.ankle, pitch)[..., 1]
    ball = ankle + turned(foot.ball - foot.ankle, pitch)[..., 1]
    tip = ball + turned(foot.tip - foot.ball, toes_pitch(share, pitch))[..., 1]
    bump = _bump(share)
    inner = bump > 0.35
    short = np.maximum(HEEL_CLEARANCE_M - heel, CLEARANCE_M - tip)[inner]
    return float(max(np.max(short / bump[inner]), 0.0))
