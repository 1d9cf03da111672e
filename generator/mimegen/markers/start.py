"""Find initial poses: segments with three markers as a whole, limbs towards their ends."""

from collections.abc import Sequence

import numpy as np
import scipy

from mimegen.markers.fitting import Pose, Rig, posed
from mimegen.markers.hidden import SHOWN_BY
from mimegen.markers.sets import Landmark
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

# Arms at the start of the fit, in degrees from the T pose: they hang, with elbows slightly bent.
HANGING_DEG = 72.0
BENT_DEG = 15.0
# Upper before lower bones: the joint that turns, and the joint at the bone's end.
LIMBS = (("UpLeg", "Leg"), ("Leg", "Foot"), ("Arm", "ForeArm"), ("ForeArm", "Hand"))


def neutral(skeleton: Skeleton, frames: int) -> Pose:
    """Return a natural stance: upright, arms hanging, elbows slightly bent."""
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for part, axis in (("Arm", [0.0, sign * HANGING_DEG, 0.0]),
                           ("ForeArm", [0.0, 0.0, -sign * BENT_DEG])):
            turn = quaternions.from_rotation_vectors(np.radians(axis))
            rotations[:, skeleton.index[side + part]] = turn
    return Pose(np.zeros((frames, 3)), rotations)


def first_pose(skeleton: Skeleton, rig: Rig, landmarks: Sequence[Landmark],
               seen: FloatArray) -> Pose:
    """Return a rough pose for markers ``seen`` (F, M, 3)."""
    index, positions = skeleton.index, _rest_positions(skeleton, rig)
    pose = neutral(skeleton, len(seen))
    rotations = {}
    for segment, joints in (("Hips", ("Hips",)), ("Head", ("Head",)),
                            ("Spine2", ("Spine2", "LeftShoulder", "RightShoulder"))):
        members = [n for n, mark in enumerate(landmarks) if mark.joint in joints]
        turn, shift = rigid(positions[members], seen[:, members])
        rotations[segment] = filled(turn)
        if segment == "Hips" and rotations["Hips"] is not None:
            pose.rotations[:, 0] = rotations["Hips"]
            pose.roots[:] = bridged(
                quaternions.rotate(rotations["Hips"], skeleton.heads[0]) + shift)
    _spread(pose, index, rotations["Hips"], rotations["Spine2"], ("Spine", "Spine1", "Spine2"))
    _spread(pose, index, rotations["Spine2"], rotations["Head"], ("Neck", "Head"))
    for part, end in LIMBS:
        for side in ("left", "right"):
            shown_by = {f"{side}_{mark}" for mark in SHOWN_BY[end][0]}
            members = [n for n, mark in enumerate(landmarks) if mark.name in shown_by] or [
                n for n, mark in enumerate(landmarks) if mark.joint == side.capitalize() + end]
            joint = index[side.capitalize() + part]
            if members:
                along = positions[members].mean(axis=0) - skeleton.heads[joint]
                _swing(rig, pose, joint, along, bridged(_middle(seen[:, members])))
    return pose


def _rest_positions(skeleton: Skeleton, rig: Rig) -> FloatArray:
    return np.asarray(skeleton.heads[rig.carriers] + rig.markers)


def rigid(rest: FloatArray, seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rotations (F, 4) and shifts (F, 3) that map ``rest`` (M, 3) to ``seen`` (F, M, 3).

    Kabsch, "A solution for the best rotation to relate two sets of vectors" (1976). Frames with
    fewer than three of the markers, or with all of them in one line, are NaN.
    """
    there = np.isfinite(seen[..., :1])
    count = np.maximum(there.sum(axis=1), 1)
    middle = np.where(there, rest, 0.0).sum(axis=1) / count
    centre = np.where(there, seen, 0.0).sum(axis=1) / count
    enough = there.sum(axis=1)[:, 0] >= 3
    a = np.where(there, rest - middle[:, None], 0.0)
    b = np.where(there, seen - centre[:, None], 0.0)
    u, size, vt = np.linalg.svd(b.transpose(0, 2, 1) @ a)
    signs = np.ones((len(seen), 3))
    signs[:, 2] = np.sign(np.linalg.det(u @ vt))
    turn = quaternions.from_matrices((u * signs[:, None]) @ vt)
    good = enough & (size[:, 1] > 1e-4)
    turn = np.where(good[:, None], turn, np.nan)
    return turn, centre - quaternions.rotate(turn, middle)


def _middle(seen: FloatArray) -> FloatArray:
    """Return the mean (F, 3) of the markers (F, M, 3) that are seen, NaN if none is."""
    there = np.isfinite(seen[..., :1])
    count = there.sum(axis=1)
    total = np.where(there, seen, 0.0).sum(axis=1)
    return np.asarray(total / np.where(count > 0, count, np.nan))


def filled(rotations: FloatArray) -> FloatArray | None:
    """Return rotations (F, 4) with gaps interpolated, or None if all are NaN."""
    if np.isnan(rotations[:, 0]).all():
        return None
    signs = rotations.copy()
    known = np.flatnonzero(np.isfinite(rotations[:, 0]))
    signs[known] = quaternions.without_flips(rotations[known])
    return quaternions.normalise(bridged(signs))


def bridged(values: FloatArray) -> FloatArray:
    """Return values (F, C) with NaN interpolated, and the nearest value held at the ends."""
    known = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(known) < 2:
        return np.nan_to_num(np.broadcast_to(values[known], values.shape)) if len(known) \
            else np.nan_to_num(values)
    fill = (values[known[0]], values[known[-1]])
    return np.asarray(scipy.interpolate.interp1d(known, values[known], axis=0, bounds_error=False,
                               fill_value=fill)(np.arange(len(values))))


def _spread(pose: Pose, index: dict[str, int], below: FloatArray | None,
            above: FloatArray | None, joints: tuple[str, ...]) -> None:
    """Divide the rotation between two segments evenly among the joints between them."""
    if below is None or above is None:
        return
    share = quaternions.scale(quaternions.multiply(quaternions.conjugate(below), above),
                              np.array(1.0 / len(joints)))
    for joint in joints:
        pose.rotations[:, index[joint]] = share


def _swing(rig: Rig, pose: Pose, joint: int, along: FloatArray, target: FloatArray) -> None:
    """Turn a joint from its neutral pose so that ``along`` (3,) points to ``target`` (F, 3)."""
    positions, rotations, _ = posed(rig, pose)
    parent = rotations[:, rig.parents[joint]]
    wanted = np.einsum("fji,fj->fi", parent, target - positions[:, joint])
    now = quaternions.rotate(pose.rotations[:, joint], along)
    pose.rotations[:, joint] = quaternions.multiply(quaternions.between(now, wanted),
                                                    pose.rotations[:, joint])
