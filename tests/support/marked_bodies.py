"""Bodies that carry markers, and C3D files of them."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import ezc3d
import numpy as np

from mimegen.markers import find_marker_set
from mimegen.markers.sets import body_landmarks
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

PLUG_IN_GAIT = ["LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN", "RBAK", "LSHO", "LUPA",
                "LELB", "LFRM", "LWRA", "LWRB", "LFIN", "RSHO", "RUPA", "RELB", "RFRM", "RWRA",
                "RWRB", "RFIN", "LASI", "RASI", "LPSI", "RPSI", "LTHI", "LKNE", "LTIB", "LANK",
                "LHEE", "LTOE", "RTHI", "RKNE", "RTIB", "RANK", "RHEE", "RTOE"]
SHOGUN = ["ARIEL", "C7", "CLAV", "STRN", "T10", "MFWT", "MBWT",
          *(side + name for side in "LR" for name in (
              "FHD", "BHD", "FSH", "BSH", "UPA", "ELB", "IEL", "IWR", "OWR", "IHAND", "OHAND",
              "FWT", "BWT", "THI", "KNE", "KNI", "SHN", "ANK", "HEL", "TOE", "MT1", "MT5",
              "THM6", "IDX6", "MID6", "RNG6", "PNK6"))]
OPTITRACK = ["HeadTop", "HeadFront", "HeadSide", "BackTop", "Chest", "BackLeft", "BackRight",
             *(name.replace("$", side) for side in "LR" for name in (
                 "Waist$Front", "Waist$Back", "$ShoulderBack", "$ShoulderTop", "$ElbowOut",
                 "$UArmHigh", "$HandOut", "$WristOut", "$WristIn", "$Thigh", "$KneeOut", "$Shin",
                 "$AnkleOut", "$ToeIn", "$ToeOut"))]


@cache
def exercise(frames: int = 60, size: float = 1.0) -> Motion:
    """A standard body of some size that walks on the spot and swings bent arms."""
    skeleton = standard_skeleton().scaled(size)
    time = np.arange(frames) / 30
    turns = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))

    def turn(joint: str, vectors: FloatArray) -> None:
        turns[:, skeleton.index[joint]] = quaternions.from_rotation_vectors(np.radians(vectors))

    zero = np.zeros(frames)
    swing = np.sin(2 * np.pi * time)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        turn(f"{side}UpLeg", np.stack([-10 - 30 * sign * swing, zero, 6 * swing], 1))
        turn(f"{side}Leg", np.stack([25 + 20 * sign * swing, zero, zero], 1))
        turn(f"{side}Foot", np.stack([-10 + 10 * swing, zero, zero], 1))
        turn(f"{side}Arm", np.stack([zero, sign * (60 + 10 * swing), -20 * swing], 1))
        turn(f"{side}ForeArm", np.stack([10 * swing, zero, -sign * (60 + 25 * swing)], 1))
        turn(f"{side}Hand", np.stack([zero, 10 * swing, 10 * swing], 1))
    turn("Spine1", np.stack([5 * swing, 4 * swing, 10 * swing], 1))
    turn("Head", np.stack([8 * swing, zero, 15 * swing], 1))
    turn("Hips", np.stack([zero, 3 * swing, 20 * time], 1))
    roots = skeleton.heads[0] + np.stack([0.3 * time, -0.8 * time, 0.02 * swing], 1)
    return Motion(skeleton, 30.0, roots, turns)


def markers(labels: Sequence[str], motion: Motion, size: float = 1.0) -> FloatArray:
    """Return where a set's markers (F, M, 3) are on a motion."""
    found = find_marker_set("synthetic", tuple(labels))
    spots = [found.landmark(label) or body_landmarks()["left_temple"] for label in labels]
    joints = [motion.skeleton.index[spot.joint] for spot in spots]
    own = size * np.array([spot.place for spot in spots]) - motion.skeleton.heads[joints]
    places, turns = motion.global_pose
    return np.asarray(places[:, joints] + quaternions.rotate(turns[:, joints], own))


def write_c3d(path: Path, labels: Sequence[str], places: FloatArray, rate: float = 30.0,
              unit: str = "m", screen: tuple[str, str] | None = None) -> Path:
    """Write points (F, M, 3), NaN where they are out of sight, as a C3D file."""
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["LABELS"]["value"] = list(labels)
    file["parameters"]["POINT"]["RATE"]["value"] = [rate]
    file["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    for name, axis in zip(("X_SCREEN", "Y_SCREEN"), screen or (), strict=False):
        file.add_parameter("POINT", name, axis)
    data = np.ones((4, len(labels), len(places)))
    data[:3] = places.transpose(2, 1, 0)
    file["data"]["points"] = data
    file.write(str(path))
    return path


def write_two_people(path: Path) -> Path:
    """Derrick walks on the spot, Viktor two metres beside him stands still; a ball lies there."""
    derrick = markers(PLUG_IN_GAIT, exercise())
    viktor = np.tile(markers(PLUG_IN_GAIT, exercise(size=0.9), 0.9)[:1], (60, 1, 1))
    viktor[..., 0] += 2.0
    ball = np.tile([1.0, -0.5, 0.1], (60, 1, 1))
    labels = [*(f"{who}:{label}" for who in ("Derrick", "Viktor") for label in PLUG_IN_GAIT),
              "Ball:centre"]
    return write_c3d(path, labels, np.concatenate([derrick, viktor, ball], axis=1))
