import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from marked_bodies import OPTITRACK, PLUG_IN_GAIT, SHOGUN, exercise, markers
from mimegen.base.errors import RequestError
from mimegen.markers import centres, find_marker_set, solve
from mimegen.markers.fitting import Pose, Rig, Springs, fitted, posed
from mimegen.markers.sets import body_landmarks, marker_sets, plain
from mimegen.motion import Motion, quaternions, standard_skeleton

JOINTS = ["LeftLeg", "RightLeg", "LeftFoot", "RightFoot", "LeftArm", "RightArm", "LeftForeArm",
          "RightForeArm", "LeftHand", "RightHand", "Neck", "Hips", "LeftUpLeg", "RightUpLeg",
          "LeftToeBase", "RightToeBase"]


def errors_mm(solution, motion):
    """Return the joints' mean distances from where they truly are, in mm, by name."""
    ours, true = solution.motion, motion.global_pose.positions[solution.frames]
    return {name: float(1000 * np.linalg.norm(
        ours.global_pose.positions[:, ours.skeleton.index[name]]
        - true[:, motion.skeleton.index[name]], axis=1).mean()) for name in JOINTS}


def solved(labels, places):
    return solve("synthetic", labels, places, 30.0, find_marker_set("synthetic", tuple(labels)))


@pytest.mark.parametrize("labels", [PLUG_IN_GAIT, SHOGUN, OPTITRACK],
                         ids=["plug-in gait", "shogun", "optitrack"])
@pytest.mark.parametrize("size", [0.85, 1.1])
def test_a_body_with_markers_is_found_again(labels, size):
    motion = exercise(size=size)
    solution = solved(labels, markers(labels, motion, size))
    found = errors_mm(solution, motion)
    assert max(solution.rms_mm.values()) < 12.0
    assert np.median(list(found.values())) < 12.0
    assert max(found.values()) < 30.0, found


def test_bones_keep_their_length_and_both_sides_have_the_same():
    solution = solved(PLUG_IN_GAIT, markers(PLUG_IN_GAIT, exercise()))
    skeleton = solution.motion.skeleton
    lengths = dict(zip(skeleton.names, np.linalg.norm(skeleton.offsets, axis=1), strict=True))
    true = standard_skeleton()
    for bone in ("Leg", "Foot", "ForeArm", "Hand"):
        assert lengths[f"Left{bone}"] == pytest.approx(lengths[f"Right{bone}"], rel=1e-3)
        wanted = np.linalg.norm(true.offsets[true.index[f"Left{bone}"]])
        assert lengths[f"Left{bone}"] == pytest.approx(wanted, abs=0.03)


def test_fingers_are_solved_where_they_have_markers():
    motion = exercise()
    assert not any("Index" in n for n in solved(PLUG_IN_GAIT, markers(
        PLUG_IN_GAIT, motion)).motion.skeleton.names)
    solution = solved(SHOGUN, markers(SHOGUN, motion))
    assert {"LeftHandIndex1", "RightHandPinky3"} <= set(solution.motion.skeleton.names)


def test_gaps_are_bridged_and_flagged():
    motion, places = exercise(), markers(PLUG_IN_GAIT, exercise())
    arm_markers = [PLUG_IN_GAIT.index(n) for n in ("LELB", "LFRM", "LWRA", "LWRB", "LFIN")]
    places[30:40, arm_markers] = np.nan
    solution = solved(PLUG_IN_GAIT, places)
    arm = solution.motion.skeleton.index["LeftForeArm"]
    assert solution.unseen[30:40, arm].all() and solution.unseen[:, arm].sum() == 10
    ours = solution.motion.global_pose.positions[:, solution.motion.skeleton.index["LeftHand"]]
    true = motion.global_pose.positions[:, motion.skeleton.index["LeftHand"]]
    assert np.linalg.norm(ours - true, axis=1)[30:40].max() < 0.1
    assert any("gaps bridged" in note for note in solution.notes)


@pytest.mark.parametrize(("missing", "joint", "said"), [
    (("LKNE",), "LeftLeg", "left knee"), (("RANK",), "RightFoot", "right ankle"),
    (("LTOE",), "LeftToeBase", "left toes"),
    (("RELB",), "RightForeArm", "right elbow"), (("LWRA", "LWRB"), "LeftHand", "left wrist")])
def test_a_joint_that_no_marker_shows_is_inferred_and_said(missing, joint, said):
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    places[1:, [PLUG_IN_GAIT.index(label) for label in missing]] = np.nan
    solution = solved(PLUG_IN_GAIT, places)
    assert solution.inferred == (joint,)
    assert any(note.startswith(f"no marker shows the {said}: inferred") for note in solution.notes)
    assert errors_mm(solution, exercise())[joint] < 25.0


@pytest.mark.parametrize("missing", ["LASI", "RPSI"])
def test_three_markers_of_the_pelvis_are_enough(missing):
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    places[:, PLUG_IN_GAIT.index(missing)] = np.nan
    found, whole = (errors_mm(solved(PLUG_IN_GAIT, seen), exercise())
                    for seen in (places, markers(PLUG_IN_GAIT, exercise())))
    assert max(abs(found[joint] - whole[joint]) for joint in ("LeftUpLeg", "RightUpLeg")) < 10.0


def test_markers_of_no_human_size_are_refused():
    with pytest.raises(RequestError, match=r"synthetic: its markers are as far apart as on a body"
                                           r" 0\.017 m tall"):
        solved(PLUG_IN_GAIT, 0.01 * markers(PLUG_IN_GAIT, exercise()))


def test_nothing_is_inferred_where_markers_show_all():
    assert solved(PLUG_IN_GAIT, markers(PLUG_IN_GAIT, exercise())).inferred == ()
    legs = PLUG_IN_GAIT[23:]
    assert solved(legs, markers(legs, exercise())).inferred == ()


def test_one_marker_that_jumps_away_does_not_take_the_body_along():
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    places[20:25, PLUG_IN_GAIT.index("LKNE")] += 1.0
    found = errors_mm(solved(PLUG_IN_GAIT, places), exercise())
    assert max(found.values()) < 30.0, found


def test_noise_does_not_shake_the_joints():
    places = markers(PLUG_IN_GAIT, exercise())
    noisy = places + np.random.default_rng(3).normal(0, 0.002, places.shape)
    found = errors_mm(solved(PLUG_IN_GAIT, noisy), exercise())
    assert max(found.values()) < 32.0, found


def test_ends_that_show_little_are_left_out():
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    places[:20, :30] = np.nan
    solution = solved(PLUG_IN_GAIT, places)
    assert solution.frames == slice(20, 60)
    assert any("frames 20 to 59 of 60" in note for note in solution.notes)


@pytest.mark.parametrize(("missing", "said"), [
    (("LASI", "RASI", "LPSI"), "1 on the pelvis"),
    (("RTHI", "RKNE", "RTIB", "RANK"), "2 on the right leg")])
def test_bodies_without_pelvis_or_legs_are_refused(missing, said):
    labels = [label for label in PLUG_IN_GAIT if label not in missing]
    with pytest.raises(RequestError, match=said):
        solved(labels, markers(labels, exercise()))


def swaying(frames=90):
    """A standing body that leans to the side and forwards, and reaches out."""
    motion = exercise(frames)
    turns = np.tile(quaternions.IDENTITY, (*motion.rotations.shape[:2], 1))
    sway = np.sin(2 * np.pi * np.arange(frames) / 60)
    for joint, axis in (("Spine1", 0), ("Spine", 1), ("LeftArm", 2), ("RightArm", 2)):
        vectors = np.zeros((frames, 3))
        vectors[:, axis] = 0.3 * sway
        turns[:, motion.skeleton.index[joint]] = quaternions.from_rotation_vectors(vectors)
    return Motion(motion.skeleton, 30.0, np.tile(motion.skeleton.heads[0], (frames, 1)), turns)


@pytest.mark.parametrize(("labels", "said"), [
    (PLUG_IN_GAIT[:23], "pelvis and legs are not recorded"),
    (PLUG_IN_GAIT[:27], "legs are not recorded")])
def test_an_upper_body_alone_gets_standing_legs(labels, said):
    motion = swaying()
    solution = solved(labels, markers(labels, motion))
    assert any(said in note for note in solution.notes)
    assert set(solution.rms_mm) == set(labels)
    assert {"LeftFoot", "RightFoot", "LeftLeg"} <= set(solution.inferred)
    assert ("Hips" in solution.inferred) == (len(labels) == 23)
    index, places = solution.motion.skeleton.index, solution.motion.global_pose.positions
    feet = places[:, [index["LeftFoot"], index["RightFoot"]]]
    assert np.ptp(feet, axis=0).max() < 0.03
    assert np.abs(feet - motion.global_pose.positions[0, [index["LeftFoot"], index["RightFoot"]]]
                  ).max() < 0.08
    found = errors_mm(solution, motion)
    assert max(found[joint] for joint in ("Neck", "LeftForeArm", "RightHand")) < 30.0, found
    assert found["Hips"] < 80.0


def test_legs_below_a_trunk_that_goes_elsewhere_glide_along():
    motion = swaying()
    away = np.linspace(0, 2, motion.frames)[:, None] * [0.0, -1.0, 0.0]
    upper = PLUG_IN_GAIT[:23]
    solution = solved(upper, markers(upper, motion) + away[:, None])
    foot = solution.motion.global_pose.positions[:, solution.motion.skeleton.index["LeftFoot"]]
    assert np.ptp(foot[:, 1]) > 1.5 and np.ptp(foot[:, 2]) < 0.02


@pytest.mark.parametrize(("labels", "name"), [
    (PLUG_IN_GAIT, "Vicon Plug-in Gait"),
    (PLUG_IN_GAIT[23:], "Vicon Plug-in Gait"),
    ([label.lower() for label in PLUG_IN_GAIT], "Vicon Plug-in Gait"),
    (SHOGUN, "Vicon Shogun 53 body and 10 finger markers"),
    (OPTITRACK, "OptiTrack Baseline"),
    (["r asis", "l asis", "sacrum", "r knee 1", "l knee 1", "r heel", "l heel", "r met"],
     "BTS Helen Hayes"),
])
def test_sets_are_told_by_their_labels(labels, name):
    assert find_marker_set("file", tuple(labels)).name == name


def test_labels_of_no_set_are_refused_with_what_there_is():
    with pytest.raises(RequestError, match=r"Channel0, .*match no marker set.*CMU 41"):
        find_marker_set("file", tuple(f"Channel{n}" for n in range(30)))


def test_every_set_names_each_landmark_of_a_side_on_both_sides():
    for one in marker_sets():
        names = set(one.landmarks.values())
        for name in names:
            other = name.replace("left_", "\0").replace("right_", "left_").replace("\0", "right_")
            assert other in names or "shoulder_blade" in name, (one.name, name)


def test_landmarks_are_on_the_skin_near_their_bones():
    skeleton = standard_skeleton()
    for mark in body_landmarks().values():
        joint = skeleton.index[mark.joint]
        ends = skeleton.heads[joint], skeleton.tails[joint]
        along = ends[1] - ends[0]
        share = np.clip((mark.place - ends[0]) @ along / (along @ along), 0, 1)
        assert np.linalg.norm(mark.place - ends[0] - share * along) < 0.17, mark.name


def test_plain_labels_ignore_capitals_and_separators():
    assert plain("L_IAS") == plain("l ias") == plain("LIAS") == "lias"


def test_hips_after_harrington():
    """Pelvic width 240 mm and depth 150 mm, level, facing -Y."""
    places = {"left_asis": np.array([[0.12, 0.0, 1.0]]),
              "right_asis": np.array([[-0.12, 0.0, 1.0]]),
              "sacrum": np.array([[0.0, 0.15, 1.0]])}
    found = centres.hip_centres(places)
    aside, back, down = 0.33 * 0.24 + 0.0073, 0.24 * 0.15 + 0.0099, 0.30 * 0.24 + 0.0109
    assert found["LeftUpLeg"][0] == pytest.approx([aside, back, 1.0 - down])
    assert found["RightUpLeg"][0] == pytest.approx([-aside, back, 1.0 - down])


@given(distance=st.floats(0.02, 0.1), angle=st.floats(0, 6.28), lift=st.floats(-0.3, 0.3))
def test_the_chord_function_keeps_its_promises(distance, angle, lift):
    hip, knee = np.array([[0.1, 0.0, 0.9]]), np.array([[0.15, 0.02, 0.5]])
    lateral = np.array([[np.cos(angle), np.sin(angle), lift]])
    joint = centres.chord(hip, knee, lateral, distance)
    assert np.linalg.norm(joint - knee) == pytest.approx(distance)
    assert abs(float(np.sum((joint - knee) * (joint - hip)))) < 1e-9
    assert float(np.sum((joint - knee) * (lateral - np.sum(
        lateral * (hip - knee), axis=1) / np.sum((hip - knee) ** 2) * (hip - knee)))) < 1e-9


@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_fit_finds_a_pose_again(seed):
    """A chain of three joints with three markers each, from a pose some 30 degrees away."""
    rng = np.random.default_rng(seed)
    rig = Rig(np.array([-1, 0, 1]), np.array([[0, 0, 0], [0, 0, 0.4], [0, 0, 0.4]]),
              np.repeat([0, 1, 2], 3), rng.uniform(-0.2, 0.2, (9, 3)))
    true = Pose(rng.normal(0, 0.5, (6, 3)), quaternions.normalise(rng.normal(0, 1, (6, 3, 4))))
    near = quaternions.from_rotation_vectors(rng.normal(0, 0.3, (6, 3, 3)))
    start = Pose(true.roots + 0.1, quaternions.multiply(near, true.rotations))
    free = Springs(start, np.zeros((6, 3, 3)), np.zeros(6), np.zeros((3, 3)))
    found = fitted(rig, posed(rig, true)[2], start, free, 25, 1.0)
    assert np.abs(posed(rig, found)[2] - posed(rig, true)[2]).max() < 1e-3


def test_markers_that_are_never_seen_leave_the_other_limbs_right():
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    places[:, [PLUG_IN_GAIT.index(n) for n in ("LSHO", "RWRA", "LKNE", "LASI")]] = np.nan
    solution = solved(PLUG_IN_GAIT, places)
    assert np.isfinite(solution.motion.rotations).all()
    found = errors_mm(solution, exercise())
    assert max(found[joint] for joint in ("RightLeg", "RightFoot", "LeftForeArm", "Neck")) < 30.0
    assert "LKNE" not in solution.rms_mm
