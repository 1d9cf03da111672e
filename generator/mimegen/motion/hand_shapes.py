"""Read hand shapes (mocap/hand_shapes.yaml, mocap/hands/shapes.yaml) as finger joint rotations."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import RootModel

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Finite, Strict, read_yaml_once
from mimegen.motion import Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

FINGERS = ("Index", "Middle", "Ring", "Pinky")
Bends = tuple[Finite, Finite, Finite]
# Axes of the left hand at rest: fingers along +X, palm down, thumb forward.
FINGERS_AXIS = np.array([1.0, 0, 0])
PALM_AXIS = np.array([0, 0, -1.0])
THUMB_AXIS = np.array([0, -1.0, 0])


class HandShape(Strict):
    """A hand shape in degrees, absolute: 0 is a flat hand, whatever the rest pose.

    Fingers: bends of the three joints towards the palm. ``spread``: sideways angles of index to
    pinky, positive towards the thumb. ``thumb``: its turn under the palm, its turn away from the
    index, then bends of its two outer joints. If ``touches`` names a finger, the thumb's tip
    touches that finger's tip.
    """

    index: Bends
    middle: Bends
    ring: Bends
    pinky: Bends
    spread: tuple[Finite, Finite, Finite, Finite] = (4, 1, -3, -8)
    thumb: tuple[Finite, Finite, Finite, Finite]
    touches: Literal["index", "middle", "ring", "pinky"] | None = None


def hand_shapes() -> Mapping[str, HandShape]:
    """Return the hand shapes by name: those for actions first, then those of sign language.

    Raises RequestError that names file, line and key.
    """
    return _both(data_file("mocap/hand_shapes.yaml"), data_file("mocap/hands/shapes.yaml"))


@cache
def _both(*files: Path) -> Mapping[str, HandShape]:
    return {name: shape for file in files
            for name, shape in read_yaml_once(file, RootModel[dict[str, HandShape]]).root.items()}


def finger_joints(skeleton: Skeleton, side: str) -> list[int]:
    """Return the indices of a hand's 15 finger joints: thumb first, each finger from the palm out.
    """
    return [
        skeleton.index[f"{side}Hand{finger}{bone}"]
        for finger in ("Thumb", *FINGERS) for bone in (1, 2, 3)
    ]


def finger_rotations(skeleton: Skeleton, shape: HandShape) -> FloatArray:
    """Return the rotations (15, 4) of the left hand's finger joints relative to the hand."""
    turns = [_thumb(skeleton, shape.thumb)]
    for finger, spread in zip(FINGERS, shape.spread, strict=True):
        # Shapes give each joint's bend relative to the previous joint; rotations are relative to
        # the hand.
        bends = np.cumsum(getattr(shape, finger.lower()))
        straight = _axis_rotation(PALM_AXIS, spread, FINGERS_AXIS)
        axis = np.cross(PALM_AXIS, straight) * -1.0
        joints = [skeleton.index[f"LeftHand{finger}{bone}"] for bone in (1, 2, 3)]
        bones = skeleton.tails[joints] - skeleton.heads[joints]
        curl = quaternions.from_rotation_vectors(np.deg2rad(bends)[:, None] * axis)
        turns.append(quaternions.multiply(curl, quaternions.between(bones, straight)))
    return np.concatenate(turns)


def side_pose(name: str, side: float) -> FloatArray:
    """Return a shape's rotations (15, 4) relative to the hand, of the left (1) or right (-1) hand.
    """
    pose = _shape_pose(standard_skeleton(), hand_shapes()[name])
    return np.asarray(pose * np.array([1.0, 1.0, side, side]))


_shape_pose = cache(finger_rotations)


def finger_bends(pose: FloatArray) -> FloatArray:
    """Return each joint's rotation (5, 3, 4) relative to the joint before it, of a pose (15, 4).

    Relative to the hand, the outer joints of a fist turn by more than 180 degrees.
    """
    bones = pose.reshape(5, 3, 4)
    bends = quaternions.multiply(quaternions.conjugate(bones[:, :-1]), bones[:, 1:])
    bends = np.concatenate([bones[:, :1], bends], axis=1)
    return np.asarray(bends * np.where(bends[..., :1] < 0, -1.0, 1.0))


def _thumb(skeleton: Skeleton, angles: tuple[float, float, float, float]) -> FloatArray:
    under, away, middle, tip = np.deg2rad(angles)
    joints = [skeleton.index[f"LeftHandThumb{bone}"] for bone in (1, 2, 3)]
    bones = skeleton.tails[joints] - skeleton.heads[joints]
    base = quaternions.multiply(
        quaternions.from_rotation_vectors(under * FINGERS_AXIS),
        quaternions.from_rotation_vectors(away * PALM_AXIS),
    )
    along = bones[0] / np.linalg.norm(bones[0])
    inward = -THUMB_AXIS + 0.3 * FINGERS_AXIS
    axis = np.cross(along, inward)
    axis /= np.linalg.norm(axis)
    bends = np.cumsum([0.0, middle, tip])
    # The rest pose's own bends are removed first, because shapes are absolute.
    straight = quaternions.between(bones, along)
    curl = quaternions.from_rotation_vectors(bends[:, None] * axis)
    return quaternions.multiply(base, quaternions.multiply(curl, straight))


def _axis_rotation(axis: FloatArray, degrees: float, vector: FloatArray) -> FloatArray:
    turn = quaternions.from_rotation_vectors(np.deg2rad(degrees) * axis)
    return quaternions.rotate(turn, vector)
