"""The whole body takes part in what hands do: trunk and pelvis go along with them."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.easing import softly_limited
from mimegen.choreography import hands
from mimegen.choreography.anchors import SIDES, Anchors, Context
from mimegen.choreography.life import liveliness
from mimegen.choreography.score import Score
from mimegen.choreography.trunk import Turns
from mimegen.motion import quaternions
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# Nobody goes along further than this, in metres of the hands' way.
FARTHEST_M = 0.5


class Along(NamedTuple):
    """How chest and pelvis turn (degrees) and where the pelvis goes (F, 3), metres, with hands."""

    chest: Turns
    pelvis: Turns
    shift: FloatArray


def going_along(score: Score, context: Context) -> Along:
    """Return how the trunk goes along with the hands, as they would move about a still body.

    The trunk takes part in reaches of any length (Kaminski, Bock and Gentile 1995); what it holds
    all the time is the score's to say, so only what differs from the mean counts.
    """
    values, frames = liveliness().along, len(context.moments)
    skeleton = context.skeleton
    still = GlobalPose(
        np.broadcast_to(skeleton.heads, (frames, *skeleton.heads.shape)),
        np.broadcast_to(quaternions.IDENTITY, (frames, len(skeleton.names), 4)))
    anchors = Anchors(score, context, still)
    left, right = (_way(hands.touching_points(anchors.hand_track(side), anchors.resolve,
                                              context.unit), values.ease_s * context.fps)
                   for side in SIDES)
    both = (left + right) / 2
    lean = -values.lean * both[:, 1] - values.bow * both[:, 2]
    chest = Turns(values.turn * (left - right)[:, 1], lean,
                  values.tilt * (right - left)[:, 2])
    pelvis = Turns(*(values.pelvis_share * turn for turn in chest))
    return Along(chest, pelvis, values.sway * both * [1.0, 1.0, 0.0])


def _way(points: FloatArray, ease: float) -> FloatArray:
    """Return where a hand is against its mean place (F, 3), eased in space and in time."""
    way = softly_limited(points - points.mean(axis=0), FARTHEST_M)
    return np.asarray(scipy.ndimage.gaussian_filter1d(way, ease, axis=0, mode="nearest"))
