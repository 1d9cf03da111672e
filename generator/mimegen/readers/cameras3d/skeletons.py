"""Find the skeleton of joints without names, by their number and by the lengths of limbs."""

from dataclasses import dataclass

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.position_layouts import file_layout

# Limbs by the roles of their joints. In people, left and right bones are equal, and thigh and shin,
# upper arm and forearm nearly so.
LEG, ARM = ("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")
# Least length of a bone in ratios, so that none is zero.
SHORT = 1e-9
# Greatest coordinate of a joint in any unit; others are invalid.
MAX_COORDINATE = 1e7
# Greatest value of ``bone_asymmetry`` for a person: a sum of eight absolute logarithms of ratios.
MAX_ASYMMETRY = 4.0
# Least median distance between successive joints of a set, in metres; smaller units give more.
MIN_BONE_M = 0.03


@dataclass(frozen=True)
class JointSet:
    """A set of joints: the name of its format, its layout, and the indices of the layout's joints.

    If ``kept`` is None, the layout has all joints.
    """

    format: str
    layout: str
    kept: tuple[int, ...] | None = None


MEDIAPIPE = JointSet("MediaPipe", "mediapipe", tuple(range(33)))
COCO = JointSet("COCO", "coco", tuple(range(17)))
# Sets by the number of joints in a frame. MediaPipe's Holistic and FreeMocap have hands and a face
# after the body's 33 joints, COCO-WholeBody after its 17. Of Human3.6M's 32 joints, 15 do not move.
SETS: dict[int, tuple[JointSet, ...]] = {
    17: (COCO, JointSet("Human3.6M", "human36m")),
    25: (JointSet("OpenPose", "openpose"), JointSet("Kinect v2", "kinect2")),
    32: (JointSet("Azure Kinect", "azure"),
         JointSet("Human3.6M", "human36m",
                  (0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 15, 17, 18, 19, 25, 26, 27))),
    33: (MEDIAPIPE,), 75: (MEDIAPIPE,), 543: (MEDIAPIPE,), 553: (MEDIAPIPE,), 133: (COCO,)}


def joint_set(positions: FloatArray) -> JointSet:
    """Return the set that fits joints (F, J, 3) best. Raises KeyError if none has J joints."""
    sets, positions = SETS[positions.shape[1]], _without_invalid(positions)
    return sets[0] if len(sets) == 1 else min(sets, key=lambda one: bone_asymmetry(positions, one))


def are_limbs(positions: FloatArray) -> bool:
    """Return whether joints (F, J, 3) have limbs like a person's in any set."""
    positions = _without_invalid(positions)
    apart = np.linalg.norm(np.diff(positions, axis=1), axis=2)
    usual = float(np.median(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0
    return usual > MIN_BONE_M and min(bone_asymmetry(positions, one)
                                      for one in SETS[positions.shape[1]]) < MAX_ASYMMETRY


def _without_invalid(positions: FloatArray) -> FloatArray:
    """Return positions, with NaN for coordinates that are impossible in any unit."""
    return np.where(np.abs(positions) < MAX_COORDINATE, positions, np.nan)


def kept_joints(positions: FloatArray, chosen: JointSet) -> FloatArray:
    """Return the joints of a set's layout."""
    return positions if chosen.kept is None else np.asarray(positions[:, list(chosen.kept)])


def bone_asymmetry(positions: FloatArray, chosen: JointSet) -> float:
    """Return how unequal bones are that should be equal, if joints (F, J, 3) are of this set.

    It is the sum of the absolute logarithms of their ratios, or infinity if no frame is complete.
    """
    known = file_layout(chosen.layout)
    bodies = known.placed(kept_joints(positions, chosen))
    bodies = bodies[np.isfinite(bodies).all(axis=(1, 2))]
    if not len(bodies):
        return np.inf
    index, roles = known.layout.skeleton.index, known.layout.roles
    sizes = {}
    for side in ("left", "right"):
        for parts in (LEG, ARM):
            for number in (0, 1):
                ends = [bodies[:, index[roles[f"{side}_{part}"]]] for part in parts[number:][:2]]
                sizes[side, parts[number]] = max(
                    float(np.median(np.linalg.norm(ends[1] - ends[0], axis=1))), SHORT)
    pairs = [(sizes["left", part], sizes["right", part]) for part in (*LEG[:2], *ARM[:2])]
    pairs += [(sizes[side, upper], sizes[side, lower]) for side in ("left", "right")
              for upper, lower in (LEG[:2], ARM[:2])]
    return float(np.sum([abs(np.log(one / other)) for one, other in pairs]))
