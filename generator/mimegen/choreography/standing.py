"""Standing: who does nothing with the legs has them straight, and the weight on either of them."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from mimegen.base.easing import ramp, smoothstep, soft_excess
from mimegen.base.vectors import FloatArray
from mimegen.choreography import legs
from mimegen.choreography.anchors import SIDES
from mimegen.motion import Skeleton, quaternions

# A knee that stands is bent by so much (degrees); people's by 0 to 5 (Perry and Burnfield 2010).
KNEE_DEG = 4.5
# A foot that is up so far (m), as in a small step, leaves the other leg straight; higher, legs act.
STEP_M, ACTING_M = 0.025, 0.05
# A foot carries nothing from so high on (m); heels raised further than this (degrees) act.
CARRIES_M, HEEL_DEG = 0.012, (4.0, 12.0)
# Legs act from so long before to so long after, and pass softly from one to the other.
AROUND_S, EASE_S, LOAD_EASE_S = 0.12, 0.1, 0.06
# A pelvis that is down by less than this (m) stands, with so soft a corner; that it would have been
# higher is made good within so much more. One that is too high by less than this comes down.
SUNK_M, CORNER_M, MADE_GOOD_M, TIPTOE_M = 0.04, 0.003, 0.12, 0.02
# The pelvis lists by so much where the feet stand unlike, and up to so much more softly (degrees).
LIST_DEG, LIST_MORE_DEG = 6.0, 3.0


class Stand(NamedTuple):
    """How standing straightens the legs: the pelvis goes up (F,) in metres and is tilted to the
    left (F,) in degrees; ``share`` (F,) is how far the legs do nothing else."""

    up: FloatArray
    tilt: FloatArray
    share: FloatArray


def stand(skeleton: Skeleton, root: FloatArray, pelvis: FloatArray,
          goals: dict[str, legs.FootGoal], fps: float) -> Stand:
    """Return what straightens the legs of a pelvis at ``root`` (F, 3), turned by ``pelvis`` (F, 4).
    """
    share, loads = _quiet(skeleton, goals, fps), _loads(skeleton, goals, fps)
    high = {side: _height(skeleton, side, root, pelvis, goal) for side, goal in goals.items()}
    both = loads["Left"] * loads["Right"]
    apart = both * (high["Left"] - high["Right"])
    list_m, more_m = np.deg2rad((LIST_DEG, LIST_MORE_DEG)) * _hips_apart(skeleton)
    size = np.abs(apart)
    within = np.sign(apart) * (np.minimum(size, list_m)
                               + soft_excess(np.maximum(size - list_m, 0.0), more_m))
    level = (loads["Left"] * high["Left"] + loads["Right"] * high["Right"]) / (
        loads["Left"] + loads["Right"]) - np.abs(apart - within) / 2
    down = level - root[:, 2]
    straight = share * ramp(down, 2 * SUNK_M, SUNK_M)
    return Stand(share * (down - _as_written(down)),
                 -straight * np.rad2deg(within / _hips_apart(skeleton)), straight)


def _as_written(down: FloatArray) -> FloatArray:
    """Return how far down (F,) a pelvis is that the score and life have ``down`` so far."""
    sunk, high = (CORNER_M * np.logaddexp(0.0, over / CORNER_M)
                  for over in (down - SUNK_M, -TIPTOE_M - down))
    return np.asarray(sunk + SUNK_M * smoothstep(np.clip(sunk / MADE_GOOD_M, 0.0, 1.0)) - high)


def _height(skeleton: Skeleton, side: str, root: FloatArray, pelvis: FloatArray,
            goal: legs.FootGoal) -> FloatArray:
    """Return how high (F,) the pelvis is over a leg that stands."""
    hip = quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
    ankle = legs.ankle_place(skeleton, side, goal)
    flat = np.linalg.norm((root + hip - ankle)[:, :2], axis=-1)
    length = legs.leg_length(skeleton, side, KNEE_DEG)
    return np.asarray(ankle[:, 2] - hip[:, 2] + np.sqrt(np.maximum(length**2 - flat**2, 0.0)))


def _hips_apart(skeleton: Skeleton) -> float:
    left, right = (skeleton.heads[skeleton.index[f"{side}UpLeg"]] for side in SIDES)
    return float(np.linalg.norm(left - right))


def _quiet(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float) -> FloatArray:
    """Return the share (F,) in which legs do no more than stand and step a little."""
    acting = np.max([np.maximum(ramp(legs.raised(skeleton, side, goal), STEP_M, ACTING_M),
                                ramp(np.abs(goal.heel), *HEEL_DEG))
                     for side, goal in goals.items()], axis=0)
    around = maximum_filter1d(acting, 2 * round(AROUND_S * fps) + 1, mode="nearest")
    return np.asarray(1.0 - gaussian_filter1d(around, EASE_S * fps, mode="nearest"))


def _loads(skeleton: Skeleton, goals: dict[str, legs.FootGoal], fps: float
           ) -> dict[str, FloatArray]:
    """Return how much (F,) each foot stands, 1 on the floor; at least a little."""
    return {side: np.maximum(1e-3, gaussian_filter1d(
        ramp(legs.raised(skeleton, side, goal), CARRIES_M, 0.0), LOAD_EASE_S * fps,
        mode="nearest")) for side, goal in goals.items()}
