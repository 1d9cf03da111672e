"""Play: how far a hand may deviate from where a score puts it; none if it touches something."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from mimegen.choreography.score import HandKey, PropKey
from mimegen.choreography.tracks import TimedKey
from mimegen.motion.quaternions import FloatArray

# Anchors of positions in free space, which may vary; at other anchors the hand touches something.
FREE = ("chest", "pelvis", "navel", "belly", "shoulder", "other_shoulder", "hip", "floor", "here",
        "head")
# Within AT_CM of these parts of the body a hand is at them, without play; its play grows until
# AWAY_CM.
AT_CM = 8.0
AWAY_CM = 20.0
BODY = ("throat", "chin", "mouth", "nose", "eyes", "forehead", "crown", "ear", "jaw", "knee")
# The play of a hand in free space, by its touching point; all others have 1.
PLAY = {"palm": 0.7, "fingertips": 0.35, "pinch": 0.35, "skin": 0.1}
# Hands nearer than TOGETHER_CM hold each other, or something between them; from SEPARATE_CM on
# they move independently. SHOULDERS_CM is the distance between the anchors of the two sides.
TOGETHER_CM = 16.0
SEPARATE_CM = 42.0
SHOULDERS_CM = 36.0


def play(key: HandKey) -> float:
    """Return a hand's play at a key: up to 1 in free space, 0 if it touches something."""
    if key.to is None:
        return 0.0
    free = 1.0 if key.to.anchor in FREE else 0.0
    if key.to.anchor in BODY:
        far = float(np.linalg.norm(key.to.offset))
        free = float(np.clip((far - AT_CM) / (AWAY_CM - AT_CM), 0.0, 0.8))
    return free * PLAY.get(key.touch or "palm", 1.0)


def prop_play(key: PropKey) -> float:
    """Return a prop's play at a key: little if it is carried, none if it stands."""
    return 0.2 if key.to and key.to.anchor in FREE and key.to.anchor not in (
        "floor", "here") else 0.0


def apartness(keys: Sequence[TimedKey], others: Sequence[TimedKey]) -> FloatArray:
    """Return how far apart the hands are at each key (K,): 0 together, 1 far apart."""
    holding = [max((key for key in others if key.time <= timed.time), key=lambda key: key.time,
                   default=others[0]) for timed in keys]
    return np.array([hand_separation(cast(HandKey, own.key), cast(HandKey, other.key))
                     for own, other in zip(keys, holding, strict=True)])


def hand_separation(own: HandKey, other: HandKey) -> float:
    """Return how far apart two hands are: 0 within TOGETHER_CM, 1 from SEPARATE_CM on."""
    if own.to is None or other.to is None or "hand" in own.to.anchor + other.to.anchor:
        return 0.0
    if own.to.anchor != other.to.anchor:
        return 1.0
    between = np.subtract(own.to.offset, other.to.offset)
    between[0] = own.to.offset[0] + other.to.offset[0]
    if own.to.anchor in ("shoulder", "hip", "ear", "jaw", "knee"):
        between[0] += SHOULDERS_CM
    far = float(np.linalg.norm(between))
    return float(np.clip((far - TOGETHER_CM) / (SEPARATE_CM - TOGETHER_CM), 0.0, 1.0))
