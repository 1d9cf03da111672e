"""Solve marker trajectories to a skeleton in motion: bone lengths, poses, and bridged gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.markers.fitting import Pose, Rig, Springs, fitted, posed
from mimegen.markers.hidden import as_on_the_other_side, hidden_joints, plain_name, stops
from mimegen.markers.rig import body_scale, plain_skeleton, to_size
from mimegen.markers.sets import Landmark, MarkerSet, freedom
from mimegen.markers.standing import (
    LEGS,
    shows_only_upper_body,
    shows_pelvis,
    with_standing_legs,
)
from mimegen.markers.start import first_pose, neutral
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

# Number of frames from which bone lengths and markers' positions on the bones are solved.
CALIBRATION_FRAMES = 120
# Weights of the markers' usual positions on the bones, relative to the measured ones.
TETHER = 0.1
LOOSE_TETHER = 0.01
# Marker errors (m) beyond which a marker loses weight: while the body is being found, and then.
COARSE_OUTLIER_M = 1.0
OUTLIER_M = 0.06
# Least fraction of markers in the best frame, and, as a fraction of that, in the first and last
# frame that are used.
MIN_SEEN_SHARE = 0.5
WHOLE_SHARE = 0.75
# A joint counts as seen while this fraction of the markers that show it is seen.
SEEN_SHARE = 0.5
# Standard deviations (radians) of a foot's rotations if no marker shows its toes.
HELD_FOOT = (0.3, 0.1, 0.1)
# Least and largest size of a body, relative to the standard body's.
BELIEVABLE = (0.3, 2.0)
# A marker seen in less than this fraction of the frames is ignored.
NEVER_SEEN = 0.02
# Standard deviations of interpolated joints and of the interpolated root.
BRIDGE_SIGMA_RAD = 0.15
BRIDGE_SIGMA_M = 0.05
# If a marker is further off than this (metres), the fit of its frame has failed.
ASTRAY = 0.08


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion in the markers' own world, and how well it explains them.

    ``rms_mm`` is by label. ``unseen`` (F, J) marks joints that were bridged in a frame. ``frames``
    is the span of the take that the motion covers. ``inferred`` are joints of limbs that no marker
    shows, or the joints of legs that were added below an upper body recorded alone.
    """

    motion: Motion
    rms_mm: Mapping[str, float]
    unseen: NDArray[np.bool_]
    frames: slice
    inferred: tuple[str, ...]
    notes: tuple[str, ...]


def solve(file: str, labels: Sequence[str], positions: FloatArray, fps: float,
          marker_set: MarkerSet) -> Solution:
    """Fit a skeleton to markers ``positions`` (F, M, 3) in metres, Z up, NaN at gaps.

    Raises RequestError that names the ``file`` if pelvis or legs carry too few markers (unless only
    the upper body is marked), if gaps are too large, or if the body's size is not believable.
    """
    known = [(n, mark) for n, label in enumerate(labels)
             if (mark := marker_set.landmark(label)) is not None]
    seen = positions[:, [n for n, _ in known]]
    span = _covered(file, seen)
    shown = np.isfinite(seen[span, :, 0]).mean(axis=0) > NEVER_SEEN
    seen = seen[span][:, shown]
    names = tuple(labels[n] for (n, _), there in zip(known, shown, strict=True) if there)
    landmarks = [mark for (_, mark), there in zip(known, shown, strict=True) if there]
    standing = shows_only_upper_body(landmarks)
    put = _added_leg_joints(landmarks) if standing else ()
    if standing:
        landmarks, seen = with_standing_legs(landmarks, seen, fps)
    _check(file, marker_set, landmarks)
    hidden = hidden_joints(landmarks)
    skeleton, rig, pose = _calibrated(file, seen, landmarks, hidden)
    pose, unseen = _all_frames(rig, seen, pose, _springs(skeleton, len(seen), hidden))
    motion = Motion(skeleton, fps, pose.roots,
                    quaternions.without_flips(quaternions.normalise(pose.rotations)))
    misses = np.linalg.norm(posed(rig, pose)[2] - seen, axis=-1)
    rms = {name: float(1000 * np.sqrt(np.nanmean(misses[:, n] ** 2)))
           for n, name in enumerate(names)}
    left = [label for label in labels if marker_set.landmark(label) is None]
    note = _standing(put) if standing else _inferred(hidden)
    notes = (*_notes(len(positions), span, seen[:, : len(names)], left, landmarks), *note)
    return Solution(motion, rms, unseen, span, put or hidden, notes)


def _check(file: str, marker_set: MarkerSet, landmarks: Sequence[Landmark]) -> None:
    joints = [landmark.joint for landmark in landmarks]
    for part, needed, least in (("pelvis", ("Hips",), 3),
                                ("left leg", ("LeftUpLeg", "LeftLeg", "LeftFoot"), 4),
                                ("right leg", ("RightUpLeg", "RightLeg", "RightFoot"), 4)):
        count = sum(joint in needed for joint in joints)
        if count < least:
            raise RequestError(
                f"{file}: its markers are of the set {marker_set.name!r}, with {count} on the"
                f" {part}; expected at least {least}, because fewer do not determine its motion")


def _covered(file: str, seen: FloatArray) -> slice:
    """Return the span between the first and the last frame that show the body nearly whole."""
    shares = np.isfinite(seen[..., 0]).mean(axis=1)
    enough = np.flatnonzero(shares >= WHOLE_SHARE * shares.max())
    if len(enough) < 2 or shares.max() < MIN_SEEN_SHARE:
        raise RequestError(f"{file}: the body is nearly complete in only {len(enough)} frames,"
                           f" with at most {100 * shares.max():.0f} % of the markers; expected a"
                           " trial with fewer gaps")
    return slice(int(enough[0]), int(enough[-1]) + 1)


def _calibrated(file: str, seen: FloatArray, landmarks: Sequence[Landmark],
                hidden: Sequence[str]) -> tuple[Skeleton, Rig, Pose]:
    """Return the performer's skeleton and rig, and initial poses of all frames.

    Two problems are solved in turn, on a sample of frames that show most markers: poses for given
    positions of the markers on the bones, and these positions for given poses.
    """
    count = np.isfinite(seen[..., 0]).sum(axis=1)
    every = max(1, len(seen) // CALIBRATION_FRAMES)
    picked = np.array([start + int(np.argmax(count[start : start + every]))
                       for start in range(0, len(seen), every)])
    sample = seen[picked]
    skeleton = plain_skeleton(landmarks)
    scale = body_scale(landmarks, sample)
    if not BELIEVABLE[0] < scale < BELIEVABLE[1]:
        raise RequestError(f"{file}: its markers are as far apart as on a body {1.7 * scale:.2g} m"
                           " tall; they are mislabelled or the file is damaged")
    positions: dict[str, FloatArray] = {mark.name: sample[:, n] for n, mark in enumerate(landmarks)}
    skeleton, rig = to_size(skeleton, positions, landmarks, scale)
    pose = first_pose(skeleton, rig, landmarks, sample)
    springs = _springs(skeleton, len(sample), hidden)
    usual = rig.markers
    pose = _head_up(skeleton, fitted(rig, sample, pose, springs, 12, COARSE_OUTLIER_M))
    for turn in range(4):
        rig = _with_markers(rig, usual, landmarks, sample, pose)
        rig = replace(rig, markers=as_on_the_other_side(rig, landmarks))
        pose = fitted(rig, sample, pose, springs, 4, OUTLIER_M if turn else 3 * OUTLIER_M)
    return skeleton, rig, _between(pose, picked, np.arange(len(seen)))


def _springs(skeleton: Skeleton, frames: int, hidden: Sequence[str]) -> Springs:
    feet = {joint.replace("ToeBase", "Foot") for joint in hidden if joint.endswith("ToeBase")}
    pull = 1.0 / np.array([HELD_FOOT if name in feet else freedom(name)
                           for name in skeleton.names])
    pull[0] = 0.0
    return Springs(neutral(skeleton, frames), np.tile(pull, (frames, 1, 1)), np.zeros(frames),
                   stops(skeleton, hidden))


def _with_markers(rig: Rig, usual: FloatArray, landmarks: Sequence[Landmark], seen: FloatArray,
                  pose: Pose) -> Rig:
    """Return the rig with markers at their mean measured positions, drawn to the ``usual`` ones."""
    positions, turns, markers = posed(rig, pose)
    own = np.einsum("fmji,fmj->fmi", turns[:, rig.carriers], seen - positions[:, rig.carriers])
    miss = np.linalg.norm(seen - markers, axis=-1)
    weights = np.where(np.isfinite(miss), 1.0 / (1.0 + (miss / OUTLIER_M) ** 2), 0.0)
    total = weights.sum(axis=0)[:, None]
    mean = np.einsum("fm,fmi->mi", weights, np.nan_to_num(own))
    tether = np.array([LOOSE_TETHER if mark.loose else TETHER for mark in landmarks])[:, None] \
        * len(seen)
    return replace(rig, markers=(mean + tether * usual) / (total + tether))


def _head_up(skeleton: Skeleton, pose: Pose) -> Pose:
    """Return the pose with the head's median tilt removed, so that it is upright on the trunk.

    Headbands sit at any tilt, so markers alone do not show where a head looks.
    """
    neck, head = skeleton.index["Neck"], skeleton.index["Head"]
    turns = quaternions.multiply(pose.rotations[:, neck], pose.rotations[:, head])
    usual = np.median(quaternions.to_rotation_vectors(turns), axis=0) * np.array([1.0, 1.0, 0.0])
    level = quaternions.multiply(turns, quaternions.from_rotation_vectors(-usual))
    rotations = pose.rotations.copy()
    rotations[:, neck] = rotations[:, head] = quaternions.scale(level, np.array(0.5))
    return Pose(pose.roots, rotations)


def _between(pose: Pose, known: NDArray[np.intp], wanted: NDArray[np.intp]) -> Pose:
    """Return a pose of ``known`` frames, interpolated at ``wanted`` ones; it is held at both ends.
    """
    if len(known) == 1:
        return pose.at(np.zeros(len(wanted), int))
    roots = np.stack([np.interp(wanted, known, pose.roots[:, axis]) for axis in range(3)], axis=1)
    times = np.clip(wanted, known[0], known[-1])
    transform = scipy.spatial.transform
    turns = [transform.Rotation.from_quat(rotations, scalar_first=True)
             for rotations in np.moveaxis(pose.rotations, 1, 0)]
    between = [transform.Slerp(known, turn)(times).as_quat(scalar_first=True) for turn in turns]
    return Pose(roots, np.stack(between, axis=1))


def _all_frames(rig: Rig, seen: FloatArray, pose: Pose,
                springs: Springs) -> tuple[Pose, NDArray[np.bool_]]:
    """Return the poses of all frames with gaps bridged, and a mask (F, J) of the bridged joints."""
    pose = fitted(rig, seen, pose, springs, 4, OUTLIER_M)
    pose = _found_again(rig, seen, pose, springs)
    unseen = _unseen(rig, seen)
    touched = np.flatnonzero(unseen.any(axis=1))
    if not len(touched):
        return pose, unseen
    bridged, tied = _bridges(pose, unseen, springs)
    kept = ~unseen[..., None]
    start = Pose(np.where(unseen[:, :1], bridged.roots, pose.roots),
                 np.where(kept, pose.rotations, bridged.rotations)).at(touched)
    mended = fitted(rig, seen[touched], start, tied.at(touched), 6, 3 * OUTLIER_M)
    pose.roots[touched], pose.rotations[touched] = mended.roots, mended.rotations
    return pose, unseen


def _bridges(pose: Pose, unseen: NDArray[np.bool_], springs: Springs) -> tuple[Pose, Springs]:
    """Return a pose whose ``unseen`` joints (F, J) are interpolated between seen frames.

    Also return the springs that hold them there; for all other joints they are ``springs``.
    """
    goal, pull = pose.rotations.copy(), springs.pull.copy()
    roots, root_pull = pose.roots.copy(), springs.root_pull.copy()
    for joint in np.flatnonzero(unseen.any(axis=0)):
        shown = np.flatnonzero(~unseen[:, joint])
        if not len(shown):
            continue
        one = Pose(pose.roots[shown], pose.rotations[shown, joint : joint + 1])
        bridge = _between(one, shown, np.arange(len(unseen)))
        gaps = unseen[:, joint]
        goal[gaps, joint] = bridge.rotations[gaps, 0]
        pull[gaps, joint] = 1.0 / BRIDGE_SIGMA_RAD
        if joint == 0:
            roots[gaps], root_pull[gaps] = bridge.roots[gaps], 1.0 / BRIDGE_SIGMA_M
    bridged = Pose(roots, np.where(unseen[..., None], goal, springs.pose.rotations))
    return bridged, Springs(bridged, pull, root_pull, np.zeros_like(springs.stops))


def _found_again(rig: Rig, seen: FloatArray, pose: Pose, springs: Springs) -> Pose:
    """Return the pose with failed frames fitted again, starting from the frames around them."""
    astray = _worst(rig, seen, pose) > ASTRAY
    lost, good = np.flatnonzero(astray), np.flatnonzero(~astray)
    if not len(lost) or len(good) < 2:
        return pose
    start = _between(pose.at(good), good, lost)
    for outlier in (COARSE_OUTLIER_M, OUTLIER_M):
        start = fitted(rig, seen[lost], start, springs.at(lost), 8, outlier)
    better = lost[_worst(rig, seen[lost], start) < _worst(rig, seen[lost], pose.at(lost))]
    inside = np.isin(lost, better)
    pose.roots[better], pose.rotations[better] = start.roots[inside], start.rotations[inside]
    return pose


def _worst(rig: Rig, seen: FloatArray, pose: Pose) -> FloatArray:
    """Return the largest marker error (F,) of each frame, in metres."""
    misses = np.linalg.norm(posed(rig, pose)[2] - seen, axis=-1)
    return np.asarray(np.nan_to_num(misses).max(axis=1))


def _unseen(rig: Rig, seen: FloatArray) -> NDArray[np.bool_]:
    """Return a mask (F, J) of joints with too few seen markers on their bone and the next ones."""
    there = np.isfinite(seen[..., 0])
    joints = len(rig.parents)
    unseen = np.zeros((len(seen), joints), bool)
    for joint in range(joints):
        near = (rig.carriers == joint) | (rig.parents[rig.carriers] == joint)
        if (rig.carriers == joint).any():
            unseen[:, joint] = there[:, near].mean(axis=1) < SEEN_SHARE
    return unseen


def _inferred(hidden: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the joints that no marker shows, as users of the motion should know."""
    if not hidden:
        return ()
    return (f"no marker shows the {', the '.join(map(plain_name, hidden))}: inferred"
            " from the other markers, some centimetres off",)


def _added_leg_joints(landmarks: Sequence[Landmark]) -> tuple[str, ...]:
    """Return the joints of the legs that are added, with the hips if no marker shows the pelvis."""
    return LEGS if shows_pelvis(landmarks) else ("Hips", *LEGS)


def _standing(put: Sequence[str]) -> tuple[str, ...]:
    pelvis = "pelvis and legs" if "Hips" in put else "legs"
    return (f"the markers show the upper body alone: {pelvis} are not recorded but made to stand"
            " below it, and to glide along where it goes",)


def _notes(total: int, span: slice, seen: FloatArray, left: Sequence[str],
           landmarks: Sequence[Landmark]) -> tuple[str, ...]:
    notes = []
    if span.stop - span.start < total:
        notes.append(f"frames {span.start} to {span.stop - 1} of {total} are used: before and"
                     " after them most markers are out of sight")
    gaps = float(np.isnan(seen[..., 0]).mean())
    if gaps > 0:
        notes.append(f"gaps bridged: {100 * gaps:.1f} % of the markers' samples are missing")
    if left:
        notes.append(f"not of the marker set, not used: {len(left)} points"
                     f" ({', '.join(left[:4])}{' ...' if len(left) > 4 else ''})")
    joints = {mark.joint for mark in landmarks}
    bare = [part for part, needed in (
        ("the head", {"Head"}), ("the arms", {"LeftArm", "LeftForeArm", "LeftHand"}),
        ("the trunk", {"Spine2"})) if not needed & joints]
    if bare:
        notes.append(f"no markers on {', '.join(bare)}: held at rest")
    return tuple(notes)
