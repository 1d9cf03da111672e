"""Whole-body inverse kinematics: find poses that bring a skeleton's markers to measured positions.

Levenberg-Marquardt over all frames at once, with separate damping for every frame (Lu and O'Connor,
"Bone position estimation from skin marker co-ordinates using global optimisation with joint
constraints", J. Biomech. 32 (1999), with ball joints held by soft springs instead of constraints).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

IntArray = NDArray[np.intp]

# Standard deviation of markers (metres).
MARKER_SIGMA = 0.01
# Pull (1/rad) back from a direction in which a joint does not bend.
STOP_PULL = 10.0
# Largest rotation (radians) of a joint in one step.
MAX_ROTATION = 0.7
FRAMES_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class Rig:
    """A skeleton with markers: ``offsets`` (J, 3) and ``parents`` (J,) of the joints.

    ``carriers`` (M,) are the joints that carry the markers; ``markers`` (M, 3) are the markers'
    positions in those joints' frames.
    """

    parents: IntArray
    offsets: FloatArray
    carriers: IntArray
    markers: FloatArray


@dataclass(frozen=True, eq=False)
class Pose:
    """Positions ``roots`` (F, 3) of the root and local ``rotations`` (F, J, 4) of all joints."""

    roots: FloatArray
    rotations: FloatArray

    def at(self, frames: NDArray[np.intp] | slice) -> "Pose":
        """Return the pose in the frames with these indices (K,)."""
        return Pose(self.roots[frames], self.rotations[frames])


@dataclass(frozen=True, eq=False)
class Springs:
    """A pose that joints are drawn to, and the ``pull`` (F, J, 3) in 1/rad about each joint's axes.

    ``root_pull`` (F,) in 1/m draws the root to its position. ``stops`` (J, 3) are 1 if a joint does
    not turn in the negative direction about an axis, else 0.
    """

    pose: Pose
    pull: FloatArray
    root_pull: FloatArray
    stops: FloatArray

    def at(self, frames: NDArray[np.intp] | slice) -> "Springs":
        """Return the springs in the frames with these indices (K,)."""
        return Springs(self.pose.at(frames), self.pull[frames], self.root_pull[frames],
                       self.stops)

    def pull_at(self, strain: FloatArray) -> FloatArray:
        """Return the pull (F, J, 3) at a strain (F, J, 3): radians from the springs' pose."""
        return np.where(self.stops * strain < 0, np.maximum(self.pull, STOP_PULL), self.pull)


def posed(rig: Rig, pose: Pose) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return positions of joints (F, J, 3), their rotations (F, J, 3, 3), and markers (F, M, 3)."""
    local = quaternions.to_matrices(pose.rotations)
    rotations = np.empty_like(local)
    positions = np.empty((*local.shape[:2], 3))
    positions[:, 0], rotations[:, 0] = pose.roots, local[:, 0]
    for joint in range(1, len(rig.parents)):
        parent = rig.parents[joint]
        rotations[:, joint] = rotations[:, parent] @ local[:, joint]
        positions[:, joint] = positions[:, parent] + rotations[:, parent] @ rig.offsets[joint]
    markers = positions[:, rig.carriers] + np.einsum(
        "fmij,mj->fmi", rotations[:, rig.carriers], rig.markers)
    return positions, rotations, markers


def fitted(rig: Rig, seen: FloatArray, start: Pose, springs: Springs, rounds: int,
           outlier: float) -> Pose:
    """Return the pose that fits markers ``seen`` (F, M, 3), NaN at gaps, after ``rounds`` steps.

    Markers further off than about ``outlier`` metres lose their pull (Cauchy's weight).
    """
    spans = [slice(first, first + FRAMES_AT_ONCE) for first in range(0, len(seen), FRAMES_AT_ONCE)]
    # For many small matrices, threads of the linear algebra only obstruct each other.
    with threadpool_limits(1):
        parts = [_fitted(rig, seen[span], start.at(span), springs.at(span), rounds, outlier)
                 for span in spans]
    return Pose(np.concatenate([p.roots for p in parts]),
                np.concatenate([p.rotations for p in parts]))


def _fitted(rig: Rig, seen: FloatArray, pose: Pose, springs: Springs, rounds: int,
            outlier: float) -> Pose:
    below = _below(rig)
    damping = np.full(len(seen), 1e-3)
    state = _state(rig, seen, pose, springs, outlier)
    for _ in range(rounds):
        step = _step(rig, below, state, springs, damping)
        tried = _state(rig, seen, _moved(rig, state, step), springs, outlier)
        better = tried.cost <= state.cost
        damping = np.where(better, np.maximum(damping / 4, 1e-6), damping * 8)
        state = _chosen(better, tried, state)
    return state.pose


@dataclass(frozen=True, eq=False)
class _State:
    """A pose with all values that the next step needs; costs (F,)."""

    pose: Pose
    positions: FloatArray
    rotations: FloatArray
    markers: FloatArray
    misses: FloatArray
    weights: FloatArray
    strain: FloatArray
    cost: FloatArray


def _chosen(better: NDArray[np.bool_], tried: _State, state: _State) -> _State:
    def pick(new: FloatArray, old: FloatArray) -> FloatArray:
        return np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    fields = {name: pick(getattr(tried, name), getattr(state, name))
              for name in ("positions", "rotations", "markers", "misses", "weights", "strain",
                           "cost")}
    return replace(tried, pose=Pose(pick(tried.pose.roots, state.pose.roots),
                                    pick(tried.pose.rotations, state.pose.rotations)), **fields)


def _state(rig: Rig, seen: FloatArray, pose: Pose, springs: Springs, outlier: float) -> _State:
    positions, rotations, markers = posed(rig, pose)
    there = np.isfinite(seen)
    misses = np.where(there, seen - markers, 0.0)
    square = np.sum(misses**2, axis=-1)
    # The square root of Cauchy's weight, as it scales the rows of the equations.
    weights = there[..., 0] / np.sqrt(1.0 + square / outlier**2) / MARKER_SIGMA
    strain = quaternions.to_rotation_vectors(quaternions.multiply(
        quaternions.conjugate(springs.pose.rotations), pose.rotations))
    cost = np.sum(np.log1p(square / outlier**2), axis=1) * (outlier / MARKER_SIGMA) ** 2 \
        + np.sum((springs.pull_at(strain) * strain) ** 2, axis=(1, 2)) \
        + springs.root_pull**2 * np.sum((pose.roots - springs.pose.roots) ** 2, axis=1)
    return _State(pose, positions, rotations, markers, misses, weights, strain, cost)


def _below(rig: Rig) -> list[IntArray]:
    """Return for each joint the indices of the markers that it moves."""
    moves = np.zeros((len(rig.parents), len(rig.carriers)), bool)
    moves[rig.carriers, np.arange(len(rig.carriers))] = True
    for joint in range(len(rig.parents) - 1, 0, -1):
        moves[rig.parents[joint]] |= moves[joint]
    return [np.flatnonzero(row) for row in moves]


def _step(rig: Rig, below: list[IntArray], state: _State, springs: Springs,
          damping: FloatArray) -> FloatArray:
    """Return the root's shift and all joints' rotation vectors in world coordinates (F, 3 + 3 J).
    """
    frames, joints = state.rotations.shape[:2]
    count = state.markers.shape[1]
    slopes = np.zeros((frames, 3 + 3 * joints, count, 3))
    for axis in range(3):
        slopes[:, axis, :, axis] = state.weights
    for joint in range(joints):
        moved = below[joint]
        if not len(moved):
            continue
        arms = (state.markers[:, moved] - state.positions[:, joint, None]) \
            * state.weights[:, moved, None]
        at = 3 + 3 * joint
        # The velocity of a point at r in a rotation about axis e is e x r.
        for axis, (one, two) in enumerate(((1, 2), (2, 0), (0, 1))):
            slopes[:, at + axis, moved, two] = arms[..., one]
            slopes[:, at + axis, moved, one] = -arms[..., two]
    flat = slopes.reshape(frames, -1, 3 * count)
    matrix = flat @ flat.transpose(0, 2, 1)
    right = (flat @ (state.misses * state.weights[..., None]).reshape(frames, -1, 1))[..., 0]
    _add_springs(rig, state, springs, matrix, right)
    size = matrix.shape[1]
    diagonal = matrix[:, np.arange(size), np.arange(size)]
    matrix[:, np.arange(size), np.arange(size)] += damping[:, None] * diagonal + 1e-6
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])


def _add_springs(rig: Rig, state: _State, springs: Springs, matrix: FloatArray,
                 right: FloatArray) -> None:
    """Add the springs to the normal equations in place."""
    goal = quaternions.to_matrices(springs.pose.rotations)
    above = np.concatenate([np.broadcast_to(np.eye(3), (len(goal), 1, 3, 3)),
                            state.rotations[:, rig.parents[1:]]], axis=1)
    axes = above @ goal
    square = springs.pull_at(state.strain) ** 2
    blocks = (axes * square[..., None, :]) @ axes.swapaxes(-1, -2)
    pulls = -(axes @ (square * state.strain)[..., None])[..., 0]
    for joint in range(len(rig.parents)):
        at = slice(3 + 3 * joint, 6 + 3 * joint)
        matrix[:, at, at] += blocks[:, joint]
        right[:, at] += pulls[:, joint]
    pull = springs.root_pull**2
    matrix[:, range(3), range(3)] += pull[:, None]
    right[:, :3] += pull[:, None] * (springs.pose.roots - state.pose.roots)


def _moved(rig: Rig, state: _State, step: FloatArray) -> Pose:
    vectors = step[:, 3:].reshape(len(step), -1, 3)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    vectors = vectors * np.minimum(1.0, MAX_ROTATION / np.maximum(length, 1e-12))
    # From world coordinates to those of the joint's parent.
    vectors[:, 1:] = np.einsum("fjki,fjk->fji", state.rotations[:, rig.parents[1:]], vectors[:, 1:])
    rotations = quaternions.multiply(quaternions.from_rotation_vectors(vectors),
                                     state.pose.rotations)
    return Pose(state.pose.roots + step[:, :3], quaternions.normalise(rotations))
