"""Trunk and head: rotations of spine, neck and head, gaze, and steadying of the head."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Cumulative fractions of the chest's rotation relative to the pelvis at each spine joint (thoracic
# and lumbar fractions differ by axis; even ones look right at this resolution), and the neck's
# fraction of the head's rotation relative to the chest.
SPINE_SHARES = {"Spine": 0.3, "Spine1": 0.65, "Spine2": 1.0}
NECK_SHARE = 0.45
# The head's range against the chest in degrees: to a side, up, down, tilted.
TURN_LIMIT = 75.0
UP_LIMIT = 50.0
DOWN_LIMIT = 50.0
TILT_LIMIT = 38.0
# Movements of the pelvis quicker than SHAKEN_S would shake the head. The trunk absorbs the fraction
# STEADIED of the horizontal ones, NECK_HEIGHT_M below the neck. BENT_LATE_S after the pelvis sinks
# quickly it bends by BENT_DEG_PER_M, softly limited to BENT_LIMIT_DEG.
SHAKEN_S = 0.3
STEADIED = 0.35
NECK_HEIGHT_M = 0.5
BENT_LATE_S = 0.07
BENT_DEG_PER_M = 60.0
BENT_LIMIT_DEG = 8.0
# The head's fractions of a gaze; the eyes do the rest, more of it up and down than to the sides.
TURN_SHARE_OF_GAZE = 0.88
LEAN_SHARE_OF_GAZE = 0.72
# The head turns less towards a target within BEHIND_DEG of straight behind, or with a ratio of
# horizontal to total distance below STEEP, so that it need not spin if the shorter way changes
# sides.
BEHIND_DEG = 45.0
STEEP = 0.4


class TrunkAngles(NamedTuple):
    """Angles (F,) in degrees: turn to the person's left, lean forward, tilt to their left."""

    turn: FloatArray
    lean: FloatArray
    tilt: FloatArray


def turned(turns: TrunkAngles) -> FloatArray:
    """Return the rotations (F, 4) of turns."""
    angles = np.stack([turns.turn, turns.lean, turns.tilt], axis=-1)
    return quaternions.from_euler("ZXY", angles)


def looking(eyes: FloatArray, chest: FloatArray, target: FloatArray) -> TrunkAngles:
    """Return the head's turns relative to the chest that look from ``eyes`` to ``target``.

    ``chest`` (F, 4) are global rotations, ``eyes`` and ``target`` (F, 3) positions.
    """
    sight = quaternions.rotate(quaternions.conjugate(chest), target - eyes)
    # Contiguous, because numpy's trigonometry takes another code path, with other last bits, for
    # columns that end next to its result in memory.
    left, back, up = np.ascontiguousarray(sight.T)
    level = np.hypot(left, back)
    turn = np.rad2deg(np.arctan2(left, -back))
    turn *= np.clip((180.0 - np.abs(turn)) / BEHIND_DEG, 0.0, 1.0)
    turn *= np.clip(level / np.maximum(np.hypot(level, up), 1e-9) / STEEP, 0.0, 1.0)
    lean = -np.rad2deg(np.arctan2(up, level))
    return TrunkAngles(TURN_SHARE_OF_GAZE * turn, LEAN_SHARE_OF_GAZE * lean, np.zeros_like(turn))


def steadying(root: FloatArray, pelvis: FloatArray, fps: float) -> TrunkAngles:
    """Return the chest's turns with which a person steadies the head (Pozzo et al. 1990).

    ``root`` (F, 3) and ``pelvis`` (F, 4) are the pelvis' positions and rotations. The trunk leans
    against quick horizontal movements of the pelvis, and bends shortly after the legs have bent.
    """
    quick = root - scipy.ndimage.gaussian_filter1d(root, SHAKEN_S * fps, axis=0, mode="nearest")
    left, back, _ = quaternions.rotate(quaternions.conjugate(pelvis), quick * [1.0, 1.0, 0.0]).T
    share = np.rad2deg(STEADIED / NECK_HEIGHT_M)
    bent = np.zeros(len(root))
    lag = round(BENT_LATE_S * fps)
    bent[lag:] = -quick[: len(root) - lag, 2] * BENT_DEG_PER_M
    eased = scipy.ndimage.gaussian_filter1d(bent, 0.4 * BENT_LATE_S * fps, mode="nearest")
    bent = BENT_LIMIT_DEG * np.tanh(eased / BENT_LIMIT_DEG)
    return TrunkAngles(np.zeros(len(root)), share * back + bent, share * left)


def within_neck(turns: TrunkAngles) -> TrunkAngles:
    """Return the head's turns relative to the chest, softly limited to the neck's range."""
    lean = np.where(
        turns.lean > 0, _eased(turns.lean, DOWN_LIMIT), _eased(turns.lean, UP_LIMIT)
    )
    return TrunkAngles(_eased(turns.turn, TURN_LIMIT), lean, _eased(turns.tilt, TILT_LIMIT))


def _eased(angles: FloatArray, limit: float) -> FloatArray:
    knee = 0.75 * limit
    over = np.maximum(np.abs(angles) - knee, 0.0)
    room = limit - knee
    return np.asarray(np.sign(angles) * (np.minimum(np.abs(angles), knee)
                                         + room * np.tanh(over / room)))


def spine_rotations(pelvis: FloatArray, chest: FloatArray) -> dict[str, FloatArray]:
    """Return the spine joints' global rotations; ``chest`` is relative to ``pelvis``, (F, 4)."""
    return {
        name: quaternions.multiply(pelvis, quaternions.scale(chest, np.full(len(chest), share)))
        for name, share in SPINE_SHARES.items()
    }


def head_rotations(chest: FloatArray, turns: TrunkAngles) -> dict[str, FloatArray]:
    """Return the neck's and head's global rotations; ``chest`` is global, (F, 4)."""
    head = turned(within_neck(turns))
    neck = quaternions.scale(head, np.full(len(head), NECK_SHARE))
    return {
        "Neck": quaternions.multiply(chest, neck),
        "Head": quaternions.multiply(chest, head),
    }
