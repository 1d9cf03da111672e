"""Standing: who does nothing with the legs has them straight, and the weight on either of them."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import ramp, smoothstep, soft_excess, softly_limited
from mimegen.choreography import legs
from mimegen.choreography.anchors import SIDES
from mimegen.motion import Skeleton, quaternions

# A knee that stands is bent by so much (degrees); people's by 0 to 5 (Perry and Burnfield 2010).
KNEE_DEG = 4.5
# A foot that is up so far (m), as in a small step, leaves the other leg straight; higher, legs act.
STEP_M = 0.025
ACTING_M = 0.05
# A foot carries nothing from so high on (m); heels raised further than this (degrees) act.
CARRIES_M = 0.012
HEEL_DEG = (4.0, 12.0)
# Legs act from so long before to so long after, and pass softly from one to the other.
AROUND_S = 0.12
EASE_S = 0.1
LOAD_EASE_S = 0.06
# A pelvis that is down by less than this (m) stands, with so soft a corner; that it would have been
# higher is made good within so much more. One that is too high by less than this comes down.
SUNK_M = 0.04
CORNER_M = 0.003
MADE_GOOD_M = 0.12
TIPTOE_M = 0.02
# The pelvis lists by so much where the feet stand unlike, and up to so much more softly (degrees).
LIST_DEG = 6.0
LIST_MORE_DEG = 3.0
# What feet that stand unlike ask beyond a list of so many degrees the hips do by going between
# them: so far at most (m), within so long; feet nearer than the last (leg lengths) stand together.
EASY_DEG = 5.0
BETWEEN_M = 0.09
BETWEEN_S = 0.1
TOGETHER = 0.053


class Stand(NamedTuple):
    """How standing straightens the legs: the pelvis goes over the ground (F, 3) and up (F,) in
    metres and is tilted to the left (F,) in degrees; ``share`` (F,) is how far the legs do nothing
    else."""

    aside: FloatArray
    up: FloatArray
    tilt: FloatArray
    share: FloatArray


def stand(skeleton: Skeleton, root: FloatArray, pelvis: FloatArray,
          goals: dict[str, legs.FootGoal], fps: float) -> Stand:
    """Return what straightens the legs of a pelvis at ``root`` (F, 3), turned by ``pelvis`` (F, 4).
    """
    share, loads = _quiet(skeleton, goals, fps), _loads(skeleton, goals, fps)
    standing = {side: _leg(skeleton, side, root, pelvis, goal) for side, goal in goals.items()}
    first = _asked(skeleton, standing, loads, root)
    away = share * ramp(first.down, 2 * SUNK_M, SUNK_M) * first.beyond
    aside = _between(standing, away, fps)
    asked = _asked(skeleton, {side: _leg(skeleton, side, root + aside, pelvis, goal)
                              for side, goal in goals.items()}, loads, root)
    straight = share * ramp(asked.down, 2 * SUNK_M, SUNK_M)
    return Stand(aside, share * (asked.down - _as_written(asked.down)),
                 -straight * np.rad2deg(asked.within / _hips_apart(skeleton)), straight)


class _Leg(NamedTuple):
    """A leg that stands: how high (F,) the pelvis is over it, and where its hip joint is over the
    ground against the ankle (F, 3), in legs."""

    high: FloatArray
    slant: FloatArray


class _LegDemands(NamedTuple):
    """What legs that stand ask (F,), in metres: how much the pelvis is too low, how much higher
    the left hip is to be by listing, and how much of what it is to be is beyond an easy list."""

    down: FloatArray
    within: FloatArray
    beyond: FloatArray


def _asked(skeleton: Skeleton, standing: dict[str, _Leg], loads: dict[str, FloatArray],
           root: FloatArray) -> _LegDemands:
    """Return what both legs ask of a pelvis at ``root`` (F, 3), by how far each foot stands."""
    high = {side: leg.high for side, leg in standing.items()}
    apart = loads["Left"] * loads["Right"] * (high["Left"] - high["Right"])
    list_m, more_m = np.deg2rad((LIST_DEG, LIST_MORE_DEG)) * _hips_apart(skeleton)
    size = np.abs(apart)
    within = np.sign(apart) * (np.minimum(size, list_m)
                               + soft_excess(np.maximum(size - list_m, 0.0), more_m))
    level = (loads["Left"] * high["Left"] + loads["Right"] * high["Right"]) / (
        loads["Left"] + loads["Right"]) - np.abs(apart - within) / 2
    easy_m = np.deg2rad(EASY_DEG) * _hips_apart(skeleton)
    beyond = np.sign(apart) * CORNER_M * np.logaddexp(0.0, (size - easy_m) / CORNER_M)
    return _LegDemands(level - root[:, 2], within, beyond)


def _between(standing: dict[str, _Leg], away: FloatArray, fps: float) -> FloatArray:
    """Return how the hips go over the ground (F, 3) for legs to be less unlike by ``away`` (F,)."""
    apart = standing["Left"].slant - standing["Right"].slant
    way = (away / (np.sum(apart**2, axis=-1) + TOGETHER**2))[:, None] * apart
    eased = scipy.ndimage.gaussian_filter1d(way, BETWEEN_S * fps, axis=0, mode="nearest")
    return softly_limited(eased, BETWEEN_M)


def _as_written(down: FloatArray) -> FloatArray:
    """Return how far down (F,) a pelvis is that the score and life have ``down`` so far."""
    sunk, high = (CORNER_M * np.logaddexp(0.0, over / CORNER_M)
                  for over in (down - SUNK_M, -TIPTOE_M - down))
    return np.asarray(sunk + SUNK_M * smoothstep(np.clip(sunk / MADE_GOOD_M, 0.0, 1.0)) - high)


def _leg(skeleton: Skeleton, side: str, root: FloatArray, pelvis: FloatArray,
         goal: legs.FootGoal) -> _Leg:
    """Return how a leg stands under a pelvis at ``root`` (F, 3), turned by ``pelvis`` (F, 4)."""
    hip = quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
    ankle = legs.ankle_place(skeleton, side, goal)
    slant = (root + hip - ankle) * [1.0, 1.0, 0.0]
    length = legs.leg_length(skeleton, side, KNEE_DEG)
    up = np.sqrt(np.maximum(length**2 - np.sum(slant**2, axis=-1), 0.0))
    return _Leg(ankle[:, 2] - hip[:, 2] + up, slant / length)


def _hips_apart(skeleton: Skeleton) -> float:
    left, right = (skeleton.heads[skeleton.index[f"{side}UpLeg"]] for side in SIDES)
    return float(np.linalg.norm(left - right))


def _quiet(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float) -> FloatArray:
    """Return the share (F,) in which legs do no more than stand and step a little."""
    acting = np.max([np.maximum(ramp(legs.raised(skeleton, side, goal), STEP_M, ACTING_M),
                                ramp(np.abs(goal.heel), *HEEL_DEG))
                     for side, goal in goals.items()], axis=0)
    around = scipy.ndimage.maximum_filter1d(acting, 2 * round(AROUND_S * fps) + 1, mode="nearest")
    return np.asarray(1.0 - scipy.ndimage.gaussian_filter1d(around, EASE_S * fps, mode="nearest"))


def _loads(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float
           ) -> dict[str, FloatArray]:
    """Return how much (F,) each foot stands, 1 on the floor; at least a little."""
    return {side: np.maximum(1e-3, scipy.ndimage.gaussian_filter1d(
        ramp(legs.raised(skeleton, side, goal), CARRIES_M, 0.0), LOAD_EASE_S * fps,
        mode="nearest")) for side, goal in goals.items()}
