"""Feet: their footholds, and their paths from one foothold to the next."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk, ramp
from mimegen.gait.course import WalkerCourse
from mimegen.gait.template import Template, meeting, toes_pitch

# Distance between the ankles in standing, in metres.
STANDING_WIDTH = 0.17
# A foot's turn in radians, times this, counts as a distance in the size of its step.
TURNING_REACH_M = 0.22
# Largest roll of a foot, as a fraction of a usual step's.
MOST_ROLL = 1.05
# Standard deviations of step width and length between steps, in metres: Owings & Grabiner,
# "Variability of step kinematics in young and older adults", Gait & Posture 20 (2004).
WIDTH_SD = 0.012
LENGTH_SD = 0.014
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]
SIDES = ("Left", "Right")


class Steps(NamedTuple):
    """The stances of one foot.

    ``lands`` and ``lifts`` (K,) are phases of the gait, ``balls`` (K, 3) the ball's footholds in
    metres. ``heading`` (K,) is the foot's direction in radians to the left of -Y. ``size`` (K,) is
    the size of the step to the next foothold, and ``roll`` (K,) how far the foot rolls from heel to
    toes for it, both as fractions of a usual step's.
    """

    lands: FloatArray
    lifts: FloatArray
    balls: FloatArray
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
    lands, lifts = times.T
    balls, heading = _footholds(template, course, side, lands, lifts)
    if rng is not None:
        balls[:, :2] += _astray(template, rng, heading)
    size = _sizes(template, balls, heading)
    return Steps(lands, lifts, balls, heading, size, np.minimum(size, MOST_ROLL))


def _footholds(template: Template, course: WalkerCourse, side: int, lands: FloatArray,
               lifts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return footholds (K, 3) and headings (K,), from the body's position in each mid-stance."""
    pace, outward = template.pace, 1.0 if side == 0 else -1.0
    middle = (lands + lifts) / 2
    lively = np.clip(course.speed_fraction(middle), 0.0, 1.0)
    # The template's own stance begins at its contact and is centred half of it later.
    ahead = lively * -(template.over + pace.stride * template.stance / 2) \
        + (1 - lively) * template.legs.hip_behind
    width = lively * pace.width + (1 - lively) * STANDING_WIDTH
    heading = course.heading(middle)
    forward = np.stack([np.sin(heading), -np.cos(heading)], axis=-1)
    left = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    # Widths are distances of ankles. Toes that point outward put the ball farther out than the
    # ankle.
    aside = width / 2 - template.legs.foot.ankle[0] * np.sin(np.deg2rad(pace.toe_out))
    flat = course.place(middle) + ahead[:, None] * forward + (outward * aside)[:, None] * left
    places = np.concatenate([flat, course.level(middle)[:, None]], axis=1)
    return (np.asarray(places),
            heading + outward * np.deg2rad(pace.toe_out))


def _astray(template: Template, rng: np.random.Generator, heading: FloatArray) -> FloatArray:
    """Return random deviations (K, 2) of footholds, X and Y in metres."""
    size = template.pace.uneven * np.array([WIDTH_SD, LENGTH_SD])
    aside, along = (rng.normal(0.0, 1.0, (len(heading), 2)) * size).T
    return np.stack([aside * np.cos(heading) + along * np.sin(heading),
                     aside * np.sin(heading) - along * np.cos(heading)], axis=-1)


def _sizes(template: Template, balls: FloatArray, heading: FloatArray) -> FloatArray:
    far = np.linalg.norm(np.diff(balls, axis=0), axis=1)
    turn = TURNING_REACH_M * np.abs(np.diff(heading))
    size = np.clip(np.hypot(far, turn) / max(template.pace.stride, 0.2), 0.0, 1.2)
    return np.asarray(np.r_[size, size[-1]])


def path_of(template: Template, steps: Steps, phases: FloatArray, tilt: float) -> FootPath:
    """Return a foot's path at phases (F,); ``tilt`` is the floor's slope, uphill, in degrees."""
    number = np.clip(np.searchsorted(steps.lands, phases, side="right") - 1, 0,
                     len(steps.lands) - 2)
    lands, lifts, after = steps.lands[number], steps.lifts[number], steps.lands[number + 1]
    standing = phases < lifts
    share = np.clip((phases - lands) / (lifts - lands), 0.0, 1.0)
    swing = np.clip((phases - lifts) / (after - lifts), 0.0, 1.0)
    before, roll = steps.roll[np.maximum(number - 1, 0)], steps.roll[number]
    pitch = _pitches(template, share, swing, standing, before, roll)
    ankle = _standing_ankle(template, steps, number, pitch, tilt)
    flying = _flying(template, steps, number, swing, (lifts, after), tilt)
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
    stance = template.pitched(share * template.stance)
    rolls = np.where(stance > 0, before, after)
    if template.pace.manner.toes_first:
        rolls = np.where(share < 0.4, before, after)
    return np.asarray(np.where(standing, stance * rolls, template.swing_pitch(swing) * after))


def _standing_ankle(template: Template, steps: Steps, number: IntArray, pitch: FloatArray,
                    tilt: float) -> FloatArray:
    """Return the ankle's positions (F, 3) of a foot that stands on foothold ``number`` (F,)."""
    return _over(template, steps.balls[number], steps.heading[number], pitch, tilt)


def _over(template: Template, ball: FloatArray, heading: FloatArray, pitch: FloatArray,
          tilt: float) -> FloatArray:
    """Return the ankle's position (..., 3) over a foothold, on a floor sloped up by ``tilt``."""
    forward, up = np.moveaxis(template.legs.foot.ankle_at(pitch), -1, 0)
    angle = np.deg2rad(tilt)
    forward, up = (forward * np.cos(angle) - up * np.sin(angle),
                   forward * np.sin(angle) + up * np.cos(angle))
    return np.asarray(ball + np.stack([forward * np.sin(heading), -forward * np.cos(heading), up],
                                      axis=-1))


def _flying(template: Template, steps: Steps, number: IntArray, swing: FloatArray,
            times: tuple[FloatArray, FloatArray], tilt: float) -> FloatArray:
    """Return the ankle's positions (F, 3) of a foot on its way to the next foothold.

    Its velocities at lift-off and landing equal those of the ankle as the standing foot rolls,
    whatever the size of the step.
    """
    here, there, roll = number, number + 1, steps.roll[number]
    size = np.minimum(steps.size[number], MOST_ROLL)
    lift, land = (float(template.pitched(np.array(at))) for at in (template.stance, 0.0))
    start = _over(template, steps.balls[here], steps.heading[here], lift * roll, tilt)
    end = _over(template, steps.balls[there], steps.heading[there], land * roll, tilt)
    way, height = template.way(swing), template.height(swing) * _lifted(size)
    ground = steps.balls[there, 2] - steps.balls[here, 2]
    stairs = template.pace.manner.steps is not None
    climb = _climb(swing, ground, template.pace.knee_first) if stairs else swing
    path = start + (end - start) * way[:, None]
    path[:, 2] = start[:, 2] + ((end - start)[:, 2] - ground) * swing + ground * climb + height
    leaving, landing = _speeds(template, steps, (here, there), roll, times, tilt)
    slope = 1e-3
    now = [(template.way(at + slope) - template.way(at - slope)) / (2 * slope) for at in (0.0, 1.0)]
    lifts = [(template.height(at + slope) - template.height(at - slope)) / (2 * slope)
             for at in (0.0, 1.0)]
    spans = (times[1] - times[0])[:, None]
    met = []
    for speed, along, raised in zip((leaving, landing), now, lifts, strict=True):
        mine = (end - start) * along
        mine[:, 2] = (end - start)[:, 2] - ground * stairs + raised * _lifted(size)
        met.append(speed * spans - mine)
    return np.asarray(path + meeting(swing[:, None], 0.0, 0.0, met[0], met[1]))


def _lifted(size: FloatArray) -> FloatArray:
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
        lasting = steps.lifts[number] - steps.lands[number]
        pitches = [template.pitched(np.array(at + move)) * roll for move in (0.0, step)]
        ankles = [_over(template, steps.balls[number], steps.heading[number], pitch, tilt)
                  for pitch in pitches]
        found.append((ankles[1] - ankles[0]) / step * (template.stance / lasting)[:, None])
    return found[0], found[1]
