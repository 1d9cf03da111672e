"""Which limbs are filled with flesh, what of it is pinned, and the poses it is brought into."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, cKDTree

from flesh_baking.sculpted import Array, Sculpted, Turns
from mimegen.base.vectors import unit
from mimegen.characters.helpers import MIDDLE
from mimegen.characters.surface import vertex_normals
from mimegen.choreography.arms import collar_rotation
from mimegen.motion import quaternions

CELL_M, LONGEST_M = 0.026, 0.075

# Where the upper arm points (left, forward, up), and how far it is twisted (degrees) out of the way
# it takes from half-way down.
ARM_WAYS = (
    ((0.25, 0, -1), 0), ((0.1, 0.3, -1), 0), ((0.1, 0.3, -1), 50), ((0.66, 0, -0.75), 0),
    ((1, 0, 0), 0), ((1, 0.2, 0.1), 60), ((1, -0.2, -0.2), -50), ((0.1, 1, 0), 0),
    ((0.1, 1, 0), 60), ((0.3, 1, 0.5), -50), ((0.15, 0.1, 1), 0), ((0.1, 0.1, 1), -70),
    ((0.4, 0.5, 1), 30), ((0.7, 0, 0.8), 30), ((-0.6, 0.9, 0), 0), ((-0.5, 0.8, -0.4), 40),
    ((-0.6, 0.8, 0.35), -40), ((0.3, -0.6, -0.8), 0), ((0.1, -0.5, -0.9), 60),
    ((0.8, -0.5, -0.2), 0), ((0.7, 0.7, 0), -30), ((0.6, 0.6, -0.7), 40),
    ((0.5, -0.15, 0.9), -60), ((0.2, 0.9, 0.8), 40), ((-0.7, 0.65, -0.15), 85),
    ((0.0, -0.6, -0.8), 105), ((-0.1, 1, -0.2), -45), ((-0.2, -0.1, -1), 0),
    ((-0.2, 0.7, -0.7), 15),
)
# Thigh forward, outward and turned out, knee: in degrees. The last is nearly the T pose's.
LEGS = ((30, 0, 0, 0), (60, 0, 0, 30), (90, 0, 0, 90), (115, 5, 0, 120), (-20, 0, 0, 20),
        (0, 30, 0, 0), (60, 35, 20, 60), (90, 20, 0, 90), (0, 0, 0, 45), (0, 0, 0, 90),
        (0, 0, 0, 120), (20, 0, 0, 145), (60, -10, -15, 90), (100, 10, 0, 60), (0, 0, 30, 0))


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

    One of these is ``like_rest``, nearly the T pose. Where nothing is pressed together, it
    ``keeps`` the sculpted volume in all of them.
    """

    columns: tuple[str, ...]
    trunk: str
    joints: tuple[str, ...]
    filled: Callable[[Sculpted], Flesh]
    poses: Callable[[], list[Turns]]
    like_rest: int
    keeps: bool


def arm_poses() -> list[Turns]:
    """Return the poses of an arm."""
    return [arm_way(*pose) for pose in ARM_WAYS]


def arm_way(way: Sequence[float], twist_deg: float, far: float = 1.0) -> Turns:
    """Return one; the collar bone comes along as with a hand ``far`` away, in arm lengths."""
    aim = unit(np.array(way) * [1.0, -1.0, 1.0])
    collar = collar_rotation(quaternions.IDENTITY[None], far * aim[None], 1.0, np.zeros((1, 2)))[0]
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


ARM = Limb(
    ("Spine2", "LeftShoulder", "LeftArmBend1", "LeftArmBend2", "LeftArmBend3", "LeftArmTwist1",
     "LeftArmTwist2", "LeftArmTwist3", "LeftShoulderAside", "LeftArm", "LeftForeArm"),
    "Spine2", ("LeftForeArm",), arm_flesh, arm_poses, 4, True)
LEG = Limb(
    ("Hips", "LeftUpLegBend1", "LeftUpLegBend2", "LeftUpLeg", "LeftLegBend1", "LeftLegBend2",
     "LeftLeg"), "Hips", ("LeftUpLeg", "LeftLeg"), leg_flesh, leg_poses, 14, False)
