"""A body as its data has it, and what joints and helpers do to it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.bake import read_bake
from mimegen.characters.body import moves, rest_rotations, rest_skeleton, shaped_points
from mimegen.characters.helpers import (
    ADDED,
    along,
    interpolation_weights,
    with_helpers,
    with_helpers_on,
)
from mimegen.characters.movers import MOVERS, pressing
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.surface import dense_weights
from mimegen.motion import Motion, Skeleton, quaternions

Array = NDArray[np.float64]
Turns = Mapping[str, Array]
"""Rotations (4,) in the world from the T pose, by joint; those below turn with it."""


@dataclass(frozen=True, eq=False)
class Sculpted:
    """A body as its data has it, arms half-way down, and the same skeleton in the T pose."""

    vertices: Array
    faces: NDArray[np.int32]
    skeleton: Skeleton
    rest: Skeleton
    turns: Array
    weights: Array

    @staticmethod
    def of(phenotype: Phenotype) -> "Sculpted":
        """Return the body of a phenotype."""
        bake = read_bake()
        count, joints = len(bake.joints), len(bake.joint_names)
        vertices, heads, tails = np.split(shaped_points(bake, phenotype), [count, count + joints])
        skeleton = Skeleton(bake.joint_names, bake.joint_parents, heads, tails)
        return Sculpted(vertices, bake.faces["body"], skeleton, rest_skeleton(skeleton),
                        rest_rotations(skeleton), dense_weights(bake.joints, bake.weights, joints))

    def joint(self, name: str) -> Array:
        """Return the place (3,) of a joint."""
        return np.asarray(self.skeleton.heads[self.skeleton.index[name]])

    def share(self, *names: str) -> Array:
        """Return how much vertices (V,) follow joints whose names begin like these."""
        chosen = [name.startswith(names) for name in self.skeleton.names]
        return np.asarray(self.weights[:, chosen].sum(axis=1))

    @property
    def twisting(self) -> Array:
        """A first guess of weights (V, J): as given, the upper arm's twist spread along it."""
        helped = with_helpers(self.rest)
        found = np.concatenate([self.weights, np.zeros((len(self.weights), len(ADDED)))], axis=1)
        line = [helped.index[f"LeftArm{name}"] for name in ("Twist1", "Twist2", "Twist3", "")]
        place = along(self.vertices, self.joint("LeftArm"), self.joint("LeftForeArm"))
        found[:, line] = found[:, line[-1:]] * interpolation_weights(
            place, np.linspace(0.1, 0.95, 4))
        return found

    def moved(self, turns: Turns | None) -> tuple[Array, Array]:
        """Return what joints and helpers do to the body in the T pose: (J, 3, 3), (J, 3).

        Without turns they bring it into the sculpted pose.
        """
        return moves(with_helpers_on(self._motion(turns), np.zeros((len(MOVERS), 3))))

    def pressed(self, turns: Turns | None) -> Array:
        """Return how much each mover (M,) presses, as in `moved`."""
        motion = self._motion(turns)
        return np.asarray(pressing(motion.skeleton, motion.rotations)[0])

    def moved_on(self, turns: Turns) -> tuple[Array, Array]:
        """Return what they do to the sculpted body."""
        there, here = self.moved(turns), self.moved(None)
        matrices = there[0] @ np.swapaxes(here[0], 1, 2)
        return matrices, there[1] - np.einsum("jab,jb->ja", matrices, here[1])

    def _motion(self, turns: Turns | None) -> Motion:
        in_world = np.tile(quaternions.IDENTITY, (len(self.rest.names), 1))
        for joint, (name, parent) in enumerate(zip(self.rest.names, self.rest.parents,
                                                   strict=True)):
            in_world[joint] = (turns or {}).get(name, in_world[max(int(parent), 0)])
        if turns is None:
            in_world = quaternions.conjugate(self.turns)
        return Motion.from_global_rotations(self.rest, 24.0, self.skeleton.heads[:1],
                                            in_world[None])
