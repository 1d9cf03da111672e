"""Measure on a body's own skin how much its arms must swell as they turn.

Slight bodies lose several times as much volume as heavy ones with arms overhead; heavy bodies gain
volume with arms to the sides.
"""

from collections.abc import Sequence

import numpy as np

from mimegen.characters.character import Mesh, joint_transforms, posed_vertices
from mimegen.characters.helpers import with_helpers_turned
from mimegen.characters.swells import ARMS, Swell, swell_of
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

JointAngles = tuple[tuple[int, int, int], ...]
# Rotations of the left arm's joints, in degrees about X, Y and Z: half-way down, as bodies are
# sculpted, and at each direction of swelling (forward, overhead, behind the head, to the side,
# back, down in front of the body). No pose is near the direction of a later one, so sizes can be
# solved for one after another.
JOINTS = ("Shoulder", "Arm", "ForeArm", "Hand")
SCULPTED: JointAngles = ((0, 0, 0), (-6, 47, -6), (1, 0, -32), (1, 2, -11))
TURNED: tuple[JointAngles, ...] = (
    ((0, -2, -20), (-29, 19, -74), (-36, 4, -3), (-24, -9, 5)),
    ((0, -27, -1), (-19, -60, -15), (-40, 5, -4), (-27, -10, 1)),
    ((0, -26, 3), (-84, -55, -27), (-9, 8, -81), (-6, -12, -20)),
    ((0, -3, 3), (30, -6, -3), (-19, 5, -17), (-13, -1, 15)),
    ((0, 3, 10), (105, 86, -50), (-39, 8, -13), (-26, -3, -2)),
    ((-1, -6, -15), (-26, 86, -47), (-37, 9, -16), (-27, -15, 4)))
# Forward swelling, as a fraction of the thickness, on bodies that gain no volume there: crossed
# arms, as those of the man, the woman and random:3, lose some.
FORWARD = 0.05
# The fraction of a lost or gained volume that is compensated, and the limits of the swelling, as
# fractions of an arm's thickness.
SHARE = 0.8
THINNER = -0.1
THICKER = 0.2
# The swelling that is tried to measure how much volume swelling adds.
TRIED = 0.05


def swelling_of(skin: Mesh, skeleton: Skeleton) -> tuple[float, ...]:
    """Return the swelling of the arms for each direction (W,), as a fraction of their thickness.

    Negative values make arms thinner. ``skin`` is the whole skin, weighted to the joints and helper
    joints of ``skeleton``.
    """
    arms = [swell_of(skeleton, [skin], arm) for arm in ARMS]
    whole, _ = _volumes(skin, skeleton, arms, SCULPTED)
    found: list[float] = []
    for turns in TURNED:
        now, more = _volumes(skin, skeleton, arms, turns)
        near = arms[0].nearness(_columns(_posed(skeleton, turns)))
        has = sum(size * share for size, share in zip(found, near, strict=False))
        needed = (SHARE * TRIED * (whole - now) / more - has) / near[len(found)]
        size = needed if found else FORWARD + min(needed, 0.0)
        found.append(round(float(np.clip(size, THINNER, THICKER)), 4))
    return tuple(found)


def _volumes(skin: Mesh, skeleton: Skeleton, arms: Sequence[Swell],
             turns: JointAngles) -> tuple[float, float]:
    """Return the volume within the skin in a pose, and how much swollen arms add (both m3)."""
    motion = _posed(skeleton, turns)
    places = posed_vertices(skin, skeleton, motion.global_pose.positions[0],
                            motion.global_pose.rotations[0])
    now = _volume(places, skin)
    for arm in arms:
        arm.swell(places, _columns(motion), TRIED)
    return now, _volume(places, skin) - now


def _volume(places: FloatArray, skin: Mesh) -> float:
    """Return the volume (m3) enclosed by a skin with vertices at ``places`` (V, 3)."""
    corners = places[np.where(skin.faces < 0, skin.faces[:, :1], skin.faces)]
    first, second, third, last = np.moveaxis(corners, 1, 0)
    return float(np.sum(first * quaternions.cross(second - last, third))) / 6


def _posed(skeleton: Skeleton, turns: JointAngles) -> Motion:
    """Return one frame with both arms' joints rotated, the right arm mirroring the left."""
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for side, mirrored in (("Left", [1, 1, 1]), ("Right", [1, -1, -1])):
        joints = [skeleton.index[side + joint] for joint in JOINTS]
        rotations[0, joints] = quaternions.from_rotation_vectors(np.radians(turns) * mirrored)
    return with_helpers_turned(Motion(skeleton, 1.0, skeleton.heads[:1], rotations))


def _columns(motion: Motion) -> FloatArray:
    """Return the joint columns (4 J, 3) of a motion's first frame."""
    pose = motion.global_pose
    matrices, shifts = joint_transforms(motion.skeleton, pose.positions[0], pose.rotations[0])
    columns = np.concatenate([np.swapaxes(matrices, -1, -2), shifts[:, None]], axis=1)
    return np.asarray(columns.reshape(-1, 3))
