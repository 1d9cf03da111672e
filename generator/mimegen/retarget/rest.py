"""Rest-pose alignment: find the corrections that make source and target rotations mean the same.

For a role, ``R_target(t) = R_source(t) * conjugate(correction)`` in global rotations. So the
target's rotation is the identity in the pose in which the source's bone has the direction and twist
of the target's bone at rest. If the source's rest pose is natural (T, A or N pose), the corrections
follow from its geometry. If not (all offsets along one axis), they follow from the motion: from the
bones' directions, the axes about which knees and elbows bend, and the soles on the ground.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, product, unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import FINGERS, TRUNK, bone_direction, hand_axes, matching, next_roles
from mimegen.retarget.stance import source_contacts

UP = np.array([0.0, 0.0, 1.0])
FRONT = np.array([0.0, -1.0, 0.0])
SAMPLES = 400


class Alignment:
    """The corrections (4,) of one source for one target skeleton, by role."""

    def __init__(self, source: Motion, roles: Mapping[str, str], target: Skeleton,
                 target_roles: Mapping[str, str]) -> None:
        # Some hundred poses give the axes as well as all; more would only cost time.
        step = max(1, source.frames // SAMPLES)
        self.source, self.target = source, target
        self.joint = {role: source.skeleton.index[name] for role, name in roles.items()}
        self.goal = {role: target.index[name] for role, name in target_roles.items()}
        self.positions = source.global_pose.positions[::step]
        self.rotations = source.global_pose.rotations[::step]
        self.corrections: dict[str, FloatArray] = {"hips": quaternions.IDENTITY}
        # Trunk first: the arms need the chest's correction.
        self._trunk()
        for side in SIDES:
            self._arm(side)
            self._leg(side)

    def _local(self, role: str, vectors: FloatArray) -> FloatArray:
        """Return the mean direction of world ``vectors`` (F, 3) in a joint's own frame."""
        turned = quaternions.rotate(quaternions.conjugate(self.rotations[:, self.joint[role]]),
                                    vectors)
        return unit(turned.mean(axis=0))

    def _towards(self, start: str, end: str) -> FloatArray:
        return self.positions[:, self.joint[end]] - self.positions[:, self.joint[start]]

    def _direction(self, role: str) -> FloatArray | None:
        """Return the bone's direction in the source joint's own frame."""
        for following in next_roles(role, self.joint):
            vectors = self._towards(role, following)
            if np.linalg.norm(vectors, axis=1).mean() > 1e-3:
                return self._local(role, vectors)
        return bone_direction(self.source.skeleton, self.joint, role)

    def _goal_direction(self, role: str) -> FloatArray:
        direction = bone_direction(self.target, self.goal, role)
        return UP if direction is None else direction

    def _align(self, role: str, along: FloatArray | None, beside: FloatArray,
               goal_along: FloatArray, goal_beside: FloatArray) -> None:
        if along is not None:
            self.corrections[role] = matching(along, beside, goal_along, goal_beside)

    # The trunk: rotations from an upright rest pose, or frames by spine and shoulders.

    def _trunk(self) -> None:
        line = [role for role in TRUNK if role in self.joint]
        heads = self.source.skeleton.heads
        upper = heads[self.joint["head"]] - heads[self.joint["hips"]]
        bones = [bone_direction(self.source.skeleton, self.joint, role) for role in line]
        arms = heads[self.joint["left_upper_arm"]] - heads[self.joint["right_upper_arm"]]
        # A rest pose is used if a person could stand in it: the trunk within 26 degrees of upright,
        # its bones within 60, shoulders within 37 of left and right, and no joint turned by more
        # than 60 degrees on average over the motion.
        if unit(upper)[2] > 0.9 and unit(arms)[0] > 0.8 and all(
                bone is None or bone[2] > 0.5 for bone in bones) and all(
                self._mean_turn(low, high) < 60.0 for low, high in pairwise(line)):
            self.upright = True
            self.corrections |= dict.fromkeys(line, quaternions.IDENTITY)
            return
        self.upright = False
        for role in line[1:]:
            pairs = ["upper_arm"] if role == "chest" or role.startswith(("neck", "head")) else [
                "thigh", "upper_arm"]
            left = sum((unit(self._towards(f"right_{p}", f"left_{p}")) for p in pairs),
                       np.zeros(3))
            along, typical = self._direction(role), self._local(role, self._towards("hips", "head"))
            # A bone more than 45 degrees off the line from hips to head does not follow the spine.
            if along is None or along @ typical < 0.7:
                along = typical
            self._align(role, along, self._local(role, left), UP, np.array([1.0, 0.0, 0.0]))

    def _aligned(self, role: str) -> FloatArray:
        """Return the target's global rotations (F, 4) with the correction found so far."""
        return quaternions.multiply(self.rotations[:, self.joint[role]],
                                    quaternions.conjugate(self.corrections[role]))

    def _mean_turn(self, above: str, below: str) -> float:
        """Return the angle (degrees) of the mean rotation between two joints."""
        between = quaternions.multiply(
            quaternions.conjugate(self.rotations[:, self.joint[above]]),
            self.rotations[:, self.joint[below]])
        turn = quaternions.to_rotation_vectors(quaternions.mean(between))
        return float(np.degrees(lengths(turn)))

    def _resting_on(self, above: FloatArray, role: str) -> FloatArray:
        """Return the correction with which a joint follows rotations ``above`` (F, 4) on average.
        """
        between = quaternions.multiply(quaternions.conjugate(above),
                                       self.rotations[:, self.joint[role]])
        return quaternions.mean(between)

    # Limbs: directions from the bones; twist from the rest pose, corrected by the bending axis.

    def _limb(self, side: str, parts: tuple[str, str, str], parent: FloatArray, natural: bool,
              hinge: FloatArray) -> None:
        upper, lower, end = (f"{side}_{part}" for part in parts)
        # Knees and elbows bend about one axis: the normal of the plane of a bent limb's two bones.
        axis = np.cross(unit(self._towards(upper, lower)), unit(self._towards(lower, end)))
        for role in (upper, lower):
            along, goal = self._direction(role), self._goal_direction(role)
            if along is None:
                along = goal
            # The smallest rotation keeps the parent's twist, which is the best guess without other
            # evidence.
            swing = quaternions.between(quaternions.rotate(parent, along), goal)
            correction = quaternions.multiply(swing, parent)
            beside = unit(hinge - goal * np.sum(hinge * goal))
            self.corrections[role] = correction
            bent = quaternions.rotate(quaternions.conjugate(self._aligned(role)), axis)
            # Bones' directions leave their twist open; the bending axis gives it, if the limb ever
            # bends.
            twist, certain = _twist(bent, goal, beside)
            if certain or not natural:
                turn = quaternions.from_rotation_vectors(-twist * goal)
                correction = quaternions.multiply(turn, correction)
            self.corrections[role] = parent = correction

    def _natural(self, parts: list[str], way: FloatArray, limit: float) -> bool:
        """Return whether bones of the source's rest pose lie within ``limit`` degrees of ``way``.
        """
        skeleton = self.source.skeleton
        bones = [bone_direction(skeleton, self.joint, part) for part in parts]
        return all(b is not None and b @ way > np.cos(np.radians(limit)) for b in bones)

    def _arm(self, side: str) -> None:
        out = np.array([1.0 if side == "left" else -1.0, 0.0, 0.0])
        names = [f"{side}_{part}" for part in ("upper_arm", "forearm")]
        natural = self.upright and self._natural(names, unit(out - 0.4 * UP + 0.3 * FRONT), 75.0)
        clavicle, parent = f"{side}_clavicle", quaternions.IDENTITY
        chest = "chest" if "chest" in self.joint else "hips"
        natural = natural and (self._mean_turn(chest, clavicle) < 50.0 if clavicle in self.joint
                               else self._mean_turn(chest, names[0]) < 130.0)
        if clavicle in self.joint:
            # The start of collar bones differs too much between systems to use their direction.
            self.corrections[clavicle] = quaternions.IDENTITY if natural else self._resting_on(
                self._aligned(chest), clavicle)
            parent = self.corrections.get(clavicle, parent)
        self._limb(side, ("upper_arm", "forearm", "hand"), parent, natural, np.cross(out, FRONT))
        if f"{side}_hand" in self.joint:
            self._hand(side, natural)

    def _hand(self, side: str, natural: bool) -> None:
        hand, forearm = f"{side}_hand", f"{side}_forearm"
        source_axes = self._hand_axes(side)
        target_axes = hand_axes(self.target.heads, self.goal, side)
        if source_axes and target_axes:
            # Both axes of the palm are known, so the rest pose does not matter.
            self.corrections[hand] = matching(*source_axes, *target_axes)
        elif natural:
            self.corrections[hand] = self.corrections[forearm]
        else:
            self.corrections[hand] = self._resting_on(self._aligned(forearm), hand)
        for finger in FINGERS:
            for number in "123":
                self._finger(side, f"{side}_{finger}{number}", source_axes, target_axes)

    def _hand_axes(self, side: str) -> tuple[FloatArray, FloatArray] | None:
        """Return the source hand's direction and back normal in its own frame, if it has fingers.
        """
        hand = f"{side}_hand"
        if f"{side}_index1" not in self.joint or f"{side}_pinky1" not in self.joint:
            return None
        local = {name: self.joint[name] for name in self.joint}
        places = np.zeros_like(self.source.skeleton.heads)
        for role, joint in local.items():
            if role.startswith(f"{side}_") and role[-1] == "1":
                vectors = self._towards(hand, role)
                length = np.linalg.norm(vectors, axis=1).mean()
                places[joint] = self._local(hand, vectors) * length
        return hand_axes(places, local, side)

    def _finger(self, side: str, role: str, source_axes: tuple[FloatArray, FloatArray] | None,
                target_axes: tuple[FloatArray, FloatArray] | None) -> None:
        if role not in self.joint or role not in self.goal or not (source_axes and target_axes):
            return
        hand = f"{side}_hand"
        back = quaternions.rotate(self.rotations[:, self.joint[hand]], source_axes[1])
        along_palm = quaternions.rotate(self.rotations[:, self.joint[hand]], source_axes[0])
        across = np.cross(along_palm, back)
        goal_across = np.cross(target_axes[0], target_axes[1])
        along = self._direction(role)
        self._align(role, along, self._local(role, across), self._goal_direction(role),
                    goal_across)

    def _leg(self, side: str) -> None:
        natural = self._natural([f"{side}_thigh", f"{side}_shin"], -UP, 50.0)
        self._limb(side, ("thigh", "shin", "foot"), quaternions.IDENTITY, natural,
                   np.array([1.0, 0.0, 0.0]))
        self._foot(side, natural)

    def _foot(self, side: str, natural: bool) -> None:
        """Align foot and toes: soles by the ground that they rest on, headings by their bones."""
        shin, foot, toe = (f"{side}_{part}" for part in ("shin", "foot", "toe"))
        flat = np.logical_and(*source_contacts(self.source, self.joint, side))
        along = self._direction(foot)
        if along is None:
            self.corrections[foot] = self.corrections[shin]
        else:
            # The ground is the most reliable; then a rest pose that points ahead; then the shin.
            sole = self._sole(foot, flat)
            if sole is None and natural and along @ FRONT > 0.3:
                sole = UP
            if sole is None:
                sole = self._local(foot, -self._towards(shin, foot))
            goal = self._goal_direction(foot) * np.array([1.0, 1.0, 0.0])
            self.corrections[foot] = matching(sole, along, UP, goal)
        if toe in self.joint:
            along, sole = self._direction(toe), self._sole(toe, flat)
            self.corrections[toe] = self.corrections[foot]
            if along is not None and sole is not None and toe in self.goal:
                goal = self._goal_direction(toe) * np.array([1.0, 1.0, 0.0])
                self.corrections[toe] = matching(sole, along, UP, goal)

    def _sole(self, role: str, flat: NDArray[np.bool_]) -> FloatArray | None:
        """Return the vertical in a foot's frame while heel and toes rest on the ground."""
        if np.count_nonzero(flat) < 5:
            return None
        turns = self.source.global_pose.rotations[flat, self.joint[role]]
        # The median: a few frames in which the foot has begun to roll do not count.
        return unit(np.median(quaternions.rotate(quaternions.conjugate(turns), UP), axis=0))


def _twist(axes: FloatArray, along: FloatArray, beside: FloatArray) -> tuple[float, bool]:
    """Return the mean angle (radians) about ``along`` from ``beside`` to bending axes (F, 3).

    Also return whether it is certain. An axis' length is the sine of the bend, so that nearly
    straight limbs do not count.
    """
    third = np.cross(along, beside)
    # Below 20 degrees of bend, noise turns the axis more than the limb does.
    weights = np.where(np.linalg.norm(axes, axis=1) > np.sin(np.radians(20.0)), 1.0, 0.0)
    vectors = np.stack([product(axes, beside), product(axes, third)], axis=1) * weights[:, None]
    total = vectors.sum(axis=0)
    strength = float(np.linalg.norm(total))
    # 1 if all axes agree, near 0 if they point everywhere, as for an elbow that only twists.
    sharp = strength / max(float(np.linalg.norm(vectors, axis=1).sum()), 1e-9)
    return float(np.arctan2(total[1], total[0])), bool(weights.sum() >= 5 and sharp > 0.8)
