"""Rest positions of the joints of SMPL's bodies, from published tables or a user's model file.

Loper et al. 2015 (SMPL), Romero et al. 2017 (SMPL-H), Pavlakos et al. 2019 (SMPL-X): the rest
positions are a linear function of the shape coefficients "betas".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.base.errors import RequestError
from mimegen.base.files import Stamp, stamp
from mimegen.base.paths import data_files
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.arrays import tree_of

Kind = Literal["SMPL", "SMPL-H", "SMPL-X"]
# Joints of the body without hands, and of all fingers of both hands.
BODY = 22
FINGER_JOINTS = 30
# Jaw and eyes, which model files have and motions do not need.
FACE = 3
# Number of joints in a model file -> model.
KINDS: dict[int, Kind] = {24: "SMPL", 52: "SMPL-H", 55: "SMPL-X"}
# Vectors from the last joints to the ends of their bones, in metres and SMPL's axes (Y up, facing
# +Z).
ENDS = {"head": (0.0, 0.18, 0.02), "left_foot": (0.0, -0.015, 0.07),
        "right_foot": (0.0, -0.015, 0.07), "left_hand": (0.08, 0.0, 0.0),
        "right_hand": (-0.08, 0.0, 0.0), "left_wrist": (0.1, 0.0, 0.0),
        "right_wrist": (-0.1, 0.0, 0.0)}
# Length of the last bone of a finger, in metres.
FINGER_END = 0.022
# Greatest typical change of a bone's length, as a fraction, for which an array holds positions.
STEADY = 0.1
ROLE_OF = {"pelvis": "hips", "spine1": "spine1", "spine2": "spine2", "spine3": "chest",
           "neck": "neck1", "head": "head"}
PART_OF = {"hip": "thigh", "knee": "shin", "ankle": "foot", "foot": "toe", "collar": "clavicle",
           "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand"}


class _BodyJoint(Strict):
    parent: str | None
    rest: Vector
    female: Vector | None = None
    mean: Vector | None = None
    betas: tuple[tuple[float, ...], ...] | None = None


class _Table(Strict):
    joints: dict[str, _BodyJoint] = Field(min_length=BODY)


@dataclass(frozen=True, eq=False)
class SmplBody:
    """The joints of a body at rest (J, 3), in metres, Y up, facing +Z.

    ``shapes`` (J, 3, B) are the displacements in metres per unit of each shape coefficient, None if
    unknown. ``hand_mean`` (30, 3) are the rotation vectors of relaxed fingers, or None.
    """

    kind: Kind
    names: tuple[str, ...]
    parents: NDArray[np.intp]
    rest: FloatArray
    shapes: FloatArray | None
    hand_mean: FloatArray | None
    source: str

    def shaped(self, betas: FloatArray) -> FloatArray:
        """Return the rest positions (J, 3) for a body with these shape coefficients."""
        if self.shapes is None:
            return self.rest
        count = min(len(betas), self.shapes.shape[2])
        return np.asarray(self.rest + np.einsum("jkb,b->jk", self.shapes[..., :count],
                                                betas[:count]))


def table_body(kind: Kind, gender: str) -> SmplBody:
    """Return the body of the published tables: neutral, or for SMPL and SMPL-H also female.

    SMPL-H gets SMPL's body with the fingers of SMPL-X, which have the same length, at its wrists.
    """
    if kind == "SMPL-X":
        return _smplx()
    smpl = _smpl("female" if gender == "female" else "neutral")
    return smpl if kind == "SMPL" else _with_fingers(smpl)


@cache
def _smplx() -> SmplBody:
    names, parents, joints = _read("smplx")
    shapes = np.array([joint.betas for joint in joints])
    mean = np.array([joint.mean for joint in joints[BODY:]])
    return SmplBody("SMPL-X", names, parents, np.array([joint.rest for joint in joints]), shapes,
                    mean, "the published table of its rest joints")


@cache
def _smpl(gender: str) -> SmplBody:
    names, parents, joints = _read("smpl")
    rest = [joint.female if gender == "female" and joint.female else joint.rest
            for joint in joints]
    return SmplBody("SMPL", names, parents, np.array(rest), None, None,
                    f"the published table of the {gender} body's rest joints")


def _read(name: str) -> tuple[tuple[str, ...], NDArray[np.intp], list[_BodyJoint]]:
    """Return names, parents and joints of a table in ``rigs/skeletons``."""
    # A pattern instead of one name, so that content keys cover every file that may be read.
    files = {file.stem: file for file in data_files("rigs/skeletons/*.yaml")}
    table = read_yaml_once(files[name], _Table).joints
    names = tuple(table)
    parents = [-1 if joint.parent is None else names.index(joint.parent)
               for joint in table.values()]
    return names, np.array(parents), list(table.values())


def _with_fingers(smpl: SmplBody) -> SmplBody:
    """Return SMPL's body up to the wrists, joined with the fingers of SMPL-X."""
    hands = _smplx()
    wrists = {side: smpl.rest[smpl.names.index(f"{side}_wrist")]
              - hands.rest[hands.names.index(f"{side}_wrist")] for side in ("left", "right")}
    fingers = [hands.rest[joint] + wrists[hands.names[joint].partition("_")[0]]
               for joint in range(BODY, len(hands.names))]
    return SmplBody("SMPL-H", hands.names, hands.parents,
                    np.concatenate([smpl.rest[:BODY], fingers]),
                    None, hands.hand_mean, smpl.source)


def model_body(path: Path) -> SmplBody:
    """Return the body of a model file of SMPL, SMPL-H or SMPL-X, as published (npz or pkl).

    Raises RequestError if it is not such a file.
    """
    return _model_body(path, stamp(path))


@cache
def _model_body(path: Path, written: Stamp | None) -> SmplBody:
    del written
    tree = tree_of(path)
    if not isinstance(tree, dict):
        raise RequestError(f"{path}: is not a model of SMPL, SMPL-H or SMPL-X; expected the file"
                           " that --smpl-model names to hold v_template, shapedirs and J_regressor")
    vertices, dirs, regressor = (_numbers(path, tree, key, dimensions) for key, dimensions in
                                 (("v_template", 2), ("shapedirs", 3), ("J_regressor", 2)))
    if regressor.shape[0] not in KINDS or regressor.shape[1] != len(vertices) \
            or dirs.shape[:2] != vertices.shape or vertices.shape[1] != 3:
        raise RequestError(f"{path}: its tables do not fit: v_template {vertices.shape}, shapedirs"
                           f" {dirs.shape}, J_regressor {regressor.shape}")
    kind = KINDS[len(regressor)]
    kept = [*range(BODY), *range(BODY + (FACE if kind == "SMPL-X" else 0), len(regressor))]
    like = table_body(kind, "neutral")
    rest = np.einsum("jv,vk->jk", regressor, vertices)[kept]
    shapes = np.einsum("jv,vkb->jkb", regressor, dirs[..., :16])[kept]
    means = [one for side in "lr" if isinstance(one := tree.get(f"hands_mean{side}"), np.ndarray)
             and one.shape == (FINGER_JOINTS * 3 // 2,)]
    mean = np.concatenate(means).reshape(-1, 3) if len(means) == 2 else like.hand_mean
    return SmplBody(kind, like.names, like.parents, rest, shapes, mean, f"the model {path.name}")


def _numbers(path: Path, tree: Mapping[str, Any], key: str, dimensions: int) -> FloatArray:
    """Return a numeric array of a model file. Raises RequestError if it is missing."""
    found = tree.get(key)
    if not isinstance(found, np.ndarray) or found.ndim != dimensions \
            or not np.issubdtype(found.dtype, np.number) or not np.isfinite(found).all():
        raise RequestError(f"{path}: is not a model of SMPL, SMPL-H or SMPL-X: {key!r} is missing"
                           f" or not an array of {dimensions} dimensions")
    return np.asarray(found, float)


def skeleton_of(body: SmplBody, rest: FloatArray, joints: int) -> Skeleton:
    """Return the skeleton of the first ``joints`` of a body with rest positions ``rest`` (J, 3)."""
    names, parents = body.names[:joints], body.parents[:joints]
    heads = rest[:joints]
    tails = heads.copy()
    for joint, name in enumerate(names):
        children = heads[parents == joint]
        if len(children):
            tails[joint] = children.mean(axis=0)
        elif name in ENDS:
            tails[joint] = heads[joint] + ENDS[name]
        else:
            bone = heads[joint] - heads[parents[joint]]
            tails[joint] = heads[joint] + bone * FINGER_END / max(float(np.linalg.norm(bone)), 1e-9)
    return Skeleton(names, parents, heads, tails)


def are_places(array: NDArray[Any]) -> bool:
    """Return whether an array (F, J, 3) of SMPL's joints holds positions, not rotation vectors.

    The lengths of bones between positions hardly change.
    """
    if array.ndim != 3 or array.shape[2] != 3 or array.shape[1] < BODY:
        return False
    above = table_body("SMPL", "neutral").parents[1:BODY]
    bones = np.linalg.norm(array[:, 1:BODY] - array[:, above], axis=2)
    middle = np.median(bones, axis=0)
    off = np.median(np.abs(bones - middle), axis=0)
    return bool(np.median(off / np.maximum(middle, 1e-9)) < STEADY and np.median(middle) > 0)


def roles_of(names: tuple[str, ...]) -> dict[str, str]:
    """Return role -> joint for SMPL's joint names; the hand joints of SMPL have no role."""
    roles = {}
    for name in names:
        side, _, part = name.partition("_")
        if name in ROLE_OF:
            roles[ROLE_OF[name]] = name
        elif part in PART_OF:
            roles[f"{side}_{PART_OF[part]}"] = name
        elif part and part[-1].isdigit():
            roles[name] = name
    return roles
