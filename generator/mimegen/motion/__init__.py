"""Skeletons and motions as numpy arrays over all frames at once.

Everywhere: metres, seconds, Z up, the person faces -Y, right-handed axes, quaternions w x y z,
frames first. In the rest pose every joint's frame is parallel to the world's, so a joint's global
rotation is its rotation from the rest pose; there are no bone rolls.
"""

from mimegen.motion.motion import GlobalPose, Motion
from mimegen.motion.skeleton import Skeleton
from mimegen.motion.standard import standard_skeleton

__all__ = ["GlobalPose", "Motion", "Skeleton", "standard_skeleton"]
