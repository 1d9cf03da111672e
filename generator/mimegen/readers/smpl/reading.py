"""Turn a person's SMPL parameters into a recording in mimegen's convention."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import product
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.canonical import BELIEVED, Stated, canonical_recording
from mimegen.readers.gravity import levelled, smoothed
from mimegen.readers.options import ReadOptions
from mimegen.readers.planting import path_of_feet
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.bodies import (
    BODY,
    SmplBody,
    model_body,
    roles_of,
    skeleton_of,
    table_body,
)
from mimegen.readers.smpl.parameters import Parameters, with_mean_hands
from mimegen.readers.smpl.sizing import planted_size

LEGS = ("pelvis", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle",
        "left_foot", "right_foot")
FEET = ("left_ankle", "right_ankle", "left_foot", "right_foot")
# Decrease of a man's or woman's size per unit of the first shape coefficient in AMASS, as a
# fraction of the average size. SMPL-X's table has 6 %; the other coefficients take some back.
SMALLER = 0.05
# Least and greatest size found by that coefficient.
SIZES = (0.8, 1.2)
# The up axis in a camera's picture.
CAMERA_UP = "-Y"
# Seconds for which a single pose is held.
POSE_S = 1.0
# Rotation matrices that turn a file's up axis to Z: row i is mimegen's axis X, Y or Z in the file.
UPRIGHT = {"Z": np.eye(3), "Y": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
           "-Y": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])}


@dataclass(frozen=True)
class World:
    """The coordinates of a file: its up axis and how that is known, and the name of the format.

    ``fps`` is the rate assumed if the file has none, or None if it must state one. ``camera`` is
    True for the coordinates of a camera, whose vertical is only approximate.
    """

    up: str
    source: str
    format: str
    fps: float | None = None
    notes: tuple[str, ...] = ()
    camera: bool = False


def recording_of(path: Path, found: Parameters, world: World, options: ReadOptions) -> Recording:
    """Return the recording of a person's parameters.

    Raises RequestError if the rate is missing, or if a model file is of another model.
    """
    fps, rated = rate_of(path, found, world, options)
    found = held_if_single(found, fps)
    body = _body(path, found, options)
    rotations, joints, handed = _with_useful_hands(found, body)
    average = body.rest if found.betas is None else body.shaped(found.betas)
    motion = Motion(skeleton_of(body, average, joints), fps, np.zeros((len(rotations), 3)),
                    quaternions.without_flips(rotations))
    size, sized = _size(found, body, motion)
    motion = _placed(motion, found, average[0], size)
    motion, went = (motion, ()) if found.place is not None else path_of_feet(
        motion, [motion.skeleton.index[name] for name in FEET], UPRIGHT[world.up][2])
    notes = (*found.notes, *world.notes, *rated, sized, *handed, *went)
    if world.format == "SMPL":
        world = replace(world, format=found.kind)
    recording = upright(path, motion, world, notes, options, roles_of(motion.skeleton.names))
    return replace(recording, system=found.kind)


def upright(path: Path, motion: Motion, world: World, notes: tuple[str, ...],
            options: ReadOptions, roles: dict[str, str]) -> Recording:
    """Return the recording of a motion in metres whose up axis is known or is a camera's.

    For a camera's, the direction of gravity is estimated and jitter is smoothed.
    """
    turn = UPRIGHT[world.up]
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(quaternions.from_matrices(turn), rotations[:, 0])
    stood = Motion(motion.skeleton, motion.fps, product(motion.root_positions, turn.T), rotations)
    if world.camera:
        stood, level = levelled(stood, roles)
        stood, calm = smoothed(stood)
        notes = (*notes, *level, *calm)
    recording = canonical_recording(path, stood, world.format, notes, options,
                                    Stated(1.0, world.up), known=roles)
    # ``canonical_recording`` names axes after the turn; restore the file's own name.
    seen = recording.up_axis
    if seen == world.up and recording.up_source == BELIEVED:
        return replace(recording, up_source=world.source)
    axis = np.zeros(3)
    axis["XYZ".index(seen[-1])] = -1.0 if seen.startswith("-") else 1.0
    axis = product(turn.T, axis)
    name = f"{'-' if axis.sum() < 0 else ''}{'XYZ'[int(np.argmax(np.abs(axis)))]}"
    if name == CAMERA_UP and not world.camera:
        seen_by = replace(world, up=CAMERA_UP, camera=True,
                          source="the body: it stands as in a camera's picture, Y down")
        return upright(path, motion, seen_by, notes, options, roles)
    return replace(recording, up_axis=name)


def held_if_single(found: Parameters, fps: float) -> Parameters:
    """Hold a single pose, as estimated from an image, for ``POSE_S``; return others unchanged."""
    if len(found.rotations) > 1:
        return found
    count = round(fps * POSE_S) + 1
    place = None if found.place is None else np.repeat(found.place, count, axis=0)
    return replace(found, rotations=np.repeat(found.rotations, count, axis=0), place=place,
                   notes=(*found.notes,
                          f"the file contains a single pose, which is held for {POSE_S:g} s"))


def rate_of(path: Path, found: Parameters, world: World, options: ReadOptions
            ) -> tuple[float, tuple[str, ...]]:
    """Return the frame rate, and a note if it is assumed.

    Raises RequestError if neither the user, the file nor the format gives one.
    """
    if options.fps_of_file is not None:
        return options.fps_of_file, ()
    if found.fps is not None:
        return found.fps, ()
    if world.fps is None:
        raise RequestError(f"{path}: has no frame rate (mocap_framerate is missing); give it with"
                           " --fps-of-file")
    return world.fps, (f"the file has no frame rate: {world.fps:g} fps is assumed; give the true"
                       " one with --fps-of-file",)


def _body(path: Path, found: Parameters, options: ReadOptions) -> SmplBody:
    """Return the body: of the user's model file, or of the published tables."""
    if options.smpl_model is None:
        return table_body(found.kind, found.gender)
    body = model_body(options.smpl_model)
    if body.kind != found.kind:
        raise RequestError(f"{options.smpl_model}: is a model of {body.kind}, but {path} is of"
                           f" {found.kind}")
    return body


def _with_useful_hands(found: Parameters, body: SmplBody
                       ) -> tuple[FloatArray, int, tuple[str, ...]]:
    """Return rotations, their number of joints, and a note if the fingers never move.

    Fingers that never move are left out.
    """
    rotations = with_mean_hands(found, body.hand_mean)
    count = rotations.shape[1]
    if count <= BODY + 2:
        return rotations[:, :len(body.names)], min(count, len(body.names)), ()
    moves = np.ptp(rotations[:, BODY:], axis=0).max() > 1e-4
    if moves or len(rotations) < 2:
        return rotations, count, ()
    return rotations[:, :BODY], BODY, (
        "the fingers do not move in the file: they are left out, and hands are relaxed",)


def _size(found: Parameters, body: SmplBody, motion: Motion) -> tuple[float, str]:
    """Return the person's size as a multiple of ``body``, and a note on how it was found."""
    if body.shapes is not None:
        said = ("" if found.betas is not None
                else "; the file has no betas, so the average body is used")
        return 1.0, f"bone lengths are those of {body.source}{said}"
    of = f"bone lengths are those of {body.source}"
    better = "; --smpl-model FILE gives the person's own"
    size = None if found.place is None else planted_size(found.place, _feet(motion), motion.fps)
    if size is not None:
        return size, f"{of}, scaled to {size:.2f} of its size so that planted feet stand" \
                     f" still{better}"
    if found.betas is not None and found.kind == "SMPL-H" and found.gender in ("male", "female"):
        size = float(np.clip(1.0 - SMALLER * found.betas[0], *SIZES))
        return size, f"{of}, scaled to {size:.2f} of its size, because the file's first shape" \
                     f" coefficient, {found.betas[0]:.2f}, stands for stature{better}"
    return 1.0, f"{of}{better}"


def _feet(motion: Motion) -> FloatArray:
    """Return the positions (F, 4, 3) of the feet's joints, computed for the legs alone."""
    whole = motion.skeleton
    kept = [whole.index[name] for name in LEGS]
    legs = Skeleton(LEGS, np.array([-1 if whole.parents[joint] < 0 else kept.index(
        int(whole.parents[joint])) for joint in kept]), whole.heads[kept], whole.tails[kept])
    moving = Motion(legs, motion.fps, motion.root_positions, motion.rotations[:, kept])
    return np.asarray(moving.global_pose.positions[:, [legs.index[name] for name in FEET]])


def _placed(motion: Motion, found: Parameters, pelvis: FloatArray, size: float) -> Motion:
    """Scale the motion to its size and put the pelvis at its position in the file.

    SMPL rotates the body about the pelvis, then adds the translation: the pelvis is not at
    ``trans`` but at ``trans`` plus its own rest position.
    """
    frames = motion.frames
    place = np.zeros((frames, 3)) if found.place is None else found.place
    return Motion(motion.skeleton.scaled(size), motion.fps, place + size * pelvis,
                  motion.rotations)
