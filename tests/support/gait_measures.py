"""What gait labs measure, of motions on the standard skeleton."""

import csv
from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import BoolArray, FloatArray
from mimegen.gait.norms import GRAVITY, norms_of
from mimegen.gait.walker import LEG_M
from mimegen.motion import Motion, quaternions
from places import DATA as EVERYTHING

FORWARD = np.array([0.0, -1.0, 0.0])


DATA = EVERYTHING / "gait"


class Angles(NamedTuple):
    """Flexion of hip and knee and dorsiflexion of the ankle, (F,) in degrees."""

    hip: FloatArray
    knee: FloatArray
    ankle: FloatArray


def leg_angles(motion: Motion, side: str = "Left") -> Angles:
    """Return a leg's angles in the sagittal plane, from the joints' places and the foot's turn."""
    index, pose = motion.skeleton.index, motion.global_pose
    hip, knee, ankle = (index[side + name] for name in ("UpLeg", "Leg", "Foot"))

    def inclined(first: int, second: int) -> FloatArray:
        line = pose.positions[:, second] - pose.positions[:, first]
        return np.degrees(np.arctan2(-line[:, 1], -line[:, 2]))

    def pitched(joint: int) -> FloatArray:
        return np.degrees(np.arcsin(quaternions.rotate(pose.rotations[:, joint], FORWARD)[:, 2]))

    thigh, shin = inclined(hip, knee), inclined(knee, ankle)
    standing = norms_of("walk").standing_tilt
    return Angles(thigh - pitched(0) + standing, thigh - shin, pitched(ankle) - shin)


def published(speed: float) -> dict[str, FloatArray]:
    """Return mean and standard deviation (25, 2) of each joint's angle at a speed in m/s.

    Between the groups of tests/data/gait/walking_angles.csv, by dimensionless speed.
    """
    table: dict[tuple[str, str], list[tuple[float, float]]] = {}
    text = (DATA / "walking_angles.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        table.setdefault((row["joint"], row["group"]), []).append(
            (float(row["mean"]), float(row["sd"])))
    # The means of the published groups.
    middles = {"slow": 0.29, "free": 0.429, "fast": 0.56}
    pace = speed / np.sqrt(GRAVITY * LEG_M)
    low, high = ("slow", "free") if pace < middles["free"] else ("free", "fast")
    share = (pace - middles[low]) / (middles[high] - middles[low])
    return {joint: (1 - share) * np.array(table[joint, low]) + share * np.array(table[joint, high])
            for joint in ("hip", "knee", "ankle")}


def places(motion: Motion, *names: str) -> FloatArray:
    """Return where joints are (F, K, 3)."""
    return motion.global_pose.positions[:, [motion.skeleton.index[name] for name in names]]


def soles(motion: Motion, side: str) -> FloatArray:
    """Return where heel and toes' tip of a foot are (F, 2, 3); the heel is round behind the ankle.
    """
    skeleton, pose = motion.skeleton, motion.global_pose
    foot, toes = skeleton.index[f"{side}Foot"], skeleton.index[f"{side}ToeBase"]
    heel = np.array([0.0, 0.045, -skeleton.heads[foot][2]])
    tip = skeleton.tails[toes] - skeleton.heads[toes]
    return np.stack([pose.positions[:, foot] + quaternions.rotate(pose.rotations[:, foot], heel),
                     pose.positions[:, toes] + quaternions.rotate(pose.rotations[:, toes], tip)],
                    axis=1)


def on_floor(motion: Motion, side: str) -> BoolArray:
    """Say (F,) when a foot is on the floor: heel or ball rest where they are, next to its level."""
    ball, heel = places(motion, f"{side}ToeBase")[:, 0], soles(motion, side)[:, 0]
    found = np.zeros(motion.frames, bool)
    for point, level in ((ball, motion.skeleton.heads[motion.skeleton.index["LeftToeBase"]][2]),
                         (heel, 0.0)):
        moves = np.linalg.norm(np.gradient(point, axis=0), axis=1) * motion.fps
        found |= (moves < 0.1) & (np.abs(point[:, 2] - level) < 0.01)
    return found
