"""Walking: from where a performer should have got to, to the footfalls that bring them there."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy
from scipy.ndimage import gaussian_filter1d

from mimegen.base.easing import minimum_jerk, smoothstep
from mimegen.choreography.score import Phase, WalkKey
from mimegen.motion.quaternions import FloatArray

# A step of an adult; and, where the score gives no number of steps, how far each goes on average
# with the short first and last ones, and turns.
STEP_CM = 62.0
MEAN_STEP_CM = 52.0
TURN_DEG = 50.0
# Shares of a step's time: a foot is in the air for 80 % of it (40 % of the gait cycle, Perry and
# Burnfield 2010), after the other has come down.
LIFT_OFF = 0.1
IN_AIR = 0.8
# The body starts after the first foot and arrives before the last one.
BODY_START = 0.1
BODY_END = 0.5
KNEE_AHEAD = 1.1
# The body is fastest while both feet stand, slowest over the standing one: by so much of its speed
# (Perry and Burnfield 2010).
PULSE = 0.13
# Heel strikes shake the body: so far, so quickly, dying away within so long.
JOLT_CM = 0.9
JOLT_HZ = 6.0
JOLT_S = 0.08
# In walking the feet are nearer to the middle than in standing.
NARROW = 0.55
# Heel lift at toe-off and toe lift at heel strike in a full step, in degrees (Perry).
TOE_OFF_DEG = 42.0
ON_THE_SPOT_DEG = 20.0
HEEL_STRIKE_DEG = 17.0


class MovingFloor(NamedTuple):
    """Where a performer's, or one foot's, own floor lies in the world at every moment.

    ``place`` (F, 2) in centimetres to the left and forward of the start, ``turn`` (F,) in degrees
    to the left. For a foot: ``narrow`` (F,), the share of its usual distance from the middle,
    ``lift`` (F,) in centimetres and ``heel`` (F,) in degrees, on top of what the score says.
    """

    place: FloatArray
    turn: FloatArray
    narrow: FloatArray
    lift: FloatArray
    heel: FloatArray


class Walk(NamedTuple):
    """A way without a stop: moments (K,), left, forward, turn at each (K, 3), steps, feet's lift.

    ``moving`` says whether it is under way already as it begins, and still as it ends.
    """

    times: FloatArray
    points: FloatArray
    steps: int
    lift: float
    first: str
    moving: tuple[bool, bool]

    @property
    def step_s(self) -> float:
        """Seconds a step."""
        return float(self.times[-1] - self.times[0]) / self.steps

    @property
    def full(self) -> float:
        """How far a step goes, as a share of an adult's usual one."""
        way = np.linalg.norm(np.diff(self.points[:, :2], axis=0), axis=1).sum()
        return float(min(way / max(self.steps - 1, 1) / STEP_CM, 1.2))

    def pulsed(self, moments: FloatArray) -> FloatArray:
        """Return the moments (F,) of a steady walk that one with each step's pulse has got to."""
        steps = (moments - self.times[0]) / self.step_s
        ease = np.ones(len(moments))
        for within, moving in zip((steps, self.steps - steps), self.moving, strict=True):
            ease *= 1.0 if moving else np.clip(within, 0.0, 1.0)
        ahead = PULSE * self.step_s / (2 * np.pi) * np.sin(2 * np.pi * steps)
        return np.asarray(moments + ease * ahead)

    def at(self, moments: FloatArray) -> FloatArray:
        """Return left, forward, turn (F, 3) of the body at moments (F,)."""
        step, (begun, on) = self.step_s, self.moving
        begin = self.times[0] + (0.0 if begun else BODY_START * step)
        end = self.times[-1] - (0.0 if on else BODY_END * step)
        share = (moments - begin) / (end - begin)
        ramp = min(0.5, step / (end - begin))
        share = _progress(share, 0.0 if begun else ramp, 0.0 if on else ramp)
        knots = (self.times - self.times[0]) / (self.times[-1] - self.times[0])
        inside = np.clip(share, 0.0, 1.0)
        way = np.stack([np.interp(inside, knots, column) for column in self.points.T], axis=-1)
        slopes = np.diff(self.points, axis=0) / np.diff(knots)[:, None]
        return np.asarray(way + np.minimum(share, 0.0)[:, None] * slopes[0]
                          + np.maximum(share - 1.0, 0.0)[:, None] * slopes[-1])


def _progress(share: FloatArray, ramp_in: float, ramp_out: float) -> FloatArray:
    """Return the share of the way (F,) at shares of the time: speeding up, steady, slowing down.

    Without a ramp the way goes on beyond that end at the same speed.
    """
    grid = np.linspace(0.0, 1.0, 401)
    speed = np.ones_like(grid)
    for ramp, ahead in ((ramp_in, grid), (ramp_out, 1.0 - grid)):
        if ramp > 0:
            part = np.clip(ahead / ramp, 0.0, 1.0)
            speed *= smoothstep(part)
    way = np.r_[0.0, np.cumsum((speed[1:] + speed[:-1]) / 2)]
    steady = 400.0 / way[-1]
    done = np.interp(share, grid, way / way[-1])
    before = np.minimum(share, 0.0) * (steady if ramp_in == 0 else 0.0)
    after = np.maximum(share - 1.0, 0.0) * (steady if ramp_out == 0 else 0.0)
    return np.asarray(done + before + after)


def walk_start(phases: Sequence[Phase]) -> FloatArray:
    """Return where the performer stands at first: left, forward (cm), turn (degrees), (3,)."""
    key = phases[0].walk
    values = (0.0, 0.0, 0.0) if key is None else (key.left, key.forward, key.turn)
    return np.array([value or 0.0 for value in values])


def walks(phases: Sequence[Phase]) -> list[Walk]:
    """Return the ways that the phases' ``walk`` keys ask for, passing keys joined into one."""
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
    steps = 0
    for key, start, end in zip(keys, points[:-1], points[1:], strict=True):
        left, forward, turn = end - start
        far = max(float(np.hypot(left, forward)) / MEAN_STEP_CM, abs(turn) / TURN_DEG)
        steps += key.steps or max(1, round(far))
    steps = max(steps if any(moving) else steps + (keys[-1].steps is None), 2)
    way = points[-1] - points[0]
    leftward = way[2] if abs(way[2]) > 30 else way[0]
    first = keys[0].first or ("left" if leftward > 1.0 else "right")
    lift = max(key.lift or 0.0 for key in keys)
    return Walk(np.array(times), np.array(points), steps, lift, first, moving)


def body_ground(found: Sequence[Walk], start: FloatArray, moments: FloatArray) -> MovingFloor:
    """Return the performer's own floor; ``start`` (3,) is left, forward, turn at the beginning."""
    way = np.tile(start, (len(moments), 1))
    for walk in found:
        now = walk.at(moments)
        begun = moments >= walk.times[0]
        way[begun] = now[begun]
        if len(moments) < 2:
            continue
        if len(walk.times) > 2:
            # Corners of the way are rounded over half a step.
            sigma = 0.5 * walk.step_s * (len(moments) - 1) / (moments[-1] - moments[0])
            way = gaussian_filter1d(way, sigma, axis=0, mode="nearest")
        pace = np.gradient(way, axis=0) / np.maximum(np.gradient(moments), 1e-6)[:, None]
        way = way + (walk.pulsed(moments) - moments)[:, None] * pace
    nothing = np.zeros(len(moments))
    return MovingFloor(way[:, :2], way[:, 2], nothing + 1.0, nothing, nothing)


def foot_ground(found: Sequence[Walk], start: FloatArray, moments: FloatArray,
                side: str, stray: FloatArray) -> MovingFloor:
    """Return one foot's own floor (see Floor): still in stance, moved in every swing.

    ``stray`` (N, 4) is how far each of its landings, in turn, is off to the left and ahead (cm),
    turned (degrees), and how much higher (a share) it is lifted on the way.
    """
    landing = 0
    frame = np.r_[start, 1.0]
    way = np.tile(frame, (len(moments), 1))
    lift, heel = np.zeros(len(moments)), np.zeros(len(moments))
    for walk in found:
        for number, (begin, landed) in enumerate(_landings(walk, side)):
            if number == 0 and walk.moving[0]:
                way += landed - frame
                frame = landed
                continue
            off, landing = stray[landing % len(stray)], landing + 1
            landed = landed + _strayed(off, landed[2]) * walk.full
            end = begin + IN_AIR * walk.step_s
            share = np.clip((moments - begin) / (end - begin), 0.0, 1.0)
            way += (landed - frame) * minimum_jerk(share)[:, None]
            span = float(np.hypot(*(landed - frame)[:2]))
            swung = 16 * share**2 * (1 - share) ** 2
            lift += (3.0 + 0.05 * span + walk.lift) * (1 + off[3]) * swung
            # Under a raised thigh the foot is ahead.
            turn = np.deg2rad(way[:, 2])
            way[:, :2] += (KNEE_AHEAD * walk.lift * swung)[:, None] * np.stack(
                [np.sin(turn), np.cos(turn)], axis=-1)
            heel += _roll(walk, begin, end, min(span / (2 * STEP_CM), 1.0))(moments)
            frame = landed
    return MovingFloor(way[:, :2], way[:, 2], way[:, 3], lift, heel)


def _strayed(off: FloatArray, heading: float) -> FloatArray:
    """Return how a landing (4,) that is off to the left, ahead and turned changes, (3,)."""
    sine, cosine = np.sin(np.deg2rad(heading)), np.cos(np.deg2rad(heading))
    left, ahead, turn = (float(value) for value in off[:3])
    return np.array([left * cosine + ahead * sine, ahead * cosine - left * sine, turn, 0.0])


def _landings(walk: Walk, side: str) -> list[tuple[float, FloatArray]]:
    """Return when a foot leaves the floor, and its floor where it lands: (4,) with narrowness."""
    step = walk.step_s
    begun, on = walk.moving
    landings = []
    for number in range(-1 if begun else 1, walk.steps + (3 if on else 1)):
        if ((number % 2 == 1) == (walk.first == side)):
            begin = float(walk.times[0]) + (number - 1 + LIFT_OFF) * step
            stance = np.array([begin + (IN_AIR + 2.0) / 2 * step])
            last = number > walk.steps - 2 and not on
            where = walk.points[-1] if last else walk.at(stance)[0]
            landings.append((begin, np.r_[where, 1.0 if last else NARROW]))
    return landings


def _roll(walk: Walk, begin: float, end: float, ahead: float
          ) -> Callable[[FloatArray], FloatArray]:
    """Return the heel's lift in degrees over time: rolled off, swung, set down on the heel."""
    step = walk.step_s
    off = ON_THE_SPOT_DEG + (TOE_OFF_DEG - ON_THE_SPOT_DEG) * ahead
    times = [begin - 1e3, begin - 0.6 * step, begin, begin + 0.45 * (end - begin), end,
             end + 0.22 * step, end + 1e3]
    lifts = [0.0, 0.0, off, 0.55 * off, -HEEL_STRIKE_DEG * ahead, 0.0, 0.0]
    lifted: Callable[[FloatArray], FloatArray] = scipy.interpolate.PchipInterpolator(times, lifts)
    return lifted


def jolts(found: Sequence[Walk], moments: FloatArray) -> FloatArray:
    """Return how far (F,), in centimetres, the body gives way to its footfalls, and rings."""
    given = np.zeros(len(moments))
    for walk in found:
        since = ((moments - walk.times[0]) / walk.step_s - LIFT_OFF - IN_AIR) % 1.0 * walk.step_s
        given += np.exp(-since / JOLT_S) * np.sin(2 * np.pi * JOLT_HZ * since)
    return JOLT_CM * given * under_way(found, moments)


def under_way(found: Sequence[Walk], moments: FloatArray) -> FloatArray:
    """Return the size of the steps (F,), as a share of an adult's usual ones, eased."""
    size = np.zeros(len(moments))
    for walk in found:
        ease = 0.8 * walk.step_s
        begin = walk.times[0] - (10.0 if walk.moving[0] else 0.0)
        end = walk.times[-1] + (10.0 if walk.moving[1] else 0.0)
        inside = np.clip(np.minimum(moments - begin, end - moments) / ease, 0.0, 1.0)
        size += walk.full * smoothstep(inside)
    return size
