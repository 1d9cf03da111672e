"""Simple bodies and motions for tests."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character, Material, Mesh
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.editing import moved
from mimegen.readers import read_motion


def capsule_character(around: int = 10, along: int = 8) -> Character:
    """Return a person of capsules, one per bone of the standard skeleton, rigidly skinned."""
    skeleton = standard_skeleton()
    vertices: list[NDArray[Any]] = []
    faces, joints = [], []
    for joint in range(len(skeleton.names)):
        points, quads = _capsule(skeleton, joint, around, along)
        faces.append(quads + sum(map(len, vertices)))
        vertices.append(points)
        joints.append(np.full((len(points), 1), joint, np.int32))
    everything = np.concatenate(vertices)
    mesh = Mesh(
        name="body", vertices=everything, faces=np.concatenate(faces),
        joints=np.concatenate(joints), weights=np.ones((len(everything), 1)), material="cloth",
        attributes={"shade": np.clip(everything[:, 2] / 1.8, 0, 1)},
    )
    material = Material(
        "cloth", "plain", {"color": (0.25, 0.4, 0.5), "roughness": 0.7, "metallic": 0.0}
    )
    return Character(
        "capsules", skeleton, (mesh,), {"cloth": material}, f"capsules-{around}-{along}",
        "made by a test", "CC0-1.0",
    )


def _radius(name: str) -> float:
    for part, radius in (("Hips", 0.13), ("Spine", 0.12), ("Head", 0.09), ("UpLeg", 0.075),
                         ("Leg", 0.05), ("Foot", 0.035), ("ForeArm", 0.035), ("Arm", 0.045)):
        if part in name and "Hand" not in name:
            return radius
    return 0.025 if name.endswith(("Hand", "ToeBase")) else 0.01


def _capsule(skeleton: Skeleton, joint: int, around: int,
             along: int) -> tuple[NDArray[Any], NDArray[Any]]:
    head, tail = skeleton.heads[joint], skeleton.tails[joint]
    radius = _radius(skeleton.names[joint])
    axis = (tail - head) / np.linalg.norm(tail - head)
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    slope = np.linspace(-np.pi / 2, np.pi / 2, along)
    turn = np.arange(around) / around * 2 * np.pi
    rings = np.where(slope[:, None] < 0, head, tail) + radius * np.sin(slope)[:, None] * axis
    spokes = np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * other
    reach = radius * np.maximum(np.cos(slope), 0.02)
    points = rings[:, None] + reach[:, None, None] * spokes
    ring, spoke = np.meshgrid(np.arange(along - 1), np.arange(around), indexing="ij")
    after = (spoke + 1) % around
    quads = np.stack([ring * around + spoke, ring * around + after,
                      (ring + 1) * around + after, (ring + 1) * around + spoke], axis=-1)
    return points.reshape(-1, 3), quads.reshape(-1, 4).astype(np.int32)


def wandering_motion(skeleton: Skeleton, frames: int, seed: int, reach: float) -> Motion:
    """Return a motion that starts in the rest pose and wanders off, ``reach`` metres at most."""
    chance = np.random.default_rng(seed)
    joints = len(skeleton.names)
    turns = np.cumsum(chance.normal(0, 0.08, (frames, joints, 3)), axis=0)
    turns[0] = 0.0
    way = np.linspace(0, 1, frames)[:, None] * chance.uniform(-1, 1, 3) * [reach, reach, 0.3]
    return Motion(skeleton, 24, skeleton.heads[0] + way, quaternions.from_rotation_vectors(turns))


def read_back(path: Path) -> Motion:
    """Read a file and put the person back where it stood in it."""
    recording = read_motion(path)
    return moved(moved(recording.motion, np.array([*recording.origin, 0.0]), 0.0), np.zeros(3),
                 recording.heading)
