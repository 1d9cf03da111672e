"""Compute a motion from joint positions without rotations: inverse kinematics, bone by bone.

Positions give a bone's direction but not its rotation about itself. Anatomy gives the rest: pelvis
and chest follow the lines of hips and shoulders, the spine turns gradually between them, and elbows
and knees bend about a single axis. A straight limb turns no further than necessary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.limbs import middle_joint
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES

# A bone shorter than this, in the file's unit or as a fraction of the body's size, has no
# direction: any distance between joints at one position is due to rounding.
MIN_LENGTH = 1e-9
MIN_LENGTH_SHARE = 1e-3
# Least length of the bone that shows a part's up direction, as a fraction of the distance from
# hips to head.
MIN_BONE_SHARE = 0.02
# Sines of a limb's bend: its plane has no influence on the axis below the first, all above the
# second.
BENT_SINES = (0.12, 0.35)
# Deviation (seconds) of the Gaussian that smooths the axis of a hinge, and time in which the
# correction of a planted foot fades.
HINGE_S = 0.06
BLEND_S = 0.12
# Greatest distance from its median position at which a planted foot is corrected, in metres for a
# size of 1.7 m.
MAX_PLANTED_SHIFT = 0.01
# Direction of the body's left, in mimegen's convention.
LEFT = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Layout:
    """The skeleton of a format that gives positions: its rest pose (Z up, facing -Y) and roles.

    Its size does not matter, because the lengths of bones are taken from the positions.
    """

    skeleton: Skeleton
    roles: Mapping[str, str]


def motion_of_positions(layout: Layout, positions: FloatArray, fps: float,
                        planted: Mapping[str, NDArray[np.bool_]] | None = None) -> Motion:
    """Return the motion of joints with positions ``positions`` (F, J, 3), Z up, in any unit.

    ``planted`` maps ``left`` and ``right`` to masks (F,) of the frames in which that foot stands.
    """
    body = _RoledPositions(layout, positions)
    if planted:
        body = _RoledPositions(layout, _with_planted_feet(body, fps, planted))
    rotations = _global_rotations(body, fps)
    skeleton = _skeleton_of_size(body, rotations)
    return Motion.from_global_rotations(skeleton, fps, body.positions[:, 0],
                                        quaternions.without_flips(rotations))


class _RoledPositions:
    """Positions (F, J, 3) and rest positions of joints, by role."""

    def __init__(self, layout: Layout, positions: FloatArray) -> None:
        self.skeleton, self.roles, self.positions = layout.skeleton, layout.roles, positions
        self.joint = {role: self.skeleton.index[name] for role, name in layout.roles.items()}
        size = np.median(np.ptp(positions, axis=1).max(axis=1)) if positions.size else 0.0
        self.shortest = MIN_LENGTH_SHARE * float(size)

    def at(self, role: str) -> FloatArray:
        """Return the positions (F, 3) of a role's joint."""
        return np.asarray(self.positions[:, self.joint[role]])

    def rest(self, role: str) -> FloatArray:
        """Return the rest position (3,) of a role's joint."""
        return np.asarray(self.skeleton.heads[self.joint[role]])

    def vector(self, start: str, end: str) -> FloatArray:
        """Return the vectors (F, 3) from one role's joint to another's.

        They are 0 if the joints are nearer than ``shortest``: then they count as one position.
        """
        found = self.at(end) - self.at(start)
        return np.where(lengths(found)[:, None] > self.shortest, found, 0.0)

    def rest_vector(self, start: str, end: str) -> FloatArray:
        """Return the vector (3,) from one role's joint to another's at rest."""
        return self.rest(end) - self.rest(start)


def _frame(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return orthonormal axes (..., 3, 3) as columns.

    They point along ``first``, towards ``second``, and perpendicular to both.
    """
    one = unit(first)
    two = unit(second - one * np.sum(one * second, axis=-1, keepdims=True))
    return np.stack([one, two, quaternions.cross(one, two)], axis=-1)


def _between_frames(rest: FloatArray, found: FloatArray) -> FloatArray:
    """Return the rotations (F, 4) from rest axes (3, 3) to axes (F, 3, 3)."""
    return quaternions.from_frames(np.einsum("fij,kj->fik", found, rest))


def _swung(turn: FloatArray, rest: FloatArray, found: FloatArray) -> FloatArray:
    """Swing rotations ``turn`` (F, 4) so that a bone ``rest`` (3,) points along ``found`` (F, 3).

    A bone without length keeps its rotation.
    """
    before = quaternions.rotate(turn, rest)
    found = np.where(lengths(found)[:, None] > MIN_LENGTH, found, before)
    return quaternions.multiply(quaternions.between(before, found), turn)


def _global_rotations(body: _RoledPositions, fps: float) -> FloatArray:
    """Return global rotations (F, J, 4) of all joints."""
    rotations = np.tile(quaternions.IDENTITY, (*body.positions.shape[:2], 1))
    joint = body.joint
    pelvis = _across(body, "thigh", "hips", _top(body, "hips", ("spine1", "chest", "neck1")))
    arms = "clavicle" if _has_two_sides(body, "clavicle") else "upper_arm"
    base = "chest" if "chest" in joint else "hips"
    chest = _across(body, arms, base, _top(body, base, ("neck1",)))
    rotations[:, joint["hips"]] = pelvis
    _turn_spine(body, rotations, pelvis, chest)
    _turn_neck(body, rotations, chest)
    for side in SIDES:
        _turn_arm(body, rotations, side, chest, fps)
        _turn_leg(body, rotations, side, pelvis, fps)
    _fill_ends(body, rotations)
    return rotations


def _has_two_sides(body: _RoledPositions, part: str) -> bool:
    """Return whether a part has a left and a right joint at different rest positions."""
    if f"left_{part}" not in body.joint:
        return False
    return float(lengths(body.rest_vector(f"right_{part}", f"left_{part}"))) > 1e-3


def _top(body: _RoledPositions, base: str, above: Sequence[str]) -> str:
    """Return the first role ``above`` a base that is not at the base's position, or the head."""
    least = MIN_BONE_SHARE * float(np.median(lengths(body.vector("hips", "head"))))
    return next((role for role in above if role in body.joint
                 and np.median(lengths(body.vector(base, role))) > least), "head")


def _across(body: _RoledPositions, pair: str, base: str, top: str) -> FloatArray:
    """Return the rotations (F, 4) of a part from its pair of joints and its bone upward."""
    left, right = f"left_{pair}", f"right_{pair}"
    found = _frame(body.vector(right, left), body.vector(base, top))
    return _between_frames(_frame(body.rest_vector(right, left), body.rest_vector(base, top)),
                           found)


def _turn_spine(body: _RoledPositions, rotations: FloatArray, pelvis: FloatArray,
                chest: FloatArray) -> None:
    """Turn the joints between pelvis and chest in equal steps, each along its bone."""
    line = [role for role in body.joint if role.startswith("spine")]
    for number, role in enumerate(line, start=1):
        between = quaternions.slerp(pelvis, chest, number / (len(line) + 1))
        above = line[number] if number < len(line) else "chest" if "chest" in body.joint else None
        rotations[:, body.joint[role]] = between if above is None else _swung(
            between, body.rest_vector(role, above), body.vector(role, above))
    if "chest" in body.joint:
        rotations[:, body.joint["chest"]] = chest


def _turn_neck(body: _RoledPositions, rotations: FloatArray, chest: FloatArray) -> None:
    """Swing neck and head, each along its bone, from the chest's rotation on."""
    line = [*(role for role in body.joint if role.startswith("neck")), "head"]
    turn = chest
    for role, above in pairwise(line):
        turn = _swung(turn, body.rest_vector(role, above), body.vector(role, above))
        rotations[:, body.joint[role]] = turn
    rotations[:, body.joint["head"]] = _face(body, turn)


def _face(body: _RoledPositions, neck: FloatArray) -> FloatArray:
    """Return the head's rotations (F, 4) by nose and ears, or else those of the neck."""
    index = body.skeleton.index
    if not {"left_ear", "right_ear", "nose"} <= index.keys():
        return neck
    left, right, nose = (index[name] for name in ("left_ear", "right_ear", "nose"))
    ears = (body.positions[:, left] + body.positions[:, right]) / 2
    rest = body.skeleton.heads
    found = _frame(body.positions[:, left] - body.positions[:, right],
                   body.positions[:, nose] - ears)
    at_rest = _frame(rest[left] - rest[right], rest[nose] - (rest[left] + rest[right]) / 2)
    return _between_frames(at_rest, found)


def _hinge(first: FloatArray, second: FloatArray, usual: FloatArray, fps: float) -> FloatArray:
    """Return the axis (F, 3) about which a limb bends.

    It is perpendicular to both bones; for a straight limb it is the ``usual`` one.
    """
    across = quaternions.cross(unit(first), unit(second))
    bent = np.clip((lengths(across) - BENT_SINES[0]) / (BENT_SINES[1] - BENT_SINES[0]), 0.0,
                   1.0)[:, None]
    # A limb that seems to bend the wrong way is straight, with noise.
    bent = np.where(np.sum(across * usual, axis=-1, keepdims=True) < -0.5 * lengths(
        across)[:, None], 0.0, bent)
    return low_passed(unit(across) * bent + unit(usual) * (1.0 - bent), HINGE_S * fps)


def _limb_turn(rest: FloatArray, rest_axis: FloatArray, found: FloatArray, axis: FloatArray
               ) -> FloatArray:
    """Return the rotations (F, 4) of a bone from its direction and its hinge axis."""
    return _between_frames(_frame(rest, rest_axis), _frame(found, axis))


def _turn_arm(body: _RoledPositions, rotations: FloatArray, side: str, chest: FloatArray,
              fps: float) -> None:
    """Turn a shoulder, an upper arm, a forearm and a hand."""
    joint, clavicle = body.joint, f"{side}_clavicle"
    upper, lower, hand = (f"{side}_{part}" for part in ("upper_arm", "forearm", "hand"))
    above = chest
    if clavicle in joint:
        rest = body.rest_vector(clavicle, upper)
        above = _swung(chest, rest, body.vector(clavicle, upper)) if lengths(rest) > 1e-4 else chest
        rotations[:, joint[clavicle]] = above
    rest, found = body.rest_vector(upper, lower), body.vector(upper, lower)
    # In the rest pose, with arms to the side, elbows bend forward, about the vertical.
    axis = unit(quaternions.cross(unit(rest), np.array([0.0, -1.0, 0.0])))
    usual = quaternions.rotate(_swung(chest, rest, found), axis)
    hinge = _hinge(found, body.vector(lower, hand), usual, fps)
    rotations[:, joint[upper]] = _limb_turn(rest, axis, found, hinge)
    rest = body.rest_vector(lower, hand)
    rotations[:, joint[lower]] = _limb_turn(rest, axis, body.vector(lower, hand), hinge)
    if hand in joint:
        rotations[:, joint[hand]] = _hand(body, side, rotations[:, joint[lower]])
        _share_twist(body, rotations, side)


def _hand(body: _RoledPositions, side: str, forearm: FloatArray) -> FloatArray:
    """Return a hand's rotations (F, 4) by index and little finger, else its tip, else the forearm.
    """
    index, rest = body.skeleton.index, body.skeleton.heads
    wrist = body.joint[f"{side}_hand"]
    knuckles = [index.get(f"{side}_{name}_knuckle") for name in ("index", "pinky")]
    tip = index.get(f"{side}_hand_tip")
    if None not in knuckles:
        first, last = (int(one) for one in knuckles if one is not None)
        middle = (body.positions[:, first] + body.positions[:, last]) / 2 - body.positions[:, wrist]
        found = _frame(middle, body.positions[:, first] - body.positions[:, last])
        at_rest = _frame((rest[first] + rest[last]) / 2 - rest[wrist], rest[first] - rest[last])
        return _between_frames(at_rest, found)
    if tip is not None:
        return _swung(forearm, rest[tip] - rest[wrist],
                      body.positions[:, tip] - body.positions[:, wrist])
    return forearm


def _share_twist(body: _RoledPositions, rotations: FloatArray, side: str) -> None:
    """Turn the forearm about its own bone by half of the hand's twist."""
    lower, hand = (body.joint[f"{side}_{part}"] for part in ("forearm", "hand"))
    bone = unit(body.rest_vector(f"{side}_forearm", f"{side}_hand"))
    between = quaternions.multiply(quaternions.conjugate(rotations[:, lower]), rotations[:, hand])
    twist = quaternions.scale(quaternions.twist_about(between, bone), 0.5)
    rotations[:, lower] = quaternions.multiply(rotations[:, lower], twist)


def _turn_leg(body: _RoledPositions, rotations: FloatArray, side: str, pelvis: FloatArray,
              fps: float) -> None:
    """Turn a thigh, a shin and a foot."""
    joint = body.joint
    thigh, shin, foot, toe = (f"{side}_{part}" for part in ("thigh", "shin", "foot", "toe"))
    rest, found = body.rest_vector(thigh, shin), body.vector(thigh, shin)
    usual = quaternions.rotate(_swung(pelvis, rest, found), LEFT)
    if toe in joint:
        forward = body.vector(foot, toe)
        usual = unit(usual) + unit(quaternions.cross(forward, found))
    hinge = _hinge(found, body.vector(shin, foot), usual, fps)
    rotations[:, joint[thigh]] = _limb_turn(rest, LEFT, found, hinge)
    rotations[:, joint[shin]] = _limb_turn(body.rest_vector(shin, foot), LEFT,
                                           body.vector(shin, foot), hinge)
    if toe in joint:
        rotations[:, joint[foot]] = _limb_turn(body.rest_vector(foot, toe), LEFT,
                                               body.vector(foot, toe),
                                               hinge)
        rotations[:, joint[toe]] = rotations[:, joint[foot]]
    else:
        rotations[:, joint[foot]] = rotations[:, joint[shin]]


def _fill_ends(body: _RoledPositions, rotations: FloatArray) -> None:
    """Give joints without a role the rotation of their parent."""
    with_role = set(body.joint.values())
    for joint, parent in enumerate(body.skeleton.parents.tolist()):
        if joint not in with_role and parent >= 0:
            rotations[:, joint] = rotations[:, parent]


def _skeleton_of_size(body: _RoledPositions, rotations: FloatArray) -> Skeleton:
    """Return the skeleton with the median bones between the positions."""
    skeleton = body.skeleton
    above = skeleton.parents[1:]
    offsets = np.median(quaternions.rotate(
        quaternions.conjugate(rotations[:, above]),
        body.positions[:, 1:] - body.positions[:, above]), axis=0)
    rest = skeleton.offsets[1:]
    heads = np.zeros_like(skeleton.heads)
    scale = float(np.median(lengths(offsets)[lengths(rest) > 1e-4]
                            / lengths(rest)[lengths(rest) > 1e-4]))
    for joint, parent in enumerate(above.tolist(), start=1):
        heads[joint] = heads[parent] + offsets[joint - 1]
    tails = heads + (skeleton.tails - skeleton.heads) * scale
    for joint in range(len(heads)):
        children = skeleton.children(joint)
        if children:
            tails[joint] = heads[children].mean(axis=0)
    return Skeleton(skeleton.names, skeleton.parents, heads, tails)


def _with_planted_feet(body: _RoledPositions, fps: float, planted: Mapping[str, NDArray[np.bool_]]
                       ) -> FloatArray:
    """Return positions (F, J, 3) in which planted feet stand still and knees follow them."""
    positions = body.positions.copy()
    size = float(np.median(sum(
        lengths(body.vector(f"{side}_thigh", f"{side}_shin"))
        + lengths(body.vector(f"{side}_shin", f"{side}_foot")) for side in SIDES))) / 1.7
    for side, stands in planted.items():
        ends = [role for role in (f"{side}_foot", f"{side}_toe") if role in body.joint]
        shift = np.mean([_shift(body.at(role), stands, fps, MAX_PLANTED_SHIFT * size)
                         for role in ends], axis=0)
        for role in ends:
            positions[:, body.joint[role]] += shift
        positions[:, body.joint[f"{side}_shin"]] = _knee(body, side, positions)
    return positions


def _shift(path: FloatArray, stands: NDArray[np.bool_], fps: float, most: float) -> FloatArray:
    """Return the displacements (F, 3) that hold a point still while its foot ``stands`` (F,).

    A stance in which it moves further than ``most`` is left as it is.
    """
    shift, weight = np.zeros_like(path), np.zeros(len(path))
    for first, last in spans(stands):
        middle = np.median(path[first:last], axis=0)
        if float(lengths(path[first:last] - middle).max()) <= most:
            shift[first:last] = middle - path[first:last]
            weight[first:last] = 1.0
    # Before and after a stance, the correction fades instead of jumping.
    faded = low_passed(np.concatenate([shift, weight[:, None]], axis=1), BLEND_S * fps / 2)
    outside = np.where(faded[:, 3:] > 1e-3, faded[:, :3], 0.0)
    return np.where(weight[:, None] > 0, shift, outside)


def spans(flags: NDArray[np.bool_]) -> Sequence[tuple[int, int]]:
    """Return the first frame, and the one after the last, of every run of true flags (F,)."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _knee(body: _RoledPositions, side: str, positions: FloatArray) -> FloatArray:
    """Return a knee's positions (F, 3) between the hip and a moved ankle, in the same plane."""
    thigh, shin, foot = (body.joint[f"{side}_{part}"] for part in ("thigh", "shin", "foot"))
    hip, ankle = positions[:, thigh], positions[:, foot]
    upper = np.median(lengths(body.vector(f"{side}_thigh", f"{side}_shin")))
    lower = np.median(lengths(body.vector(f"{side}_shin", f"{side}_foot")))
    line = ankle - hip
    distance = np.maximum(lengths(line), 1e-6)
    along, aside = middle_joint(upper, lower, distance)
    straight = unit(line)
    pole = body.positions[:, shin] - hip
    pole = unit(pole - straight * np.sum(pole * straight, axis=1, keepdims=True))
    return np.asarray(hip + straight * along[:, None] + pole * aside[:, None])
