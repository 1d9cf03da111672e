import re

import numpy as np
import pytest
from bvh import Bvh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bvh_text import CHANNELS, HIERARCHY, person, row
from examples import examples
from mimegen.base.errors import RequestError
from mimegen.motion import Skeleton, quaternions, standard_skeleton
from mimegen.readers import READERS, ReadOptions, find_roles, read_motion
from mimegen.readers.bvh import read_bvh
from real_files import NAMES


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "take.bvh"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", NAMES)
def test_samples_stand_upright_facing_front_on_the_ground(samples, name):
    recording = read_motion(samples / "bvh" / f"{name}.bvh")
    motion, index = recording.motion, recording.motion.skeleton.index
    places = {role: motion.global_pose.positions[:, index[joint]]
              for role, joint in recording.roles.items()}
    start = slice(0, max(1, round(motion.fps / 10)))
    feet = (places["left_foot"] + places["right_foot"]) / 2
    body = places["head"] - feet
    assert np.all(body[start, 2] > 0.8 * np.linalg.norm(body[start], axis=1))
    left = sum((places[f"left_{p}"] - places[f"right_{p}"])[start].mean(axis=0)
               for p in ("thigh", "upper_arm"))
    assert left[0] > 0.9 * np.linalg.norm(left)
    assert np.allclose(motion.root_positions[0, :2], 0.0, atol=1e-9)
    lowest = np.minimum(places["left_foot"][:, 2], places["right_foot"][:, 2])
    assert 0.0 < np.percentile(lowest, 5) < 0.15
    assert 1.2 < np.percentile(places["head"][:, 2], 90) < 1.9


@pytest.mark.parametrize("name", NAMES)
def test_samples_agree_with_the_bvh_package(samples, name):
    path = samples / "bvh" / f"{name}.bvh"
    motion, _ = read_bvh(path)
    text = path.read_text()
    header = Bvh(text[: text.index("MOTION")])
    names = header.get_joints_names()
    assert motion.skeleton.names == tuple(names)[len(names) - len(motion.skeleton.names):]
    rate = 1 / float(re.findall(r"Frame Time:\s*(\S+)", text)[0])
    assert motion.fps == pytest.approx(rate, rel=1e-3)
    if not name.startswith(("bandai", "optitrack")):
        offsets = np.array([header.joint_offset(n) for n in names])
        assert np.allclose(motion.skeleton.offsets, offsets, atol=1e-9)


@pytest.mark.parametrize(("name", "unit", "up"), [
    ("cmu_18_01", 0.0254 / 0.45, "Y"), ("pybvh_bvh_test1", 0.0254, "Z"),
    ("pymo_AV_8Walk", 0.0254, "Y"), ("anim_rokoko_jesse_dance", 0.01, "Y"),
    ("anim_fair_jumping", pytest.approx(0.04, rel=0.1), "Z"),
])
def test_units_and_up_axes_of_samples(samples, name, unit, up):
    recording = read_motion(samples / "bvh" / f"{name}.bvh")
    assert (recording.unit, recording.up_axis) == (unit, up)


def test_frames_beyond_the_declared_ones_are_read(samples):
    recording = read_motion(samples / "bvh" / "assimp_Boxing_Toes.bvh")
    assert recording.motion.frames == 3070
    assert any("3070 frames and declares 3069" in note for note in recording.notes)


def test_a_plain_person(written):
    rows = [row(x=100, y=90, z=50 + i, turn=90) for i in range(10)]
    recording = read_motion(written(person(rows)))
    motion = recording.motion
    assert recording.unit == 0.01 and recording.up_axis == "Y" and motion.fps == 30
    assert recording.heading == pytest.approx(90.0)
    step = motion.root_positions[1] - motion.root_positions[0]
    assert np.allclose(step, [-0.01, 0.0, 0.0], atol=1e-9)
    hand = motion.global_pose.positions[0, motion.skeleton.index["LeftHand"]]
    assert hand[0] > 0.6


def test_tabs_line_ends_spaces_and_a_byte_order_mark_do_not_matter(written):
    text = person()
    plain = read_motion(written(text)).motion
    spaced = text.replace(" ", " \t ").replace("\n", "\r\n\r\n")
    odd = read_motion(written(f"\ufeff{spaced}\r\n")).motion
    assert np.array_equal(plain.global_pose.positions, odd.global_pose.positions)


@given(st.permutations("XYZ"), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(12), deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rotation_orders_multiply_as_listed(tmp_path, order, seed):
    """The same pose written in any channel order reads as the same pose."""
    turn = quaternions.normalise(np.random.default_rng(seed).normal(size=4))
    from scipy.spatial.transform import Rotation
    angles = Rotation.from_quat(turn, scalar_first=True).as_euler("".join(order), degrees=True)
    channels = "JOINT Chest\n {\n  OFFSET 0 30 0\n  CHANNELS 3 "
    hierarchy = HIERARCHY.replace(channels + "Zrotation Xrotation Yrotation",
                                  channels + " ".join(f"{a}rotation" for a in order))
    values = row().split()
    values[6:9] = map(repr, angles.tolist())
    path = tmp_path / "take.bvh"
    path.write_text(person([" ".join(values)] * 3, hierarchy=hierarchy))
    motion, _ = read_bvh(path)
    assert abs(motion.rotations[0, 1] @ turn) == pytest.approx(1.0)


@pytest.mark.parametrize("order", ["XYZ", "ZXY", "YZX"])
def test_positions_are_read_in_the_order_of_their_channels(written, order):
    channels = " ".join(f"{axis}position" for axis in order)
    hierarchy = HIERARCHY.replace("Xposition Yposition Zposition", channels)
    place = {"X": 3.0, "Y": 90.0, "Z": -7.0}
    values = [place[axis] for axis in order]
    motion, _ = read_bvh(written(person([row(*values)] * 3, hierarchy=hierarchy)))
    assert motion.root_positions[0] == pytest.approx([3.0, 90.0, -7.0])


def test_positions_on_every_joint_and_a_root_above_the_hips_are_folded(written):
    below = HIERARCHY.removeprefix("HIERARCHY\n").replace("ROOT", "JOINT").replace(
        "OFFSET 0 30 0\n  CHANNELS 3", "OFFSET 9 9 9\n  CHANNELS 6 Xposition Yposition Zposition")
    hierarchy = ("HIERARCHY\nROOT joint_Root { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition"
                 " Zposition Zrotation Xrotation Yrotation\n" + below + "}\n")
    values = row(y=40).split()
    rows = ["0 50 0 0 0 0 " + " ".join([*values[:6], "0", "30", "0", *values[6:]])] * 3
    folded = read_motion(written(person(rows, hierarchy=hierarchy)))
    plain = read_motion(written(person()))
    assert np.allclose(folded.motion.global_pose.positions, plain.motion.global_pose.positions)
    assert any("joint_Root" in note for note in folded.notes)


def test_a_calibration_pose_in_front_is_dropped(written):
    rows = [row(turn=180)] + [row(x=30 + i) for i in range(20)]
    assert read_motion(written(person(rows))).motion.frames == 20


@pytest.mark.parametrize(("text", "message"), [
    ("", "is empty"),
    (b"HIERARCHY\0\1", "binary"),
    ("hello\nMOTION\n", "line 1: expected HIERARCHY"),
    (HIERARCHY, "no MOTION"),
    (person(rows=[row(), row(), row()[:40]]), r"line 34: has \d+ values, .*truncated"),
    (person(rows=[row(), row() + " 1", row()]), "line 33: has 49 values, the skeleton has 48"),
    (person(rows=[row(), row().replace("90.0", "inf"), row()]), "line 33, joint 'Hips'"),
    (person(rows=[row(), row().replace("90.0", "9o"), row()]), "'9o'"),
    (person(rows=[row()]), "needs at least 2"),
    (person(frame_time="0"), "frame time is '0'"),
    (person(frame_time="-0.01"), "frame time"),
    (person(frame_time="x"), "frame time"),
    (person(frames=10**15), "ends after 3 of the 1000000000000000 frames"),
    (person(hierarchy=2 * HIERARCHY.replace("HIERARCHY\n", "", 1)), "expected HIERARCHY"),
    (person(hierarchy=HIERARCHY + HIERARCHY.split("\n", 1)[1]), "a second ROOT"),
    (person(hierarchy=HIERARCHY.replace("RightLeg", "LeftLeg")),
     "no bone fits right shin .*'LeftLeg #2'"),
    (person(hierarchy=HIERARCHY.replace("OFFSET 0 30 0\n", "OFFSET 0 30\n", 1)), "line 9"),
    (person(hierarchy=HIERARCHY.replace("OFFSET 0 30 0\n", "OFFSET 0 x 0\n", 1)), "line 8.*'x'"),
    (person(hierarchy=HIERARCHY.replace("CHANNELS 6 Xp", "CHANNELS 6 Wp")), "wposition"),
    (person(hierarchy=re.sub(r"OFFSET .*? .*? \S+", "OFFSET 0 0 0", HIERARCHY)), "no size|whole"),
])
def test_damaged_files_get_one_clear_line(written, text, message):
    with pytest.raises(RequestError, match=message) as caught:
        read_motion(written(text))
    assert "take.bvh" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", READERS)
def test_missing_files_folders_and_empty_files(tmp_path, ending):
    path = tmp_path / f"take{ending}"
    with pytest.raises(RequestError, match=rf"take\{ending}: no such file"):
        read_motion(path)
    path.touch()
    with pytest.raises(RequestError, match=rf"take\{ending}: is empty"):
        read_motion(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(RequestError, match=rf"take\{ending}: is a folder"):
        read_motion(path)


def test_links_are_followed(written, tmp_path):
    link = tmp_path / "link.bvh"
    link.symlink_to(tmp_path / "moved.bvh")
    with pytest.raises(RequestError, match=r"link\.bvh: is a broken link"):
        read_motion(link)
    written(person()).rename(tmp_path / "moved.bvh")
    assert read_motion(link).motion.frames == 3


def test_foreign_files_and_options_of_other_kinds(written, tmp_path):
    (tmp_path / "take.xyz").write_text("hello")
    with pytest.raises(RequestError, match=r"ends in \.bvh"):
        read_motion(tmp_path / "take.xyz")
    for options, wrong in ((ReadOptions(stack="Take"), "--stack"),
                           (ReadOptions(skeleton=tmp_path / "x.asf"), "--skeleton")):
        with pytest.raises(RequestError, match=rf"take\.bvh: only .* leave out {wrong}"):
            read_motion(written(person()), options)


@pytest.fixture(scope="session")
def real_bytes(samples):
    """A real file cut to eight frames, so that thousands of mutations can be tried."""
    lines = (samples / "bvh" / "bvhpython_test_freebvh.bvh").read_bytes().split(b"\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(b"MOTION"))
    lines[start + 1] = b"Frames: 8"
    return b"\n".join(lines[: start + 11]) + b"\n"


@given(st.data())
@settings(max_examples=examples(250), deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_corrupted_bytes_give_a_motion_or_one_line(real_bytes, tmp_path, data):
    content = bytearray(real_bytes)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["byte", "cut", "drop", "repeat", "word"]))
        length = data.draw(st.integers(1, 400))
        if kind == "byte":
            content[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            content = content[: max(at, 1)]
        elif kind == "drop":
            content = content[:at] + content[at + length:] or bytearray(b"x")
        elif kind == "repeat":
            content = content[:at] + content[at : at + length] + content[at:]
        else:
            words = [b" { ", b" } ", b" ROOT ", b"\nMOTION\n", b" 1e999 ", b" -0 ", b" End Site "]
            content[at:at] = data.draw(st.sampled_from(words))
    path = tmp_path / "mutated.bvh"
    path.write_bytes(content)
    try:
        motion = read_motion(path).motion
    except RequestError as problem:
        assert "\n" not in str(problem)
    else:
        assert np.isfinite(motion.global_pose.positions).all()


@given(st.data())
@settings(max_examples=examples(100), deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_numbers_give_a_motion_or_one_line(tmp_path, data):
    """Bones without length, on one line, huge or tiny: the file is whole, the body is not."""
    odd = st.sampled_from(["0", "-0", "1e-30", "999999", "-999999", "90", "1e-7", "-42"])
    words = re.split(r"(OFFSET \S+ \S+ \S+)", HIERARCHY)
    for at in data.draw(st.lists(st.integers(0, len(words) // 2 - 1), max_size=16)):
        words[2 * at + 1] = "OFFSET " + " ".join(data.draw(odd) for _ in "xyz")
    values = row().split()
    for at in data.draw(st.lists(st.integers(0, CHANNELS - 1), max_size=8)):
        values[at] = data.draw(odd)
    path = tmp_path / "odd.bvh"
    path.write_text(person([row(), " ".join(values), row()], hierarchy="".join(words)))
    try:
        motion = read_motion(path).motion
    except RequestError as problem:
        assert "\n" not in str(problem)
    else:
        assert np.isfinite(motion.global_pose.positions).all()


NAMINGS = {
    "mixamorig4:": ["Hips", "Spine", "Neck", "Head", "LeftArm", "LeftForeArm", "LeftHand",
                    "LeftUpLeg", "LeftLeg", "LeftFoot"],
    "biped": ["Bip01 Pelvis", "Bip01 Spine", "Bip01 Neck", "Bip01 Head", "Bip01 L UpperArm",
              "Bip01 L Forearm", "Bip01 L Hand", "Bip01 L Thigh", "Bip01 L Calf", "Bip01 L Foot"],
    "unreal": ["pelvis", "spine_01", "neck_01", "head", "upperarm_l", "lowerarm_l", "hand_l",
               "thigh_l", "calf_l", "foot_l"],
    "vrm": ["J_Bip_C_Hips", "J_Bip_C_Chest", "J_Bip_C_Neck", "J_Bip_C_Head", "J_Bip_L_UpperArm",
            "J_Bip_L_LowerArm", "J_Bip_L_Hand", "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg",
            "J_Bip_L_Foot"],
    "xsens": ["Hips", "Chest", "Neck", "Head", "LeftShoulder", "LeftElbow", "LeftWrist",
              "LeftHip", "LeftKnee", "LeftAnkle"],
    "blender": ["DEF-hips", "DEF-spine", "DEF-neck", "DEF-head", "DEF-upper_arm.L",
                "DEF-forearm.L", "DEF-hand.L", "DEF-thigh.L", "DEF-shin.L", "DEF-foot.L"],
    "silent": [f"Bone.{i:03}" for i in range(10)],
}
PARTS = ["hips", "chest", "neck1", "head", "left_upper_arm", "left_forearm", "left_hand",
         "left_thigh", "left_shin", "left_foot"]
JOINTS = ["Hips", "Spine2", "Neck", "Head", "LeftArm", "LeftForeArm", "LeftHand", "LeftUpLeg",
          "LeftLeg", "LeftFoot"]


def other_side(name):
    swaps = [("Left", "Right"), (" L ", " R "), ("_l", "_r"), ("_L_", "_R_"), (".L", ".R")]
    for left, right in swaps:
        if left in name:
            return name.replace(left, right)
    return name + ".mirror"


@pytest.mark.parametrize("system", NAMINGS)
def test_names_of_many_systems_and_none(system):
    standard = standard_skeleton()
    named = dict(zip(JOINTS, NAMINGS[system], strict=True))
    prefix = system if system.endswith(":") else ""
    names, heads, tails, parents = [], [], [], []
    kept: list[int] = []
    for i, joint in enumerate(standard.names):
        twin = joint.replace("Right", "Left")
        if twin in named:
            name = named[twin] if twin == joint else other_side(named[twin])
            names.append(prefix + name)
            parent = int(standard.parents[i])
            while parent >= 0 and parent not in kept:
                parent = int(standard.parents[parent])
            parents.append(kept.index(parent) if parent >= 0 else -1)
            kept.append(i)
            heads.append(standard.heads[i])
            tails.append(standard.tails[i])
    skeleton = Skeleton(tuple(names), np.array(parents), np.array(heads), np.array(tails))
    roles = find_roles(skeleton)
    expected = {part: prefix + named[joint] for part, joint in zip(PARTS, JOINTS, strict=True)}
    assert {part: roles.joints[part] for part in PARTS} == expected
    assert roles.joints["right_forearm"] == prefix + other_side(named["LeftForeArm"])
    assert all(0 < confidence <= 1 for confidence in roles.confidence.values())
    assert (roles.confidence["left_thigh"] < 0.9) == (system == "silent")


def test_a_skeleton_without_legs_is_refused_by_name():
    standard = standard_skeleton()
    kept = [i for i, n in enumerate(standard.names) if "Leg" not in n and "Foot" not in n
            and "Toe" not in n]
    parents = np.array([kept.index(p) if p >= 0 else -1 for p in standard.parents[kept]])
    skeleton = Skeleton(tuple(standard.names[i] for i in kept), parents, standard.heads[kept],
                        standard.tails[kept])
    with pytest.raises(RequestError, match="left thigh"):
        find_roles(skeleton)
