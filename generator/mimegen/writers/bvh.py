"""Write Biovision Hierarchy text: centimetres, Y up, facing +Z, as most tools expect it."""

import numpy as np
from scipy.spatial.transform import Rotation

from mimegen.motion import Motion, Skeleton
from mimegen.motion.axes import with_y_up
from mimegen.motion.quaternions import FloatArray

CENTIMETRES = 100.0
ROOT_CHANNELS = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
JOINT_CHANNELS = "CHANNELS 3 Zrotation Xrotation Yrotation"


def to_bvh(motion: Motion) -> str:
    """Return a motion as BVH text; rotations are intrinsic Z, X, Y in degrees.

    Reference: M. Meredith and S. Maddock, "Motion Capture File Formats Explained" (2001).
    """
    order = _depth_first(motion.skeleton)
    lines = ["HIERARCHY", *_joint_lines(motion.skeleton, 0, 0), "MOTION",
             f"Frames: {motion.frames}", f"Frame Time: {1.0 / motion.fps:.9f}"]
    values = np.concatenate([
        with_y_up(motion.root_positions) * CENTIMETRES,
        _zxy_degrees(motion.rotations[:, order]).reshape(motion.frames, -1),
    ], axis=1)
    rows = (" ".join(f"{value:.6f}" for value in row) for row in values.tolist())
    return "\n".join([*lines, *rows]) + "\n"


def _zxy_degrees(rotations: FloatArray) -> FloatArray:
    w, turned = rotations[..., :1], with_y_up(rotations[..., 1:])
    scalar_last = np.concatenate([turned, w], axis=-1)
    euler = Rotation.from_quat(scalar_last.reshape(-1, 4)).as_euler("ZXY", degrees=True)
    return np.asarray(euler).reshape(*rotations.shape[:-1], 3)


def _depth_first(skeleton: Skeleton) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(reversed(skeleton.children(order[-1])))
    return order


def _joint_lines(skeleton: Skeleton, joint: int, depth: int) -> list[str]:
    """Return the lines of a joint and of all below it."""
    pad, inside = "\t" * depth, "\t" * (depth + 1)
    children = skeleton.children(joint)
    lines = [f"{pad}{'JOINT' if depth else 'ROOT'} {skeleton.names[joint]}", f"{pad}{{",
             f"{inside}OFFSET {_offset(skeleton.offsets[joint])}",
             f"{inside}{JOINT_CHANNELS if depth else ROOT_CHANNELS}"]
    for child in children:
        lines += _joint_lines(skeleton, child, depth + 1)
    if not children:
        end = skeleton.tails[joint] - skeleton.heads[joint]
        lines += [f"{inside}End Site", f"{inside}{{", f"{inside}\tOFFSET {_offset(end)}",
                  f"{inside}}}"]
    return [*lines, f"{pad}}}"]


def _offset(vector: FloatArray) -> str:
    return " ".join(f"{value:.6f}" for value in with_y_up(vector) * CENTIMETRES)
