"""The body's movements in a stride: a cycle of steady gait relative to standing, at any phase."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from mimegen.base.arrays import FloatArray
from mimegen.gait.course import WalkerCourse, WalkPath
from mimegen.gait.feet import SIDES
from mimegen.gait.walker import Pace
from mimegen.gait.walking import GaitFrames, gait_motion
from mimegen.motion import Motion, quaternions

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Number of times in a cycle that the engine performs; splines interpolate between them.
SAMPLES_PER_CYCLE = 60


@dataclass(frozen=True, eq=False)
class Stride:
    """Periodic splines over one cycle of a body that faces -Y; at phase 0 the left foot lands.

    ``root`` (3,) is the pelvis' displacement from standing, in metres, without the steady travel.
    ``pelvis`` and ``chest`` (3,) are turn, lean and tilt in degrees, the chest's relative to the
    pelvis. ``hands`` (3,) by side are the wrists' displacements from hanging, in metres, relative
    to the pelvis.
    """

    root: "CubicSpline"
    pelvis: "CubicSpline"
    chest: "CubicSpline"
    hands: Mapping[str, "CubicSpline"]


@lru_cache(maxsize=64)
def stride_of(pace: Pace) -> Stride:
    """Return a cycle of a gait, performed by the engine on the standard skeleton."""
    phases = np.arange(SAMPLES_PER_CYCLE) / SAMPLES_PER_CYCLE
    fps = SAMPLES_PER_CYCLE / pace.stride_s
    going = gait_motion(pace, WalkerCourse(pace, WalkPath(1.0), 0.0),
                        GaitFrames(phases, fps, loop=True, treadmill=True), None)
    standing = gait_motion(pace, WalkerCourse(pace, WalkPath(2.0, starts=True), 0.0),
                           GaitFrames(np.zeros(1), fps, treadmill=True), None)
    hips, chest = (going.global_pose.rotations[:, going.skeleton.index[name]]
                   for name in ("Hips", "Spine2"))
    return Stride(
        _around(going.root_positions - standing.root_positions),
        _around(quaternions.to_euler("ZXY", hips)),
        _around(quaternions.to_euler("ZXY", quaternions.multiply(quaternions.conjugate(hips),
                                                                 chest))),
        {side: _around(_wrist(going, side) - _wrist(standing, side)) for side in SIDES})


def _wrist(motion: Motion, side: str) -> FloatArray:
    places = motion.global_pose.positions
    return np.asarray(places[:, motion.skeleton.index[f"{side}Hand"]] - places[:, 0])


def _around(values: FloatArray) -> "CubicSpline":
    """Return a spline through values (F, 3) at even phases of a cycle."""
    return scipy.interpolate.CubicSpline(np.linspace(0.0, 1.0, len(values) + 1),
                       np.concatenate([values, values[:1]]), bc_type="periodic")
