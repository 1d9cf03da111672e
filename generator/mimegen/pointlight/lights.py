"""Make characters of glowing spheres, for scenes that mix dots and bodies."""

import numpy as np

from mimegen.characters.character import Character, Material, Mesh
from mimegen.characters.fingerprint import fingerprint
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.landmarks import DotSet, dot_set
from mimegen.readers.roles import find_roles

RADIUS_M = 0.028
STRENGTH = 2.5
WHITE = (1.0, 1.0, 1.0)
_AROUND = 16
_UP = 10


def light_set() -> DotSet:
    """Return the dots that a character of lights shows."""
    return dot_set("troje")


def of_lights(body: Character) -> Character:
    """Return a character whose visible part is a glowing sphere at each dot of the body's joints.

    It has the body's skeleton, so motions are retargeted to the body and then shown by lights.
    Raises RequestError if essential joints cannot be found.
    """
    skeleton = body.skeleton
    roles = find_roles(skeleton).joints
    meshes = []
    for name, points in light_set().dots.items():
        joints, positions = [], []
        for point in points:
            role, _, end = point.partition(".")
            if role in roles:
                joint = skeleton.index[roles[role]]
                joints.append(joint)
                positions.append((skeleton.tails if end else skeleton.heads)[joint])
        # The lowest index, because parents come first: so dots between shoulders and chest follow
        # the chest.
        meshes.append(_sphere(name, np.mean(positions, axis=0), min(joints)))
    material = Material("light", "light", {"color": WHITE, "strength": STRENGTH})
    return Character(f"{body.name}_lights", skeleton, tuple(meshes), {"light": material},
                     fingerprint(meshes, [material]), body.source, body.licence)


def _sphere(name: str, middle: FloatArray, joint: int) -> Mesh:
    """Return a sphere that moves with a joint."""
    turns = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
    ups = np.linspace(-np.pi / 2, np.pi / 2, _UP)
    grid = np.stack([np.cos(ups)[:, None] * np.cos(turns), np.cos(ups)[:, None] * np.sin(turns),
                     np.broadcast_to(np.sin(ups)[:, None], (_UP, _AROUND))], axis=-1)
    start = np.arange(_UP - 1)[:, None] * _AROUND
    here, after = start + np.arange(_AROUND), start + (np.arange(_AROUND) + 1) % _AROUND
    faces = np.stack([here, after, after + _AROUND, here + _AROUND], axis=-1).reshape(-1, 4)
    vertices = middle + RADIUS_M * grid.reshape(-1, 3)
    return Mesh(name, vertices, faces.astype(np.int32),
                np.full((len(vertices), 1), joint, np.int32), np.ones((len(vertices), 1)), "light")
