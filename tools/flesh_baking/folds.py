"""Which parts of a body are pressed together, and in which poses."""

import numpy as np
from numpy.typing import NDArray

from flesh_baking.limbs import arm_poses, arm_way
from flesh_baking.pressing import Fold
from flesh_baking.sculpted import Sculpted, Turns
from mimegen.motion import quaternions

Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]
# More ways of the upper arm and twists than flesh is simulated in, as scores bring it there; the
# last number is how far the collar bone comes along.
PRESSED = (
    ((-0.85, 0.5, 0.0), 85, 1.15), ((-0.55, 0.8, -0.3), 85, 1.0), ((-0.6, 0.75, -0.25), 85, 0.5),
    ((-0.45, 0.85, -0.2), 60, 0.5), ((0.2, 0.0, -1.0), 22, 1.0), ((-0.2, 0.7, -0.7), 12, 0.5),
    ((0.0, -0.65, -0.76), 118, 1.0), ((-0.2, -0.15, -0.97), 2, 1.0),
    ((0.25, -0.28, 0.92), -113, 1.0), ((0.0, 0.0, 1.0), -15, 1.0), ((1.0, 0.0, 0.12), 31, 1.0),
)
BENDS = (0, 20, 40, 60, 75, 90, 105, 120, 132, 144)


def armpit_poses() -> list[Turns]:
    """Return the poses of an arm, and some in which it is pressed to the trunk."""
    return [*arm_poses(), *(arm_way(*pose) for pose in PRESSED)]


def armpit_sides(body: Sculpted) -> Sides:
    """Return the left half of the trunk, and the left upper arm."""
    v = body.vertices
    waist, neck = body.joint("Spine"), body.joint("Neck")
    arm = body.share("LeftArm", "LeftForeArm") > 0.5
    arm &= body.share("LeftForeArm", "LeftHand") < 0.5
    trunk = (v[:, 0] > -0.03) & (v[:, 2] > waist[2] + 0.02) & (v[:, 2] < neck[2] + 0.05)
    return _skin(body, trunk & (body.share("LeftArm", "LeftForeArm", "LeftHand") <= 0.5)), _skin(
        body, arm)


def elbow_poses() -> list[Turns]:
    """Return bent elbows, and twisted ones, at which nothing presses."""
    bends = [{"LeftForeArm": quaternions.from_rotation_vectors([0.0, 0.0, -np.radians(bend)])}
             for bend in BENDS]
    twists = [{bone: quaternions.from_rotation_vectors([np.radians(twist), 0.0, 0.0])}
              for bone in ("LeftArm", "LeftForeArm", "LeftHand") for twist in (-60, 90)]
    return bends + twists


def elbow_sides(body: Sculpted) -> Sides:
    """Return the left upper arm's lower end, and the left forearm."""
    near = np.linalg.norm(body.vertices - body.joint("LeftForeArm"), axis=1) < 0.17
    below = body.share("LeftForeArm", "LeftHand") > 0.5
    return (_skin(body, near & ~below & (body.share("LeftArm", "LeftForeArm") > 0.9)),
            _skin(body, near & below))


def knee_poses() -> list[Turns]:
    """Return bent knees."""
    return [{"LeftLeg": quaternions.from_rotation_vectors([np.radians(bend), 0.0, 0.0])}
            for bend in BENDS]


def knee_sides(body: Sculpted) -> Sides:
    """Return the left thigh's lower end, and the left shin."""
    near = np.linalg.norm(body.vertices - body.joint("LeftLeg"), axis=1) < 0.26
    below = body.share("LeftLeg", "LeftFoot") > 0.5
    above = (body.share("LeftUpLeg") > 0.5) & ~below
    return _skin(body, near & above), _skin(body, near & below)


def _skin(body: Sculpted, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found = np.zeros(len(chosen), dtype=bool)
    used = np.unique(body.faces)
    found[used] = chosen[used]
    return found


FOLDS = (
    Fold(("Spine2", "LeftShoulder", "LeftArmBend1", "LeftArmBend2", "LeftArmBend3", "LeftArmTwist1",
          "LeftArmTwist2", "LeftArmTwist3", "LeftShoulderAside", "LeftArm", "LeftChestAcross",
          "LeftArmAcross", "LeftChestDown", "LeftArmDown", "LeftChestBehind", "LeftArmBehind"),
         armpit_poses, armpit_sides),
    Fold(("LeftArmTwist3", "LeftArm", "LeftForeArmBend1", "LeftForeArmBend2", "LeftForeArmTwist1",
          "LeftForeArmTwist2", "LeftForeArm", "LeftArmElbow", "LeftForeArmElbow"),
         elbow_poses, elbow_sides),
    Fold(("LeftUpLeg", "LeftLegBend1", "LeftLegBend2", "LeftLeg", "LeftUpLegKnee", "LeftLegKnee"),
         knee_poses, knee_sides),
)
