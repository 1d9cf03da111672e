"""Swells: thicken the upper arms in poses in which linear blend skinning makes the shoulders thin.

A shoulder loses volume as its arm is raised or reaches forward or back. The upper arm's vertices
are moved away from its bone to make up for that. How much depends on where the bone points and on
how much volume the body loses there (``swelling.py``); where shoulders gain volume, arms get
thinner. Sleeves follow their arm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import product, unit
from mimegen.characters.character import Character, Mesh, Places, joined_weights
from mimegen.characters.helpers import has_helpers, share_of_joints
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# The arms that swell, and the joint relative to which their direction is measured.
ARMS = ("LeftArm", "RightArm")
TRUNK = "Spine2"
# Directions of the left arm's bone in the trunk's frame, each with the cosine above which the arm
# swells: forward, up, behind the head, to the side, back, and down in front of the body.
DIRECTIONS = (((0.0, -1.0, 0.0), 0.5), ((0.0, 0.0, 1.0), 0.1), ((0.43, 0.26, 0.86), 0.92),
              ((1.0, 0.0, 0.0), 0.82), ((0.0, 0.65, -0.75), 0.65), ((-0.1, -0.6, -0.79), 0.8))


@dataclass(frozen=True, eq=False)
class Swell:
    """An arm that swells.

    ``joint`` and ``trunk`` are joint indices, ``bone`` (3,) is the arm's direction at rest.
    ``displacements`` is a sparse matrix (N, 4 J) that maps joint columns to the displacements of
    ``vertices`` (N,) for swelling by the whole thickness. ``sizes`` (W,) are the fractions of that
    for each direction.
    """

    joint: int
    trunk: int
    bone: FloatArray
    vertices: NDArray[np.intp]
    displacements: Any
    sizes: tuple[float, ...]

    def nearness(self, columns: Places) -> FloatArray:
        """Return how near (W,), 0 to 1, the bone is to each direction.

        ``columns`` (4 J, 3) are the joint columns of the pose.
        """
        blocks = columns.reshape(-1, 4, 3)
        trunk = np.asarray(blocks[self.trunk, :3], float)
        direction = product(trunk, product(self.bone, np.asarray(blocks[self.joint, :3], float)))
        out = np.array([np.sign(self.bone[0]), 1.0, 1.0])
        return np.array([max(float(np.sum(unit(each) * out * direction)) - start, 0.0) / (1 - start)
                         for each, start in DIRECTIONS])

    def amount(self, columns: Places) -> float:
        """Return the swelling for joint columns (4 J, 3), as a fraction of the arm's thickness."""
        return float(np.sum(self.nearness(columns) * self.sizes))

    def apply(self, places: Places, columns: Places) -> None:
        """Move vertices (V, 3), blended with joint columns (4 J, 3), in place."""
        amount = self.amount(columns)
        if amount != 0:
            self.swell(places, columns, amount)

    def swell(self, places: Places, columns: Places, amount: float) -> None:
        """Move vertices (V, 3) outwards by a fraction of the arm's thickness, in place."""
        places[self.vertices] += (amount * (self.displacements @ columns)).astype(places.dtype)


def swells_of(character: Character, meshes: Sequence[Mesh]) -> tuple[Swell, ...]:
    """Return the swelling arms of a character.

    Vertex indices count through all ``meshes``, concatenated.
    """
    skeleton = character.skeleton
    if not (character.swelling and has_helpers(skeleton)):
        return ()
    return tuple(swell_of(skeleton, meshes, arm, character.swelling) for arm in ARMS
                 if any(share_of_joints(mesh, skeleton, (arm,)).any() for mesh in character.soft))


def swell_of(skeleton: Skeleton, meshes: Sequence[Mesh], arm: str,
             sizes: tuple[float, ...] = (0.0,) * len(DIRECTIONS)) -> Swell:
    """Return how one arm, named by its joint, swells by ``sizes`` (W,)."""
    joint = skeleton.index[arm]
    bone = unit(skeleton.tails[joint] - skeleton.heads[joint])
    joints, weights = joined_weights(meshes)
    share = np.concatenate([share_of_joints(mesh, skeleton, (arm,)) for mesh in meshes])
    off = np.concatenate([mesh.vertices for mesh in meshes]) - skeleton.heads[joint]
    out = share[:, None] * (off - product(off, bone)[:, None] * bone)
    swells = np.flatnonzero(share > 0)
    displacements = weights[swells, :, None] * out[swells, None]
    places = 4 * joints[swells, :, None] + np.arange(3)
    rows = np.repeat(np.arange(len(swells)), displacements[0].size)
    values = displacements.ravel().astype(np.float32)
    matrix = scipy.sparse.csr_matrix((values, (rows, places.ravel())),
                                     shape=(len(swells), 4 * len(skeleton.names)))
    matrix.eliminate_zeros()
    return Swell(joint, skeleton.index[TRUNK], bone, swells, matrix, sizes)
