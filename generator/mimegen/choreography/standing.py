"""Standing: a performer whose legs are idle keeps the knees straight, with weight on both feet."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import ramp, smoothstep, soft_excess, softly_limited
from mimegen.choreography import legs
from mimegen.choreography.anchors import SIDES
from mimegen.motion import Skeleton, quaternions

# Bend of a standing knee; people's is 0 to 5 degrees (Perry and Burnfield 2010).
KNEE_DEG = 4.5
# A foot raised by STEP_M, as in a small step, leaves the legs idle; from ACTING_M on they act.
STEP_M = 0.025
ACTING_M = 0.05
# A foot raised by this carries no weight.
CARRIES_M = 0.012
# Legs also act if a heel is lifted (or the toes are): the angles at which this begins and is full.
HEEL_DEG = (4.0, 12.0)
# Legs act from AROUND_S before until as long after. EASE_S smooths the change between idle and
# acting, LOAD_EASE_S the feet's loads.
AROUND_S = 0.12
EASE_S = 0.1
LOAD_EASE_S = 0.06
# A pelvis down to SUNK_M below the height at which legs are straight is raised to that height. A
# lower one is raised less, and not at all from MADE_GOOD_M below SUNK_M. The corner between is
# rounded by CORNER_M. A pelvis that is too high comes down by TIPTOE_M at most.
SUNK_M = 0.04
CORNER_M = 0.003
MADE_GOOD_M = 0.12
TIPTOE_M = 0.02
# Tilt of the pelvis if the two legs need different heights: in full up to the first value, softly
# limited to the second in addition.
TILT_DEG = 6.0
TILT_MORE_DEG = 3.0
# If the legs would need a tilt of more than EASY_DEG, the hips also move along the line between the
# feet: by BETWEEN_M at most, smoothed by BETWEEN_S. TOGETHER, in leg lengths, keeps this small for
# feet that stand together.
EASY_DEG = 5.0
BETWEEN_M = 0.09
BETWEEN_S = 0.1
TOGETHER = 0.053


class Stand(NamedTuple):
    """How the pelvis moves to straighten the legs in standing.

    ``aside`` (F, 3) is its displacement along the floor and ``up`` (F,) upwards, in metres;
    ``tilt`` (F,) is its tilt to the left in degrees. ``share`` (F,), from 0 to 1, is how far the
    legs stand straight.
    """

    aside: FloatArray
    up: FloatArray
    tilt: FloatArray
    share: FloatArray


def stand(skeleton: Skeleton, root: FloatArray, pelvis: FloatArray,
          goals: dict[str, legs.FootGoal], fps: float) -> Stand:
    """Return how a pelvis at ``root`` (F, 3), turned by ``pelvis`` (F, 4), straightens the legs."""
    share, loads = _quiet(skeleton, goals, fps), _loads(skeleton, goals, fps)
    standing = {side: _leg(skeleton, side, root, pelvis, goal) for side, goal in goals.items()}
    first = _required(skeleton, standing, loads, root)
    away = share * ramp(first.down, 2 * SUNK_M, SUNK_M) * first.beyond
    aside = _between(standing, away, fps)
    required = _required(skeleton, {side: _leg(skeleton, side, root + aside, pelvis, goal)
                                    for side, goal in goals.items()}, loads, root)
    straight = share * ramp(required.down, 2 * SUNK_M, SUNK_M)
    return Stand(aside, share * (required.down - _as_written(required.down)),
                 -straight * np.rad2deg(required.tilt_difference
                                        / _hip_distance(skeleton)), straight)


class _Leg(NamedTuple):
    """A standing leg.

    ``high`` (F,) is the height of the root, in metres, at which the leg is straight. ``slant``
    (F, 3) leads horizontally from the ankle to the hip joint, in leg lengths.
    """

    high: FloatArray
    slant: FloatArray


class _LegDemands(NamedTuple):
    """What standing legs require of the pelvis (F,), in metres.

    ``down`` is by how much it is too low. ``tilt_difference`` is how much higher the tilt shall
    bring the left hip than the right; ``beyond`` is the part of the required difference above
    EASY_DEG.
    """

    down: FloatArray
    tilt_difference: FloatArray
    beyond: FloatArray


def _required(skeleton: Skeleton, standing: dict[str, _Leg], loads: dict[str, FloatArray],
              root: FloatArray) -> _LegDemands:
    """Return what both legs, weighted by their loads, require of a pelvis at ``root`` (F, 3)."""
    high = {side: leg.high for side, leg in standing.items()}
    apart = loads["Left"] * loads["Right"] * (high["Left"] - high["Right"])
    tilt_m, more_m = np.deg2rad((TILT_DEG, TILT_MORE_DEG)) * _hip_distance(skeleton)
    size = np.abs(apart)
    tilt_difference = np.sign(apart) * (np.minimum(size, tilt_m)
                                        + soft_excess(np.maximum(size - tilt_m, 0.0), more_m))
    level = (loads["Left"] * high["Left"] + loads["Right"] * high["Right"]) / (
        loads["Left"] + loads["Right"]) - np.abs(apart - tilt_difference) / 2
    easy_m = np.deg2rad(EASY_DEG) * _hip_distance(skeleton)
    beyond = np.sign(apart) * CORNER_M * np.logaddexp(0.0, (size - easy_m) / CORNER_M)
    return _LegDemands(level - root[:, 2], tilt_difference, beyond)


def _between(standing: dict[str, _Leg], away: FloatArray, fps: float) -> FloatArray:
    """Return the hips' displacement along the floor (F, 3), in metres.

    It reduces the difference of the heights that the legs need by ``away`` (F,), in metres.
    """
    apart = standing["Left"].slant - standing["Right"].slant
    way = (away / (np.sum(apart**2, axis=-1) + TOGETHER**2))[:, None] * apart
    eased = scipy.ndimage.gaussian_filter1d(way, BETWEEN_S * fps, axis=0, mode="nearest")
    return softly_limited(eased, BETWEEN_M)


def _as_written(down: FloatArray) -> FloatArray:
    """Return how far (F,) a pelvis stays below straight legs, given how far it was ``down``."""
    sunk, high = (CORNER_M * np.logaddexp(0.0, over / CORNER_M)
                  for over in (down - SUNK_M, -TIPTOE_M - down))
    return np.asarray(sunk + SUNK_M * smoothstep(np.clip(sunk / MADE_GOOD_M, 0.0, 1.0)) - high)


def _leg(skeleton: Skeleton, side: str, root: FloatArray, pelvis: FloatArray,
         goal: legs.FootGoal) -> _Leg:
    """Return the state of a leg under a pelvis at ``root`` (F, 3), turned by ``pelvis`` (F, 4)."""
    hip = quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
    ankle = legs.ankle_position(skeleton, side, goal)
    slant = (root + hip - ankle) * [1.0, 1.0, 0.0]
    length = legs.leg_length(skeleton, side, KNEE_DEG)
    up = np.sqrt(np.maximum(length**2 - np.sum(slant**2, axis=-1), 0.0))
    return _Leg(ankle[:, 2] - hip[:, 2] + up, slant / length)


def _hip_distance(skeleton: Skeleton) -> float:
    left, right = (skeleton.heads[skeleton.index[f"{side}UpLeg"]] for side in SIDES)
    return float(np.linalg.norm(left - right))


def _quiet(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float) -> FloatArray:
    """Return how far (F,), from 0 to 1, the legs only stand or make small steps."""
    acting = np.max([np.maximum(ramp(legs.raised(skeleton, side, goal), STEP_M, ACTING_M),
                                ramp(np.abs(goal.heel), *HEEL_DEG))
                     for side, goal in goals.items()], axis=0)
    around = scipy.ndimage.maximum_filter1d(acting, 2 * round(AROUND_S * fps) + 1, mode="nearest")
    return np.asarray(1.0 - scipy.ndimage.gaussian_filter1d(around, EASE_S * fps, mode="nearest"))


def _loads(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float
           ) -> dict[str, FloatArray]:
    """Return each foot's load (F,) by side: 1 on the floor, 0.001 if raised by CARRIES_M."""
    return {side: np.maximum(1e-3, scipy.ndimage.gaussian_filter1d(
        ramp(legs.raised(skeleton, side, goal), CARRIES_M, 0.0), LOAD_EASE_S * fps,
        mode="nearest")) for side, goal in goals.items()}
