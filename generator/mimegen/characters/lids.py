"""Lids and eyes as joints: how far they turn, and what their rotations mean."""

import numpy as np

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.faces.words import SIDES, units_file
from mimegen.motion.quaternions import FloatArray

# Names of the joints on either side, after ``Left`` or ``Right``.
PARTS = ("Eye", "Lid", "LowerLid")
LIDS = ("Lid", "LowerLid")
# The joints from which lids and gaze are read: both sides' upper lids, then both eyes.
LID_AND_EYE_JOINTS = tuple(side + part for part in ("Lid", "Eye") for side in SIDES)


class FaceFile(Strict):
    """The contents of rigs/faces/face.yaml, which explains its parts."""

    closed: dict[str, Vector]
    lids_follow: float


def face_file() -> FaceFile:
    """Return the contents of rigs/faces/face.yaml."""
    return read_yaml_once(data_file("rigs/faces/face.yaml"), FaceFile)


def read_closed(turns: FloatArray) -> FloatArray:
    """Return how far both lids (2,) are closed: 1 is shut, negative is wide open.

    ``turns`` (4, 3) are the rotation vectors of ``LID_AND_EYE_JOINTS``, in degrees.
    """
    along = face_file().lids_follow * turns[2:, 0]
    over, whole = turns[:2, 0] - along, face_file().closed["Lid"][0]
    # Shut lids do not follow the eyes.
    closed = np.where(over < 0, over / whole, over / (whole - along))
    return np.clip(closed, units_file().widest, 1.0)


def read_gaze_angles(turns: FloatArray) -> FloatArray:
    """Return how far both eyes (2, 2) look to the left and up, in degrees.

    ``turns`` (4, 3) are as for ``read_closed``.
    """
    return np.stack([turns[2:, 2], -turns[2:, 0]], axis=1)
