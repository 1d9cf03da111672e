"""Bake rigs/flesh.npz: how skin follows helper joints, fitted to flesh that deforms elastically.

    python tools/bake_flesh.py rigs/flesh.npz [--pictures FOLDER]

An arm with half of the trunk, and a leg with the pelvis, are filled with tetrahedra and brought
into some poses each. What lies along the bones, deep in rib cage or pelvis is moved rigidly; the
rest takes the form of least energy that keeps its volume, and parts on both sides of a bent
joint stay on their sides of the plane that halves its angle (projective dynamics: Bouaziz et al.,
"Projective Dynamics", 2014). Each vertex then gets the weights, not negative, with which linear
blending of joints and helpers comes nearest to all of that (Mohr and Gleicher, "Building Efficient,
Accurate Character Skins from Examples", 2003), on a man's and a woman's body at once.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import nnls
from scipy.sparse.linalg import splu
from scipy.spatial import Delaunay, cKDTree

from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.bake import read_bake
from mimegen.characters.body import moves, rest_skeleton, shaped_points, turns_to_rest
from mimegen.characters.helpers import (
    HELPERS,
    MIDDLE,
    along,
    between_places,
    by_steps,
    helped_joint,
    joints_below,
    strongest,
    twisting,
    with_helpers,
    with_helpers_on,
)
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.surface import dense_weights, neighbour_average, vertex_normals
from mimegen.choreography.arms import collar_rotation
from mimegen.motion import Motion, Skeleton, quaternions

Array = NDArray[np.float64]
Turns = Mapping[str, Array]
"""Rotations (4,) in the world from the T pose, by joint; those below turn with it."""

BODIES = (Phenotype(sex=1.0, age=35, height=1.78), Phenotype(sex=0.0, age=35, height=1.66))
INFLUENCES = 8
CELL_M, LONGEST_M = 0.026, 0.075
ROUNDS, ROUNDS_ON_THE_WAY, STEP_DEG = 20, 6, 45.0
# Against the stiffness of flesh: what is pinned, keeping volume, staying on one's side of a joint.
PINNED, VOLUME, APART = 1e3, 1.0, 3.0
APART_WITHIN_M = 0.16
# What crushed cells, and drawn-out ones, are taken for on the way to keeping their volume.
SIZES = (0.5, 2.0)
EVEN = 0.02
FITS = 5

# Where the upper arm points (left, forward, up), and how far it is twisted (degrees) out of the way
# it takes from half-way down.
ARM_WAYS = (
    ((0.25, 0, -1), 0), ((0.1, 0.3, -1), 0), ((0.1, 0.3, -1), 50), ((0.66, 0, -0.75), 0),
    ((1, 0, 0), 0), ((1, 0.2, 0.1), 60), ((1, -0.2, -0.2), -50), ((0.1, 1, 0), 0),
    ((0.1, 1, 0), 60), ((0.3, 1, 0.5), -50), ((0.15, 0.1, 1), 0), ((0.1, 0.1, 1), -70),
    ((0.4, 0.5, 1), 30), ((0.7, 0, 0.8), 30), ((-0.6, 0.9, 0), 0), ((-0.5, 0.8, -0.4), 40),
    ((-0.6, 0.8, 0.35), -40), ((0.3, -0.6, -0.8), 0), ((0.1, -0.5, -0.9), 60),
    ((0.8, -0.5, -0.2), 0), ((0.7, 0.7, 0), -30), ((0.6, 0.6, -0.7), 40),
    ((0.5, -0.15, 0.9), -60), ((0.2, 0.9, 0.8), 40),
)
# Their errors count double: they are few, and far from the T pose.
RAISED = (10, 11, 12, 13, 22, 23)
# Thigh forward, outward and turned out, knee: in degrees. The last is nearly the T pose's.
LEGS = ((30, 0, 0, 0), (60, 0, 0, 30), (90, 0, 0, 90), (115, 5, 0, 120), (-20, 0, 0, 20),
        (0, 30, 0, 0), (60, 35, 20, 60), (90, 20, 0, 90), (0, 0, 0, 45), (0, 0, 0, 90),
        (0, 0, 0, 120), (20, 0, 0, 145), (60, -10, -15, 90), (100, 10, 0, 60), (0, 0, 30, 0))


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
                        turns_to_rest(skeleton), dense_weights(bake.joints, bake.weights, joints))

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
        found = np.concatenate([self.weights, np.zeros((len(self.weights), len(HELPERS)))], axis=1)
        line = [helped.index[f"LeftArm{name}"] for name in ("Twist1", "Twist2", "Twist3", "")]
        place = along(self.vertices, self.joint("LeftArm"), self.joint("LeftForeArm"))
        found[:, line] = found[:, line[-1:]] * between_places(place, np.linspace(0.1, 0.95, 4))
        return found

    def moved(self, turns: Turns | None) -> tuple[Array, Array]:
        """Return what joints and helpers do to the body in the T pose: (J, 3, 3), (J, 3).

        Without turns they bring it into the sculpted pose.
        """
        in_world = np.tile(quaternions.IDENTITY, (len(self.rest.names), 1))
        for joint, (name, parent) in enumerate(zip(self.rest.names, self.rest.parents,
                                                   strict=True)):
            in_world[joint] = (turns or {}).get(name, in_world[max(int(parent), 0)])
        return self._placed(quaternions.conjugate(self.turns) if turns is None else in_world)

    def moved_on(self, turns: Turns) -> tuple[Array, Array]:
        """Return what they do to the sculpted body."""
        there, here = self.moved(turns), self.moved(None)
        matrices = there[0] @ np.swapaxes(here[0], 1, 2)
        return matrices, there[1] - np.einsum("jab,jb->ja", matrices, here[1])

    def _placed(self, in_world: Array) -> tuple[Array, Array]:
        return moves(with_helpers_on(Motion.from_global_rotations(
            self.rest, 24.0, self.skeleton.heads[:1], in_world[None])))


@dataclass(frozen=True, eq=False)
class Flesh:
    """A limb's flesh: ``skin`` numbers the body's vertices (S,) that are its first points (P, 3).

    ``pinned`` (P,) are the joints that points go with, -1 for none.
    """

    skin: NDArray[np.intp]
    points: Array
    pinned: NDArray[np.intp]
    tetrahedra: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Limb:
    """What is filled with flesh and how it is brought into poses.

    One of these is ``like_rest``, nearly the T pose; errors of some count double.
    """

    columns: tuple[str, ...]
    trunk: str
    joints: tuple[str, ...]
    filled: Callable[[Sculpted], Flesh]
    poses: Callable[[], list[Turns]]
    like_rest: int
    doubled: tuple[int, ...] = ()


def arm_poses() -> list[Turns]:
    """Return the poses of an arm."""
    return [_arm(*pose) for pose in ARM_WAYS]


def _arm(way: Sequence[float], twist_deg: float) -> Turns:
    aim = unit(np.array(way) * [1.0, -1.0, 1.0])
    collar = collar_rotation(quaternions.IDENTITY[None], aim[None], 1.0, np.zeros((1, 2)))[0]
    middle = quaternions.from_rotation_vectors([0.0, MIDDLE["LeftArm"], 0.0])
    swing = quaternions.between(quaternions.rotate(middle, [1.0, 0.0, 0.0]), aim)
    twist = quaternions.from_rotation_vectors(np.radians(twist_deg) * aim)
    upper = quaternions.multiply(twist, quaternions.multiply(swing, middle))
    return {"LeftShoulder": collar, "LeftArm": upper}


def leg_poses() -> list[Turns]:
    """Return the poses of a leg."""
    found: list[Turns] = []
    for forward, outward, out, knee in LEGS:
        thigh = quaternions.from_euler("YXZ", np.array([-outward, -forward, out], float))
        bend = quaternions.from_rotation_vectors([np.radians(knee), 0.0, 0.0])
        found.append({"LeftUpLeg": thigh, "LeftLeg": quaternions.multiply(thigh, bend)})
    return found


def arm_flesh(body: Sculpted) -> Flesh:
    """Return the left arm down to the middle of the forearm, and half of the trunk."""
    v, index = body.vertices, body.skeleton.index
    shoulder, elbow, wrist, neck, waist = (body.joint(name) for name in (
        "LeftArm", "LeftForeArm", "LeftHand", "Neck", "Spine"))
    down = ((v - elbow) @ (wrist - elbow)) / np.sum((wrist - elbow) ** 2)
    trunk = (v[:, 0] > -0.03) & (v[:, 2] > waist[2] + 0.02) & (v[:, 2] < neck[2] + 0.05)
    arm = body.share("LeftArm", "LeftForeArm") > 0.5
    chosen = (trunk | arm) & (body.share("LeftHand") < 0.3) & (down < 0.6)
    axes = {"LeftArm": (shoulder, elbow, 12), "LeftForeArm": (elbow, elbow + 0.62 * (wrist - elbow),
                                                              8),
            "LeftShoulder": (body.joint("LeftShoulder"), shoulder, 6)}

    def pinned(points: Array, depth: Array) -> NDArray[np.intp]:
        ribs = (points[:, 0] < shoulder[0] - 0.055) & (points[:, 2] < shoulder[2] + 0.03)
        return np.where((ribs & (depth > 0.028)) | (points[:, 0] < 0), index["Spine2"], -1)

    flesh, skin = _filled(body, chosen, axes, pinned)
    cut = ((v[skin, 0] < 0) | (v[skin, 2] < waist[2] + 0.05)) & ~arm[skin]
    flesh.pinned[:len(skin)][cut] = index["Spine2"]
    flesh.pinned[:len(skin)][v[skin, 2] > neck[2] + 0.03] = index["Neck"]
    flesh.pinned[:len(skin)][down[skin] > 0.5] = index["LeftForeArm"]
    return flesh


def leg_flesh(body: Sculpted) -> Flesh:
    """Return the left leg down to the middle of the shin, and half of the pelvis."""
    v, index = body.vertices, body.skeleton.index
    hip, knee, ankle, waist = (body.joint(name) for name in (
        "LeftUpLeg", "LeftLeg", "LeftFoot", "Spine1"))
    down = ((v - knee) @ (ankle - knee)) / np.sum((ankle - knee) ** 2)
    arms = body.share("LeftArm", "LeftForeArm", "LeftHand") > 0.3
    chosen = (v[:, 0] > -0.04) & (v[:, 2] < waist[2]) & (down < 0.62) & ~arms
    axes = {"LeftUpLeg": (hip, knee, 16), "LeftLeg": (knee, knee + 0.64 * (ankle - knee), 10)}

    def pinned(points: Array, depth: Array) -> NDArray[np.intp]:
        bones = (points[:, 2] > hip[2] + 0.01) & (depth > 0.035) & (points[:, 0] < hip[0] + 0.02)
        return np.where(bones | (points[:, 0] < 0.0), index["Hips"], -1)

    flesh, skin = _filled(body, chosen, axes, pinned)
    cut = (v[skin, 0] < 0.0) | (v[skin, 2] > waist[2] - 0.03)
    flesh.pinned[:len(skin)][cut] = index["Hips"]
    flesh.pinned[:len(skin)][down[skin] > 0.52] = index["LeftLeg"]
    return flesh


def _filled(body: Sculpted, chosen: NDArray[np.bool_],
            axes: Mapping[str, tuple[Array, Array, int]],
            pinned: Callable[[Array, Array], NDArray[np.intp]]
            ) -> tuple[Flesh, NDArray[np.intp]]:
    used = np.unique(body.faces)
    skin = used[chosen[used]]
    outside = cKDTree(body.vertices[used])
    normals = vertex_normals(body.vertices, body.faces)[used]

    def depth(points: Array) -> Array:
        away, near = outside.query(points)
        ahead = np.einsum("pa,pa->p", points - body.vertices[used][near], normals[near])
        return np.asarray(np.where(ahead < 0, away, -away))

    low, high = body.vertices[skin].min(axis=0), body.vertices[skin].max(axis=0)
    grid = np.stack(np.meshgrid(*map(np.arange, low, high, [CELL_M] * 3), indexing="ij"),
                    axis=-1).reshape(-1, 3)
    grid = grid[depth(grid) > 0.55 * CELL_M]
    lines = {name: start + np.linspace(0, 1, count)[:, None] * (end - start)
             for name, (start, end, count) in axes.items()}
    off, _ = cKDTree(np.concatenate(list(lines.values()))).query(grid)
    grid = grid[off > CELL_M / 2]
    points = np.concatenate([body.vertices[skin], grid, *lines.values()])
    fixed = [np.full(len(skin), -1), pinned(grid, depth(grid)),
             *(np.full(len(line), body.skeleton.index[name]) for name, line in lines.items())]
    jitter = np.random.default_rng(0).normal(scale=1e-6, size=points.shape)
    cells = Delaunay(points + jitter).simplices
    corners = points[cells]
    longest = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=-1).max(axis=(1, 2))
    good = (depth(corners.mean(axis=1)) > -0.002) & (longest < LONGEST_M)
    good &= np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) > 6e-10
    return Flesh(skin, points, np.concatenate(fixed), cells[good]), skin


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


def deformed(body: Sculpted, limb: Limb) -> tuple[Flesh, Array]:
    """Return a limb's flesh and where its skin (K, S, 3) is in all poses."""
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
    return flesh, np.stack(seen)


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


ARM = Limb(
    ("Spine2", "LeftShoulder", "LeftArmBend1", "LeftArmBend2", "LeftArmBend3", "LeftArmTwist1",
     "LeftArmTwist2", "LeftArmTwist3", "LeftArmAside", "LeftArm", "LeftForeArm"),
    "Spine2", ("LeftForeArm",), arm_flesh, arm_poses, 4, RAISED)
LEG = Limb(
    ("Hips", "LeftUpLegBend1", "LeftUpLegBend2", "LeftUpLeg", "LeftLegBend1", "LeftLegBend2",
     "LeftLeg"), "Hips", ("LeftUpLeg", "LeftLeg"), leg_flesh, leg_poses, 14)


@dataclass(frozen=True, eq=False)
class Examples:
    """Where a body's skin (S,) shall be in all poses, the sculpted one first (K, S, 3).

    ``matrices`` (K, C, 3, 3) and ``shifts`` (K, C, 3) are what a limb's columns of weights alone
    do to the body in the T pose.
    """

    skin: NDArray[np.intp]
    seen: Array
    matrices: Array
    shifts: Array

    @staticmethod
    def of(body: Sculpted, limb: Limb) -> "Examples":
        """Return what the flesh of a limb does."""
        flesh, seen = deformed(body, limb)
        names = with_helpers(body.rest).names
        columns = [names.index(name) for name in limb.columns]
        moves = [body.moved(turns) for turns in (None, *limb.poses())]
        return Examples(flesh.skin, np.concatenate([body.vertices[None, flesh.skin], seen]),
                        *(np.stack([each[part][columns] for each in moves]) for part in (0, 1)))

    def part(self, skin: NDArray[np.intp]) -> "Examples":
        """Return the examples of some of the skin."""
        return replace(self, skin=skin, seen=self.seen[:, np.searchsorted(self.skin, skin)])

    def at_rest(self, weights: Array) -> Array:
        """Return the places (S, 3) in the T pose that skinning brings where they were sculpted."""
        blend = np.einsum("sc,cab->sab", weights, self.matrices[0])
        away = self.seen[0] - weights @ self.shifts[0]
        return np.asarray(np.linalg.solve(blend, away[..., None])[..., 0])

    def alone(self, rest: Array) -> Array:
        """Return where each column alone brings places (S, 3) of the T pose: (K, S, C, 3)."""
        return np.asarray(np.einsum("kcab,sb->ksca", self.matrices, rest) + self.shifts[:, None])


def fitted(limb: Limb, examples: Sequence[Examples]) -> tuple[NDArray[np.intp], Array]:
    """Return a limb's skin (S,) and its weights (S, C) of the limb's columns.

    The places in the T pose follow from the weights, and the weights from them, in turn.
    """
    skin = examples[0].skin
    for other in examples[1:]:
        skin = np.intersect1d(skin, other.skin)
    parts = [each.part(skin) for each in examples]
    counts = np.ones(len(parts[0].seen))
    counts[[1 + pose for pose in limb.doubled]] = 2.0
    counts = np.tile(counts, len(parts))[:, None]
    rests = [each.seen[1 + limb.like_rest] for each in parts]
    for number in range(FITS):
        alone = np.concatenate([each.alone(rest) for each, rest in zip(parts, rests, strict=True)])
        seen = np.concatenate([each.seen for each in parts])
        weights = np.stack([_blend(counts[:, None] * alone[:, vertex], counts * seen[:, vertex])
                            for vertex in range(len(skin))])
        rests = [each.at_rest(weights) for each in parts]
        error = np.concatenate([np.linalg.norm(np.einsum("sc,ksca->ksa", weights, each.alone(rest))
                                               - each.seen, axis=-1)
                                for each, rest in zip(parts, rests, strict=True)])
        print(f"{limb.columns[-1]} {number}: {1e3 * np.sqrt(np.mean(error**2)):.1f} mm off (rms),"
              f" 95 % under {1e3 * np.percentile(error, 95):.1f} mm", flush=True)
    return skin, weights


def _blend(alone: Array, seen: Array) -> Array:
    """Return the weights (C,) that bring places (K, C, 3) nearest to (K, 3); they sum to 1."""
    count = alone.shape[1]
    sides = np.concatenate([alone.transpose(0, 2, 1).reshape(-1, count), 3 * np.ones((1, count)),
                            EVEN * np.eye(count)])
    weights, _ = nnls(sides, np.concatenate([seen.ravel(), [3.0], np.zeros(count)]))
    return weights / weights.sum()


def whole(limbs: Sequence[tuple[Limb, NDArray[np.intp], Array]], body: Sculpted) -> Array:
    """Return all vertices' weights (V, J) of joints and helpers."""
    helped = with_helpers(body.rest)
    names = helped.names
    weights = np.concatenate([body.weights, np.zeros((len(body.weights), len(HELPERS)))], axis=1)
    headless = body.share("Head") == 0
    for limb, skin, fit in limbs:
        free = headless[skin]
        weights[skin[free]] = _given(weights[skin[free]], limb, fit[free], helped)
    weights = by_steps(_elbow(weights, body, helped), helped, "LeftHand")
    average = neighbour_average(body.faces, len(weights))
    touched = np.zeros(len(weights))
    for _, skin, _ in limbs:
        touched[skin[headless[skin]]] = 1.0
    for _ in range(2):
        weights = weights + 0.5 * touched[:, None] * (average @ weights - weights)
    sculpted = Skeleton(names, helped.parents, *(
        ends[[body.skeleton.index[helped_joint(name)] for name in names]]
        for ends in (body.skeleton.heads, body.skeleton.tails)))
    weights = twisting(weights, body.vertices, sculpted, "Left")
    return _mirrored(_onto_others(weights, body), names, body.vertices)


def _given(weights: Array, limb: Limb, fit: Array, helped: Skeleton) -> Array:
    """Return rows of weights (S, J) with a limb's fitted columns.

    What the trunk has goes to the joints of the trunk as before, and what the last joint has to
    those below.
    """
    first = next(name for name in limb.columns if name not in (limb.trunk, "LeftShoulder"))
    upper, last = HELPERS[first].joint, limb.columns[-1]
    arm = joints_below(helped, helped.index[upper])
    inner = [*arm, *([helped.index["LeftShoulder"]] if upper == "LeftArm" else [])]
    outer = [joint for joint in range(len(helped.names)) if joint not in inner]
    found = np.zeros_like(weights)
    for column, name in enumerate(limb.columns):
        if name == limb.trunk:
            found += fit[:, [column]] * _parted(weights, outer, helped.index[name])
        elif name == last:
            low = joints_below(helped, helped.index[name])
            found += fit[:, [column]] * _parted(weights, low, helped.index[name])
        else:
            found[:, helped.index[name]] += fit[:, column]
    if upper == "LeftArm":
        twists = [helped.index[f"LeftArm{name}"] for name in ("Twist1", "Twist2", "Twist3", "")]
        found[:, twists] = _gathered(found[:, twists])
    return found


def _gathered(shares: Array) -> Array:
    """Return shares (S, P) of evenly spaced twists as those of the two nearest to their mean."""
    total = shares.sum(axis=1)
    places = np.linspace(0, 1, shares.shape[1])
    return total[:, None] * between_places(shares @ places / np.maximum(total, 1e-12), places)


def _elbow(weights: Array, body: Sculpted, helped: Skeleton) -> Array:
    """Return weights (V, J) with the left elbow's: over its helpers, by the shares as given."""
    low = joints_below(helped, helped.index["LeftForeArm"])
    given = np.zeros_like(weights)
    given[:, low] = body.weights[:, low]
    upper = weights.copy()
    upper[:, low] = 0.0
    high = [joint for joint in range(weights.shape[1]) if joint not in low]
    helpers = [helped.index[f"LeftForeArmBend{number}"] for number in (1, 2)]
    shares = between_places(given.sum(axis=1), np.array([0.0, 1 / 3, 2 / 3, 1.0]))
    found = shares[:, :1] * _parted(upper, high, helped.index["LeftArm"])
    found += shares[:, 3:] * _parted(given, low, helped.index["LeftForeArm"])
    found[:, helpers] += shares[:, 1:3]
    return found


def _parted(weights: Array, joints: Sequence[int], otherwise: int) -> Array:
    """Return weights (S, J) of some joints only, summing to 1; of one where none had any."""
    part = np.zeros_like(weights)
    part[:, joints] = weights[:, joints]
    total = part.sum(axis=1, keepdims=True)
    alone = np.eye(weights.shape[1])[otherwise]
    return np.where(total > 1e-6, part / np.maximum(total, 1e-6), alone)


def _mirrored(weights: Array, names: Sequence[str], vertices: Array) -> Array:
    """Return weights whose right side is the left one's mirror image."""
    mirror = read_bake().mirror[:len(weights)]
    swapped = [names.index(name.replace("Left", "\0").replace("Right", "Left")
                           .replace("\0", "Right")) for name in names]
    other = weights[mirror][:, swapped]
    share = ramp(vertices[:, 0], -0.01, 0.01)[:, None]
    return share * weights + (1 - share) * other


def _onto_others(weights: Array, body: Sculpted) -> Array:
    """Return weights of all vertices: the close-fitting surface follows the skin next to it."""
    bake = read_bake()
    used, close = np.unique(bake.faces["body"]), np.unique(bake.faces["tights"])
    away, near = cKDTree(body.vertices[used]).query(body.vertices[close], k=4)
    shares = 1 / (away + 0.003)
    shares = shares / shares.sum(axis=1, keepdims=True)
    weights = weights.copy()
    weights[close] = np.einsum("vk,vkj->vj", shares, weights[used][near])
    return weights


def main() -> None:
    """Simulate, fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", type=Path)
    bodies = [Sculpted.of(phenotype) for phenotype in BODIES]
    target = parser.parse_args().target
    limbs = [(limb, *fitted(limb, [Examples.of(body, limb) for body in bodies]))
             for limb in (ARM, LEG)]
    weights = whole(limbs, bodies[0])
    joints, values = strongest(weights, INFLUENCES)
    baked: dict[str, Any] = {
        "joint_names": np.array(with_helpers(bodies[0].rest).names),
        "joints": joints.astype(np.uint8), "weights": np.round(65535 * values).astype(np.uint16)}
    np.savez_compressed(target, **baked)
    print(f"{target}: {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
