"""Balance: where the weight is, and whether standing feet are under it."""

import numpy as np
from scipy.ndimage import gaussian_filter1d, grey_opening
from scipy.spatial import ConvexHull, QhullError

from mimegen.choreography.limbs import unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

# Shares of the body's mass (de Leva 1996), by the joint that the segment hangs on; sides alike.
MASSES = {"Head": 0.069, "Spine2": 0.16, "Spine1": 0.163, "Hips": 0.112, "Arm": 0.027,
          "ForeArm": 0.016, "Hand": 0.006, "UpLeg": 0.142, "Leg": 0.043, "Foot": 0.014}
LOOKED_AT_HZ = 20.0
# Feet higher than this carry nothing.
LIFTED_M = 0.02
# Who is out of balance for so long has shifted the weight back, within so long.
SPELL_S, EASE_S = 0.35, 0.12


def mass_centre(motion: Motion) -> FloatArray:
    """Return the centre of mass (F, 3) in metres."""
    pose, skeleton = motion.global_pose, motion.skeleton
    total, weight = np.zeros((motion.frames, 3)), 0.0
    for joint, name in enumerate(skeleton.names):
        mass = MASSES.get(name.removeprefix("Left").removeprefix("Right"), 0.0)
        middle = (skeleton.tails[joint] - skeleton.heads[joint]) / 2
        place = pose.positions[:, joint] + quaternions.rotate(pose.rotations[:, joint], middle)
        total, weight = total + mass * place, weight + mass
    return total / weight


def off_balance(motion: Motion) -> tuple[FloatArray, float]:
    """Return how far (N, 2) the centre of mass is outside of what standing feet enclose.

    The vectors, in metres, lead out over the nearest edge; they are zero inside, and where no foot
    stands. The second value is how many there are a second.
    """
    step = max(1, round(motion.fps / LOOKED_AT_HZ))
    centres, places = mass_centre(motion)[::step, :2], motion.global_pose.positions[::step]
    return np.array([_outside(motion.skeleton, place, centre)
                     for place, centre in zip(places, centres, strict=True)]), motion.fps / step


def _outside(skeleton: Skeleton, positions: FloatArray, centre: FloatArray) -> FloatArray:
    ground = []
    for side in ("Left", "Right"):
        ball, ankle = skeleton.index[f"{side}ToeBase"], skeleton.index[f"{side}Foot"]
        if positions[ball, 2] > skeleton.heads[ball, 2] + LIFTED_M:
            continue
        along = unit((positions[ball] - positions[ankle])[:2])
        beside = np.array([-along[1], along[0]])
        toe, heel = positions[ball, :2] + 0.07 * along, positions[ankle, :2] - 0.05 * along
        ground += [toe + 0.045 * beside, toe - 0.045 * beside,
                   heel + 0.035 * beside, heel - 0.035 * beside]
    if not ground:
        return np.zeros(2)
    try:
        edges = ConvexHull(np.array(ground)).equations
    except QhullError:
        return np.zeros(2)
    apart = edges[:, :2] @ centre + edges[:, 2]
    worst = int(np.argmax(apart))
    return np.asarray(max(float(apart[worst]), 0.0) * edges[worst, :2])


def righted(motion: Motion, allowed_m: float) -> FloatArray:
    """Return how the pelvis goes (F, 3) to bring the weight back to within ``allowed_m``.

    Short spells, as in landing and in throwing, are left alone.
    """
    outside, rate = off_balance(motion)
    size = np.linalg.norm(outside, axis=-1)
    lasting = grey_opening(size, max(1, round(SPELL_S * rate)))
    back = -outside * (np.maximum(lasting - allowed_m, 0.0) / np.maximum(size, 1e-9))[:, None]
    eased = gaussian_filter1d(back, EASE_S * rate, axis=0, mode="nearest")
    moments, times = np.arange(motion.frames) / motion.fps, np.arange(len(outside)) / rate
    return np.stack([*(np.interp(moments, times, column) for column in eased.T),
                     np.zeros(motion.frames)], axis=-1)
