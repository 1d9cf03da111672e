"""Walks: movements from the gait engine between the footholds of a score.

The score determines where and when feet land. The gait engine determines how they get there, how
long they stand, and how pelvis, trunk and hanging hands move, for steps of that length and time.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk, ramp
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.body import centimetre
from mimegen.choreography.walking import STANDING_WIDTH_FACTOR, MovingFloor, Walk, speed_share
from mimegen.gait.feet import MAX_ROLL, TURNING_REACH_M, FootPath, Steps, path_of
from mimegen.gait.norms import runs_from
from mimegen.gait.stride import Stride, stride_of
from mimegen.gait.template import Template, template_of
from mimegen.gait.walker import FASTEST_M_S, Pace, Walker, pace_of
from mimegen.motion import standard_skeleton

# Lengths and durations of steps for which the gait engine is asked; shorter, longer, quicker and
# slower steps have the nearest gait, and short ones a smaller size. WALKS_M_S limits its speed.
STEP_M = (0.3, 0.95)
STEP_S = (0.25, 1.45)
WALKS_M_S = 2.0
# Lengths and durations are rounded to these, so that similar steps share one gait. Runners' time is
# rounded more finely, because the height of their flight depends on it.
ALIKE_M, ALIKE_S, ALIKE_RUNNING_S = 0.025, 0.05, 0.01
# Limits of a swing, as a fraction of a usual step: steps on the spot lift the foot as in a step of
# size ON_THE_SPOT and roll over it as in one of MIN_ROLL; none is larger than MAX_STEP_SIZE. Steps
# aside and turns roll by ROLLS_ASIDE of those ahead.
ON_THE_SPOT = 0.35
MIN_ROLL = 0.2
MAX_STEP_SIZE = 1.2
ROLLS_ASIDE = 0.35
# A foot that the score lifts hangs under a raised thigh: it is ahead by this fraction of its lift.
KNEE_AHEAD = 1.1
# The pelvis rises by this fraction of the lift that a score adds to its steps.
RISE_SHARE = 0.11
# Runners' hands pass the hips this much farther out than in the engine, whose hips have no flesh.
RUNNING_OUT_M = 0.03
# The ball of a foot rises by CLEARS_CM within this fraction at the beginning of a swing, before the
# foot moves, and comes down within the same at its end.
CLEARS_CM = 0.6
CLEARS_WITHIN = 0.1
# Least height of the foot in steps that are small or aside, unlike those of gait.
MIN_SMALL_STEP_LIFT_CM = 3.0
# Feet stand for this many cycles before and after a walk.
ENDLESS = 1e4


class Gait(NamedTuple):
    """The gait that the engine has for a walk.

    ``along`` is the fraction of the way that goes ahead or back rather than aside. ``size`` is the
    length of the steps ahead or back, as a fraction of the shortest that the engine is asked for;
    1 at most.
    """

    pace: Pace
    along: float
    size: float

    @property
    def template(self) -> Template:
        """The cycle of the legs."""
        return template_of(self.pace)

    @property
    def stride(self) -> Stride:
        """The cycle of pelvis, chest and hands."""
        return stride_of(self.pace)


class BodyMoves(NamedTuple):
    """The movements that walking adds to a body, in its own axes.

    ``share`` (F,) is how fully it walks or runs, ``runs`` (F,) how fully it runs, both from 0 to 1.
    The others are as in ``Stride``: ``root`` (F, 3) in metres, ``pelvis`` and ``chest`` (F, 3) in
    degrees, ``hands`` (F, 3) by side in metres.
    """

    share: FloatArray
    runs: FloatArray
    root: FloatArray
    pelvis: FloatArray
    chest: FloatArray
    hands: dict[str, FloatArray]


def gait_of(walk: Walk) -> Gait:
    """Return the gait of a walk, by the length of its steps ahead or back and by their duration."""
    along = min(abs(walk.along), 1.0)
    step_m = along * walk.step_cm * centimetre(standard_skeleton())
    runs = along * walk.speed_m_s > runs_from() and not walk.backwards
    alike_s = ALIKE_RUNNING_S if runs else ALIKE_S
    step_s = float(np.clip(round(walk.step_s / alike_s) * alike_s, *STEP_S))
    alike_m = round(step_m / ALIKE_M) * ALIKE_M
    pace = _running(alike_m, step_s) if runs else _walking(alike_m, step_s, walk.backwards)
    return Gait(pace, along, min(step_m / STEP_M[0], 1.0))


@lru_cache(maxsize=256)
def _walking(step_m: float, step_s: float, backwards: bool) -> Pace:
    usual = min(max(step_m, STEP_M[0]), STEP_M[1], WALKS_M_S * step_s)
    return pace_of(Walker("walk_backwards" if backwards else "walk", speed=usual / step_s,
                          cadence=60 / step_s))


@lru_cache(maxsize=256)
def _running(step_m: float, step_s: float) -> Pace:
    return pace_of(Walker("run", speed=min(step_m / step_s, FASTEST_M_S), cadence=60 / step_s))


def body_moves(found: Sequence[Walk], moments: FloatArray) -> BodyMoves:
    """Return the movements that walks add to the body at times (F,) of the score."""
    none = np.zeros((len(moments), 3))
    share, runs = np.zeros(len(moments)), np.zeros(len(moments))
    root, pelvis, chest = none.copy(), none.copy(), none.copy()
    hands, unit = {side: none.copy() for side in SIDES}, centimetre(standard_skeleton())
    for walk in found:
        gait = gait_of(walk)
        going = speed_share(walk, moments)
        if not going.any():
            continue
        mine, phases = gait.size * going, _phases(walk, gait.pace, moments) % 1.0
        share += mine
        root[:, 2] += going * RISE_SHARE * walk.lift * unit * _lifts(gait.pace, phases)
        runs += mine * (gait.pace.kind == "run")
        for moves, cycle in ((root, gait.stride.root), (pelvis, gait.stride.pelvis),
                             (chest, gait.stride.chest), *(
                                 (hands[side], gait.stride.hands[side]) for side in SIDES)):
            moves += mine[:, None] * cycle(phases)
    for side, sign in SIDES.items():
        hands[side][:, 0] += sign * runs * RUNNING_OUT_M
    return BodyMoves(share, runs, root, pelvis, chest, hands)


def _phases(walk: Walk, pace: Pace, moments: FloatArray) -> FloatArray:
    """Return the gait's phases (F,); at 0 the left foot lands, or leaves the floor if backwards."""
    landing = walk.landing(1 if walk.first == "left" else 2)
    cycles = (moments - landing) / (2 * walk.step_s)
    return pace.stance - cycles if walk.backwards else cycles


def _lifts(pace: Pace, phases: FloatArray) -> FloatArray:
    """Return the lift (F,) of the foot in the air: 1 in the middle of its swing, 0 at the ends."""
    feet = [np.clip(((phases + after) % 1.0 - pace.stance) / (1.0 - pace.stance), 0.0, 1.0)
            for after in (0.0, 0.5)]
    return np.asarray(sum(_bump(swing) for swing in feet))


def _bump(swing: FloatArray) -> FloatArray:
    return np.asarray(16 * swing**2 * (1 - swing) ** 2)


def foot_ground(found: Sequence[Walk], start: FloatArray, moments: FloatArray,
                side: str, stray: FloatArray) -> MovingFloor:
    """Return one foot's own floor: at rest while the foot stands, moving in every swing.

    ``start`` (3,) is where the performer stands at first. ``stray`` (N, 4) are the deviations of
    the foot's landings, in turn: to the left and ahead in centimetres, turned in degrees, and the
    fraction by which the foot is lifted higher on the way.
    """
    stand = np.r_[start, 1.0]
    floor = np.tile(stand, (len(moments), 1))
    lift, heel = np.zeros(len(moments)), np.zeros(len(moments))
    landing = 0
    for walk in found:
        steps = _footfalls(walk, side, stand, np.roll(stray, -landing, axis=0))
        if len(steps.places) == 1:
            continue
        moved, more, rolled = _swung(walk, steps, moments)
        floor, lift, heel = floor + moved, lift + more, heel + rolled
        if walk.moving[0]:
            floor = floor + steps.places[0] - stand
        landing += len(steps.places) - 1
        stand = steps.places[-1]
    return MovingFloor(floor[:, :2], floor[:, 2], floor[:, 3], lift, heel)


class _Footfalls(NamedTuple):
    """The footfalls of one foot in one walk.

    ``places`` (K, 4) are left, forward, turn and narrowness of where it stands, the first before
    the walk. ``lands`` (K,) are the times of landing there, in seconds; ``higher`` (K,) is the
    fraction by which the foot is lifted higher to get there.
    """

    places: FloatArray
    lands: FloatArray
    higher: FloatArray


def _footfalls(walk: Walk, side: str, stand: FloatArray, stray: FloatArray) -> _Footfalls:
    """Return the footfalls of a foot that stands at ``stand`` (4,) before the walk."""
    gait = gait_of(walk)
    numbers = walk.landings(side)
    lands = np.array([walk.landing(number) for number in numbers])
    if not len(lands):
        return _Footfalls(stand[None], np.zeros(1), np.zeros(1))
    middle = lands + gait.pace.stance * walk.step_s
    share = gait.size * speed_share(walk, middle)
    places = np.column_stack([walk.at(middle), 1.0 + share * (_narrowness(gait.template) - 1.0)])
    places[:, :2] += (share * _behind_cm(gait))[:, None] * _ahead(places[:, 2])
    last = np.array([walk.is_last(number) for number in numbers])
    places[last] = np.r_[walk.points[-1], 1.0]
    off = stray[np.arange(len(lands)) % len(stray)]
    places[:, :3] += walk.full * _strayed(off, places[:, 2])
    if walk.moving[0]:
        return _Footfalls(places, lands, np.r_[0.0, off[1:, 3]])
    before = lands[0] - 2 * walk.step_s
    return _Footfalls(np.vstack([stand, places]), np.r_[before, lands], np.r_[0.0, off[:, 3]])


def _ahead(turn: FloatArray) -> FloatArray:
    """Return the facing directions (..., 2), as left and forward, of turns (...,) to the left."""
    angle = np.deg2rad(turn)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1)


def _behind_cm(gait: Gait) -> float:
    """Return how much farther ahead of the hips feet are in mid-stance than in standing, in cm."""
    template = gait.template
    ahead = -(template.over + gait.pace.stride * template.stance / 2) - template.legs.hip_behind
    return ahead / centimetre(standard_skeleton())


def _narrowness(template: Template) -> float:
    """Return the feet's distance from the midline in gait, as a fraction of that in standing."""
    toes_in = template.legs.foot.ankle[0] * np.sin(np.deg2rad(template.pace.toe_out))
    skeleton = standard_skeleton()
    standing = STANDING_WIDTH_FACTOR * skeleton.heads[skeleton.index["LeftToeBase"], 0]
    return float((template.pace.width / 2 - toes_in) / standing)


def _strayed(off: FloatArray, heading: FloatArray) -> FloatArray:
    """Return the changes (K, 3) of landings by deviations ``off`` (K, 4), for their headings."""
    ahead = _ahead(heading)
    left = np.stack([ahead[:, 1], -ahead[:, 0]], axis=-1)
    return np.column_stack([off[:, :1] * left + off[:, 1:2] * ahead, off[:, 2]])


class _Swing(NamedTuple):
    """A foot's swing to its next foothold.

    ``share`` (F,) is the fraction of its time that has passed, ``change`` (4,) the change in left,
    forward, turn and narrowness, ``higher`` the fraction by which the foot is lifted higher.
    """

    share: FloatArray
    change: FloatArray
    higher: float

    @property
    def bump(self) -> FloatArray:
        """The shape of the lift (F,): 1 in the middle of the swing, 0 at both ends."""
        return _bump(self.share)


def _swings(walk: Walk, steps: _Footfalls, moments: FloatArray) -> list[_Swing]:
    return [_Swing(np.clip((moments - lift) / (landing - lift), 0.0, 1.0), change, float(higher))
            for lift, landing, change, higher in zip(
                _leaves(walk, steps), steps.lands[1:], np.diff(steps.places, axis=0),
                steps.higher[1:], strict=True)]


def _leaves(walk: Walk, steps: _Footfalls) -> FloatArray:
    """Return the times (K - 1,), in seconds, at which a foot leaves each foothold but the last.

    No foot leaves before the walk begins.
    """
    leaves = steps.lands[1:] - 2 * (1 - gait_of(walk).pace.stance) * walk.step_s
    return leaves if walk.moving[0] else np.maximum(leaves, walk.times[0])


def _swung(walk: Walk, steps: _Footfalls, moments: FloatArray
           ) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the displacement of a foot's floor by a walk, the foot's lift, and its heel's lift.

    The displacement (F, 4) is relative to the first foothold; the lifts (F,) are in centimetres and
    in degrees.
    """
    gait, unit = gait_of(walk), centimetre(standard_skeleton())
    path, on_spot = _paths(walk, steps, moments)
    displaced = _foot_displacement(gait.template, on_spot) / unit
    swings = _swings(walk, steps, moments)
    moved = np.zeros((len(moments), 4))
    for swing in swings:
        moved += minimum_jerk(swing.share)[:, None] * swing.change
    # The part of the way that goes aside or turns follows minimum jerk instead of the gait.
    change = (path.ankle - on_spot.ankle)[:, :2] * [1.0, -1.0] / unit - steps.places[0, :2]
    moved[:, :2] += gait.along * (change - moved[:, :2])
    knees = sum((KNEE_AHEAD * walk.lift * swing.bump for swing in swings), np.zeros(len(moments)))
    moved[:, :2] += (displaced[:, 0] + knees)[:, None] * _ahead(steps.places[0, 2] + moved[:, 2])
    return moved, _lifted(walk, swings, displaced[:, 1]), -path.pitch


def _paths(walk: Walk, steps: _Footfalls, moments: FloatArray) -> tuple[FootPath, FootPath]:
    """Return the gait engine's path of a foot that always heads to -Y, and its path on the spot."""
    template, stances = gait_of(walk).template, _stances(walk, steps)
    cycles = (moments - walk.times[0]) / (2 * walk.step_s) * (-1.0 if walk.backwards else 1.0)
    on_spot = stances._replace(footholds=0.0 * stances.footholds)
    return path_of(template, stances, cycles, 0.0), path_of(template, on_spot, cycles, 0.0)


def _lifted(walk: Walk, swings: Sequence[_Swing], lift: FloatArray) -> FloatArray:
    """Return a foot's height (F,) in its swings, in centimetres.

    ``lift`` (F,) is the height by the gait alone.
    """
    lift, unlike = lift.copy(), MIN_SMALL_STEP_LIFT_CM * (1.0 - gait_of(walk).size)
    for share, _, higher in swings:
        bump = _bump(share)
        lift *= 1.0 + higher * (bump > 0)
        lift += CLEARS_CM * ramp(np.minimum(share, 1.0 - share), 0.0, CLEARS_WITHIN)
        lift += _soft_positive(unlike * bump - lift, bump)
        lift += walk.lift * (1 + higher) * bump
    return lift


def _soft_positive(over: FloatArray, bump: FloatArray) -> FloatArray:
    """Return the positive part of ``over`` (F,), by how much a foot is too low, with a soft corner.

    It is softest in mid-swing, and 0 outside of swings.
    """
    return np.asarray((over + np.hypot(over, 0.5 * bump)) / 2 * (bump > 0))


def _stances(walk: Walk, steps: _Footfalls) -> Steps:
    """Return the stances of a foot for the gait engine, in cycles since the walk began.

    Backwards, cycles decrease. Feet stand for ENDLESS cycles before and after the walk. Headings
    are 0, because feet turn about where the performer stands.
    """
    gait, unit = gait_of(walk), centimetre(standard_skeleton())
    cycle, stance = 2 * walk.step_s, gait.pace.stance
    lands = (steps.lands - walk.times[0]) / cycle
    lifts = np.r_[(_leaves(walk, steps) - walk.times[0]) / cycle, lands[-1] + stance]
    places = steps.places * [unit, -unit, np.pi / 180, 0.0]
    size, roll = _sizes(gait, places, walk.moving)
    lands = np.r_[-ENDLESS, lands, lifts[-1] + 1 - stance]
    lifts = np.r_[lands[1] - (1 - stance), lifts, ENDLESS]
    places = places[np.r_[0, :len(places), len(places) - 1]]
    if walk.backwards:
        lands, lifts, places = -lifts[::-1], -lands[::-1], places[::-1]
        size, roll = size[::-1], roll[::-1]
    balls = np.column_stack([places[:, :2], np.zeros(len(places))])
    return Steps(lands, lifts, balls, 0.0 * lands, np.r_[size, 0.0], np.r_[roll, 0.0])


def _sizes(gait: Gait, places: FloatArray, moving: tuple[bool, bool]
           ) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of swings and the rolls of feet for them (K + 1,), as fractions.

    ``places`` (K, 4) are in metres and radians. The first and the last swing are outside the walk.
    """
    ways = np.diff(places, axis=0)
    ahead, aside = _components(ways, (places[:-1, 2] + places[1:, 2]) / 2)
    turn = TURNING_REACH_M * ways[:, 2]
    size = np.sqrt(ahead**2 + aside**2 + turn**2) / gait.pace.stride
    roll = np.sqrt(ahead**2 + ROLLS_ASIDE**2 * (aside**2 + turn**2)) / gait.pace.stride
    ends = [float(before) for before in moving]
    size, roll = (np.r_[ends[0], np.clip(share, *limits), ends[1]]
                  for share, limits in ((size, (ON_THE_SPOT, MAX_STEP_SIZE)),
                                        (roll, (MIN_ROLL, MAX_ROLL))))
    return size, roll


def _components(ways: FloatArray, heading: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the parts of displacements (K, ...), X and Y, ahead and aside (K,) of headings (K,).

    Headings are in radians to the left of -Y.
    """
    sine, cosine = np.sin(heading), np.cos(heading)
    return ways[:, 0] * sine - ways[:, 1] * cosine, ways[:, 0] * cosine + ways[:, 1] * sine


def _foot_displacement(template: Template, path: FootPath) -> FloatArray:
    """Return the path's displacement (F, 2), ahead and up in metres, from a standing foot.

    The standing foot has the same pitch; the path heads to -Y.
    """
    ankle = path.ankle[:, 1:] * [-1.0, 1.0]
    return np.asarray(ankle - template.legs.foot.ankle_at(path.pitch))
