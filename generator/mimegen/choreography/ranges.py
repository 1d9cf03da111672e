"""Joint angles of a motion, and the ranges of healthy adults (mocap/joint_ranges.yaml)."""

from collections.abc import Mapping

import numpy as np

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.legs import ankle_angle
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray


class JointRange(Strict):
    """The least and the greatest usual angle, in degrees, and the source of the measurement."""

    range: tuple[float, float]
    source: str


class JointRanges(Strict):
    """All ranges by the name of the angle; ``slack`` degrees beyond them are allowed."""

    slack: float
    ranges: Mapping[str, JointRange]


def joint_ranges() -> JointRanges:
    """Return the ranges of healthy adults."""
    return read_yaml_once(data_file("mocap/joint_ranges.yaml"), JointRanges)


def joint_angles(motion: Motion) -> dict[tuple[str, str], FloatArray]:
    """Return angles (F,) in degrees by the name of the range and of the body part."""
    found: dict[tuple[str, str], FloatArray] = {}
    for name, child, parent in (("chest", "Spine2", "Hips"), ("head", "Head", "Spine2")):
        turn, lean, tilt = _against(motion, child, parent)
        found |= {(f"{name} turned", name): turn, (f"{name} leant", name): lean,
                  (f"{name} tilted", name): tilt}
    for side, sign in SIDES.items():
        for name, first, second in (
            ("elbow bent", "Arm", "ForeArm"), ("knee bent", "UpLeg", "Leg")
        ):
            found[name, f"{side} {name.split()[0]}"] = _between(
                _bone(motion, side + first), _bone(motion, side + second))
        thigh = quaternions.rotate(
            quaternions.conjugate(_rotations(motion, "Hips")), _bone(motion, f"{side}UpLeg"))
        out, back, up = thigh.T * np.array([[sign], [1.0], [1.0]])
        found["hip bent", f"{side} hip"] = np.rad2deg(np.arctan2(-back, np.hypot(out, up)))
        bent = np.where(up > 0, 180 - found["hip bent", f"{side} hip"],
                        found["hip bent", f"{side} hip"])
        found["hip bent", f"{side} hip"] = bent
        found["hip spread", f"{side} hip"] = np.rad2deg(np.arctan2(out, np.hypot(back, up)))
        found["foot raised", f"{side} ankle"] = ankle_angle(
            motion.skeleton, side, _rotations(motion, f"{side}Leg"),
            _rotations(motion, f"{side}Foot"))
        found["toes raised", f"{side} toes"] = -_against(motion, f"{side}ToeBase", f"{side}Foot")[1]
    return found


def _rotations(motion: Motion, name: str) -> FloatArray:
    return motion.global_pose.rotations[:, motion.skeleton.index[name]]


def _bone(motion: Motion, name: str) -> FloatArray:
    """Return a bone's direction (F, 3) in the world."""
    joint = motion.skeleton.index[name]
    along = motion.skeleton.tails[joint] - motion.skeleton.heads[joint]
    return quaternions.rotate(_rotations(motion, name), along / np.linalg.norm(along))


def _between(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.rad2deg(np.arccos(np.clip(np.sum(first * second, axis=-1), -1, 1))))


def _against(motion: Motion, child: str, parent: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return turn, lean, tilt (F,) of ``child`` relative to ``parent``, in degrees, 0 at rest."""
    relative = quaternions.multiply(
        quaternions.conjugate(_rotations(motion, parent)), _rotations(motion, child))
    ahead = quaternions.rotate(relative, np.array([0.0, -1.0, 0.0]))
    turn = np.rad2deg(np.arctan2(ahead[:, 0], -ahead[:, 1]))
    lean = -np.rad2deg(np.arctan2(ahead[:, 2], np.hypot(ahead[:, 0], ahead[:, 1])))
    level = quaternions.from_euler("ZX", np.stack([turn, lean], axis=-1))
    rest = quaternions.multiply(quaternions.conjugate(level), relative)
    return turn, lean, np.rad2deg(2 * np.arctan2(rest[:, 2], rest[:, 0]) % (2 * np.pi)) - np.where(
        np.arctan2(rest[:, 2], rest[:, 0]) % np.pi > np.pi / 2, 360.0, 0.0)
