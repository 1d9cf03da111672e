import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from examples import examples
from mimegen.motion import Motion, Skeleton, metrics, quaternions, standard_skeleton
from mimegen.motion.contacts import resting, resting_level, velocities
from mimegen.motion.editing import mirrored, resampled, trimmed
from mimegen.motion.limbs import across

seeds = st.integers(0, 2**32 - 1)


def turns(seed, *shape):
    count = int(np.prod(shape))
    rotations = Rotation.random(count, random_state=seed)
    return rotations.as_quat(scalar_first=True).reshape(*shape, 4)


def some_motion(seed, frames=7, fps=30.0):
    skeleton = standard_skeleton()
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0.0, 0.4, (frames, len(skeleton.names), 3))
    return Motion(skeleton, fps, rng.normal(size=(frames, 3)),
                  quaternions.from_rotation_vectors(vectors))


def same_turn(first, second):
    return np.allclose(np.abs(np.sum(first * second, axis=-1)), 1.0, atol=1e-9)


@given(seeds)
@settings(max_examples=examples(20), deadline=None)
def test_quaternion_algebra_is_scipys(seed):
    a, b = np.split(turns(seed, 10), 2)
    first, second = (Rotation.from_quat(q, scalar_first=True) for q in (a, b))
    vectors = np.random.default_rng(seed).normal(size=(5, 3))
    product = (first * second).as_quat(scalar_first=True)
    assert same_turn(quaternions.multiply(a, b), product)
    assert np.allclose(quaternions.rotate(a, vectors), first.apply(vectors))
    assert np.allclose(quaternions.to_rotation_vectors(a), first.as_rotvec())
    assert same_turn(quaternions.from_rotation_vectors(first.as_rotvec()), a)
    assert np.allclose(quaternions.to_matrices(a), first.as_matrix())
    assert same_turn(quaternions.from_matrices(first.as_matrix()), a)
    assert same_turn(quaternions.from_frames(first.as_matrix()), a)


@given(seeds)
@settings(max_examples=examples(20), deadline=None)
def test_swing_and_twist_make_the_rotation(seed):
    q, axis = turns(seed, 4), np.array([0.0, 0.6, 0.8])
    twist = quaternions.twist_about(q, axis)
    swing = quaternions.multiply(q, quaternions.conjugate(twist))
    assert np.allclose(np.cross(twist[:, 1:], axis), 0.0)
    assert np.allclose(swing[:, 1:] @ axis, 0.0)


@given(seeds)
@settings(max_examples=examples(20), deadline=None)
def test_between_turns_one_vector_to_the_other(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 6, 3))
    b[0] = -a[0]
    turned = quaternions.rotate(quaternions.between(a, b), a)
    assert np.allclose(np.cross(turned, b), 0.0, atol=1e-6)
    assert np.all(np.sum(turned * b, axis=1) > 0)


def test_without_flips_neighbours_are_close_and_turns_the_same():
    q = turns(3, 50) * np.random.default_rng(1).choice([-1.0, 1.0], (50, 1))
    tidy = quaternions.without_flips(q)
    assert same_turn(tidy, q) and np.all(np.sum(tidy[1:] * tidy[:-1], axis=1) >= 0)


@given(seeds)
@settings(max_examples=examples(10), deadline=None)
def test_bone_lengths_are_constant(seed):
    motion = some_motion(seed)
    positions, parents = motion.global_pose.positions, motion.skeleton.parents
    lengths = np.linalg.norm(positions[:, 1:] - positions[:, parents[1:]], axis=2)
    assert np.allclose(lengths, np.linalg.norm(motion.skeleton.offsets[1:], axis=1))


@given(seeds)
@settings(max_examples=examples(10), deadline=None)
def test_global_rotations_and_back(seed):
    motion = some_motion(seed)
    again = Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions,
                                         motion.global_pose.rotations)
    assert same_turn(again.rotations, motion.rotations)


def test_forward_kinematics_of_a_bent_elbow():
    skeleton = standard_skeleton()
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    bend = quaternions.from_rotation_vectors([0.0, 0.0, -np.pi / 2])
    rotations[0, skeleton.index["LeftForeArm"]] = bend
    pose = Motion(skeleton, 30.0, skeleton.heads[:1], rotations).global_pose
    elbow, wrist = (pose.positions[0, skeleton.index[n]] for n in ("LeftForeArm", "LeftHand"))
    straight = skeleton.heads[skeleton.index["LeftHand"]] - elbow
    assert np.allclose(wrist - elbow, [straight[1], -straight[0], straight[2]])


@given(seeds)
@settings(max_examples=examples(10), deadline=None)
def test_mirroring_twice_is_nothing_and_once_swaps_the_sides(seed):
    motion = some_motion(seed)
    once = mirrored(motion)
    assert np.allclose(mirrored(once).rotations, motion.rotations)
    assert np.allclose(mirrored(once).root_positions, motion.root_positions)
    index = motion.skeleton.index
    left = motion.global_pose.positions[:, index["LeftHand"]]
    right = once.global_pose.positions[:, index["RightHand"]]
    assert np.allclose(left * [-1, 1, 1], right, atol=1e-3)


def test_resampling_keeps_ends_and_duration():
    motion = some_motion(1, frames=31)
    fast = resampled(motion, 120.0)
    assert fast.frames == 121 and fast.last_s == pytest.approx(motion.last_s)
    assert np.allclose(fast.root_positions[::4], motion.root_positions)
    assert same_turn(fast.rotations[::4], motion.rotations)
    assert np.allclose(resampled(fast, 30.0).root_positions, motion.root_positions)


def test_trimming_outside_the_motion_is_refused():
    motion = some_motion(1)
    assert trimmed(motion, 2, 4).frames == 3
    with pytest.raises(ValueError, match="do not lie within"):
        trimmed(motion, 2, 7)


def test_a_skeleton_with_two_roots_is_refused():
    heads = np.zeros((2, 3))
    with pytest.raises(ValueError, match="one root"):
        Skeleton(("a", "b"), np.array([-1, -1]), heads, heads)


def steps(fps=100.0):
    """A point that rests, swings to 1 m further and rests again."""
    time = np.arange(0, 3, 1 / fps)
    share = np.clip((time - 1.0) / 0.5, 0, 1)
    ease = share**2 * (3 - 2 * share)
    return np.stack([ease, 0 * ease, 0.03 + 0.2 * np.sin(np.pi * share)], axis=1)[:, None]


def test_contacts_of_a_step():
    points = steps()
    level = resting_level(points, 100.0)
    flags = resting(points, 100.0, level)[:, 0]
    assert level == pytest.approx(0.03, abs=0.003)
    assert flags[:95].all() and flags[155:].all() and not flags[108:142].any()


def test_velocity_of_even_motion():
    points = np.arange(50.0)[:, None] * [[0.02, 0.0, 0.0]]
    assert np.allclose(velocities(points, 50.0)[10:40], [1.0, 0.0, 0.0], atol=1e-6)


def test_metrics_on_known_motions():
    still = np.zeros((100, 1, 3))
    sliding = still + np.arange(100)[:, None, None] * [0.01, 0.0, 0.0]
    assert metrics.foot_skate(still, 100.0) == pytest.approx(0.0, abs=1e-9)
    assert metrics.foot_skate(sliding, 100.0) == pytest.approx(100.0, rel=0.02)
    assert metrics.skate_share(sliding, 100.0) > 0.95
    # A foot that comes down is not sliding yet between the sample in the air and the one below.
    landing = sliding[:11] + np.where(np.arange(11) < 3, 0.2, 0.0)[:, None, None] * [0, 0, 1.0]
    assert metrics.skate_share(landing, 100.0) == 0.5
    assert metrics.ground_penetration(still - [0.0, 0.0, 0.02]) == pytest.approx(2.0)
    assert metrics.mean_jerk(sliding, 100.0) == pytest.approx(0.0, abs=1e-6)
    assert metrics.direction_errors(np.eye(3)[0], np.eye(3)[1]) == pytest.approx(90.0)


@pytest.mark.parametrize("axis", [
    (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, -1), (0, -1, 1), (0, 1, 1), (1, 1, 1), (-1, 1, -1)])
def test_what_lies_along_an_axis_still_has_something_across_it(axis):
    way = np.array([axis], float) / np.linalg.norm(axis)
    found = across(3.0 * way, way)
    assert np.linalg.norm(found) == pytest.approx(1.0)
    assert float((found * way).sum()) == pytest.approx(0.0, abs=1e-8)
