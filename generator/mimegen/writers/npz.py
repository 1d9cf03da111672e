"""Write a motion's arrays for NumPy, MATLAB and similar tools."""

import io

import numpy as np

from mimegen.motion import Motion


def to_npz(motion: Motion) -> bytes:
    """Return a NumPy archive without pickles; metres, Z up, facing -Y, quaternions w x y z.

    ``names`` (J,), ``parents`` (J,), ``heads`` and ``tails`` (J, 3) are the skeleton at rest;
    ``fps``, ``root_positions`` (F, 3) and local ``rotations`` (F, J, 4) are the motion;
    ``global_positions`` (F, J, 3) and ``global_rotations`` (F, J, 4) are computed from these.
    """
    skeleton, pose = motion.skeleton, motion.global_pose
    packed = io.BytesIO()
    np.savez_compressed(
        packed, names=np.array(skeleton.names), parents=skeleton.parents, heads=skeleton.heads,
        tails=skeleton.tails, fps=np.array(motion.fps), root_positions=motion.root_positions,
        rotations=motion.rotations, global_positions=pose.positions,
        global_rotations=pose.rotations,
    )
    return packed.getvalue()
