"""Movers: helper joints that draw flesh aside where parts of a body are pressed together.

Flesh gives way where an arm crosses the chest or a knee is bent far. A mover is attached to the
joint whose flesh it moves and turns about a point of its own. It starts to turn when the angle
between a bone and a given direction falls below a threshold, and turns further as the angle
shrinks; limbs that press nothing are unaffected. How far each mover turns is fitted together with
the weights (``tools/bake_flesh.py``, ``rigs/flesh.npz``).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray


class Mover(NamedTuple):
    """A joint attached to ``parent`` that turns as the bone of ``joint`` presses.

    It turns fully when the bone points along ``direction``, in the frame of the joint's parent, and
    begins when the cosine of the angle between them is ``start``. ``place`` is the point about
    which it turns, relative to ``joint``, in lengths of its bone. Both vectors are for the T pose.
    """

    parent: str
    joint: str
    direction: tuple[float, float, float]
    start: float
    place: tuple[float, float, float]

    def away(self, skeleton: Skeleton) -> FloatArray:
        """Return the mover's displacement (3,) from ``joint``, in metres."""
        joint = skeleton.index[self.joint]
        length = np.linalg.norm(skeleton.tails[joint] - skeleton.heads[joint])
        return np.asarray(length * np.array(self.place))

    def mirrored(self) -> "Mover":
        """Return the same mover on the right side."""
        parent, joint = (name.replace("Left", "Right") for name in (self.parent, self.joint))
        direction, place = ((-x, y, z) for x, y, z in (self.direction, self.place))
        return Mover(parent, joint, direction, self.start, place)


# Directions of the left side's bones in which they press: the arm across the chest, down along the
# trunk and behind it; the forearm back against the upper arm; the shin up against the thigh.
ACROSS = (-0.65, -0.75, -0.1)
DOWN = (-0.2, 0.0, -1.0)
BEHIND = (0.0, 0.65, -0.75)
BACK = (-1.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)
LEFT: Mapping[str, Mover] = {
    "LeftChestAcross": Mover("Spine2", "LeftArm", ACROSS, 0.55, (-0.2, 0.0, -2.0)),
    "LeftArmAcross": Mover("LeftArmTwist1", "LeftArm", ACROSS, 0.55, (1.0, 0.0, 0.0)),
    "LeftChestDown": Mover("Spine2", "LeftArm", DOWN, 0.75, (-0.2, 0.0, -2.0)),
    "LeftArmDown": Mover("LeftArmTwist1", "LeftArm", DOWN, 0.75, (1.0, 0.0, 0.0)),
    "LeftChestBehind": Mover("Spine2", "LeftArm", BEHIND, 0.75, (-0.2, 0.0, -2.0)),
    "LeftArmBehind": Mover("LeftArmTwist1", "LeftArm", BEHIND, 0.75, (1.0, 0.0, 0.0)),
    "LeftArmElbow": Mover("LeftArm", "LeftForeArm", BACK, -0.6, (-1.0, 0.0, 0.0)),
    "LeftForeArmElbow": Mover("LeftForeArm", "LeftForeArm", BACK, -0.6, (1.0, 0.0, 0.0)),
    "LeftUpLegKnee": Mover("LeftUpLeg", "LeftLeg", UP, -0.6, (0.0, 0.0, 1.0)),
    "LeftLegKnee": Mover("LeftLeg", "LeftLeg", UP, -0.6, (0.0, 0.0, -1.0)),
}
MOVERS: Mapping[str, Mover] = {
    name.replace("Left", side): mover if side == "Left" else mover.mirrored()
    for name, mover in LEFT.items() for side in ("Left", "Right")}


def pressing(skeleton: Skeleton, rotations: FloatArray) -> FloatArray:
    """Return how strongly each mover presses (F, M), 0 to 1, for local rotations (F, J, 4)."""
    joints = [skeleton.index[mover.joint] for mover in MOVERS.values()]
    bones = unit(skeleton.tails[joints] - skeleton.heads[joints])
    directions = unit(np.array([mover.direction for mover in MOVERS.values()]))
    starts = np.array([mover.start for mover in MOVERS.values()])
    near = np.sum(quaternions.rotate(rotations[:, joints], bones) * directions, axis=-1)
    return np.asarray(np.clip((near - starts) / (1 - starts), 0.0, 1.0))
