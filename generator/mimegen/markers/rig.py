"""Build the skeleton that markers move: the standard joints with the performer's bone lengths."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mimegen.markers.centres import SIDES, joint_centres, median_length
from mimegen.markers.fitting import Rig
from mimegen.markers.sets import Landmark, body_landmarks
from mimegen.motion import Skeleton, standard_skeleton
from mimegen.motion.quaternions import FloatArray

FINGER = re.compile(r"(Left|Right)Hand(Thumb|Index|Middle|Ring|Pinky)[123]")
TRUNK = ("Spine", "Spine1", "Spine2", "Neck")
# Bones with a counterpart on the other side, by the joints at their ends.
PAIRED = ("Leg", "Foot", "ForeArm", "Hand")


def plain_skeleton(landmarks: Sequence[Landmark]) -> Skeleton:
    """Return the standard skeleton with only those fingers that carry a landmark."""
    whole = standard_skeleton()
    marked = {landmark.joint[:-1] for landmark in landmarks if FINGER.fullmatch(landmark.joint)}
    kept = [joint for joint, name in enumerate(whole.names)
            if not FINGER.fullmatch(name) or name[:-1] in marked]
    parents = [-1, *(kept.index(int(whole.parents[joint])) for joint in kept[1:])]
    return Skeleton(tuple(whole.names[j] for j in kept), np.array(parents), whole.heads[kept],
                    whole.tails[kept])


def make_rig(skeleton: Skeleton, landmarks: Sequence[Landmark]) -> Rig:
    """Return the rig of a body with the standard skeleton's proportions and size."""
    carriers = np.array([skeleton.index[landmark.joint] for landmark in landmarks])
    positions = np.array([landmark.place for landmark in landmarks])
    return Rig(skeleton.parents, skeleton.offsets, carriers, positions - skeleton.heads[carriers])


def body_scale(landmarks: Sequence[Landmark], seen: FloatArray) -> float:
    """Return the body's size over the standard one's, from distances between markers (F, M, 3).

    Only pairs on one bone or on neighbouring bones count, and only if they are more than 0.15 m
    apart.
    """
    skeleton = standard_skeleton()
    ratios = []
    for first, one in enumerate(landmarks):
        for second, two in enumerate(landmarks[:first]):
            joints = skeleton.index[one.joint], skeleton.index[two.joint]
            near = joints[0] == joints[1] or int(skeleton.parents[joints[0]]) == joints[1] \
                or int(skeleton.parents[joints[1]]) == joints[0]
            length = float(np.linalg.norm(one.place - two.place))
            if near and length > 0.15:
                ratios.append(median_length(seen[:, first] - seen[:, second]) / length)
    known = [ratio for ratio in ratios if ratio > 0]
    return float(np.median(known)) if known else 1.0


def to_size(skeleton: Skeleton, positions: Mapping[str, FloatArray],
            landmarks: Sequence[Landmark], scale: float) -> tuple[Skeleton, Rig]:
    """Return the skeleton and its rig with the performer's bone lengths.

    ``positions`` are landmark name -> (F, 3). Lengths are distances between joint centres, as
    medians over frames and means over both sides. Bones without a regression keep the standard
    proportions at ``scale``.
    """
    centres = joint_centres(positions, scale)
    factors = _factors(skeleton, centres, positions, scale)
    offsets = skeleton.offsets * factors[:, None]
    if {"LeftUpLeg", "RightUpLeg"} <= set(centres):
        half = median_length(centres["LeftUpLeg"] - centres["RightUpLeg"]) / 2
        for side, sign in SIDES if np.isfinite(half) else ():
            offsets[skeleton.index[f"{side.capitalize()}UpLeg"], 0] = sign * half
    offsets[0] = skeleton.offsets[0] * scale
    heads = offsets.copy()
    for joint in range(1, len(heads)):
        heads[joint] += heads[skeleton.parents[joint]]
    own = _own_factors(skeleton, factors)
    tails = heads + np.asarray((skeleton.tails - skeleton.heads) * own[:, None])
    sized = Skeleton(skeleton.names, skeleton.parents, heads, tails)
    rig = make_rig(skeleton, landmarks)
    rig = replace(rig, offsets=offsets, markers=rig.markers * own[rig.carriers, None])
    return sized, rig


def _factors(skeleton: Skeleton, centres: Mapping[str, FloatArray],
             positions: Mapping[str, FloatArray], scale: float) -> FloatArray:
    """Return for each joint the length (J,) of the bone to it, over the standard one."""
    factors = np.full(len(skeleton.names), scale)
    standard = np.linalg.norm(skeleton.offsets, axis=1)
    for bone in PAIRED:
        found = []
        for side, _ in SIDES:
            joint = skeleton.index[f"{side.capitalize()}{bone}"]
            parent = skeleton.names[int(skeleton.parents[joint])]
            if {skeleton.names[joint], parent} <= set(centres):
                apart = median_length(centres[skeleton.names[joint]] - centres[parent])
                found.append(apart / standard[joint])
        # Beyond these limits the markers are wrong, not the body.
        known = [factor for factor in found if 0.6 * scale < factor < 1.6 * scale]
        for side, _ in SIDES if known else ():
            factors[skeleton.index[f"{side.capitalize()}{bone}"]] = np.mean(known)
    trunk = _trunk(centres, positions, skeleton)
    if trunk is not None and 0.7 * scale < trunk < 1.4 * scale:
        factors[[skeleton.index[name] for name in TRUNK]] = trunk
    return factors


def _trunk(centres: Mapping[str, FloatArray], positions: Mapping[str, FloatArray],
           skeleton: Skeleton) -> float | None:
    """Return the trunk's length over the standard one, from hips to the neck's root or C7."""
    if "LeftUpLeg" not in centres or "c7" not in positions:
        return None
    hips = (centres["LeftUpLeg"] + centres["RightUpLeg"]) / 2
    middle = skeleton.heads[skeleton.index["LeftUpLeg"]] * np.array([0.0, 1.0, 1.0])
    standard = np.linalg.norm(body_landmarks()["c7"].place - middle)
    return median_length(positions["c7"] - hips) / float(standard)


def _own_factors(skeleton: Skeleton, factors: FloatArray) -> FloatArray:
    """Return each joint's own length factor (J,): its child's, or the median of its children's.

    For joints without children it is the factor of the bone to them.
    """
    own = factors.copy()
    for joint in range(len(factors)):
        children = skeleton.children(joint)
        if len(children) == 1:
            own[joint] = factors[children[0]]
        elif children:
            own[joint] = np.median(factors[children])
    return own
