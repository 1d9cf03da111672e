"""Joints of clothes and hair that hang: skirts follow both legs, long hair lags behind the head.

A skirt's front follows the leg that is further forward, its back the one that is further back, so
that no leg comes through and the cloth spans from one to the other. Below the knees the skirt hangs
down unless a shin is in the way. These are ordinary joints at the end of the skeleton, present only
on characters that need them; their rotations are computed when the motion is finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mimegen.base.decisions import nearest
from mimegen.base.easing import ramp, softly_limited
from mimegen.base.recursion import SecondOrder
from mimegen.base.vectors import lengths
from mimegen.characters.character import Mesh
from mimegen.characters.helpers import strongest
from mimegen.characters.surface import dense_weights
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray


class Follower(NamedTuple):
    """A joint of something that hangs.

    ``parent`` is its parent; ``at`` is the joint at whose position in the rest pose it lies.
    """

    parent: str
    at: str


SKIRT: Mapping[str, Follower] = {
    "SkirtFront": Follower("Hips", "LeftUpLeg"), "SkirtBack": Follower("Hips", "LeftUpLeg"),
    "LeftSkirt": Follower("Hips", "LeftUpLeg"), "RightSkirt": Follower("Hips", "RightUpLeg"),
    "SkirtFrontLow": Follower("SkirtFront", "LeftLeg"),
    "SkirtBackLow": Follower("SkirtBack", "LeftLeg"),
}
HAIR: Mapping[str, Follower] = {"HairSway": Follower("Head", "Head")}
FOLLOWERS: Mapping[str, Follower] = {**SKIRT, **HAIR}
# Meshes that hang over skirts. A skirt begins to follow them at the first distance and follows them
# fully at the second, in metres.
TOPS = ("top", "jacket")
TOP_FOLLOW_M = (0.07, 0.02)
# How far a joint's tail is below its head, in metres.
TAIL_M = 0.3
# On raised legs the front of a skirt comes down to a distance from them: ON_THIGHS_M, or
# OVER_KNEES_M for a skirt that covers the knees, which stick out when bent. The distance at rest is
# measured within ABOVE_M above the hem and MIDDLE_M beside the middle (all in metres). The front
# comes down by the slope STEEPEST at most.
ON_THIGHS_M = 0.012
OVER_KNEES_M = 0.06
ABOVE_M = 0.06
MIDDLE_M = 0.04
STEEPEST = 0.5
# Joints in the middle of the body.
MIDDLE = ("SkirtFront", "SkirtBack", "SkirtFrontLow", "SkirtBackLow", "HairSway")


def follows(name: str) -> str:
    """Return the body's joint that a follower hangs on; other names are returned unchanged."""
    while name in FOLLOWERS:
        name = FOLLOWERS[name].parent
    return name


def with_followers(skeleton: Skeleton, meshes: Sequence[Mesh]) -> Skeleton:
    """Return the skeleton with the joints that the meshes need appended."""
    wanted = [name for name in FOLLOWERS if any(name in _fields(mesh, skeleton) for mesh in meshes)]
    if not wanted:
        return skeleton
    names = skeleton.names + tuple(wanted)
    index = {name: number for number, name in enumerate(names)}
    parents = [index[FOLLOWERS[name].parent] for name in wanted]
    heads = np.array([skeleton.heads[skeleton.index[FOLLOWERS[name].at]]
                      * ([0.0, 1.0, 1.0] if name in MIDDLE else 1.0) for name in wanted])
    tails = heads - [0.0, 0.0, TAIL_M]
    if "SkirtFront" in wanted:
        tails[wanted.index("SkirtFront")] += [0.0, TAIL_M * _off_legs(meshes, skeleton), 0.0]
    return Skeleton(
        names, np.concatenate([skeleton.parents, np.array(parents, skeleton.parents.dtype)]),
        np.concatenate([skeleton.heads, heads]), np.concatenate([skeleton.tails, tails]))


def _off_legs(meshes: Sequence[Mesh], skeleton: Skeleton) -> float:
    """Return the slope of a skirt's front off the legs, in metres per metre below the hips."""
    hip, knee = (skeleton.heads[skeleton.index[name]] for name in ("LeftUpLeg", "LeftLeg"))
    skirt = next(mesh.vertices for mesh in meshes if mesh.name == "skirt")
    end = float(skirt[:, 2].min())
    hem, off = (end, ON_THIGHS_M) if end > knee[2] else (float(knee[2]), OVER_KNEES_M)
    front = _foremost(skirt, hem, MIDDLE_M)
    legs = max(_foremost(mesh.vertices, hem, 2 * hip[0]) for mesh in meshes if mesh.name != "skirt")
    if legs == -np.inf:
        return 0.0
    return float(np.clip((front - legs - off) / max(hip[2] - hem, ABOVE_M), 0.0, STEEPEST))


def _foremost(vertices: FloatArray, hem: float, beside: float) -> float:
    """Return how far forward vertices reach, in metres, just above a hem near the body's middle.

    It is minus infinity if there are none.
    """
    x, y, z = vertices.T
    near = (z > hem) & (z < hem + ABOVE_M) & (np.abs(x) < beside)
    return float((-y[near]).max(initial=-np.inf))


def following(mesh: Mesh, skeleton: Skeleton) -> Mesh:
    """Return a mesh, given with rigid weights, with its weights on the skeleton's followers."""
    fields = _fields(mesh, skeleton)
    if not fields:
        return mesh
    own = np.full(len(mesh.vertices), mesh.joints[0, 0])
    rest = np.maximum(1.0 - sum(fields.values()), 0.0)
    joints = np.stack([own, *(np.full(len(own), skeleton.index[name]) for name in fields)], axis=1)
    weights = np.stack([rest, *fields.values()], axis=1)
    order = np.argsort(-np.round(weights, 9), axis=1, kind="stable")
    weights = np.take_along_axis(weights / weights.sum(axis=1, keepdims=True), order, axis=1)
    return replace(mesh, joints=np.take_along_axis(joints, order, axis=1).astype(np.int32),
                   weights=weights)


def under_tops(meshes: Sequence[Mesh], skeleton: Skeleton) -> list[Mesh]:
    """Return the meshes, with skirts that follow a top over them, so that they stay under it."""
    tops = [mesh for mesh in meshes if mesh.name in TOPS]
    return [_following_tops(mesh, tops, skeleton) if tops and mesh.name == "skirt" else mesh
            for mesh in meshes]


def _following_tops(skirt: Mesh, tops: Sequence[Mesh], skeleton: Skeleton) -> Mesh:
    """Return a skirt that follows the tops where it is near them."""
    above = np.concatenate([top.vertices for top in tops])
    near = nearest(above, skirt.vertices)
    share = ramp(lengths(skirt.vertices - above[near]), *TOP_FOLLOW_M)[:, None]
    own, theirs = (np.concatenate([
        dense_weights(mesh.joints, mesh.weights, len(skeleton.names)) for mesh in meshes])
        for meshes in ([skirt], tops))
    joints, weights = strongest(share * theirs[near] + (1 - share) * own, skirt.joints.shape[1])
    return replace(skirt, joints=joints, weights=weights)


def _fields(mesh: Mesh, skeleton: Skeleton) -> dict[str, FloatArray]:
    """Return the weights (V,) of a mesh's vertices on each follower; empty if it has none."""
    if mesh.name == "skirt":
        return _skirt_fields(mesh.vertices, skeleton)
    sways = mesh.attributes.get("sway")
    return {} if sways is None else {"HairSway": np.asarray(sways)}


def _skirt_fields(vertices: FloatArray, skeleton: Skeleton) -> dict[str, FloatArray]:
    """Return the weights of a skirt's vertices (V,) on each of its joints."""
    hip, knee = (skeleton.heads[skeleton.index[name]] for name in ("LeftUpLeg", "LeftLeg"))
    x, y, z = vertices.T
    away = np.stack([x, hip[1] - y], axis=1)
    aside, ahead = (away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)).T
    down = ramp(z, hip[2] + 0.06, hip[2] - 0.10)
    low = ramp(z, knee[2] - 0.02, knee[2] - 0.14)
    front, back = (down * np.maximum(sign * ahead, 0.0) ** 2 for sign in (1.0, -1.0))
    sides = [down * np.maximum(sign * aside, 0.0) ** 2 for sign in (1.0, -1.0)]
    halves = 0.5 * low * (sides[0] + sides[1])
    return {"SkirtFront": front * (1 - low), "SkirtBack": back * (1 - low),
            "LeftSkirt": sides[0] * (1 - low), "RightSkirt": sides[1] * (1 - low),
            "SkirtFrontLow": front * low + halves, "SkirtBackLow": back * low + halves}


def with_followers_turned(motion: Motion) -> Motion:
    """Return the motion with its followers, if any, turned."""
    skeleton, rotations = motion.skeleton, motion.rotations.copy()
    turned: dict[str, FloatArray] = {}
    if "SkirtFront" in skeleton.index:
        turned |= _skirt_turned(motion)
    if "HairSway" in skeleton.index:
        turned["HairSway"] = _hair_turned(motion)
    for name, turns in turned.items():
        rotations[:, skeleton.index[name]] = turns
    return Motion(skeleton, motion.fps, motion.root_positions, rotations)


def _skirt_turned(motion: Motion) -> dict[str, FloatArray]:
    """Return the local rotations (F, 4) of a skirt's joints."""
    thighs = np.stack([_hang_direction(motion, side + "UpLeg") for side in ("Left", "Right")])
    shins = np.stack([_hang_direction(motion, side + "UpLeg", side + "Leg")
                      for side in ("Left", "Right")])
    lift, shin_lift = _lift(thighs), _lift(shins)
    aside = np.arcsin(np.clip(thighs[..., 0], -1.0, 1.0)).sum(axis=0) / 4
    front, back = lift.max(axis=0), lift.min(axis=0)
    front = front - _slope(motion.skeleton) * np.sin(np.clip(front, 0.0, np.pi / 2))
    low_front = np.minimum(np.maximum(shin_lift.max(axis=0), 0.0), front)
    low_back = np.maximum(np.minimum(shin_lift.min(axis=0), 0.0), np.minimum(back, 0.0) - 1.2)
    down = np.array([0.0, 0.0, -1.0])
    return {
        "SkirtFront": _swing_rotations(front, aside), "SkirtBack": _swing_rotations(back, aside),
        "LeftSkirt": quaternions.between(down, thighs[0]),
        "RightSkirt": quaternions.between(down, thighs[1]),
        "SkirtFrontLow": _swing_rotations(low_front - front, np.zeros_like(aside)),
        "SkirtBackLow": _swing_rotations(np.minimum(low_back, back) - back, np.zeros_like(aside)),
    }


def _slope(skeleton: Skeleton) -> float:
    """Return the angle between a skirt's front and the legs, in radians."""
    front = skeleton.index["SkirtFront"]
    _, back, up = skeleton.tails[front] - skeleton.heads[front]
    return float(np.arctan2(back, -up))


def _hang_direction(motion: Motion, *joints: str) -> FloatArray:
    """Return the direction (F, 3), relative to the hips, of a bone that hangs down at rest."""
    direction = np.array([0.0, 0.0, -1.0])
    for name in reversed(joints):
        direction = quaternions.rotate(motion.rotations[:, motion.skeleton.index[name]], direction)
    return direction


def _lift(ways: FloatArray) -> FloatArray:
    """Return how far forward (...,) directions (..., 3) are lifted, in radians."""
    return np.arctan2(-ways[..., 1], -ways[..., 2])


def _swing_rotations(lift: FloatArray, aside: FloatArray) -> FloatArray:
    """Return rotations (F, 4) by ``lift`` forwards and ``aside`` to the left, in radians."""
    nothing = np.zeros_like(lift)
    forward = quaternions.from_rotation_vectors(np.stack([-lift, nothing, nothing], axis=1))
    sideways = quaternions.from_rotation_vectors(np.stack([nothing, -aside, nothing], axis=1))
    return quaternions.multiply(sideways, forward)


# Swinging of long hair: its frequency, its damping ratio, the largest angle (radians), and the
# fraction of the head's rotation that hair lying on the chest does not follow.
SWING_HZ = 1.6
DAMPING = 0.35
FARTHEST = 0.35
RESTING = 0.35


def _hair_turned(motion: Motion) -> FloatArray:
    """Return the local rotations (F, 4) of long hair, which rests on shoulders and lags behind."""
    skeleton = motion.skeleton
    neck, head = (motion.rotations[:, skeleton.index[name]] for name in ("Neck", "Head"))
    resting = quaternions.scale(quaternions.conjugate(quaternions.multiply(neck, head)),
                                np.array(RESTING))
    turns = motion.global_pose.rotations[:, skeleton.index["Head"]]
    steps = quaternions.to_rotation_vectors(
        quaternions.multiply(quaternions.conjugate(turns[:-1]), turns[1:]))
    turned = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    lag = quaternions.from_rotation_vectors(
        softly_limited(-lagging(turned, motion.fps), FARTHEST))
    return quaternions.multiply(resting, lag)


def lagging(values: FloatArray, fps: float) -> FloatArray:
    """Return how far a damped spring lags behind the values that pull it (F, C), starting at rest.

    The transfer function is s^2 / (s^2 + 2 d w s + w^2), discretised by the bilinear transform.
    """
    rate, w = 2.0 * fps, 2 * np.pi * SWING_HZ
    above = rate * rate * np.array([1.0, -2.0, 1.0])
    damped, stiff = 2 * DAMPING * w * rate, w * w
    below = np.array([rate * rate + damped + stiff, 2 * (stiff - rate * rate),
                      rate * rate - damped + stiff])
    spring = SecondOrder(above / below[0], below / below[0])
    return spring.filtered(values - values[:1], np.zeros((2, *values.shape[1:])))
