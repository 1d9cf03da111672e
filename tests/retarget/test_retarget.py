import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.characters.character import Character, Mesh, posed_vertices
from mimegen.motion import Motion, Skeleton, metrics, quaternions, standard_skeleton
from mimegen.motion.editing import trimmed
from mimegen.readers import find_roles, read_motion
from mimegen.retarget import retarget
from mimegen.retarget.limbs import reach
from mimegen.retarget.report import quality
from mimegen.retarget.stance import sole
from real_files import NAMES

STANDARD = standard_skeleton()
BONES = [(f"{side}_{a}", f"{side}_{b}") for side in ("left", "right") for a, b in
         (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))]


def character(skeleton=STANDARD):
    return Character("bones", skeleton, (), {}, "", "", "")


def squashed(legs, arms):
    """The standard skeleton with other limb lengths, standing on the ground."""
    offsets = STANDARD.offsets.copy()
    for i, name in enumerate(STANDARD.names):
        if name.endswith(("Leg", "Foot")) and "Up" not in name:
            offsets[i] *= legs
        if "Arm" in name or name.endswith("Hand"):
            offsets[i] *= arms
    heads = offsets.copy()
    for i in range(1, len(heads)):
        heads[i] += heads[STANDARD.parents[i]]
    tails = STANDARD.tails + heads - STANDARD.heads
    ground = [0.0, 0.0, heads[STANDARD.index["LeftFoot"], 2] - STANDARD.heads[
        STANDARD.index["LeftFoot"], 2]]
    return Skeleton(STANDARD.names, STANDARD.parents, heads - ground, tails - ground)


def fleshy():
    """The standard skeleton with a box of flesh around every joint."""
    corners = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    sizes = [0.1 if name == "Head" else 0.02 for name in STANDARD.names]
    places = [STANDARD.heads[i] + ([0, -0.03, 0.1] if name == "Head" else 0) + corners * sizes[i]
              for i, name in enumerate(STANDARD.names)]
    owners = np.repeat(np.arange(len(places)), 27)[:, None].astype(np.int32)
    mesh = Mesh("flesh", np.concatenate(places), np.zeros((0, 4), np.int32), owners,
                np.ones((len(owners), 1)), "flesh")
    return Character("boxes", STANDARD, (mesh,), {}, "", "", "")


def soles(performance):
    """Heels, balls and toe tips of both feet, (F, 2, 3, 3)."""
    skeleton, pose = performance.motion.skeleton, performance.motion.global_pose
    joints = {r: skeleton.index[n] for r, n in find_roles(skeleton).joints.items()}
    found = []
    for side in ("left", "right"):
        own = sole(performance.character, joints, side)
        foot, toe = joints[f"{side}_foot"], joints[f"{side}_toe"]
        found.append([pose.positions[:, j] + quaternions.rotate(pose.rotations[:, j], point)
                      for j, point in ((foot, own.heel), (foot, own.ball), (toe, own.tip))])
    return np.moveaxis(np.array(found), 2, 0)


@pytest.fixture(scope="session", params=NAMES)
def take(request, samples):
    """A real take of at most six seconds, and its performance by the standard body."""
    recording = read_motion(samples / "bvh" / f"{request.param}.bvh")
    motion = recording.motion
    motion = trimmed(motion, 0, min(motion.frames - 1, round(6 * motion.fps)))
    return request.param, recording.roles, motion, retarget(motion, character(), recording.roles)


@pytest.mark.slow
def test_limbs_point_the_same_way(take):
    _, roles, motion, performance = take
    error = quality(motion, roles, performance)["joint_direction_error_deg"]
    assert error <= 5.0


@pytest.mark.slow
def test_nothing_sinks_and_planted_feet_stay(take):
    _, roles, motion, performance = take
    points = soles(performance)
    assert metrics.ground_penetration(points.reshape(len(points), -1, 3)) < 0.1
    report = quality(motion, roles, performance)
    assert report["planted_foot_drift_mm"] < 5.0
    excess = report["skate_share"] - report["source"]["skate_share"]
    assert excess <= 0.01


@pytest.mark.slow
def test_motion_stays_as_smooth_as_the_source(take):
    _, roles, motion, performance = take
    assert quality(motion, roles, performance)["jerk_ratio"] <= 1.05


@pytest.mark.slow
def test_knees_and_elbows_bend_the_right_way(take):
    _, _, _, performance = take
    index, pose = STANDARD.index, performance.motion.global_pose
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        for upper, lower, end, hinge in (
            ("Arm", "ForeArm", "Hand", [0.0, 0.0, sign]), ("UpLeg", "Leg", "Foot", [1.0, 0.0, 0.0])
        ):
            a, b, c = (pose.positions[:, index[side + part]] for part in (upper, lower, end))
            axis = np.cross(b - a, c - b)
            sine = np.linalg.norm(axis, axis=1) / (np.linalg.norm(b - a, axis=1)
                                                   * np.linalg.norm(c - b, axis=1))
            turned = quaternions.rotate(pose.rotations[:, index[side + upper]], hinge)
            along = np.sum(axis * turned, axis=1)[sine > np.sin(np.radians(35))]
            assert len(along) < 5 or np.mean(along > 0) > 0.9


@pytest.mark.slow
def test_wrists_and_waists_are_not_wrung(take):
    name, _, _, performance = take
    index, local = STANDARD.index, performance.motion.rotations
    for side in ("Left", "Right"):
        along = quaternions.between([1.0, 0.0, 0.0], STANDARD.offsets[index[f"{side}Hand"]])
        axis = quaternions.rotate(along, [1.0, 0.0, 0.0])
        twist = quaternions.twist_about(local[:, index[f"{side}Hand"]], axis)
        angle = np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(twist), axis=1))
        assert np.percentile(angle, 90) < 75.0
    for joint in ("Spine", "Spine1", "Spine2", "Neck", "Head"):
        angle = np.linalg.norm(quaternions.to_rotation_vectors(local[:, index[joint]]), axis=1)
        assert np.degrees(np.median(angle)) < (70.0 if name.startswith("optitrack") else 50.0)


def dance(frames=90):
    """A made-up take: standing, with arms, head and fingers in motion."""
    index = STANDARD.index
    time = np.linspace(0.0, 3.0, frames)
    vectors = np.zeros((frames, len(STANDARD.names), 3))
    vectors[:, index["LeftArm"], 1] = 0.9 + 0.3 * np.sin(2 * time)
    vectors[:, index["RightForeArm"], 2] = 0.8 + 0.4 * np.sin(3 * time)
    vectors[:, index["Head"], 2] = 0.3 * np.sin(time)
    vectors[:, index["LeftHandIndex2"], 1] = 0.7
    root = np.tile(STANDARD.heads[0], (frames, 1))
    return Motion(STANDARD, 30.0, root, quaternions.from_rotation_vectors(vectors))


@pytest.mark.slow
def test_the_same_skeleton_performs_the_same_motion():
    motion = dance()
    done = retarget(motion, character()).motion
    assert np.allclose(done.global_pose.positions, motion.global_pose.positions, atol=2e-3)
    assert np.allclose(np.abs(np.sum(done.rotations * motion.rotations, -1)), 1.0, atol=1e-4)


@pytest.mark.slow
def test_there_and_back_is_the_same_motion():
    motion = dance()
    other = character(squashed(1.15, 0.9))
    there = retarget(motion, other)
    back = retarget(there.motion, character()).motion
    difference = np.linalg.norm(back.global_pose.positions - motion.global_pose.positions, axis=2)
    assert difference.max() < 0.005


@pytest.mark.slow
@pytest.mark.parametrize(("legs", "arms"), [(0.8, 0.85), (1.2, 1.1)])
def test_feet_stand_on_the_ground_whatever_the_legs(legs, arms):
    performance = retarget(dance(), character(squashed(legs, arms)))
    heights = soles(performance)[..., 2]
    assert np.all(np.abs(heights) < 0.003)


@pytest.mark.slow
@pytest.mark.parametrize("arms", [0.85, 1.15])
def test_hands_that_meet_meet_on_other_arms(arms):
    index = STANDARD.index
    vectors = np.zeros((10, len(STANDARD.names), 3))
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        vectors[:, index[f"{side}Arm"]] = [0.0, 0.0, sign * 1.3]
        vectors[:, index[f"{side}ForeArm"]] = [0.0, 0.0, sign * 1.5]
    motion = Motion(STANDARD, 30.0, np.tile(STANDARD.heads[0], (10, 1)),
                    quaternions.from_rotation_vectors(vectors))
    def apart(positions):
        return np.linalg.norm(positions[0, index["LeftHand"]] - positions[0, index["RightHand"]])
    before = apart(motion.global_pose.positions)
    assert before < 0.14
    done = retarget(motion, character(squashed(1.0, arms))).motion
    assert apart(done.global_pose.positions) == pytest.approx(before, abs=0.01)


@pytest.mark.slow
def test_missing_fingers_get_a_hand_shape(samples):
    recording = read_motion(samples / "bvh" / "pybvh_bvh_test2.bvh")
    for shape, bend in (("relaxed", 26.0), ("fist", 86.0)):
        done = retarget(recording.motion, character(), recording.roles, hand_shape=shape).motion
        finger = done.rotations[:, STANDARD.index["LeftHandMiddle1"]]
        angle = np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(finger), axis=1))
        assert np.allclose(angle, bend)
    with pytest.raises(RequestError, match="no hand shape 'fists', expected one of"):
        retarget(recording.motion, character(), recording.roles, hand_shape="fists")


@pytest.mark.slow
def test_another_rest_pose_changes_nothing():
    """The same performance, its skeleton saved in an A pose, is the same on the character."""
    motion = dance()
    skeleton = motion.skeleton
    turns = np.tile(quaternions.IDENTITY, (len(skeleton.names), 1))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        down = quaternions.from_rotation_vectors([0.0, sign * np.radians(45), 0.0])
        for i, name in enumerate(skeleton.names):
            if name.startswith(side) and ("Arm" in name or "Hand" in name):
                turns[i] = down
    heads, tails = skeleton.heads.copy(), skeleton.tails.copy()
    for i in range(len(heads)):
        if i:
            parent = skeleton.parents[i]
            heads[i] = heads[parent] + quaternions.rotate(turns[parent], skeleton.offsets[i])
        tails[i] = heads[i] + quaternions.rotate(turns[i], skeleton.tails[i] - skeleton.heads[i])
    names = tuple("mixamorig:" + name for name in skeleton.names)
    posed = Skeleton(names, skeleton.parents, heads, tails)
    rotations = quaternions.multiply(motion.global_pose.rotations, quaternions.conjugate(turns))
    saved = Motion.from_global_rotations(posed, 30.0, motion.root_positions, rotations)
    assert np.allclose(saved.global_pose.positions, motion.global_pose.positions, atol=1e-9)
    done = retarget(saved, character()).motion
    difference = np.linalg.norm(
        done.global_pose.positions - motion.global_pose.positions, axis=2)
    assert difference.max() < 0.01


def test_legs_reach_goals_and_stop_short_of_their_length():
    rng = np.random.default_rng(1)
    places = np.tile([[0.0, 0, 1], [0, -0.05, 0.55], [0, 0, 0.1]], (50, 1, 1))
    goals = places[:, 2] + rng.normal(0, 0.1, (50, 3))
    hinges = np.tile([1.0, 0.0, 0.0], (50, 1))
    bent = reach(places, goals, hinges)
    assert np.allclose(np.linalg.norm(bent[:, 0] - places[:, 0], axis=1),
                       np.linalg.norm(places[:, 1] - places[:, 0], axis=1))
    near = np.linalg.norm(goals - places[:, 0], axis=1) < 0.89
    assert np.allclose(bent[near, 1], goals[near]) and near.sum() > 10
    far = reach(places, places[:, 0] - [0.0, 0.0, 2.0], hinges)
    assert np.all(np.isfinite(far)) and np.all(far[:, 0, 1] < 0)


def lowest_flesh(performance):
    pose, mesh = performance.motion.global_pose, performance.character.meshes[0]
    return min(posed_vertices(mesh, STANDARD, pose.positions[f], pose.rotations[f])[:, 2].min()
               for f in range(0, performance.motion.frames, 5))


@pytest.mark.slow
def test_a_body_that_lies_down_lies_on_the_ground_and_hands_on_it():
    motion = dance(60)
    index = STANDARD.index
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.from_rotation_vectors([-np.pi / 2, 0.0, 0.0])
    rotations[:, index["LeftArm"]] = quaternions.from_rotation_vectors([0.0, 0.0, 0.4])
    root = np.tile([0.0, 0.0, 0.01], (60, 1))
    low = retarget(Motion(STANDARD, 30.0, root, rotations), fleshy())
    hips = low.motion.root_positions[:, 2]
    assert lowest_flesh(low) > -0.05 and np.all(hips < 0.25)
