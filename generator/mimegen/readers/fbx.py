"""Read motion from FBX (any version, binary or ASCII), glTF and USD files with Blender."""

import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import BoolArray
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.editing import at_rate
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.blender_process import ReaderReply, read_in_blender
from mimegen.readers.canonical import Stated, canonical_recording
from mimegen.readers.gaps import WHY, bridged_positions, bridged_rotations, gap_notes, long_gap
from mimegen.readers.gltf import GLTF_SUFFIXES, plain_gltf, with_bones
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording

IntArray = NDArray[np.intp]

# Greatest change of a bone's length, as a fraction of the skeleton's size, that gets no note.
STRETCH_TO_MENTION = 0.02
BINARY_USD = (".usd", ".usdc", ".usdz")
# Determinant of a bone's axes at length 1 below which they count as lying in a plane.
FLAT = 1e-3
# Centimetres per unit that no file has.
MAX_UNIT = 1e6
# The glTF 2.0 specification, 3.4: metres, Y up.
GLTF = Stated(1.0, "Y")
# Bytes at the start of a USD text file in which the up axis is searched for.
USD_HEAD = 10_000


@dataclass(frozen=True)
class Outline:
    """The bones of a file's largest skeleton, and the length of the stack with most curves.

    ``motion`` is Blender's, or one frame of the rest pose if the file holds no motion, or None if
    the skeleton cannot be read.
    """

    bones: tuple[str, ...]
    frames: int
    fps: float
    stacks: tuple[str, ...] = ()
    motion: Motion | None = None


def read_fbx(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a recording from an FBX, glTF or USD file, at the rate of its keys.

    Without ``options.stack``, the animation stack with most curves is read. Raises RequestError,
    one line, for a file that is missing, damaged, or without motion.
    """
    motion, notes, stacks = raw_fbx(path, options.stack)
    motion = at_rate(motion, options.fps_of_file or motion.fps)
    kind = path.suffix.lstrip(".").upper()
    stated = stated_settings(path) if kind == "FBX" else \
        Stated(1.0, _usd_up(path)) if kind.startswith("USD") else GLTF
    if kind == "VRMA" and b'"expressions"' in path.read_bytes():
        notes = (*notes, "its facial expressions are left out")
    if path.suffix.lower() in BINARY_USD and options.fps_of_file is None:
        notes = (*notes, f"the frame rate of binary USD files cannot be read: {motion.fps:g} fps is"
                         " assumed; give the true one with --fps-of-file")
    recording = canonical_recording(path, motion, kind, notes, options, stated)
    return replace(recording, stacks=stacks)


def raw_fbx(path: Path, stack: str | None = None
            ) -> tuple[Motion, tuple[str, ...], tuple[str, ...]]:
    """Return a file's motion as Blender reads it, notes, and the names of its stacks.

    The motion is in metres by the unit that the file states, Z up.
    """
    answer = _answer(path, stack)
    return *_motion(path, answer, stack), tuple(answer.header["takes"])


def outline_fbx(path: Path, stack: str | None = None) -> Outline:
    """Return what a file holds, even if it is not the motion of one person."""
    answer = _answer(path, stack)
    _check_stack(path, answer, stack)
    header = answer.header
    frames = len(answer.arrays["pose"]) if header["take"] is not None else 0
    at_rest = {"pose": answer.arrays["rest"][None]}
    try:
        motion = _built(path, ReaderReply(header, at_rest | answer.arrays))[0]
    except RequestError:
        motion = None
    return Outline(tuple(header["joints"]), frames, header["fps"], tuple(header["takes"]), motion)


def _answer(path: Path, stack: str | None) -> ReaderReply:
    """Read a file in Blender, after preparing glTF files.

    Raises RequestError if it has no skeleton.
    """
    with scratch_folder() as folder:
        plain = instead = path
        if path.suffix.lower() in GLTF_SUFFIXES:
            plain = plain_gltf(path, folder)
            instead = with_bones(plain, folder)
        answer = read_in_blender("mimegen.readers.blender.fbx", path, folder / "motion.npz",
                                 *([] if stack is None else [stack]), instead=instead)
    answer.header["made_bones"] = instead != plain
    if not answer.header["joints"]:
        raise RequestError(f"{path}: contains no skeleton; expected a recording of one person")
    return answer


def _check_stack(path: Path, answer: ReaderReply, stack: str | None) -> None:
    """Raise RequestError if the file has no animation stack of this name."""
    stacks = answer.header["takes"]
    if stack is not None and stack not in stacks:
        raise RequestError(f"{path}: no animation stack {stack!r}; expected one of:"
                           f" {', '.join(stacks) or 'none'}")


def stated_settings(path: Path) -> Stated:
    """Return the unit and up axis of an FBX file's global settings, which Blender applies.

    A file without them is in centimetres with Y up, the default of FBX.
    """
    content = path.read_bytes()
    unit = _setting(content, b"UnitScaleFactor")
    axis = _setting(content, b"UpAxis")
    return Stated(0.01 * (unit if unit and 0 < unit < MAX_UNIT else 1.0),
                  "XYZ"[int(axis)] if axis in (0, 1, 2) else "Y")


def _usd_up(path: Path) -> str:
    """Return the up axis that a USD file states in text, or Y, the default of USD."""
    found = re.search(rb'upAxis\s*=\s*"([XYZ])"', path.read_bytes()[:USD_HEAD])
    return found[1].decode() if found else "Y"


def _setting(content: bytes, name: bytes) -> float | None:
    """Return a number among the properties of a binary or ASCII FBX file, or None."""
    if content.startswith(b"Kaydara FBX Binary"):
        # Between a property's name and value are two texts before version 7000, then three.
        found = re.search(rb"S" + struct.pack("<I", len(name)) + name
                          + rb"(?:S.{4}[^\0]{0,40}){2,3}"
                          + rb"(?:D(.{8})|I(.{4}))", content, re.DOTALL)
        if not found:
            return None
        double, whole = found.groups()
        return float(struct.unpack("<d" if double else "<i", double or whole)[0])
    found = re.search(rb'"' + name + rb'"\s*(?:,\s*"[^"]*"\s*){2,3},\s*([-+.\deE]+)', content)
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None


def _motion(path: Path, answer: ReaderReply, stack: str | None) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion and notes. Raises RequestError if the file has no animation."""
    _check_stack(path, answer, stack)
    if answer.header["take"] is None:
        raise RequestError(f"{path}: has a skeleton but no motion; export it with its animation")
    return _built(path, answer)


def _built(path: Path, answer: ReaderReply) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion in Blender's units and axes (Z up), and notes."""
    header = answer.header
    names, parents, rest, pose, notes = _largest_tree(answer)
    lost = _gaps(path, names, pose, rest, header["fps"])
    solid = _solid(path, names, np.where(lost[..., None, None], 0.0, pose), rest)
    rotations = quaternions.multiply(_rotations(_with_last_solid_pose(pose, solid)),
                                     quaternions.conjugate(_rotations(rest)))
    rotations = bridged_rotations(rotations, lost)
    positions = bridged_positions(pose[..., :3, 3], lost)
    notes += [*_flat_bone_notes(names, solid | lost), *gap_notes(names, lost)]
    heads, stretch = _heads(parents, positions, rotations)
    skeleton = Skeleton(names, parents, heads, _tails(parents, heads))
    if stretch > STRETCH_TO_MENTION:
        notes.append(f"bones stretch by up to {100 * stretch:.0f} %; they are kept at their"
                     " usual length")
    if header["made_bones"]:
        notes.append("the file has no skin: its animated nodes are used as the skeleton")
    if header["left_out"]:
        notes.append(f"{', '.join(header['left_out'][:4])} also moves and is left out; save one"
                     " person per file to use it")
    others = [name for name in header["takes"] if name != header["take"]]
    if others:
        notes.append(f"animation stack {header['take']!r} is read; there are also"
                     f" {', '.join(others[:4])}")
    # glTF has keys in seconds and no rate: the scene's rate is only Blender's default.
    if path.suffix.lower() == ".fbx" and header["fps"] != header["scene_fps"]:
        notes.append(f"the keys are at {header['fps']:g} fps, but the scene is set to"
                     f" {header['scene_fps']:g}")
    if (path.suffix.lower() in GLTF_SUFFIXES and len(pose) > 1
            and not header.get("keys_have_rate", True)):
        notes.append("glTF has no frame rate and its keys are not evenly spaced, or sparse: the"
                     f" motion is sampled at {header['fps']:g} fps")
    motion = Motion.from_global_rotations(skeleton, header["fps"], positions[:, 0],
                                          quaternions.without_flips(rotations))
    return motion, tuple(notes)


def _gaps(path: Path, names: tuple[str, ...], pose: FloatArray, rest: FloatArray,
          fps: float) -> BoolArray:
    """Return a mask (F, J) of the bones whose poses contain NaN or infinite values.

    Raises RequestError if such a gap is too long, or if the rest pose has such values.
    """
    if not np.isfinite(rest).all():
        raise RequestError(f"{path}: contains NaN or infinite positions; the file is damaged")
    lost = np.asarray(~np.isfinite(pose).all(axis=(2, 3)))
    gap = long_gap(lost, fps)
    if gap is not None:
        raise RequestError(f"{path}: bone {names[gap.column]!r} has a position that is not a number"
                           f" from frame {gap.first} to {gap.last}, which {WHY}")
    return lost


def _largest_tree(answer: ReaderReply) -> tuple[tuple[str, ...], IntArray, FloatArray, FloatArray,
                                                list[str]]:
    """Return names, parents, rest and pose of the tree with most joints, parents first."""
    parents, names = answer.arrays["parents"], answer.header["joints"]
    children: dict[int, list[int]] = {}
    for joint in range(len(parents))[::-1]:
        children.setdefault(int(parents[joint]), []).append(joint)
    trees = []
    for root in children[-1][::-1]:
        order, waiting = [], [root]
        while waiting:
            order.append(waiting.pop())
            waiting.extend(children.get(order[-1], []))
        trees.append(order)
    order = max(trees, key=len)
    new = np.full(len(parents) + 1, -1)
    new[order] = np.arange(len(order))
    outside = [names[tree[0]] for tree in trees if tree is not order]
    notes = [f"left out, not of the same skeleton: {', '.join(outside[:4])}"] if outside else []
    return (tuple(names[i] for i in order), new[parents[order]], answer.arrays["rest"][order],
            answer.arrays["pose"][:, order], notes)


def _axes(matrices: FloatArray) -> FloatArray:
    """Return the axes (..., 3, 3) of matrices (..., 4, 4), of length 1, or 0 if scaled to 0."""
    axes = matrices[..., :3, :3]
    lengths = np.linalg.norm(axes, axis=-2, keepdims=True)
    return np.asarray(np.where(lengths > 1e-9, axes, 0.0) / np.maximum(lengths, 1e-9))


def _solid(path: Path, names: tuple[str, ...], pose: FloatArray,
           rest: FloatArray) -> NDArray[np.bool_]:
    """Return a mask (F, J) of the bones whose three axes span space: none is scaled to 0.

    Raises RequestError if a bone's axes do so in no frame, or not at rest.
    """
    solid, at_rest = (np.abs(np.linalg.det(_axes(matrices))) > FLAT for matrices in (pose, rest))
    flat = np.flatnonzero(~(solid.any(axis=0) & at_rest))
    if len(flat):
        raise RequestError(f"{path}: bone {names[flat[0]]!r} has scale 0 along an axis in all"
                           " frames, so its rotation is undefined; expected a rigid skeleton:"
                           " export it without scale")
    return np.asarray(solid)


def _with_last_solid_pose(pose: FloatArray, solid: NDArray[np.bool_]) -> FloatArray:
    """Return poses (F, J, 4, 4) in which bones that are not ``solid`` keep their previous pose.

    Before the first solid frame they have its pose.
    """
    frames, joints = np.arange(len(pose))[:, None], np.arange(pose.shape[1])
    before = np.maximum.accumulate(np.where(solid, frames, -1), axis=0)
    return np.asarray(pose[np.where(before < 0, solid.argmax(axis=0), before), joints])


def _flat_bone_notes(names: tuple[str, ...], solid: NDArray[np.bool_]) -> list[str]:
    """Return a note on the bones that are scaled to nothing in some frames, if there are any."""
    flat = np.flatnonzero(~solid.all(axis=0))
    if not len(flat):
        return []
    frames = np.flatnonzero(~solid.all(axis=1))
    return [f"{len(flat)} bones ({names[flat[0]]!r} ...) are scaled to nothing in {len(frames)}"
            f" frames from {frames[0]} on: their rotation is held there"]


def _rotations(matrices: FloatArray) -> FloatArray:
    """Return the rotations of matrices (..., 4, 4) that may also scale.

    Mirroring ones are first mirrored back through the origin, which does not rotate anything.
    """
    axes = _axes(matrices)
    mirrored = np.linalg.det(axes) < 0
    return quaternions.from_matrices(np.where(mirrored[..., None, None], -axes, axes))


def _heads(parents: IntArray, positions: FloatArray,
           rotations: FloatArray) -> tuple[FloatArray, float]:
    """Return the joints' rest positions (J, 3) with the motion's median bone lengths.

    Also return the greatest stretch of a bone, as a fraction of the skeleton's size. The file's
    rest pose is not used: without a skin, it may have other lengths than the motion.
    """
    above = parents[1:]
    offsets = quaternions.rotate(quaternions.conjugate(rotations[:, above]),
                                 positions[:, 1:] - positions[:, above])
    usual = np.median(offsets, axis=0)
    heads = np.zeros((len(parents), 3))
    for joint, parent in enumerate(above, start=1):
        heads[joint] = heads[parent] + usual[joint - 1]
    size = float(np.ptp(heads, axis=0).max())
    away = np.linalg.norm(offsets - usual, axis=-1).max(initial=0.0)
    return heads, float(away) / max(size, 1e-12)


def _tails(parents: IntArray, heads: FloatArray) -> FloatArray:
    """Return bone ends (J, 3): the mean of a bone's children.

    The last bone of a chain continues its parent's direction with half of that bone's length.
    """
    above = np.maximum(parents, 0)
    tails = np.asarray(heads + (heads - heads[above]) / 2)
    for joint in range(len(heads)):
        children = heads[parents == joint]
        if len(children):
            tails[joint] = children.mean(axis=0)
    return tails
