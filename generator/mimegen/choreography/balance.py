"""Balance: the centre of mass, and whether it is above the standing feet."""

import numpy as np
import scipy

from mimegen.base.decisions import first_most
from mimegen.base.vectors import product, unit
from mimegen.choreography.anchors import SIDES
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray

# Segments' fractions of the body's mass (de Leva 1996), by their joint; a limb's is that of each
# side.
MASSES = {"Head": 0.069, "Spine2": 0.16, "Spine1": 0.163, "Hips": 0.112, "Arm": 0.027,
          "ForeArm": 0.016, "Hand": 0.006, "UpLeg": 0.142, "Leg": 0.043, "Foot": 0.014}
# Rate at which balance is measured.
LOOKED_AT_HZ = 20.0
# Feet raised by more than this carry no weight.
LIFTED_M = 0.02
# Directions on the floor (unit vectors) in which the extent of the feet is measured.
DIRECTIONS = np.stack([np.cos(np.linspace(0, 2 * np.pi, 72, endpoint=False)),
                       np.sin(np.linspace(0, 2 * np.pi, 72, endpoint=False))], axis=-1)
# Imbalance that lasts at least SPELL_S is corrected. The shift is smoothed by a Gaussian of EASE_S
# and softly limited to RIGHTED_M for each correction.
SPELL_S = 0.38
EASE_S = 0.12
RIGHTED_M = 0.05


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
    """Return how far (N, 2) the centre of mass is outside the area that the standing feet enclose.

    The vectors, in metres, point from the nearest edge to the centre of mass. They are zero if it
    is inside, or if no foot stands. The second value is their rate in hertz.
    """
    step = max(1, round(motion.fps / LOOKED_AT_HZ))
    places, skeleton = motion.global_pose.positions[::step], motion.skeleton
    ground = np.full((len(places), len(DIRECTIONS)), -np.inf)
    for side in SIDES:
        ball, ankle = skeleton.index[f"{side}ToeBase"], skeleton.index[f"{side}Foot"]
        along = unit((places[:, ball] - places[:, ankle]) * [1.0, 1.0, 0.0])[:, :2]
        beside = np.stack([-along[:, 1], along[:, 0]], axis=-1)
        toe, heel = places[:, ball, :2] + 0.07 * along, places[:, ankle, :2] - 0.05 * along
        corners = np.stack([toe + 0.045 * beside, toe - 0.045 * beside,
                            heel + 0.035 * beside, heel - 0.035 * beside], axis=1)
        farthest = np.max(product(corners, DIRECTIONS.T), axis=1)
        stands = places[:, ball, 2] <= skeleton.heads[ball, 2] + LIFTED_M
        ground = np.where(stands[:, None], np.maximum(ground, farthest), ground)
    apart = product(mass_centre(motion)[::step, :2], DIRECTIONS.T) - ground
    worst = first_most(apart)
    size = apart[np.arange(len(apart)), worst]
    size = np.where(np.isfinite(size), np.maximum(size, 0.0), 0.0)
    return size[:, None] * DIRECTIONS[worst], motion.fps / step


def righted(motion: Motion, allowed_m: float) -> FloatArray:
    """Return the pelvis displacement (F, 3), in metres, that corrects imbalance over ``allowed_m``.

    Imbalance shorter than SPELL_S, as in landing and in throwing, is left alone.
    """
    outside, rate = off_balance(motion)
    size = np.linalg.norm(outside, axis=-1)
    lasting = scipy.ndimage.grey_opening(size, max(1, round(SPELL_S * rate)))
    much = RIGHTED_M * np.tanh(np.maximum(lasting - allowed_m, 0.0) / RIGHTED_M)
    back = -outside * (much / np.maximum(size, 1e-9))[:, None]
    eased = scipy.ndimage.gaussian_filter1d(back, EASE_S * rate, axis=0, mode="nearest")
    moments, times = np.arange(motion.frames) / motion.fps, np.arange(len(outside)) / rate
    return np.stack([*(np.interp(moments, times, column) for column in eased.T),
                     np.zeros(motion.frames)], axis=-1)
