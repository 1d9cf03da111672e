"""Feet: their footholds, and their paths from one foothold to the next."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk, ramp
from mimegen.gait.course import WalkerCourse
from mimegen.gait.template import Template, end_blend, toes_pitch

# Distance between the ankles in standing, in metres.
STANDING_WIDTH = 0.17
# A foot's turn in radians, times this, counts as a distance in the size of its step.
TURNING_REACH_M = 0.22
# Largest roll of a foot, as a fraction of a usual step's.
MAX_ROLL = 1.05
# Standard deviations of step width and length between steps, in metres: Owings & Grabiner,
# "Variability of step kinematics in young and older adults", Gait & Posture 20 (2004).
WIDTH_SD = 0.012
LENGTH_SD = 0.014
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]
SIDES = ("Left", "Right")


class Steps(NamedTuple):
    """The stances of one foot.

    ``landings`` and ``liftoffs`` (K,) are phases of the gait, ``footholds`` (K, 3) the ball's
    footholds in metres. ``heading`` (K,) is the foot's direction in radians to the left of -Y.
    ``size`` (K,) is the size of the step to the next foothold, and ``roll`` (K,) how far the foot
    rolls from heel to toes for it, both as fractions of a usual step's.
    """

    landings: FloatArray
    liftoffs: FloatArray
    footholds: FloatArray
    heading: FloatArray
    size: FloatArray
    roll: FloatArray


class FootPath(NamedTuple):
    """A foot over time: the ankle's positions (F, 3), heading in radians, pitch in degrees (F,).

    ``toes`` (F,) is the pitch of the toes in degrees, ``planted`` (F,) whether the foot stands.
    """

    ankle: FloatArray
    heading: FloatArray
    pitch: FloatArray
    toes: FloatArray
    planted: BoolArray


def steps_of(template: Template, course: WalkerCourse, side: int, phases: FloatArray,
             rng: np.random.Generator | None = None) -> Steps:
    """Return the stances of the left (0) or right (1) foot around ``phases``.

    With ``rng`` the footholds vary at random.
    """
    contacts = template.pace.contacts[side]
    first, last = int(np.floor(phases.min())) - 3, int(np.ceil(phases.max())) + 3
    cycles = np.arange(first, last)
    times = np.array([[cycle + at for at in contact] for cycle in cycles for contact in contacts])
    landings, liftoffs = times.T
    footholds, heading = _footholds(template, course, side, landings, liftoffs)
    if rng is not None:
        footholds[:, :2] += _foothold_deviations(template, rng, heading)
    size = _sizes(template, footholds, heading)
    return Steps(landings, liftoffs, footholds, heading, size, np.minimum(size, MAX_ROLL))


def _footholds(template: Template, course: WalkerCourse, side: int, landings: FloatArray,
               liftoffs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return footholds (K, 3) and headings (K,), from the body's position in each mid-stance."""
    pace, outward = template.pace, 1.0 if side == 0 else -1.0
    middle = (landings + liftoffs) / 2
    amplitude = np.clip(course.speed_fraction(middle), 0.0, 1.0)
    # The template's own stance begins at its contact and is centred half of it later.
    ahead = amplitude * -(template.over + pace.stride * template.stance / 2) \
        + (1 - amplitude) * template.legs.hip_behind
    width = amplitude * pace.width + (1 - amplitude) * STANDING_WIDTH
    heading = course.heading(middle)
    forward = np.stack([np.sin(heading), -np.cos(heading)], axis=-1)
    left = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    # Widths are distances of ankles. Toes that point outward put the ball farther out than the
    # ankle.
    aside = width / 2 - template.legs.foot.ankle[0] * np.sin(np.deg2rad(pace.toe_out))
    flat = course.position(middle) + ahead[:, None] * forward + (outward * aside)[:, None] * left
    places = np.concatenate([flat, course.floor_height(middle)[:, None]], axis=1)
    return (np.asarray(places),
            heading + outward * np.deg2rad(pace.toe_out))


def _foothold_deviations(template: Template, rng: np.random.Generator,
                         heading: FloatArray) -> FloatArray:
    """Return random deviations (K, 2) of footholds, X and Y in metres."""
    size = template.pace.uneven * np.array([WIDTH_SD, LENGTH_SD])
    aside, along = (rng.normal(0.0, 1.0, (len(heading), 2)) * size).T
    return np.stack([aside * np.cos(heading) + along * np.sin(heading),
                     aside * np.sin(heading) - along * np.cos(heading)], axis=-1)


def _sizes(template: Template, footholds: FloatArray, heading: FloatArray) -> FloatArray:
    far = np.linalg.norm(np.diff(footholds, axis=0), axis=1)
    turn = TURNING_REACH_M * np.abs(np.diff(heading))
    size = np.clip(np.hypot(far, turn) / max(template.pace.stride, 0.2), 0.0, 1.2)
    return np.asarray(np.r_[size, size[-1]])


def path_of(template: Template, steps: Steps, phases: FloatArray, tilt: float) -> FootPath:
    """Return a foot's path at phases (F,); ``tilt`` is the floor's slope, uphill, in degrees."""
    number = np.clip(np.searchsorted(steps.landings, phases, side="right") - 1, 0,
                     len(steps.landings) - 2)
    landings, liftoffs = steps.landings[number], steps.liftoffs[number]
    after = steps.landings[number + 1]
    standing = phases < liftoffs
    share = np.clip((phases - landings) / (liftoffs - landings), 0.0, 1.0)
    swing = np.clip((phases - liftoffs) / (after - liftoffs), 0.0, 1.0)
    before, roll = steps.roll[np.maximum(number - 1, 0)], steps.roll[number]
    pitch = _pitches(template, share, swing, standing, before, roll)
    ankle = _standing_ankle(template, steps, number, pitch, tilt)
    flying = _swing_ankle(template, steps, number, swing, (liftoffs, after), tilt)
    turning = steps.heading[number] + (steps.heading[number + 1] - steps.heading[number]) \
        * minimum_jerk(swing)
    toes = np.where(standing, np.maximum(pitch, 0.0), toes_pitch(swing, pitch))
    return FootPath(np.where(standing[:, None], ankle, flying), turning, pitch + tilt, toes + tilt,
                    standing)


def _pitches(template: Template, share: FloatArray, swing: FloatArray, standing: BoolArray,
             before: FloatArray, after: FloatArray) -> FloatArray:
    """Return a foot's pitch (F,) in stance and in swing, scaled by its roll.

    ``share`` and ``swing`` (F,) are the fractions of the stance and the swing that have passed.
    ``before`` and ``after`` (F,) are the rolls of the steps to and from the foothold.
    """
    stance = template.stance_pitch(share * template.stance)
    rolls = np.where(stance > 0, before, after)
    if template.pace.manner.toes_first:
        rolls = np.where(share < 0.4, before, after)
    return np.asarray(np.where(standing, stance * rolls, template.swing_pitch(swing) * after))


def _standing_ankle(template: Template, steps: Steps, number: IntArray, pitch: FloatArray,
                    tilt: float) -> FloatArray:
    """Return the ankle's positions (F, 3) of a foot that stands on foothold ``number`` (F,)."""
    return _ankle_over(template, steps.footholds[number], steps.heading[number], pitch, tilt)


def _ankle_over(template: Template, ball: FloatArray, heading: FloatArray, pitch: FloatArray,
                tilt: float) -> FloatArray:
    """Return the ankle's position (..., 3) over a foothold, on a floor sloped up by ``tilt``."""
    forward, up = np.moveaxis(template.legs.foot.ankle_at(pitch), -1, 0)
    angle = np.deg2rad(tilt)
    forward, up = (forward * np.cos(angle) - up * np.sin(angle),
                   forward * np.sin(angle) + up * np.cos(angle))
    return np.asarray(ball + np.stack([forward * np.sin(heading), -forward * np.cos(heading), up],
                                      axis=-1))


def _swing_ankle(template: Template, steps: Steps, number: IntArray, swing: FloatArray,
                 times: tuple[FloatArray, FloatArray], tilt: float) -> FloatArray:
    """Return the ankle's positions (F, 3) of a foot that swings to the next foothold.

    Its velocities at lift-off and landing equal those of the ankle as the standing foot rolls,
    whatever the size of the step.
    """
    here, there, roll = number, number + 1, steps.roll[number]
    size = np.minimum(steps.size[number], MAX_ROLL)
    lift, land = (float(template.stance_pitch(np.array(at))) for at in (template.stance, 0.0))
    start = _ankle_over(template, steps.footholds[here], steps.heading[here], lift * roll, tilt)
    end = _ankle_over(template, steps.footholds[there], steps.heading[there], land * roll, tilt)
    progress, height = template.progress(swing), template.height(swing) * _relative_height(size)
    ground = steps.footholds[there, 2] - steps.footholds[here, 2]
    stairs = template.pace.manner.steps is not None
    climb = _climb(swing, ground, template.pace.knee_first) if stairs else swing
    path = start + (end - start) * progress[:, None]
    path[:, 2] = start[:, 2] + ((end - start)[:, 2] - ground) * swing + ground * climb + height
    leaving, landing = _speeds(template, steps, (here, there), roll, times, tilt)
    slope = 1e-3
    progress_slopes, height_slopes = (
        [(curve(at + slope) - curve(at - slope)) / (2 * slope) for at in (0.0, 1.0)]
        for curve in (template.progress, template.height))
    spans = (times[1] - times[0])[:, None]
    met = []
    for speed, along, raised in zip((leaving, landing), progress_slopes, height_slopes,
                                    strict=True):
        mine = (end - start) * along
        mine[:, 2] = (end - start)[:, 2] - ground * stairs + raised * _relative_height(size)
        met.append(speed * spans - mine)
    return np.asarray(path + end_blend(swing[:, None], 0.0, 0.0, met[0], met[1]))


def _relative_height(size: FloatArray) -> FloatArray:
    """Return the relative height (F,) of steps by their size; small steps are relatively high."""
    return np.asarray(np.minimum(size, 1.0) * (1.6 - 0.6 * np.minimum(size, 1.0)))


def _climb(swing: FloatArray, rising: FloatArray, first: float) -> FloatArray:
    """Return the fraction (F,) of the climb covered in swing: early on the way up, late down."""
    early = ramp(swing, 0.08, 0.72 - first)
    late = ramp(swing, 0.30, 1.0)
    return np.asarray(np.where(rising > 0, early, late))


def _speeds(template: Template, steps: Steps, numbers: tuple[IntArray, IntArray],
            roll: FloatArray, times: tuple[FloatArray, FloatArray], tilt: float
            ) -> tuple[FloatArray, FloatArray]:
    """Return the ankles' velocities (F, 3), in metres per cycle, at lift-off and at landing."""
    found = []
    for number, at, step in ((numbers[0], template.stance, -1e-4), (numbers[1], 0.0, 1e-4)):
        lasting = steps.liftoffs[number] - steps.landings[number]
        pitches = [template.stance_pitch(np.array(at + move)) * roll for move in (0.0, step)]
        ankles = [_ankle_over(template, steps.footholds[number], steps.heading[number], pitch, tilt)
                  for pitch in pitches]
        found.append((ankles[1] - ankles[0]) / step * (template.stance / lasting)[:, None])
    return found[0], found[1]
