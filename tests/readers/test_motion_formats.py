"""Motion of text-to-motion models, Kimodo, suits, markers in TRC, cameras and VRM animations."""

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from array_files import walking
from camera_files import places_of, tracked_joints, write_cameras
from mimegen.base.errors import RequestError
from mimegen.readers import ReadOptions, kind_of, read_motion
from mimegen.readers.text_to_motion.encoding import encoded
from mimegen.readers.text_to_motion.vectors import decoded
from places import MOTION_SAMPLES

JOINTS = MOTION_SAMPLES / "humanml3d_joints_012314.npy"
VECTORS = MOTION_SAMPLES / "humanml3d_vecs_012314.npy"
KIMODO = MOTION_SAMPLES / "kimodo_soma_01_single_text_prompt.npz"
WITH_SAMPLES = pytest.mark.skipif(not JOINTS.exists(), reason="the samples are not here")


@WITH_SAMPLES
def test_humanml3d_joints_and_vectors_agree():
    joints, vectors = np.load(JOINTS), np.load(VECTORS)
    assert np.abs(decoded(vectors.astype(float)).positions - joints).max() < 1e-5
    first, second = read_motion(JOINTS), read_motion(VECTORS)
    assert (first.format, first.up_axis, first.motion.fps) == ("HumanML3D", "Y", 20.0)
    apart = first.motion.global_pose.positions - second.motion.global_pose.positions
    # Planted feet are held where the vectors say that they stand.
    assert np.abs(apart[:, [0, 12, 15, 20, 21]]).max() < 1e-5
    assert np.abs(apart).max() < 0.05


@WITH_SAMPLES
def test_solved_rotations_lead_to_the_given_joints():
    joints = np.load(JOINTS).astype(float)
    solved = read_motion(JOINTS)
    places = solved.motion.global_pose.positions
    for first, second in ((16, 18), (18, 20), (1, 4), (4, 7), (0, 15), (7, 10)):
        own = np.linalg.norm(places[:, first] - places[:, second], axis=1)
        given = np.linalg.norm(joints[:, first] - joints[:, second], axis=1)
        assert np.abs(own - given).max() < 1e-3
    assert np.abs(places[:, :, 2] - joints[:, :, 1] - (places[0, 0, 2] - joints[0, 0, 1])
                  ).max() < 1e-3


@WITH_SAMPLES
def test_vectors_are_written_as_humanml3d_writes_them():
    joints, vectors = np.load(JOINTS).astype(float), np.load(VECTORS).astype(float)
    made = encoded(joints)
    count = len(made)
    assert np.array_equal(made[:, -4:], vectors[:count, -4:])
    assert np.abs(made[:, 3] - vectors[:count, 3]).max() < 1e-5
    # Rotations of joints that do not hang on the smoothed heading.
    rotations = made[:, 67:193].reshape(count, 21, 6) - vectors[:count, 67:193].reshape(
        count, 21, 6)
    assert np.abs(rotations[:, 3:12]).max() < 1e-3


@WITH_SAMPLES
def test_takes_and_prompts_of_results(tmp_path):
    joints = np.load(JOINTS)
    path = tmp_path / "results.npy"
    np.save(path, np.array({
        "motion": np.stack([joints, joints[::-1]]).transpose(0, 2, 3, 1),
        "text": ["a person throws a ball.", "somebody walks back"],
        "lengths": np.array([170, 100]), "num_samples": 2}, dtype=object))
    first, second = read_motion(path), read_motion(path, ReadOptions(take=1))
    assert (first.prompt, first.motion.frames) == ("a person throws a ball", 170)
    assert (second.prompt, second.motion.frames) == ("somebody walks back", 100)
    assert any("take 1 of 2 is read" in note for note in second.notes)
    with pytest.raises(RequestError, match="--take 5: the file has 2 takes, 0 to 1"):
        read_motion(path, ReadOptions(take=5))


def test_kit_is_told_by_its_joints_and_read_in_millimetres(tmp_path):
    from mimegen.readers.position_layouts import file_layout

    layout = file_layout("kit").layout
    places = np.tile(layout.skeleton.heads, (40, 1, 1))
    places[:, :, 0] += np.linspace(0, 0.5, 40)[:, None]
    x, y, z = np.moveaxis(places, -1, 0)
    order = ["root", "pelvis_top", "thorax", "neck_base", "head", "right_shoulder", "right_elbow",
             "right_wrist", "left_shoulder", "left_elbow", "left_wrist", "right_hip",
             "right_knee", "right_ankle", "right_middle_foot", "right_toe", "left_hip",
             "left_knee", "left_ankle", "left_middle_foot", "left_toe"]
    kit = np.stack([x, z, -y], axis=-1)[:, [layout.skeleton.index[name] for name in order]]
    np.save(tmp_path / "kit.npy", 1000.0 * kit)
    recording = read_motion(tmp_path / "kit.npy")
    assert (recording.format, recording.unit, recording.motion.fps) == ("KIT-ML", 0.001, 12.5)


@pytest.mark.slow
@WITH_SAMPLES
@pytest.mark.parametrize(("name", "kind", "fps", "up"), [
    ("kimodo_soma_01_single_text_prompt.npz", "Kimodo", 30.0, "Y"),
    ("kimodo_soma_05_root_path.npz", "Kimodo", 30.0, "Y"),
    ("opensim_std_walking2_markers.trc", "TRC", 25.0, "Z"),
    ("opensim_subject01_synthetic.trc", "TRC", 60.0, "Y"),
    ("xsens_test_mocap.mvnx", "MVNX", 60.0, "Z"), ("romp_output.npz", "ROMP", 30.0, "-Y")])
def test_samples_are_read_as_what_they_are(tmp_path, name, kind, fps, up):
    recording = read_motion(MOTION_SAMPLES / name)
    assert (recording.format, recording.up_axis) == (kind, up)
    assert recording.motion.fps == pytest.approx(fps)
    # By content, whatever they are called.
    other = tmp_path / "renamed.bvh"
    other.write_bytes((MOTION_SAMPLES / name).read_bytes())
    assert kind_of(other) != ".bvh"
    assert read_motion(other).motion.frames == recording.motion.frames


@WITH_SAMPLES
def test_a_suit_whose_hand_is_inside_the_trunk_is_doubted():
    """No body can follow it: the rest of the file is retargeted within 2.3 degrees."""
    notes = read_motion(MOTION_SAMPLES / "xsens_test_mocap.mvnx").notes
    assert any("the left hand is inside the trunk in 43%" in note for note in notes)


@WITH_SAMPLES
@pytest.mark.parametrize(("name", "said"), [
    ("motive_sample_optitrack_take.csv", "holds 4 rigid bodies but no skeleton"),
    ("opensim_blanks_for_missing.trc", "nearly complete in only 1 frames")])
def test_what_shows_no_whole_person_is_refused(name, said):
    with pytest.raises(RequestError, match=said) as refused:
        read_motion(MOTION_SAMPLES / name)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def cameras(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Any]:
    if not KIMODO.exists():
        pytest.skip("the samples are not here")
    places = places_of(KIMODO)
    return write_cameras(tmp_path_factory.mktemp("cameras"), tracked_joints(places)), places


@pytest.mark.parametrize("kind", ["Azure Kinect", "NTU RGB+D", "MediaPipe", "OpenPose", "CSV"])
def test_cameras_see_the_same_motion(cameras, kind):
    files, places = cameras
    recording = read_motion(files[kind])
    assert recording.format == ("MediaPipe" if kind == "CSV" else kind)
    assert recording.motion.fps == pytest.approx(30.0, abs=0.01)
    assert any("gravity is estimated" in note for note in recording.notes)
    index, seen = recording.motion.skeleton.index, recording.motion.global_pose.positions
    for first, second in (("left_upper_arm", "left_forearm"), ("right_thigh", "right_shin"),
                          ("left_shin", "left_foot"), ("right_forearm", "right_hand")):
        bone = seen[:, index[recording.roles[second]]] - seen[:, index[recording.roles[first]]]
        true = places[second] - places[first]
        lift = [np.degrees(np.arcsin(one[:, 2] / np.linalg.norm(one, axis=1)))
                for one in (bone, true)]
        assert np.abs(lift[0] - lift[1]).mean() < (10.0 if recording.format == "MediaPipe" else 6.0)


def test_two_people_of_a_camera_are_told_apart(cameras, tmp_path):
    text = cameras[0]["NTU RGB+D"].read_text().splitlines()
    frames, rows = int(text[0]), text[1:]
    each = len(rows) // frames
    lines = [text[0]]
    for number in range(frames):
        one = rows[number * each:(number + 1) * each]
        lines += ["2", *one[1:], *("9" + one[1][1:], *one[2:])]
    path = tmp_path / "two.skeleton"
    path.write_text("\n".join(lines))
    with pytest.raises(RequestError, match="contains 2 people"):
        read_motion(path)
    assert read_motion(path, ReadOptions(subject="92057594037931101")).motion.frames == frames


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.trc", "PathFileType\t4\n\n", "line 4"),
    ("a.json", "{", "is not JSON"), ("a.json", "[1, 2, 3]", "a frame contains no joints|joints"),
    ("a.json", '{"frames": []}', "contains no frames"),
    ("a.skeleton", "x\n", "the number of frames"),
    ("a.skeleton", "5\n1\n", "more than it has lines"), ("a.csv", "a,b\n1,2\n3,4\n", "0 columns"),
    ("a.mvnx", "<mvnx><frame type='normal'></frame></mvnx>", "not a complete MVNX"),
    ("a.mvnx", "<mvnx>", "not a complete MVNX")])
def test_wrong_text_is_refused_in_one_line(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(RequestError, match=said) as refused:
        read_motion(path)
    assert "\n" not in str(refused.value)


def made_files(folder: Path) -> list[Path]:
    """Small files of several kinds, to be damaged."""
    walk = walking(frames=8)
    np.savez(folder / "smpl.npz", **walk, mocap_framerate=30.0)
    (folder / "wham.pkl").write_bytes(pickle.dumps({0: {
        "pose_world": walk["poses"], "trans_world": walk["trans"], "betas": np.zeros((8, 10)),
        "frame_ids": np.arange(8)}}))
    np.save(folder / "joints.npy", np.random.default_rng(0).normal(size=(8, 22, 3)))
    (folder / "a.skeleton").write_text("2\n" + ("1\n7 0 0 0 0 0 0 0 0 2\n25\n" + "\n".join(
        f"{n * 0.01} {n * 0.05} 3 0 0 0 0 0 0 0 0 2" for n in range(25)) + "\n") * 2)
    (folder / "a.json").write_text(str([[[n * 0.01, n * 0.05, 3.0] for n in range(33)]] * 3))
    return sorted(folder.iterdir())


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Cut a file, or change, drop or repeat some of its bytes."""
    start, end = sorted(rng.randrange(len(data)) for _ in range(2))
    way = rng.randrange(4)
    if way == 0:
        return data[:start]
    if way == 1:
        return data[:start] + data[end:]
    if way == 2:
        return data[:start] + data[start:start + 40] + data[start:]
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    rng = random.Random(41)
    for file in made_files(tmp_path):
        whole = file.read_bytes()
        for _ in range(40):
            file.write_bytes(damaged(rng, whole))
            try:
                read_motion(file)
            except RequestError as refused:
                assert "\n" not in str(refused), file.name


def test_arrays_of_absurd_values_are_read_or_refused_in_one_line(tmp_path):
    rng = np.random.default_rng(41)
    for value in (0.0, 1e300, -1e9, 1e-300, np.inf):
        for name in ("poses", "trans", "betas"):
            made = walking(frames=8)
            flat = made[name].ravel()
            flat[rng.integers(0, flat.size, 5)] = value
            path = tmp_path / "a.npz"
            np.savez(path, **made, mocap_framerate=30.0)
            try:
                read_motion(path)
            except RequestError as refused:
                assert "\n" not in str(refused)
