"""Find SMPL's parameters in dictionaries by the names that AMASS and other tools use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.smpl.bodies import BODY, FINGER_JOINTS, Kind, are_places, table_body
from mimegen.readers.smpl.rotations import (
    MATRIX,
    SIX,
    VECTOR,
    WIDTHS,
    WrongNumbersError,
    is_numeric,
    rotations_of,
)

# Names of arrays by their meaning, the least ambiguous first.
ROOT = ("global_orient", "root_orient", "smpl_global_orient", "global_orientation", "root_pose",
        "pred_global_orient", "poses_root", "pose_root", "root_rot")
BODY_POSE = ("body_pose", "pose_body", "smpl_body_pose", "pred_body_pose", "poses_body")
WHOLE = ("poses", "pose", "smpl_poses", "full_pose", "fullpose", "smpl_thetas", "smpl_pose",
         "thetas", "theta", "pred_pose", "pred_rotmat", "rot6d", "pose_6d", "poses_6d",
         "pose_aa", "rotmat", "rotations", "pred_thetas", "pred_pose_aa")
HANDS = ("pose_hand", "hand_pose")
EACH_HAND = (("left_hand_pose", "right_hand_pose"), ("lhand_pose", "rhand_pose"))
# Root rotation that EasyMocap and HY-Motion give separately.
ROOT_ASIDE = "Rh"
# Whole poses of these names are preferred to hands that are given as components of a model.
WITH_HANDS = ("fullpose", "full_pose")
PLACE = ("trans", "transl", "translation", "smpl_trans", "root_translation", "cam_trans",
         "pred_trans", "trans_world", "root_trans", "Th", "root_transl", "global_t")
BETAS = ("betas", "shape", "smpl_betas", "pred_shape", "beta", "shapes", "pred_betas",
         "smpl_beta")
RATE = ("mocap_framerate", "mocap_frame_rate", "fps", "framerate", "frame_rate", "mocap_fps")
# Number of joints of a whole pose -> model; 22 is the body alone.
WHOLE_JOINTS: dict[int, Kind] = {24: "SMPL", 22: "SMPL", 52: "SMPL-H", 55: "SMPL-X"}
# Indices of the knees among SMPL's joints, and the mean bend (radians) below which they bend
# backward; then rotations given by six numbers are inverted.
KNEES = (4, 5)
BACKWARD = -0.1
# Greatest x, y or z of the quaternions of a root that never turns.
STILL = 1e-6
# Jaw and eyes, between body and hands in SMPL-X's whole pose.
FACE = 3
MAX_FRAMES = 1_000_000
# Values that no motion reaches in metres, millimetres or radians.
MAX_VALUE = 1e7


class UnreadableError(ValueError):
    """A file's arrays cannot be read as a motion; the message says why."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """A person's parameters over time.

    ``rotations`` (F, J, 4) are local, of the first J joints (22, 24 or 52) of an ``SmplBody``.
    ``place`` (F, 3) is the translation in metres, or None; ``betas`` (B,) are the shape
    coefficients, or None. If ``relative_hands``, the hands' mean pose is still to be added.
    """

    kind: Kind
    rotations: FloatArray
    place: FloatArray | None
    betas: FloatArray | None
    gender: str
    fps: float | None
    relative_hands: bool
    notes: tuple[str, ...] = ()


def has_parameters(found: Any) -> bool:
    """Return whether a dictionary holds a pose of SMPL."""
    return isinstance(found, Mapping) and (
        any(_holds(found, name) for name in WHOLE)
        or (any(_holds(found, name) for name in ROOT)
            and any(_holds(found, name) for name in BODY_POSE)))


def parameters_of(found: Mapping[str, Any], rows: bool = True) -> Parameters:
    """Return the parameters in a dictionary for which ``has_parameters`` is true.

    ``rows`` is that of ``rotations_of``. Raises UnreadableError if an array has another shape, or
    values that are not numbers.
    """
    kind, rotations, relative, notes = _pose(found, rows)
    frames = len(rotations)
    if not 1 <= frames <= MAX_FRAMES:
        raise UnreadableError(f"has {frames} frames")
    place = _place(found, frames)
    betas = _betas(found)
    gender = _text(found.get("gender")).lower() or "neutral"
    return Parameters(kind, rotations, place, betas, gender, rate_in(found), relative, notes)


def rate_in(found: Mapping[str, Any]) -> float | None:
    """Return the frame rate that a dictionary states, or None."""
    for name in RATE:
        value = np.ravel(np.asarray(found.get(name)))
        rate = float(value[0]) if value.size == 1 and value.dtype.kind in "fiu" else 0.0
        if np.isfinite(rate) and rate > 0:
            return rate
    return None


def _holds(found: Mapping[str, Any], name: str) -> bool:
    """Return whether a dictionary has a numeric array of this name that is not of positions."""
    value = found.get(name)
    # In EDGE's files, the key full_pose holds positions of joints.
    return is_numeric(value) and value.ndim >= 1 and not (  # type: ignore[union-attr]
        name in WITH_HANDS and are_places(value))  # type: ignore[arg-type]


def _first(found: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, FloatArray] | None:
    """Return name and values of the first array that a dictionary has, or None."""
    name = next((name for name in names if _holds(found, name)), None)
    return None if name is None else (name, numbers(name, found[name]))


def numbers(name: str, values: Any) -> FloatArray:
    """Return an array as floats.

    Raises UnreadableError if it has NaN, infinite or far too large values.
    """
    array = np.asarray(values, float)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        raise UnreadableError(f"the array {name!r} has NaN or infinite values (first in frame"
                              f" {wrong[0][0]})")
    if np.abs(array).max(initial=0.0) > MAX_VALUE:
        raise UnreadableError(f"the array {name!r} has values of up to {np.abs(array).max():.3g},"
                              " which are not a motion")
    return array


def _pose(found: Mapping[str, Any], rows: bool
          ) -> tuple[Kind, FloatArray, bool, tuple[str, ...]]:
    """Return model, rotations, whether the hands' mean pose is to be added, and notes."""
    root, body, whole = _first(found, ROOT), _first(found, BODY_POSE), _first(found, WHOLE)
    if whole is not None and _has_components(found, whole):
        root = None
    if root is None or body is None:
        if whole is None:
            raise UnreadableError("holds no pose")
        kind, rotations = _whole(*whole, rows)
        rotations = _with_root(rotations, found, rows)
        rotations, turned = _knees_forward(rotations, _is_six(whole[1], rotations.shape[1]))
        return kind, rotations, False, turned
    rotations, turned = _knees_forward(_body(root, body, rows), _is_six(body[1], 21)
                                       or _is_six(body[1], 23))
    hands, relative, notes = _hands(found, len(rotations))
    notes = (*turned, *notes)
    if hands is None:
        return "SMPL" if not _is_smplx(found) else "SMPL-X", rotations, False, notes
    joined = np.concatenate([rotations[:, :BODY], hands], axis=1)
    return "SMPL-X" if _is_smplx(found) else "SMPL-H", joined, relative, notes


def _has_components(found: Mapping[str, Any], whole: tuple[str, FloatArray]) -> bool:
    """Return whether hands are a model's components while a whole pose has their rotations."""
    hands = [np.asarray(found[name]) for names in EACH_HAND for name in names
             if _holds(found, name)]
    return whole[0] in WITH_HANDS and whole[1].ndim == 2 and bool(hands) and all(
        hand[0].size < FINGER_JOINTS * VECTOR // 2 for hand in hands)


def _with_root(rotations: FloatArray, found: Mapping[str, Any], rows: bool) -> FloatArray:
    """Use the root's rotation that a file gives separately, if the pose's own root never turns."""
    aside = _first(found, (ROOT_ASIDE,))
    if aside is None or aside[1].size != 3 * len(rotations) \
            or np.abs(rotations[:, 0, 1:]).max() > STILL:
        return rotations
    root = _told(aside[0], aside[1].reshape(len(rotations), 3), 1, rows)
    return np.concatenate([root, rotations[:, 1:]], axis=1)


def _is_six(values: FloatArray, joints: int) -> bool:
    """Return whether an array has six numbers for each joint."""
    each = int(np.prod(values.shape[1:]))
    return values.ndim > 1 and each in (SIX * joints, SIX * (joints + FACE))


def _knees_forward(rotations: FloatArray, six: bool) -> tuple[FloatArray, tuple[str, ...]]:
    """Invert rotations given by six numbers if the knees bend backward; return them and a note.

    The numbers may be rows or columns of a matrix. Taking one for the other gives the inverse.
    """
    if not six:
        return rotations, ()
    bends = quaternions.to_rotation_vectors(rotations[:, list(KNEES)])[..., 0]
    if float(bends.mean()) > BACKWARD:
        return rotations, ()
    return quaternions.conjugate(rotations), (
        "the six numbers of a rotation are taken for columns of its matrix: as rows, the knees"
        " would bend backward",)


def _is_smplx(found: Mapping[str, Any]) -> bool:
    """Return whether a dictionary is of SMPL-X: it says so, or has a jaw, expressions or eyes."""
    model = _text(found.get("surface_model_type", found.get("model_type", ""))).lower()
    return "smplx" in model.replace("-", "") or any(
        name in found for name in ("pose_jaw", "jaw_pose", "expression", "pose_eye"))


def _text(found: Any) -> str:
    """Return a text that may be given as bytes or as an array of one text; empty if it is none."""
    if isinstance(found, np.ndarray):
        found = found.ravel()[0] if found.size == 1 else ""
    if isinstance(found, bytes):
        return found.decode(errors="replace").strip("b'\"")
    return found if isinstance(found, str) else ""


def _whole(name: str, values: FloatArray, rows: bool) -> tuple[Kind, FloatArray]:
    """Return the model, and its rotations without jaw and eyes, from one array of all joints."""
    if values.ndim == 3 and values.shape[1] == 1:
        values = values[:, 0]
    each = int(np.prod(values.shape[1:]))
    joints = next((joints for joints in WHOLE_JOINTS for width in WIDTHS
                   if each == joints * width and _fits(values, joints, width)), None)
    if joints is None:
        raise UnreadableError(
            f"the array {name!r} has the shape {values.shape}; expected frames of"
            f" {', '.join(str(VECTOR * n) for n in sorted(WHOLE_JOINTS))} numbers"
            " (rotation vectors of SMPL, SMPL-H or SMPL-X), or matrices")
    rotations = _told(name, values, joints, rows)
    if WHOLE_JOINTS[joints] == "SMPL-X":
        rotations = np.concatenate([rotations[:, :BODY], rotations[:, BODY + FACE:]], axis=1)
    return WHOLE_JOINTS[joints], rotations


def _fits(values: FloatArray, joints: int, width: int) -> bool:
    """Return whether an array's axes allow this number of joints."""
    if values.ndim == 2:
        return True
    return values.shape[1] == joints


def _told(name: str, values: FloatArray, joints: int, rows: bool) -> FloatArray:
    """Return ``rotations_of`` an array. Raises UnreadableError, with its name, on failure."""
    try:
        return rotations_of(values, joints, rows)
    except WrongNumbersError as problem:
        raise UnreadableError(f"the array {name!r} {problem}") from None


def _body(root: tuple[str, FloatArray], body: tuple[str, FloatArray], rows: bool) -> FloatArray:
    """Return the rotations (F, 22 or 24, 4) from separate arrays of root and body."""
    frames = len(root[1]) if root[1].ndim > 1 else 1
    first = _told(root[0], root[1].reshape(frames, -1), 1, rows)
    if len(body[1]) != frames and body[1].ndim > 1:
        raise UnreadableError(f"the arrays {root[0]!r} and {body[0]!r} have {frames} and"
                              f" {len(body[1])} frames")
    values = body[1].reshape(frames, -1)
    joints = next((n for n in (21, 23) if values.shape[1] in [width * n for width in WIDTHS]), None)
    if joints is None:
        raise UnreadableError(f"the array {body[0]!r} has the shape {body[1].shape}; expected"
                              " frames of 63 (SMPL-H, SMPL-X) or 69 numbers (SMPL), or matrices")
    return np.concatenate([first, _told(body[0], values, joints, rows)], axis=1)


def _hands(found: Mapping[str, Any], frames: int
           ) -> tuple[FloatArray | None, bool, tuple[str, ...]]:
    """Return the fingers' rotations (F, 30, 4) or None, whether to add the mean pose, and notes."""
    both = _first(found, HANDS)
    if both is not None:
        values, relative, name = both[1], False, both[0]
    else:
        pair = next((names for names in EACH_HAND if all(_holds(found, name) for name in names)),
                    None)
        if pair is None:
            return None, False, ()
        parts = [numbers(name, found[name]) for name in pair]
        if any(len(part) != frames for part in parts):
            return None, False, (f"the hands have {len(parts[0])} frames and are left out",)
        values = np.concatenate([part.reshape(frames, -1) for part in parts], axis=1)
        relative, name = not bool(np.all(found.get("flat_hand_mean", False))), pair[0]
    each = values.reshape(len(values), -1).shape[1]
    if len(values) != frames or each not in (FINGER_JOINTS * VECTOR, FINGER_JOINTS * MATRIX):
        return None, False, (f"the hands ({name!r}) are {each} numbers a frame, expected 90; they"
                             " are components of a model that the file does not contain, and are"
                             " left out",)
    return _told(name, values, FINGER_JOINTS, True), relative, ()


def with_mean_hands(parameters: Parameters, mean: FloatArray | None) -> FloatArray:
    """Return the rotations, with the hands' ``mean`` pose (30, 3) added if ``relative_hands``.

    SMPL's models add rotation vectors instead of multiplying rotations.
    """
    if not parameters.relative_hands or parameters.rotations.shape[1] <= BODY + 2:
        return parameters.rotations
    mean = table_body("SMPL-X", "neutral").hand_mean if mean is None else mean
    assert mean is not None
    vectors = quaternions.to_rotation_vectors(parameters.rotations[:, BODY:]) + mean
    return np.concatenate([parameters.rotations[:, :BODY],
                           quaternions.from_rotation_vectors(vectors)], axis=1)


def _place(found: Mapping[str, Any], frames: int) -> FloatArray | None:
    """Return the translations (F, 3), or None if there are none."""
    held = _first(found, PLACE)
    if held is None:
        return None
    name, values = held
    values = values.reshape(frames, 3) if values.size == frames * 3 else values
    if values.shape != (frames, 3):
        raise UnreadableError(f"the array {name!r} has the shape {values.shape}, expected"
                              f" ({frames}, 3)")
    return values


def _betas(found: Mapping[str, Any]) -> FloatArray | None:
    """Return the shape coefficients (B,), the median over frames, or None."""
    held = _first(found, BETAS)
    if held is None:
        return None
    values = held[1]
    return np.asarray(np.median(values.reshape(-1, values.shape[-1]), axis=0))
