"""The skeleton of a walker: the standard one, with the walker's width of shoulders and hips."""

from collections.abc import Iterable

import numpy as np

from mimegen.gait.walker import Pace
from mimegen.motion import Skeleton, standard_skeleton
from mimegen.motion.quaternions import FloatArray

LEG = ("UpLeg", "Leg", "Foot", "ToeBase")
ARM = ("Arm", "Hand")


def skeleton_of(pace: Pace) -> Skeleton:
    """Return the standard skeleton with arms and legs moved to the walker's width."""
    skeleton = standard_skeleton()
    if pace.shoulders == pace.hips == 1.0:
        return skeleton
    heads, tails = skeleton.heads.copy(), skeleton.tails.copy()
    for side in ("Left", "Right"):
        arm = _sideways_shifts(skeleton, side, ARM, (pace.shoulders - 1.0) * _width(skeleton, side,
                                                                                    "Arm"))
        leg = _sideways_shifts(skeleton, side, LEG,
                               (pace.hips - 1.0) * _width(skeleton, side, "UpLeg"))
        heads[:, 0] += arm + leg
        tails[:, 0] += arm + leg
        # The collarbone reaches to the moved shoulder.
        tails[skeleton.index[f"{side}Shoulder"], 0] += arm[skeleton.index[f"{side}Arm"]]
    return Skeleton(skeleton.names, skeleton.parents, heads, tails)


def _width(skeleton: Skeleton, side: str, joint: str) -> float:
    """Return how far a joint is from the body's middle, in metres; negative on the right."""
    return float(skeleton.heads[skeleton.index[f"{side}{joint}"], 0])


def _sideways_shifts(skeleton: Skeleton, side: str, parts: Iterable[str],
                     aside: float) -> FloatArray:
    """Return displacements (J,) along X of the joints of a side whose names have one of ``parts``.
    """
    moved = [name.startswith(side) and any(part in name for part in parts)
             for name in skeleton.names]
    return np.where(moved, aside, 0.0)
