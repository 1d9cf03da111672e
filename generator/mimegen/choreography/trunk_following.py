"""Trunk and pelvis follow the hands, as the whole body takes part in a reach."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.easing import softly_limited
from mimegen.choreography import hands
from mimegen.choreography.anchors import SIDES, Anchors, Context
from mimegen.choreography.life import life_values
from mimegen.choreography.score import Score
from mimegen.choreography.trunk import TrunkAngles
from mimegen.motion import quaternions
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# Soft limit, in metres, of a hand's displacement from its mean position that the body follows.
MAX_DISPLACEMENT_M = 0.5


class Along(NamedTuple):
    """The body's response to the hands: turns in degrees, pelvis displacement (F, 3) in metres."""

    chest: TrunkAngles
    pelvis: TrunkAngles
    shift: FloatArray


def going_along(score: Score, context: Context) -> Along:
    """Return how chest and pelvis follow the hands, whose paths are computed about a still body.

    The trunk takes part in reaches of any length (Kaminski, Bock and Gentile 1995). Only a hand's
    displacement from its mean position counts, because a constant posture is up to the score.
    """
    values, frames = life_values().along, len(context.moments)
    skeleton = context.skeleton
    still = GlobalPose(
        np.broadcast_to(skeleton.heads, (frames, *skeleton.heads.shape)),
        np.broadcast_to(quaternions.IDENTITY, (frames, len(skeleton.names), 4)))
    anchors = Anchors(score, context, still)
    left, right = (_displacement(hands.touching_points(anchors.hand_track(side), anchors.resolve,
                                                       context.unit), values.ease_s * context.fps)
                   for side in SIDES)
    both = (left + right) / 2
    lean = -values.lean * both[:, 1] - values.bow * both[:, 2]
    chest = TrunkAngles(values.turn * (left - right)[:, 1], lean,
                        values.tilt * (right - left)[:, 2])
    pelvis = TrunkAngles(*(values.pelvis_share * turn for turn in chest))
    return Along(chest, pelvis, values.sway * both * [1.0, 1.0, 0.0])


def _displacement(points: FloatArray, ease: float) -> FloatArray:
    """Return a hand's displacement (F, 3) from its mean position, limited and smoothed."""
    displacement = softly_limited(points - points.mean(axis=0), MAX_DISPLACEMENT_M)
    return np.asarray(scipy.ndimage.gaussian_filter1d(displacement, ease, axis=0, mode="nearest"))
