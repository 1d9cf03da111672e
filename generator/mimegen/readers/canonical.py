"""Bring a motion from its file's units and axes to mimegen's convention.

The convention is metres, Z up, facing -Y, and feet on the ground at Z = 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

from mimegen.base.errors import RequestError
from mimegen.base.vectors import unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.contacts import resting_level
from mimegen.motion.editing import moved, trimmed
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.dropouts import without_dropouts
from mimegen.readers.names import SIDES, system_of
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.plausibility import implausibilities, refuse_animals
from mimegen.readers.posture import BELIEVABLE_HEIGHTS, posture_of
from mimegen.readers.recording import Recording
from mimegen.readers.roles import Roles, find_roles
from mimegen.readers.sides import exchanged, unmirrored

# Units that a file may be in, in metres.
UNITS = {"millimetres": 0.001, "centimetres": 0.01, "inches": 0.0254, "CMU units": 0.0254 / 0.45,
         "feet": 0.3048, "metres": 1.0}
# Kinds of files that hold markers. Their gaps are already bridged when a skeleton is fitted.
MARKERS = ("C3D", "TRC", "Motive")
# Height of a typical person, in metres, for files whose unit is unknown.
TYPICAL_HEIGHT = 1.7
# Least confidence of the roles of limbs whose left and right were exchanged.
EXCHANGED = 0.8
BELIEVED = "as the file says"
NO_UNIT = "no common unit fits"
# Length of the leg from hip to ankle, as a fraction of the height. Winter, "Biomechanics and Motor
# Control of Human Movement" (2009), figure 4.1.
LEG_SHARE_OF_HEIGHT = 0.491
# Greatest twist between hips and shoulders in degrees: beyond, the pelvis has drifted.
MAX_TWIST_DEG = 75.0
# Longest time in the air in seconds, and least height in metres that counts as off the ground.
MAX_JUMP_S = 0.75
FLOATING = 0.08
# Heights of ankle and toe joints above the ground, as fractions of the body's height.
SOLE_TO_ANKLE = 0.039
SOLE_TO_TOE = 0.013
# Height of the lowest point above zero, as a fraction of the body's size: for a body that lies on
# the ground or a bench, and the distance from zero beyond which a body is not on the ground.
GROUND = (-0.06, 0.35)
OFF_GROUND = 0.15
# If the lowest point is this far below the resting feet, as a fraction of the height, the body
# rests on another part, which is then put on the ground.
BELOW_FEET = 0.08


@dataclass(frozen=True)
class Stated:
    """The unit and up axis that a file states.

    Its reader has already applied them: the motion is in metres, Z up. ``unit`` is metres per file
    unit, ``up`` the up axis in the file.
    """

    unit: float
    up: str


def canonical_recording(path: Path, motion: Motion, kind: str, notes: tuple[str, ...],
                        options: ReadOptions = AS_FOUND,
                        stated: Stated | None = None, first: int = 0,
                        known: Mapping[str, str] | None = None) -> Recording:
    """Find roles, unit, up axis, heading and ground, and bring the motion to mimegen's convention.

    Mirrored motion is mirrored back, and frames with lost tracking are bridged. The notes tell of
    that and of everything that is impossible for a body. ``notes`` are those of the reader,
    ``first`` is the number of the motion's first frame in the file. ``known`` maps role to joint
    for formats that fix the joints; then roles and sides are not searched for. Raises RequestError
    if the file does not hold a whole person, or holds an animal.
    """
    system = system_of(motion.skeleton.names)
    motion, roles, sides, mirrored = with_true_sides(path, motion, options, known)
    motion, more = _rooted_at_hips(motion, roles)
    motion, dropped = _without_calibration_frame(motion)
    first += len(dropped)
    # Gaps of markers were bridged when the skeleton was fitted.
    motion, bridged = (motion, ()) if kind in MARKERS else without_dropouts(motion, first)
    fours = refuse_animals(path, motion, roles.joints, options.mapping is not None)
    scale, unit_source = _unit(path, motion, roles, stated)
    rest_turn = _rest_turn(motion.skeleton, roles)
    up, up_name, up_source, lying = _up_axis(
        motion, roles, None if rest_turn is None else rest_turn[2], stated is not None)
    motion = _turned(motion, scale, np.eye(3) if rest_turn is None else rest_turn, _upright(up))
    motion, twisted = _with_pelvis_under_shoulders(motion, roles)
    heading = heading_deg(motion, roles.joints)
    motion = _moved(motion, np.zeros(3), -heading)
    motion, origin = _on_the_ground(motion, roles)
    motion, floating = _held_down(motion)
    unit = scale * (stated.unit if stated else 1.0)
    if stated and up_name == "Z":
        up_name, up_source = stated.up, BELIEVED
    doubted = (*_doubts_on_unit(unit_source, stated),
               *implausibilities(motion, roles.joints, body_height(motion, roles.joints), first))
    return Recording(motion, roles.joints, roles.confidence, kind, system, unit, unit_source,
                     up_name, up_source, heading, origin,
                     (*notes, *sides, *more, *dropped, *bridged, *fours, *lying, *twisted,
                      *floating, *doubted), mirrored=mirrored, skipped=first)


def with_true_sides(path: Path, motion: Motion, options: ReadOptions,
                    known: Mapping[str, str] | None = None
                    ) -> tuple[Motion, Roles, tuple[str, ...], bool]:
    """Return the motion and its roles with left and right corrected.

    Also return notes, and whether the motion was mirrored back. ``known`` roles are not checked.
    """
    if known is not None and options.mapping is None:
        return motion, Roles(known, dict.fromkeys(known, 1.0)), (), False
    roles = find_roles(motion.skeleton, motion, str(path), options.mapping)
    body = posture_of(motion, roles.joints)
    straight, mirrored = unmirrored(motion, body)
    if mirrored:
        roles = find_roles(straight.skeleton, straight, str(path), options.mapping)
    joints, swapped = (roles.joints, ()) if mirrored else exchanged(roles.joints, body)
    if swapped:
        sure = {joint: max(roles.confidence[role], EXCHANGED)
                for role, joint in roles.joints.items()}
        roles = Roles(joints, {role: sure[joint] for role, joint in joints.items()})
    return straight, roles, (*mirrored, *swapped), bool(mirrored)


def _rooted_at_hips(motion: Motion, roles: Roles) -> tuple[Motion, tuple[str, ...]]:
    """Make the hips the root, and add the movement of all joints above to them."""
    skeleton, root = motion.skeleton, motion.skeleton.index[roles.joints["hips"]]
    if root == 0:
        return motion, ()
    kept = [root]
    for joint in range(root + 1, len(skeleton.names)):
        if int(skeleton.parents[joint]) in kept:
            kept.append(joint)
    parents = [-1, *(kept.index(int(skeleton.parents[joint])) for joint in kept[1:])]
    names = tuple(skeleton.names[joint] for joint in kept)
    smaller = Skeleton(names, np.array(parents), skeleton.heads[kept], skeleton.tails[kept])
    pose = motion.global_pose
    rotations = motion.rotations[:, kept].copy()
    rotations[:, 0] = pose.rotations[:, root]
    outside = [name for name in skeleton.names if name not in names]
    moves = np.ptp(pose.positions[:, 0], axis=0).max() > 0
    above = f"{', '.join(map(repr, outside[:3]))} above the hips"
    note = f"{above} moves: its movement is added to the hips" if moves \
        else f"{above} does not move and is left out"
    return Motion(smaller, motion.fps, pose.positions[:, root], rotations), (note,)


def _without_calibration_frame(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Drop the first frame if the motion leaps away from it, as from a calibration pose."""
    if motion.frames < 4:
        return motion, ()
    positions = trimmed(motion, 0, 3).global_pose.positions
    leaps = np.linalg.norm(np.diff(positions, axis=0), axis=2).mean(axis=1)
    size = np.ptp(positions[0], axis=0).max()
    if leaps[0] < 0.03 * size or leaps[0] < 8 * leaps[1:].max():
        return motion, ()
    note = "the first frame is a calibration pose: dropped"
    return trimmed(motion, 1, motion.frames - 1), (note,)


def body_height(motion: Motion, roles: Mapping[str, str]) -> float:
    """Return a person's height, in the motion's unit, estimated from the length of the legs."""
    positions = motion.global_pose.positions[:: max(1, motion.frames // 50)]
    legs = [[motion.skeleton.index[roles[f"{side}_{part}"]]
             for part in ("thigh", "shin", "foot")] for side in SIDES]
    bones = np.linalg.norm(np.diff(positions[:, legs], axis=2), axis=3)
    return float(np.median(bones.sum(axis=2))) / LEG_SHARE_OF_HEIGHT


def _unit(path: Path, motion: Motion, roles: Roles,
          stated: Stated | None) -> tuple[float, str]:
    """Return metres per unit of the motion, and how it was found.

    The stated unit counts if it gives a believable height; otherwise the length of the legs
    decides. Raises RequestError if the skeleton has no size.
    """
    height = body_height(motion, roles.joints)
    if not height > 1e-6:
        raise RequestError(f"{path}: the skeleton has no size, expected bones with lengths")
    if stated and BELIEVABLE_HEIGHTS[0] <= height <= BELIEVABLE_HEIGHTS[1]:
        return 1.0, f"{BELIEVED}; the body is then {height:.2f} m tall"
    wrong = (f"the file says {_unit_name(stated.unit)}, but the body would be {height:.4g} m tall;"
             " ") if stated else ""
    fitting = {name: unit for name, unit in UNITS.items() if 1.4 <= height * unit <= 2.1}
    if fitting:
        name, unit = min(fitting.items(), key=lambda i: abs(height * i[1] - TYPICAL_HEIGHT))
        return unit, f"{wrong}{name} fit best: the body is then {height * unit:.2f} m tall"
    unit = TYPICAL_HEIGHT / height
    return unit, f"{wrong}{NO_UNIT}: the body is scaled to a height of {TYPICAL_HEIGHT} m"


def _doubts_on_unit(source: str, stated: Stated | None) -> tuple[str, ...]:
    """Return a note if a stated unit was not believed, or if no common unit fits."""
    overruled = stated is not None and not source.startswith(BELIEVED)
    return (f"unit: {source}",) if overruled or NO_UNIT in source else ()


def _unit_name(unit: float) -> str:
    """Return the name of a unit in metres, such as centimetres."""
    return next((name for name, known in UNITS.items() if abs(known / unit - 1) < 1e-3),
                f"units of {unit:g} m")


def _nearest_axis(vector: FloatArray, limit: float) -> FloatArray:
    """Return the signed coordinate axis within ``limit`` degrees, or else the unit vector itself.
    """
    vector = unit(vector)
    axis = np.zeros(3)
    largest = int(np.argmax(np.abs(vector)))
    axis[largest] = np.sign(vector[largest])
    return axis if axis @ vector > np.cos(np.radians(limit)) else vector


def _rest_turn(skeleton: Skeleton, roles: Roles) -> FloatArray | None:
    """Return the matrix that turns the file's rest pose upright and facing -Y, by its pelvis.

    Return None if the pelvis has no width or height.
    """
    heads = {role: skeleton.heads[skeleton.index[joint]] for role, joint in roles.joints.items()}
    hips = heads["hips"]
    # Some systems put the first spine joint at the hips, apart from rounding.
    least = 0.02 * float(np.linalg.norm(heads["head"] - hips))
    trunk = next((heads[r] - hips for r in ("spine1", "spine2", "chest", "neck1", "head")
                  if r in heads and np.linalg.norm(heads[r] - hips) > least), np.zeros(3))
    whole = heads["head"] - (heads["left_thigh"] + heads["right_thigh"]) / 2
    # If the rest pose is bent, only the bone above the pelvis shows which way is up.
    up = whole if unit(whole) @ unit(trunk) > 0.8 else trunk
    across = heads["left_thigh"] - heads["right_thigh"]
    if np.linalg.norm(np.cross(up, across)) <= 1e-3 * np.linalg.norm(whole) ** 2:
        return None
    left = _nearest_axis(across, 20.0)
    up = _nearest_axis(up - left * (left @ up), 30.0)
    left = left - up * (left @ up)
    if np.linalg.norm(left) < 0.1 or np.linalg.norm(up) < 0.5:
        return None
    left = unit(left)
    return np.array([left, np.cross(up, left), up])


def _up_axis(motion: Motion, roles: Roles, rest_up: FloatArray | None,
             stated: bool) -> tuple[FloatArray, str, str, tuple[str, ...]]:
    """Find the file's up axis: the direction from feet to head, or else that of the rest pose.

    The head of a body that lies, crawls or stands on its hands through the whole file is not above
    its feet. Therefore the rest pose's up axis (Z if ``stated``) is preferred if the body stays on
    the ground along it. Return the axis, its name, how it was found, and a note if the ground
    decided.
    """
    index = motion.skeleton.index
    positions = motion.global_pose.positions
    feet = (positions[:, index[roles.joints["left_foot"]]]
            + positions[:, index[roles.joints["right_foot"]]]) / 2
    body = positions[:, index[roles.joints["head"]]] - feet
    typical = np.median(unit(body), axis=0)
    named = np.array([0.0, 0.0, 1.0]) if stated else rest_up
    resting = _main_axis(_nearest_axis(named, 30.0)) if named is not None else None
    up, source = _nearest_axis(typical, 50.0), "the head is above the feet"
    if up @ typical < 0.7:
        source = "the rest pose stands along it"
        up = resting if resting is not None else np.array([0.0, 0.0, 1.0])
    up = _main_axis(up)
    note: tuple[str, ...] = ()
    if resting is not None and resting @ up < 0.5 and _keeps_to_ground(motion, resting, up):
        up, source = resting, "the body keeps to the ground below it"
        note = ("the body lies, crawls or is upside down in most of the file:"
                f" {axis_name(up)} is taken for up, by the rest pose and the ground",)
    return up, axis_name(up), source, note


def _main_axis(vector: FloatArray) -> FloatArray:
    """Return the signed coordinate axis (3,) that is nearest to a vector."""
    largest = int(np.argmax(np.abs(vector)))
    return np.asarray(np.eye(3)[largest] * np.sign(vector[largest]))


def axis_name(axis: FloatArray) -> str:
    """Return the name of a signed coordinate axis (3,), such as ``Z`` or ``-Y``."""
    return f"{'-' if axis.sum() < 0 else ''}{'XYZ'[int(np.argmax(np.abs(axis)))]}"


def _keeps_to_ground(motion: Motion, up: FloatArray, other: FloatArray) -> bool:
    """Return whether a body stays on the ground along ``up`` rather than along the ``other`` axis.

    Along ``up``, its lowest point is near zero or at the height of a bench. Along ``other``, it is
    far from zero, or varies at least twice as much.
    """
    positions = motion.global_pose.positions
    size = float(np.median(np.ptp(positions, axis=1).max(axis=1)))
    levels = [(positions @ axis).min(axis=1) / size for axis in (up, other)]
    usual = [float(np.median(level)) for level in levels]
    going = [float(np.ptp(np.percentile(level, (5, 95)))) for level in levels]
    lowest, highest = GROUND
    return lowest <= usual[0] <= highest and (
        abs(usual[1]) > OFF_GROUND or going[0] < 0.5 * going[1])


def _upright(up: FloatArray) -> FloatArray:
    """Return the matrix that turns the file's up axis to Z, and the usual front for it to -Y.

    The usual front is Z, or -Y if Z is up.
    """
    front = {0: [0.0, 0.0, 1.0], 1: [0.0, 0.0, 1.0], 2: [0.0, -1.0, 0.0]}
    back = -np.array(front[int(np.argmax(np.abs(up)))])
    return np.array([np.cross(back, up), back, up])


def _turned(motion: Motion, unit: float, rest: FloatArray, world: FloatArray) -> Motion:
    """Turn the rest pose by one rotation and the motion by another; scale both."""
    skeleton = motion.skeleton
    heads = (skeleton.heads - skeleton.heads[0]) @ rest.T * unit
    tails = (skeleton.tails - skeleton.heads[0]) @ rest.T * unit
    lowest = min(heads[:, 2].min(), tails[:, 2].min())
    lift = np.array([0.0, 0.0, -lowest])
    turned = Skeleton(skeleton.names, skeleton.parents, heads + lift, tails + lift)
    before = quaternions.from_matrices(world)
    after = quaternions.conjugate(quaternions.from_matrices(rest))
    pose = motion.global_pose
    rotations = quaternions.without_flips(
        quaternions.multiply(quaternions.multiply(before, pose.rotations), after))
    # Pass on the known pose: forward kinematics would only compute the same again.
    return Motion.from_global_rotations(
        turned, motion.fps, motion.root_positions @ world.T * unit, rotations).with_pose(
        GlobalPose(pose.positions @ world.T * unit, rotations))


def _moved(motion: Motion, shift: FloatArray, turn_deg: float) -> Motion:
    """Move a motion as ``moved`` does, and its known global pose with it instead of recomputing it.
    """
    whole, known = moved(motion, shift, turn_deg), motion.known_pose
    if known is None:
        return whole
    turn = quaternions.from_rotation_vectors([0.0, 0.0, np.radians(turn_deg)])
    positions, rotations = known.positions + shift, known.rotations
    return whole.with_pose(GlobalPose(positions, rotations) if turn_deg == 0 else GlobalPose(
        quaternions.rotate(turn, positions), quaternions.multiply(turn, rotations)))


def _across(motion: Motion, roles: Mapping[str, str], part: str) -> FloatArray:
    """Return the level unit vectors (F, 3) from the right to the left of a pair of joints."""
    left, right = (motion.skeleton.index[roles[f"{side}_{part}"]] for side in SIDES)
    positions = motion.global_pose.positions
    return unit((positions[:, left] - positions[:, right]) * np.array([1.0, 1.0, 0.0]))


def heading_deg(motion: Motion, roles: Mapping[str, str]) -> float:
    """Return the heading of hips and shoulders in the first 0.1 s: degrees about Z from -Y."""
    span = slice(max(1, round(motion.fps / 10)))
    left = sum((_across(motion, roles, part)[span].mean(axis=0) for part in ("thigh", "upper_arm")),
               np.zeros(3))
    flat = np.linalg.norm(left[:2]) > 1e-6
    return float(np.degrees(np.arctan2(left[1], left[0]))) if flat else 0.0


def _with_pelvis_under_shoulders(motion: Motion, roles: Roles) -> tuple[Motion, tuple[str, ...]]:
    """Give the pelvis the shoulders' heading if it has drifted further than a spine can twist."""
    hips, shoulders = (_across(motion, roles.joints, part) for part in ("thigh", "upper_arm"))
    angles = np.arctan2(np.cross(hips, shoulders)[:, 2], np.sum(hips * shoulders, axis=1))
    if np.median(np.abs(angles)) < np.radians(MAX_TWIST_DEG):
        return motion, ()
    smooth = scipy.ndimage.gaussian_filter1d(np.unwrap(angles), 0.3 * motion.fps, mode="nearest")
    rotations = motion.global_pose.rotations.copy()
    back = quaternions.from_rotation_vectors(smooth[:, None] * np.array([0.0, 0.0, 1.0]))
    rotations[:, 0] = quaternions.multiply(back, rotations[:, 0])
    note = f"the pelvis is turned {np.degrees(np.median(np.abs(angles))):.0f} degrees from the" \
           " shoulders: its heading has drifted, and the shoulders' heading is used"
    return Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions,
                                        quaternions.without_flips(rotations)), (note,)


def _on_the_ground(motion: Motion, roles: Roles) -> tuple[Motion, tuple[float, float]]:
    """Move the start over the origin, and the level at which the feet rest to Z = 0.

    Return the motion and the start's position (X, Y) before, in metres.
    """
    height = motion.global_pose.positions
    index = motion.skeleton.index
    tall = body_height(motion, roles.joints)
    levels = []
    for part, share in (("foot", SOLE_TO_ANKLE), ("toe", SOLE_TO_TOE)):
        joints = [index[roles.joints[f"{s}_{part}"]] for s in SIDES
                  if f"{s}_{part}" in roles.joints]
        if joints:
            level = resting_level(height[:, joints], motion.fps)
            levels.append(level - share * tall)
    ground = float(np.mean(levels))
    lowest = float(np.percentile(height[..., 2].min(axis=1), 5))
    if ground - lowest > BELOW_FEET * tall:
        ground = lowest - SOLE_TO_ANKLE * tall
    start = motion.root_positions[0] * np.array([1.0, 1.0, 0.0]) + [0.0, 0.0, ground]
    return _moved(motion, -start, 0.0), (float(start[0]), float(start[1]))


def _held_down(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Lower a body that hovers longer than any jump: inertial systems drift in height."""
    lowest = motion.global_pose.positions[..., 2].min(axis=1)
    width = max(1, round(MAX_JUMP_S * motion.fps))
    if motion.frames <= width:
        return motion, ()
    floor = scipy.ndimage.grey_opening(np.pad(lowest, width, mode="edge"), width)[width:-width]
    if floor.max() < FLOATING:
        return motion, ()
    drop = scipy.ndimage.gaussian_filter1d(np.maximum(floor - FLOATING / 4, 0.0), 0.15 * motion.fps)
    down = motion.root_positions - drop[:, None] * np.array([0.0, 0.0, 1.0])
    note = f"the body hovers up to {floor.max():.2f} m above the ground for longer than a jump:" \
           " it is lowered to the ground, and jumps are kept"
    return Motion(motion.skeleton, motion.fps, down, motion.rotations), (note,)
