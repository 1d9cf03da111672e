"""Flesh that deforms elastically, in poses: projective dynamics (Bouaziz et al., 2014)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from flesh_baking.limbs import Flesh, Limb
from flesh_baking.sculpted import Array, Sculpted, Turns
from mimegen.base.vectors import unit
from mimegen.characters.helpers import MIDDLE
from mimegen.motion import quaternions

ROUNDS, ROUNDS_ON_THE_WAY, STEP_DEG = 20, 6, 45.0
# Against the stiffness of flesh: what is pinned, keeping volume, staying on one's side of a joint.
PINNED, VOLUME, APART = 1e3, 1.0, 3.0
APART_WITHIN_M = 0.16
# What crushed cells, and drawn-out ones, are taken for on the way to keeping their volume.
SIZES = (0.5, 2.0)


class Elastic:
    """Flesh that takes the form of least energy for where its pinned points are."""

    def __init__(self, flesh: Flesh, apart: NDArray[np.bool_]) -> None:
        """``apart`` (P, N) are the points that stay on their side of each of N joints."""
        points, cells = flesh.points, flesh.tetrahedra
        edges = np.swapaxes(points[cells[:, 1:]] - points[cells[:, :1]], 1, 2)
        volumes = np.abs(np.linalg.det(edges))
        inverse = np.linalg.inv(edges)
        slopes = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
        count = len(cells)
        rows = np.broadcast_to(np.arange(3 * count).reshape(count, 1, 3), slopes.shape)
        columns = np.broadcast_to(cells[:, :, None], slopes.shape)
        self.gradient = sparse.csr_matrix((slopes.ravel(), (rows.ravel(), columns.ravel())),
                                          (3 * count, len(points)))
        self.weight = np.repeat(volumes / volumes.mean(), 3)[:, None]
        stiff = self.gradient.T @ sparse.diags(self.weight[:, 0] * (1 + VOLUME)) @ self.gradient
        scale = stiff.diagonal().mean()
        self.pinned = np.where(flesh.pinned >= 0, PINNED * scale, 1e-9 * scale)[:, None]
        self.apart = APART * scale * apart
        diagonal = self.pinned[:, 0] + self.apart.sum(axis=1)
        self.solve = splu((stiff + sparse.diags(diagonal)).tocsc()).solve

    def settled(self, start: Array, goal: Array, planes: Sequence[tuple[Array, Array]],
                sides: Array, rounds: int) -> Array:
        """Return the points (P, 3) after some rounds.

        ``planes`` are a place (3,) and a normal (3,) for each joint; ``sides`` (P, N) are 1 where
        points belong in front of them, -1 behind.
        """
        now = start
        for _ in range(rounds):
            right = self.gradient.T @ (self.weight * self._wanted(now)) + self.pinned * goal
            for joint, (place, normal) in enumerate(planes):
                ahead = sides[:, joint] * ((now - place) @ normal)
                back = np.minimum(ahead, 0.0) * sides[:, joint]
                right += self.apart[:, [joint]] * (now - back[:, None] * normal)
            now = self.solve(right)
        return now

    def _wanted(self, now: Array) -> Array:
        """Return the nearest rotations, and the nearest deformations that keep the volume."""
        left, sizes, right = np.linalg.svd((self.gradient @ now).reshape(-1, 3, 3))
        mirrored = np.linalg.det(left @ right) < 0
        left[mirrored, :, 2] *= -1
        sizes[mirrored, 2] *= -1
        sizes = np.clip(sizes, *SIZES)
        for _ in range(3):
            size = sizes.prod(axis=1, keepdims=True)
            slope = size / sizes
            sizes = np.clip(sizes + (1 - size) * slope / (slope**2).sum(axis=1, keepdims=True),
                            *SIZES)
        return ((left + VOLUME * left * sizes[:, None]) @ right).reshape(-1, 3)


def deformed(body: Sculpted, limb: Limb) -> tuple[NDArray[np.intp], Array]:
    """Return the numbers of a limb's skin (S,) and where it is in all poses, (K, S, 3)."""
    flesh = limb.filled(body)
    near = cKDTree(body.vertices[flesh.skin]).query(flesh.points)[1]
    linear = body.twisting[flesh.skin][near]
    around = np.array([body.joint(name) for name in limb.joints])
    free = (flesh.pinned < 0) & (np.arange(len(flesh.points)) < len(flesh.skin))
    near_joint = np.linalg.norm(flesh.points[:, None] - around, axis=-1) < APART_WITHIN_M
    before = [_plane(body, name, np.eye(3)[None].repeat(len(body.skeleton.names), 0),
                     body.skeleton.heads) for name in limb.joints]
    ahead = np.stack([(flesh.points - place) @ normal for place, normal in before], axis=1)
    elastic = Elastic(flesh, near_joint & free[:, None])
    seen = []
    for number, turns in enumerate(limb.poses()):
        now, last = flesh.points, flesh.points
        steps = _steps(turns)
        for step, part in enumerate(steps):
            matrices, shifts = body.moved_on(part)
            guess = np.einsum("pj,jab,pb->pa", linear, matrices, flesh.points) + linear @ shifts
            goal, fixed = guess.copy(), flesh.pinned >= 0
            pins = flesh.pinned[fixed]
            goal[fixed] = np.einsum("pab,pb->pa", matrices[pins], flesh.points[fixed])
            goal[fixed] += shifts[pins]
            bare = len(body.skeleton.names)
            heads = np.einsum("jab,jb->ja", matrices[:bare], body.skeleton.heads) + shifts[:bare]
            planes = [_plane(body, name, matrices, heads) for name in limb.joints]
            rounds = ROUNDS if step == len(steps) - 1 else ROUNDS_ON_THE_WAY
            now = elastic.settled(now + guess - last, goal, planes, np.sign(ahead), rounds)
            last = guess
        seen.append(now[:len(flesh.skin)])
        print(f"pose {number}", flush=True)
    return flesh.skin, np.stack(seen)


def _steps(turns: Turns) -> list[Turns]:
    """Return a pose in steps that none of its joints turns far in, out of the sculpted pose."""
    middle = {"LeftArm": MIDDLE["LeftArm"], "LeftForeArm": MIDDLE["LeftArm"]}
    starts = {name: quaternions.from_rotation_vectors([0.0, middle.get(name, 0.0), 0.0])
              for name in turns}
    ways = {name: quaternions.to_rotation_vectors(quaternions.multiply(
        turn, quaternions.conjugate(starts[name]))) for name, turn in turns.items()}
    far = max(np.degrees(np.linalg.norm(way)) for way in ways.values())
    count = max(1, int(np.ceil(far / STEP_DEG)))
    return [{name: quaternions.multiply(
        quaternions.from_rotation_vectors(way * step / count), starts[name])
        for name, way in ways.items()} for step in range(1, count + 1)]


def _plane(body: Sculpted, name: str, matrices: Array, heads: Array) -> tuple[Array, Array]:
    """Return where a joint is and the direction across the plane that halves its angle."""
    skeleton = body.skeleton
    joint = skeleton.index[name]
    bone = unit(skeleton.tails[joint] - skeleton.heads[joint])
    if name == "LeftUpLeg":
        back = np.array([0.0, 0.0, 1.0])
    else:
        back = unit(heads[skeleton.parents[joint]] - heads[joint])
    return heads[joint], unit(matrices[joint] @ bone - back)
