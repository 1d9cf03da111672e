"""Read Kimodo's archives: joint positions and rotations of the SOMA skeleton, or of SMPL-X's body.

Layout: nv-tlabs/kimodo, user guide, "Output formats". Y up, facing +Z, metres; the rest pose is a T
pose. The joints' names and the rate are not in the file.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from mimegen.base.paths import data_file
from mimegen.base.vectors import lengths
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.options import ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.bodies import BODY, ENDS, roles_of, table_body
from mimegen.readers.smpl.parameters import Parameters, UnreadableError, numbers, rate_in
from mimegen.readers.smpl.reading import World, held_if_single, rate_of, upright
from mimegen.readers.smpl.rotations import WrongNumbersError, is_numeric, rotations_of

# Joints of the two SOMA skeletons.
SMALL = 30
WHOLE = 77
WORLD = World("Y", "Kimodo has Y up", "Kimodo", 30.0)
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
# If joints move more than this (metres, median) relative to their parents, the rotations do not
# belong to them.
LOOSE = 0.02
ROLE_OF = {"Hips": "hips", "Spine1": "spine1", "Spine2": "spine2", "Chest": "chest",
           "Neck1": "neck1", "Neck2": "neck2", "Head": "head"}
PART_OF = {"Shoulder": "clavicle", "Arm": "upper_arm", "ForeArm": "forearm", "Hand": "hand",
           "Leg": "thigh", "Shin": "shin", "Foot": "foot", "ToeBase": "toe"}
Tree = dict[str, str | None]


class _SomaJoint(Strict):
    parent: str | None
    rest: Vector


class _SomaFile(Strict):
    joints: dict[str, _SomaJoint] = Field(min_length=SMALL)


@cache
def small_tree() -> tuple[Tree, FloatArray]:
    """Return SOMA's 30 joints with their parents, and their rest positions (30, 3)."""
    joints = read_yaml_once(data_file("rigs/skeletons/soma.yaml"), _SomaFile).joints
    return ({name: joint.parent for name, joint in joints.items()},
            np.array([joint.rest for joint in joints.values()]))


@cache
def whole_tree() -> Tree:
    """Return SOMA's 77 joints, in its order, with their parents."""
    small = small_tree()[0]
    tree: Tree = {}
    for name, parent in small.items():
        if name == "Jaw":
            tree["HeadEnd"] = "Head"
        if not name.endswith("End"):
            tree[name] = parent
        if name in ("LeftHand", "RightHand"):
            tree |= _hand(name)
        if name.endswith("ToeBase"):
            tree[name.removesuffix("Base") + "End"] = name
    return tree


def _hand(hand: str) -> Tree:
    """Return the finger joints of a hand: three of the thumb, four of the others, and ends."""
    tree: Tree = {}
    for finger in FINGERS:
        line = [hand, *(f"{hand}{finger}{n}" for n in range(1, 4 if finger == "Thumb" else 5)),
                f"{hand}{finger}End"]
        tree |= {below: above for above, below in pairwise(line)}
    return tree


def soma_roles(names: tuple[str, ...]) -> dict[str, str]:
    """Return role -> joint. The first bone of each finger, except the thumb, lies in the palm."""
    roles = {ROLE_OF[name]: name for name in names if name in ROLE_OF}
    for side in ("Left", "Right"):
        for part, role in PART_OF.items():
            if f"{side}{part}" in names:
                roles[f"{side.lower()}_{role}"] = f"{side}{part}"
        for finger in FINGERS:
            for number in (1, 2, 3):
                joint = f"{side}Hand{finger}{number + (finger != 'Thumb')}"
                if joint in names:
                    roles[f"{side.lower()}_{finger.lower()}{number}"] = joint
    return roles


def is_soma(tree: Any) -> bool:
    """Return whether a file's content is one of Kimodo's archives."""
    return isinstance(tree, dict) and any(
        is_numeric(tree.get(name)) and tree[name].ndim in (4, 5)
        for name in ("global_rot_mats", "local_rot_mats"))


def recording_of_soma(path: Path, tree: Mapping[str, Any], options: ReadOptions) -> Recording:
    """Return the recording of one of Kimodo's archives.

    Raises UnreadableError if its arrays do not fit together.
    """
    global_matrices = _first(tree, "global_rot_mats")
    local_matrices = _first(tree, "local_rot_mats") if global_matrices is None else None
    found = global_matrices if global_matrices is not None else local_matrices
    assert found is not None
    parents, roles = _skeleton(found.shape[1])
    rotations = _rotations("global_rot_mats" if local_matrices is None else "local_rot_mats", found)
    above = np.array([-1 if parent is None else list(parents).index(parent)
                      for parent in parents.values()])
    if local_matrices is not None:
        rotations = _global(rotations, above)
    positions, heads = _root_and_rest_positions(tree, rotations, above, tuple(parents))
    parameters = Parameters("SMPL", rotations, positions, None, "neutral", rate_in(tree), False)
    fps, notes = rate_of(path, parameters, WORLD, options)
    parameters = held_if_single(parameters, fps)
    assert parameters.place is not None
    skeleton = Skeleton(tuple(parents), above, heads, _tails(tuple(parents), above, heads))
    motion = Motion.from_global_rotations(skeleton, fps, parameters.place,
                                          quaternions.without_flips(parameters.rotations))
    recording = upright(path, motion, WORLD, (*notes, *parameters.notes), options, roles)
    return recording if len(parents) != BODY else replace(recording, system="SMPL-X")


def _first(tree: Mapping[str, Any], name: str) -> FloatArray | None:
    """Return a numeric array (F, J, ...), the first of a batch, or None if there is none."""
    found = tree.get(name)
    if not is_numeric(found):
        return None
    array: FloatArray = np.asarray(found)
    array = array[0] if array.ndim == (5 if "mats" in name else 4) else array
    return numbers(name, array)


def _skeleton(joints: int) -> tuple[Tree, dict[str, str]]:
    """Return parents and roles by the number of joints. Raises UnreadableError if unknown."""
    if joints == BODY:
        body = table_body("SMPL-X", "neutral")
        names = body.names[:BODY]
        return {name: None if parent < 0 else names[parent] for name, parent in
                zip(names, body.parents[:BODY].tolist(), strict=True)}, roles_of(names)
    trees = {SMALL: small_tree()[0], WHOLE: whole_tree()}
    if joints not in trees:
        raise UnreadableError(f"has rotations of {joints} joints; expected Kimodo's skeletons of"
                              f" {SMALL} or {WHOLE} (SOMA) or {BODY} (SMPL-X); the others are"
                              " skeletons of robots")
    return trees[joints], soma_roles(tuple(trees[joints]))


def _rotations(name: str, found: FloatArray) -> FloatArray:
    """Return matrices (F, J, 3, 3) as quaternions (F, J, 4)."""
    if found.ndim != 4 or found.shape[2:] != (3, 3):
        raise UnreadableError(f"the array {name!r} has the shape {found.shape}, expected"
                              " (frames, joints, 3, 3)")
    try:
        return rotations_of(found, found.shape[1])
    except WrongNumbersError as problem:
        raise UnreadableError(f"the array {name!r} {problem}") from None


def _global(local_matrices: FloatArray, above: Any) -> FloatArray:
    """Return global rotations (F, J, 4) of local ones."""
    whole = local_matrices.copy()
    for joint, parent in enumerate(above.tolist()):
        if parent >= 0:
            whole[:, joint] = quaternions.multiply(whole[:, parent], local_matrices[:, joint])
    return whole


def _root_and_rest_positions(tree: Mapping[str, Any], rotations: FloatArray, above: Any,
                             names: tuple[str, ...]
                             ) -> tuple[FloatArray, FloatArray]:
    """Return the root's path (F, 3) and the joints' rest positions (J, 3)."""
    frames, joints = rotations.shape[:2]
    posed = _first(tree, "posed_joints")
    if posed is None:
        root = _first(tree, "root_positions")
        rest, table = small_tree()
        if root is None or root.shape != (frames, 3) or tuple(rest) != names:
            raise UnreadableError("the array 'posed_joints' is missing")
        return root, table
    if posed.shape != (frames, joints, 3):
        raise UnreadableError(f"the array 'posed_joints' has the shape {posed.shape}, expected"
                              f" ({frames}, {joints}, 3)")
    offsets = quaternions.rotate(quaternions.conjugate(rotations[:, above[1:]]),
                                 posed[:, 1:] - posed[:, above[1:]])
    usual = np.median(offsets, axis=0)
    if float(np.median(lengths(offsets - usual))) > LOOSE:
        raise UnreadableError("its posed joints do not match its rotations")
    heads = np.zeros((joints, 3))
    for joint in range(1, joints):
        heads[joint] = heads[above[joint]] + usual[joint - 1]
    return np.asarray(posed[:, 0]), heads


def _tails(names: tuple[str, ...], above: Any, heads: FloatArray) -> FloatArray:
    """Return the ends of bones (J, 3): the mean of their children, or a usual length."""
    ends = {"Head": ENDS["head"], "head": ENDS["head"], "LeftToeBase": ENDS["left_foot"],
            "RightToeBase": ENDS["right_foot"], **ENDS}
    tails: FloatArray = heads + (heads - heads[np.maximum(above, 0)]) / 2
    for joint, name in enumerate(names):
        below = heads[above == joint]
        if name in ("Head", "LeftHand", "RightHand") and len(below):
            below = below[-1:] if name != "Head" else np.zeros((0, 3))
        if len(below):
            tails[joint] = below.mean(axis=0)
        elif name in ends:
            tails[joint] = heads[joint] + ends[name]
    return tails
