"""Whether one frame can tell the halves of a minimal pair apart, or several frames are needed.

Several are needed if both halves show the same poses, in whatever order and at whatever speed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.choreography.perform import LOOKED_AT_FPS
from mimegen.library.take import LibraryTake
from mimegen.manifest.pair import ONE, SEVERAL, Needs
from mimegen.motion.editing import mirrored, resampled
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import rotate
from mimegen.plan.permute.suited_takes import IRREVERSIBLE_FPS, joint_places
from mimegen.readers.roles import find_roles

# A pose of one half is clearly not in the other half if a joint is this far (m) from its position
# in every pose there, for so long (s) in total.
MIN_POSE_GAP_M = 0.25
SEEN_S = 0.5
# A point this far (m) ahead of the head counts as a joint, so that turning the head is seen.
AHEAD_M = 0.5
AHEAD = np.array([0.0, -1.0, 0.0])
# Faults that no single frame shows: they are in how the movement or the film goes on.
IN_TIME = {"foot_slide", "twitches", "frozen_limb", "speed_warped", "identity_change",
           "frame_drops", "cut_off", "wrong_order"}


@dataclass(frozen=True)
class Half:
    """A half of a pair: its value, its take, and the names of its performers."""

    value: str
    take: LibraryTake
    people: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """What a pair needs; ``pose_gap_m`` is the measured distance of poses, if it was measured."""

    needs: Needs
    pose_gap_m: float | None = None


@dataclass(frozen=True)
class Telling:
    """How to find out what a pair of a factor needs; ``says`` is it in words."""

    says: str
    of: Callable[[Half, Half], Told | None]


def _measured(first: Half, second: Half) -> Told | None:
    """Return what the poses of both halves say; None if they cannot be compared."""
    gap = pose_gap_m(first, second)
    return None if gap is None else Told(ONE if gap >= MIN_POSE_GAP_M else SEVERAL, round(gap, 3))


def _by_fault(first: Half, second: Half) -> Told:
    return Told(SEVERAL if {first.value, second.value} & IN_TIME else ONE)


ONE_FRAME = Telling(ONE, lambda *_: Told(ONE))
SEVERAL_FRAMES = Telling(SEVERAL, lambda *_: Told(SEVERAL))
BY_TAKE = Telling("depends on the take; measured for each pair", _measured)
BY_FAULT = Telling("depends on the fault", _by_fault)


def pose_gap_m(first: Half, second: Half) -> float | None:
    """Return how far poses of one half are from all poses of the other, in metres.

    The distance of two poses is that of their farthest joint, whichever performer's it is, or of
    the points ahead of their heads. The result is a distance that poses of one half reach or exceed
    for ``SEEN_S`` in total. None if a take cannot be performed or the skeletons have other joints.
    """
    try:
        poses, others = _poses(first), _poses(second)
    except RequestError:
        return None
    if poses.shape[1] != others.shape[1]:
        return None
    apart = np.linalg.norm(poses[:, None] - others[None], axis=-1).max(axis=-1)
    return max(_held(apart.min(axis=1)), _held(apart.min(axis=0)))


def _held(distances: FloatArray) -> float:
    """Return the distance that is reached or exceeded for ``SEEN_S``."""
    frames = min(round(SEEN_S * IRREVERSIBLE_FPS), len(distances))
    return float(np.sort(distances)[-frames])


def _poses(half: Half) -> FloatArray:
    """Return the positions (F, J, 3) of a half's joints, of performers in the order of names."""
    sources = half.take.sources(LOOKED_AT_FPS)
    places = [_points(_shown(motion, half.take), roles) for motion, roles in sources]
    if len(half.people) == len(places) > 1:
        places = [places[place] for place in np.argsort(half.people, kind="stable")]
    frames = min(map(len, places))
    return np.concatenate([own[:frames] for own in places], axis=1)


def _points(motion: Motion, roles: Mapping[str, str] | None) -> FloatArray:
    """Return the positions (F, J, 3) of the main joints, and of a point ahead of the head."""
    motion = resampled(motion, IRREVERSIBLE_FPS)
    joints = roles or find_roles(motion.skeleton).joints
    places, rotations = motion.global_pose
    if "head" not in joints:
        return joint_places(motion, roles)
    head = motion.skeleton.index[joints["head"]]
    ahead = places[:, head] + rotate(rotations[:, head], AHEAD_M * AHEAD)
    return np.concatenate([joint_places(motion, roles), ahead[:, None]], axis=1)


def _shown(motion: Motion, take: LibraryTake) -> Motion:
    """Return a motion as the clip shows it: takes are mirrored after they are performed."""
    return mirrored(motion) if take.mirror else motion


def needed_fields(halves: Sequence[Half], telling: Telling) -> Mapping[str, object]:
    """Return the fields of ``PairFacts`` that say what a pair needs."""
    told = telling.of(*halves)
    return {} if told is None else {"needs": told.needs, "pose_gap_m": told.pose_gap_m}
