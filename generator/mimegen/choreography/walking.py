"""Walking: from the positions that a score asks for to the steps that lead there."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.easing import minimum_jerk
from mimegen.choreography.body import centimetre
from mimegen.choreography.score import Phase, WalkKey
from mimegen.gait.course import START_CYCLES
from mimegen.gait.walker import FASTEST_M_S, SLOWEST_M_S, Walker, pace_of
from mimegen.motion import standard_skeleton
from mimegen.motion.quaternions import FloatArray

# Length of an adult's step, and turn by a step on the spot.
STEP_CM = 62.0
TURN_DEG = 50.0
# Steps aside are shorter than steps ahead by this fraction, because feet do not cross.
ASIDE_SHARE = 0.5
MIN_STEP_CM = 15.0
# Steps in which the gait engine speeds up, and slows down. Turns on the spot need one; for a walk
# of less than GOES_CM per step the number lies between.
STARTING_STEPS = 2 * START_CYCLES
GOES_CM = 30.0
# A foot lands this long before the end of its step, as a fraction of the step's time.
LANDED = 0.1
# The body starts after the first foot and arrives before the last, by these fractions of a step.
BODY_START = 0.1
BODY_END = 0.5
# Distance of standing feet from the midline, as a multiple of that in the rest pose.
STANDING_WIDTH_FACTOR = 1.25


class MovingFloor(NamedTuple):
    """The moving floor to which a performer's, or one foot's, keys are relative.

    ``place`` (F, 2) is its position in centimetres to the left and forward of the start, ``turn``
    (F,) its turn to the left in degrees. For a foot: ``narrow`` (F,) is the fraction of its usual
    distance from the midline; ``lift`` (F,) in centimetres and ``heel`` (F,) in degrees are added
    to the score's.
    """

    place: FloatArray
    turn: FloatArray
    narrow: FloatArray
    lift: FloatArray
    heel: FloatArray


class Walk(NamedTuple):
    """A walk without a stop.

    ``points`` (K, 3) are left and forward in centimetres and turn in degrees at ``times`` (K,) in
    seconds. ``lift`` raises the feet, in centimetres; ``first`` is the side of the first step.
    ``moving`` is whether the performer is already walking at the beginning, and still at the end.
    """

    times: FloatArray
    points: FloatArray
    steps: int
    lift: float
    first: str
    moving: tuple[bool, bool]

    @property
    def step_s(self) -> float:
        """The duration of a step in seconds."""
        return float(self.times[-1] - self.times[0]) / self.steps

    @property
    def full(self) -> float:
        """The mean length of a step as a fraction of an adult's usual one; 1.2 at most."""
        return float(min(self.length_cm / max(self.steps - 1, 1) / STEP_CM, 1.2))

    @property
    def step_cm(self) -> float:
        """The length of a step at the walk's full speed, in centimetres."""
        return self.length_cm / max(self._full_steps, 1.0)

    @property
    def speed_m_s(self) -> float:
        """The walk's full speed in metres per second."""
        return self.step_cm * centimetre(standard_skeleton()) / self.step_s

    @property
    def length_cm(self) -> float:
        """The length of the whole way in centimetres."""
        return float(np.linalg.norm(np.diff(self.points[:, :2], axis=0), axis=1).sum())

    @property
    def _span(self) -> tuple[float, float]:
        """The times at which the body begins to move and has arrived, in seconds."""
        begun, on = self.moving
        return (float(self.times[0]) + (0.0 if begun else BODY_START * self.step_s),
                float(self.times[-1]) - (0.0 if on else BODY_END * self.step_s))

    @property
    def _ramps(self) -> tuple[float, float]:
        """The fractions of its time in which the body speeds up and slows down."""
        begin, end = self._span
        ends = 2 - sum(self.moving)
        steps = 1.0 + (STARTING_STEPS - 1.0) * min(self.length_cm / self.steps / GOES_CM, 1.0)
        ramp = min(1.0 / max(ends, 1), steps * self.step_s / (end - begin))
        return 0.0 if self.moving[0] else ramp, 0.0 if self.moving[1] else ramp

    @property
    def _full_steps(self) -> float:
        """The number of steps that the way would take at full speed."""
        begin, end = self._span
        return (end - begin) / self.step_s * (1.0 - sum(self._ramps) / 2)

    @property
    def done_a_second(self) -> float:
        """The fraction of the way covered per second at full speed."""
        return 1.0 / (self._full_steps * self.step_s)

    @property
    def along(self) -> float:
        """The fraction of the way in the facing direction: 1 ahead, 0 aside, -1 backwards."""
        ways = np.diff(self.points, axis=0)[:, :2]
        heading = np.deg2rad((self.points[1:, 2] + self.points[:-1, 2]) / 2)
        ahead = ways[:, 0] * np.sin(heading) + ways[:, 1] * np.cos(heading)
        return float(ahead.sum() / max(self.length_cm, 1e-6))

    @property
    def backwards(self) -> bool:
        """Whether the walk goes back more than aside and ahead."""
        return self.along < -0.5

    def landing(self, number: int) -> float:
        """Return the time in seconds at which a foot lands in a step; steps count from 1."""
        return float(self.times[0]) + (number - LANDED) * self.step_s

    def landings(self, side: str) -> list[int]:
        """Return the numbers of one foot's steps, with those before and after if it is moving."""
        begun, on = self.moving
        return [number for number in range(-1 if begun else 1, self.steps + (3 if on else 1))
                if (number % 2 == 1) == (self.first == side)]

    def is_last(self, number: int) -> bool:
        """Return whether a step is its foot's last, so that the foot then stands at the end."""
        return number > self.steps - 2 and not self.moving[1]

    def done(self, moments: FloatArray) -> FloatArray:
        """Return the fraction (F,) of the way that the body has covered at moments (F,)."""
        begin, end = self._span
        return _progress((moments - begin) / (end - begin), *self._ramps)

    def at(self, moments: FloatArray) -> FloatArray:
        """Return the body's left, forward and turn (F, 3) at moments (F,)."""
        share = self.done(moments)
        knots = (self.times - self.times[0]) / (self.times[-1] - self.times[0])
        inside = np.clip(share, 0.0, 1.0)
        way = np.stack([np.interp(inside, knots, column) for column in self.points.T], axis=-1)
        slopes = np.diff(self.points, axis=0) / np.diff(knots)[:, None]
        return np.asarray(way + np.minimum(share, 0.0)[:, None] * slopes[0]
                          + np.maximum(share - 1.0, 0.0)[:, None] * slopes[-1])


def _progress(share: FloatArray, ramp_in: float, ramp_out: float) -> FloatArray:
    """Return the fraction of the way (F,) at fractions of the time ``share`` (F,).

    The body speeds up, moves steadily and slows down; the ramps are fractions of the time. Without
    a ramp the way goes on beyond that end at the same speed.
    """
    full = 1.0 - (ramp_in + ramp_out) / 2
    left = full - _accelerated(1.0 - share, ramp_out)
    return np.asarray(np.where(share > 1.0 - ramp_out, left, _accelerated(share, ramp_in)) / full)


def _accelerated(share: FloatArray, ramp: float) -> FloatArray:
    """Return the distance (F,) covered from rest in ``share`` of the time; the speed ends at 1."""
    if ramp == 0.0:
        return share
    part = np.clip(share / ramp, 0.0, 1.0)
    # The integral of a minimum-jerk rise of speed.
    return np.where(share > ramp, share - ramp / 2, ramp * part**4 * (2.5 - part * (3.0 - part)))


def walk_start(phases: Sequence[Phase]) -> FloatArray:
    """Return where the performer stands at first (3,): left and forward in cm, turn in degrees."""
    key = phases[0].walk
    values = (0.0, 0.0, 0.0) if key is None else (key.left, key.forward, key.turn)
    return np.array([value or 0.0 for value in values])


def walks(phases: Sequence[Phase]) -> list[Walk]:
    """Return the walks that the phases' ``walk`` keys ask for; passing keys are joined into one."""
    found: list[Walk] = []
    here = np.zeros(3)
    times: list[float] = []
    points: list[FloatArray] = []
    keys: list[WalkKey] = []
    moving = False
    named = [number for number, phase in enumerate(phases) if phase.walk is not None]
    for number in named:
        key = phases[number].walk
        assert key is not None
        there = np.array([now if new is None else new for now, new in zip(
            here, (key.left, key.forward, key.turn), strict=True)], float)
        if number == 0:
            here, moving = there, key.how == "pass"
            continue
        if not times:
            before = phases[number - 1].at if key.since is None else key.since
            begun = 0.0 if moving else before
            times, points = [begun], [here]
        times.append(phases[number].at)
        points.append(there)
        keys.append(key)
        here = there
        if key.how != "pass" or number == named[-1]:
            found.append(_walk(times, points, keys, (moving, key.how == "pass")))
            times, points, keys, moving = [], [], [], False
    return found


def _walk(times: list[float], points: list[FloatArray], keys: list[WalkKey],
          moving: tuple[bool, bool]) -> Walk:
    way = points[-1] - points[0]
    leftward = way[2] if abs(way[2]) > 30 else way[0]
    first = keys[0].first or ("left" if leftward > 1.0 else "right")
    lift = max(key.lift or 0.0 for key in keys)
    steps = _min_steps(points, keys, moving)
    walk = Walk(np.array(times), np.array(points), steps, lift, first, moving)
    return walk if all(key.steps for key in keys) else _usual_steps(walk)


def _min_steps(points: list[FloatArray], keys: list[WalkKey], moving: tuple[bool, bool]) -> int:
    """Return the number of steps that the score gives, or else that the turns need."""
    steps = sum(key.steps or max(1, round(abs(float((end - start)[2])) / TURN_DEG))
                for key, start, end in zip(keys, points[:-1], points[1:], strict=True))
    # The last step only closes the feet.
    return max(steps if any(moving) else steps + (keys[-1].steps is None), 2)


def _usual_steps(walk: Walk) -> Walk:
    """Return a walk in as many steps as bring it closest to the gait engine's, at least its own."""
    most = walk.steps + 2 + int(walk.length_cm / MIN_STEP_CM)
    ways = [walk._replace(steps=steps) for steps in range(walk.steps, most)]
    return min(ways, key=lambda one: abs(one.step_cm - _usual_step_cm(one)))


def _usual_step_cm(walk: Walk) -> float:
    """Return the gait engine's step length, in cm, at a walk's speed and in its direction."""
    speed = min(max(walk.speed_m_s, SLOWEST_M_S), FASTEST_M_S)
    shorter = 1.0 - ASIDE_SHARE * (1.0 - min(abs(walk.along), 1.0))
    return shorter * _step_m(round(speed, 2), walk.backwards) / centimetre(standard_skeleton())


@lru_cache(maxsize=1024)
def _step_m(speed: float, backwards: bool) -> float:
    return pace_of(Walker("walk_backwards" if backwards else "walk", speed=speed)).stride / 2


def body_ground(found: Sequence[Walk], start: FloatArray, moments: FloatArray) -> MovingFloor:
    """Return the performer's own floor at times (F,); ``start`` (3,) is as in ``walk_start``."""
    way = np.tile(start, (len(moments), 1))
    for walk in found:
        now = walk.at(moments)
        begun = moments >= walk.times[0]
        way[begun] = now[begun]
        if len(moments) < 2:
            continue
        if len(walk.times) > 2:
            # Round the corners of the way over half a step.
            sigma = 0.5 * walk.step_s * (len(moments) - 1) / (moments[-1] - moments[0])
            way = scipy.ndimage.gaussian_filter1d(way, sigma, axis=0, mode="nearest")
    nothing = np.zeros(len(moments))
    return MovingFloor(way[:, :2], way[:, 2], nothing + 1.0, nothing, nothing)


def speed_share(walk: Walk, moments: FloatArray) -> FloatArray:
    """Return the speed (F,) of a walk as an eased fraction of its full speed."""
    step = 1e-3 * walk.step_s
    gone = walk.done(moments + step) - walk.done(moments - step)
    steady = walk.done_a_second * 2 * step
    lively = np.clip(gone / steady, 0.0, 1.0)
    return np.asarray((minimum_jerk(lively) + lively) / 2)
