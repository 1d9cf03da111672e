"""From a person's SMPL parameters to a recording in the house's convention."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import product
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.gravity import levelled, smoothed
from mimegen.readers.house import BELIEVED, Stated, in_house_convention
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
# By how much of the average a man or a woman of AMASS is smaller for each unit of the first shape
# coefficient: SMPL-X's table has 6 %, the other coefficients take some back.
SMALLER = 0.05
SIZES = (0.8, 1.2)
# The axis that is up in a camera's picture.
CAMERA_UP = "-Y"
# How long a file of one pose is held.
POSE_S = 1.0
# Axes of files, and the turn that brings them to Z up: row i is the file's vector along X, Y or Z.
UPRIGHT = {"Z": np.eye(3), "Y": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
           "-Y": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])}


@dataclass(frozen=True)
class World:
    """The world that parameters are in: which axis is up, why, and whether a camera sees it.

    ``fps`` is the rate where a file has none, None where it must say it.
    """

    up: str
    source: str
    format: str
    fps: float | None = None
    notes: tuple[str, ...] = ()
    camera: bool = False


def recording_of(path: Path, found: Parameters, world: World, options: ReadOptions) -> Recording:
    """Return the recording of a person's parameters.

    Raises RequestError where the rate is missing, or a model file is of another model.
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
    return upright(path, motion, world, notes, options, roles_of(motion.skeleton.names))


def upright(path: Path, motion: Motion, world: World, notes: tuple[str, ...],
            options: ReadOptions, roles: dict[str, str]) -> Recording:
    """Return a recording of a motion in metres whose file's up axis is known, or a camera's."""
    turn = UPRIGHT[world.up]
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(quaternions.from_matrices(turn), rotations[:, 0])
    stood = Motion(motion.skeleton, motion.fps, product(motion.root_positions, turn.T), rotations)
    if world.camera:
        stood, level = levelled(stood, roles)
        stood, calm = smoothed(stood)
        notes = (*notes, *level, *calm)
    recording = in_house_convention(path, stood, world.format, notes, options,
                                    Stated(1.0, world.up), known=roles)
    # The house names axes after the turn.
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
    """Return a single pose, as of a picture, held for a moment."""
    if len(found.rotations) > 1:
        return found
    count = round(fps * POSE_S) + 1
    place = None if found.place is None else np.repeat(found.place, count, axis=0)
    return replace(found, rotations=np.repeat(found.rotations, count, axis=0), place=place,
                   notes=(*found.notes,
                          f"the file contains a single pose, which is held for {POSE_S:g} s"))


def rate_of(path: Path, found: Parameters, world: World, options: ReadOptions
            ) -> tuple[float, tuple[str, ...]]:
    """Return the rate and a note where it is assumed.

    Raises RequestError where nothing tells it.
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
    if options.smpl_model is None:
        return table_body(found.kind, found.gender)
    body = model_body(options.smpl_model)
    if body.kind != found.kind:
        raise RequestError(f"{options.smpl_model}: is a model of {body.kind}, but {path} is of"
                           f" {found.kind}")
    return body


def _with_useful_hands(found: Parameters, body: SmplBody
                       ) -> tuple[FloatArray, int, tuple[str, ...]]:
    """Return rotations, how many joints they are of, and a note on hands that never move."""
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
    """Return how many times as large as ``body`` the person is, and what to say of it."""
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
    """Return where the feet are (F, 4, 3), by the legs alone."""
    whole = motion.skeleton
    kept = [whole.index[name] for name in LEGS]
    legs = Skeleton(LEGS, np.array([-1 if whole.parents[joint] < 0 else kept.index(
        int(whole.parents[joint])) for joint in kept]), whole.heads[kept], whole.tails[kept])
    moving = Motion(legs, motion.fps, motion.root_positions, motion.rotations[:, kept])
    return np.asarray(moving.global_pose.positions[:, [legs.index[name] for name in FEET]])


def _placed(motion: Motion, found: Parameters, pelvis: FloatArray, size: float) -> Motion:
    """Return the motion at its size, the pelvis where the file puts it.

    SMPL turns the body about the pelvis, then adds the translation: the pelvis is not at ``trans``
    but at ``trans`` plus its own place at rest.
    """
    frames = motion.frames
    place = np.zeros((frames, 3)) if found.place is None else found.place
    return Motion(motion.skeleton.scaled(size), motion.fps, place + size * pelvis,
                  motion.rotations)
