"""Which takes suit a factor of minimal pairs, and in which of them viewers can see it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.choreography.perform import LOOKED_AT_FPS
from mimegen.library.face_take import FaceTake
from mimegen.library.hand_take import HandTake
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.sequence_take import may_follow
from mimegen.library.take import LibraryTake
from mimegen.library.takes import can_mirror
from mimegen.manifest.timeline import OTHER_HAND, PARTNER, Hand, Interval, retold, role_of
from mimegen.motion.editing import resampled
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.reversal import irreversibility
from mimegen.readers.roles import find_roles

# Movements that retrace their own path look the same played backwards. Repetitive ones (skipping
# rope, playing a guitar) are below this distance in metres; sitting down, throwing and walking are
# above.
MIN_IRREVERSIBLE_M = 0.4
IRREVERSIBLE_FPS = 15.0  # frame rate at which positions are compared
# The joints whose positions are compared; fingers and toes would only duplicate hands and feet.
MOVING = ("hips", "head", *(f"{side}_{part}" for side in ("left", "right")
                            for part in ("forearm", "hand", "shin", "foot")))
# An action is one-handed if one hand has at least this fraction of the hands' time in its timeline.
ONE_HANDED = 0.75
# And the other hand goes at most this fraction of its way, as seen from the chest: timelines leave
# out the hand in most steps of both, and jumping jacks end with one hand at the hip.
MAX_OF_OTHER_HAND = 0.7
CHEST = "Spine2"
# Names of takes that show one gesture in opposite directions; left and right are the performer's.
SIDEWAYS = ("left", "right")
DIRECTIONS = (SIDEWAYS, ("up", "down"))


def is_scored_or_recorded(take: LibraryTake) -> bool:
    """Return whether a take is a score or a recording."""
    return isinstance(take, ScoreTake | RecordedTake)


def is_scored(take: LibraryTake) -> bool:
    """Return whether a take is a score."""
    return isinstance(take, ScoreTake)


def shows_no_emotion(take: LibraryTake) -> bool:
    """Return whether the action itself is no emotion, which another one would contradict."""
    return isinstance(take, ScoreTake) and not isinstance(take, FaceTake)


def has_direction(take: LibraryTake) -> bool:
    """Return whether a take is named for a direction that all its seeds keep."""
    return isinstance(take, ScoreTake) and any(take.name in pair for pair in DIRECTIONS) and not (
        take.name in SIDEWAYS and take.score.vary.mirror)


def can_be_combined(take: LibraryTake) -> bool:
    """Return whether a take can be combined with another action of the same person."""
    return (isinstance(take, ScoreTake) and not isinstance(take, FaceTake | HandTake)
            and may_follow(take))


def repeats(take: LibraryTake) -> bool:
    """Return whether a take is a score with a repeatable movement."""
    return isinstance(take, ScoreTake) and bool(take.score.repeat)


def has_roles(take: LibraryTake) -> bool:
    """Return whether the two performers have different roles."""
    return take.performers == 2 and role_of(take.timeline or ()) is not None


def is_one_handed(take: LibraryTake) -> bool:
    """Return whether one hand of one person does the action and the other could as well."""
    return (isinstance(take, ScoreTake) and not isinstance(take, HandTake) and can_mirror(take)
            and take.performers == 1 and leading_hand(take.timeline) is not None)


def leading_hand(timeline: Sequence[Interval]) -> Hand | None:
    """Return the hand that does nearly all of the hands' work; None if both do."""
    busy: dict[Hand, float] = {"left": 0.0, "right": 0.0}
    for one in timeline:
        if one.kind == "step" and one.hand is not None and one.performer != PARTNER:
            busy[one.hand] += one.end_s - one.start_s
    hand: Hand = "left" if busy["left"] > busy["right"] else "right"
    total = sum(busy.values())
    return hand if total and busy[hand] >= ONE_HANDED * total else None


@lru_cache(maxsize=1024)
def shows_hand(take: LibraryTake) -> bool:
    """Return whether viewers see which hand leads: the other one moves much less.

    False if the take cannot be performed.
    """
    try:
        [(motion, _), *_] = take.sources(LOOKED_AT_FPS)
    except RequestError:
        return False
    moved = {hand: _path_length(motion, hand) for hand in OTHER_HAND}
    # What is mirrored is performed as written.
    hand = leading_hand(retold(take.timeline or (), mirror=take.mirror))
    return hand is not None and moved[OTHER_HAND[hand]] <= MAX_OF_OTHER_HAND * moved[hand]


def _path_length(motion: Motion, hand: Hand) -> float:
    """Return how far a hand of a score's skeleton moves about the chest, in metres."""
    places, index = motion.global_pose.positions, motion.skeleton.index
    moved = places[:, index[f"{hand.title()}Hand"]] - places[:, index[CHEST]]
    return float(np.linalg.norm(np.diff(moved, axis=0), axis=-1).sum())


def shows_time(take: LibraryTake) -> bool:
    """Return whether a take looks different played backwards; False if it cannot be performed."""
    try:
        return shown_backwards(take) >= MIN_IRREVERSIBLE_M
    except RequestError:
        return False


@lru_cache(maxsize=1024)
def shown_backwards(take: LibraryTake) -> float:
    """Return the distance, in metres, of a take played backwards from all it shows forwards."""
    return max(irreversibility(joint_places(*source), IRREVERSIBLE_FPS)
               for source in take.sources(LOOKED_AT_FPS))


def joint_places(motion: Motion, roles: Mapping[str, str] | None) -> FloatArray:
    """Return the positions (F, J, 3) of a performer's main joints."""
    joints = roles or find_roles(motion.skeleton).joints
    names = motion.skeleton.names
    numbers = [names.index(joints[role]) for role in MOVING if role in joints]
    motion = motion if motion.fps == IRREVERSIBLE_FPS else resampled(motion, IRREVERSIBLE_FPS)
    return motion.global_pose.positions[:, numbers]
