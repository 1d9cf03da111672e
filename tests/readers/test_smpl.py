"""SMPL, SMPL-H and SMPL-X: what AMASS and the models that look at videos write."""

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from array_files import FPS, in_camera, matrices, walking, write_torch
from mimegen.base.errors import RequestError
from mimegen.motion import Motion
from mimegen.readers import ReadOptions, Recording, read_motion
from mimegen.readers.planting import path_of_feet
from mimegen.readers.smpl.bodies import skeleton_of, table_body
from mimegen.readers.smpl.rotations import rotations_of
from places import MOTION_SAMPLES

AMASS = MOTION_SAMPLES / "amass_smplh_sample.npz"
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def places(recording: Recording) -> NDArray[Any]:
    return recording.motion.global_pose.positions


def alike(first: Recording, second: Recording) -> float:
    """How far apart (metres) the joints of both are at most."""
    names = [name for name in first.motion.skeleton.names
             if name in second.motion.skeleton.index]
    index = [[one.motion.skeleton.index[name] for name in names] for one in (first, second)]
    return float(np.abs(places(first)[:, index[0]] - places(second)[:, index[1]]).max())


def plain(tmp_path: Path, **other: Any) -> Path:
    path = tmp_path / "made.npz"
    np.savez(path, **({"mocap_framerate": FPS} | walking() | other))
    return path


@pytest.mark.skipif(not AMASS.exists(), reason="the samples are not here")
def test_the_body_of_an_amass_file_is_where_its_markers_are():
    """The file holds the markers that it was fitted to; they are some 4 cm off the joints."""
    recording = read_motion(AMASS)
    assert (recording.format, recording.up_axis, recording.motion.fps) == ("AMASS", "Z", 120.0)
    with np.load(AMASS) as held:
        labels = [label.decode() for label in held["marker_labels"]]
        markers = held["marker_data"]
    index = recording.motion.skeleton.index
    about = {"left_shoulder": ("LFSH", "LBSH"), "left_elbow": ("LELB", "LIEL"),
             "left_wrist": ("LIWR", "LOWR"), "right_wrist": ("RIWR", "ROWR"),
             "left_knee": ("LKNE", "LKNI"), "right_knee": ("RKNE", "RKNI")}
    joints = np.stack([places(recording)[:, index[name]] for name in about], axis=1)
    seen = np.stack([markers[:, [labels.index(one) for one in pair]].mean(axis=1)
                     for pair in about.values()], axis=1)
    # The house turns and shifts by one rigid movement.
    turn = np.radians(-recording.heading)
    level = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0],
                      [0, 0, 1]])
    off = joints - seen @ level.T
    off -= np.nanmedian(off, axis=(0, 1))
    assert np.nanmedian(np.linalg.norm(off, axis=-1)) < 0.04


def test_matrices_and_two_arrays_say_the_same_as_rotation_vectors(tmp_path):
    made = walking()
    whole = read_motion(plain(tmp_path))
    vectors = made["poses"]
    for number, named in enumerate((
            {"global_orient": vectors[:, :3], "body_pose": vectors[:, 3:]},
            {"global_orient": matrices(vectors)[:, 0], "body_pose": matrices(vectors)[:, 1:]},
            {"root_orient": vectors[:, None, :3], "pose_body": vectors[:, 3:66]},
            {"pose": matrices(vectors)[:, :, :2].reshape(len(vectors), 24, 6)})):
        path = tmp_path / f"{number}.npz"
        np.savez(path, transl=made["trans"], fps=FPS, **named)
        assert alike(whole, read_motion(path)) < 1e-3


def test_the_pelvis_is_not_at_the_translation(tmp_path):
    recording = read_motion(plain(tmp_path))
    pelvis = places(recording)[:, 0]
    feet = places(recording)[:, [recording.motion.skeleton.index[name]
                                 for name in ("left_foot", "right_foot")]]
    assert 0.6 < pelvis[0, 2] < 1.1
    assert np.all(feet[..., 2].min(axis=1) < 0.15)
    assert np.ptp(pelvis[:, 1]) == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_files_with_y_and_with_z_up_are_told_apart(tmp_path, up):
    made = walking()
    if up == "Z":
        turned = np.einsum("ij,fjk->fik", Z_UP, matrices(made["poses"])[:, 0])
        made["poses"][:, :3] = Rotation.from_matrix(turned).as_rotvec()
        made["trans"] = made["trans"] @ Z_UP.T
    recording = read_motion(plain(tmp_path, gender="neutral", **made))
    assert recording.up_axis == up
    assert alike(recording, read_motion(plain(tmp_path))) < 1e-6


def test_betas_shape_the_body_of_smplx(tmp_path):
    made = walking(55)
    heights = []
    for first in (0.0, 2.0):
        path = tmp_path / f"{first}.npz"
        np.savez(path, root_orient=made["poses"][:, :3], pose_body=made["poses"][:, 3:66],
                 pose_hand=made["poses"][:, 75:], pose_jaw=made["poses"][:, 66:69],
                 trans=made["trans"] + [0.0, 0.06 * first, 0.0],
                 betas=np.r_[first, np.zeros(15)], mocap_frame_rate=FPS,
                 surface_model_type="smplx", gender="neutral")
        heights.append(np.ptp(places(read_motion(path))[0, :, 2]))
    assert heights[1] / heights[0] == pytest.approx(1.12, abs=0.02)


def test_hands_without_their_mean_get_it(tmp_path):
    made = walking(52)
    hands = made["poses"][:, 66:].copy()
    hands[:, 0] = np.linspace(0, 0.5, len(hands))
    bent = {}
    for flat in (True, False):
        path = tmp_path / f"{flat}.npz"
        np.savez(path, global_orient=made["poses"][:, :3], body_pose=made["poses"][:, 3:66],
                 left_hand_pose=hands[:, :45], right_hand_pose=hands[:, 45:],
                 transl=made["trans"], flat_hand_mean=flat)
        recording = read_motion(path)
        index = recording.motion.skeleton.index
        bent[flat] = np.linalg.norm(places(recording)[0, index["left_middle3"]]
                                    - places(recording)[0, index["left_wrist"]])
    assert bent[False] < bent[True] - 0.005


def test_fingers_that_never_move_are_left_out(tmp_path):
    recording = read_motion(plain(tmp_path, **walking(52)))
    assert len(recording.motion.skeleton.names) == 22
    assert any("fingers do not move" in note for note in recording.notes)


def test_the_size_of_smpl_is_told_by_planted_feet(tmp_path):
    """A body of 0.9 of the size walks with the small body's feet standing still."""
    made = walking()
    body = table_body("SMPL", "neutral")
    motion = Motion(skeleton_of(body, body.rest, 24).scaled(0.9), FPS,
                    np.zeros((len(made["poses"]), 3)), rotations_of(made["poses"], 24))
    walked, _ = path_of_feet(motion, [7, 8, 10, 11], np.array([0.0, 1.0, 0.0]))
    recording = read_motion(plain(tmp_path, trans=walked.root_positions))
    size = re.search(r"scaled to (0\.\d+) of its size so that planted feet stand",
                     " ".join(recording.notes))
    assert size is not None
    assert float(size[1]) == pytest.approx(0.9, abs=0.05)


def gvhmr(made: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    def split(one: dict[str, Any]) -> dict[str, Any]:
        return {"global_orient": one["poses"][:, :3], "body_pose": one["poses"][:, 3:66],
                "transl": one["trans"], "betas": np.zeros((len(one["poses"]), 10))}
    return {"smpl_params_global": split(made), "smpl_params_incam": split(seen),
            "K_fullimg": np.eye(3)}


def wham(made: dict[str, Any], seen: dict[str, Any]) -> dict[Any, Any]:
    return {np.int64(0): {"pose": seen["poses"], "trans": seen["trans"],
                          "pose_world": made["poses"], "trans_world": made["trans"],
                          "betas": np.zeros((len(made["poses"]), 10)),
                          "verts": np.zeros((2, 3)), "frame_ids": np.arange(len(made["poses"]))}}


def phalp(seen: dict[str, Any], people: int = 1) -> dict[str, Any]:
    turns = matrices(seen["poses"])
    return {f"frame_{number:06}.jpg": {
        "time": number, "tid": list(range(1, people + 1)), "shot": 0,
        "smpl": [{"global_orient": turns[number, :1], "body_pose": turns[number, 1:],
                  "betas": np.zeros(10)}] * people,
        "camera": [seen["trans"][number].astype(np.float32)] * people}
        for number in range(len(turns))}


@pytest.mark.parametrize("kind", ["GVHMR", "WHAM", "PHALP", "VIBE", "TRAM", "ROMP"])
def test_what_finds_people_in_videos_is_read_without_its_packages(tmp_path, monkeypatch, kind):
    made = walking()
    seen = in_camera(made)
    path = tmp_path / "made.pkl"
    if kind == "GVHMR":
        path = write_torch(tmp_path / "hmr4d_results.pt", gvhmr(made, seen), monkeypatch)
    elif kind in ("TRAM", "ROMP"):
        path = tmp_path / "made.npy"
        turns = matrices(seen["poses"])
        held: Any = {"pred_rotmat": turns, "pred_shape": np.zeros((len(turns), 10)),
                     "pred_trans": seen["trans"][:, None], "frame": np.arange(len(turns))}
        if kind == "ROMP":
            held = {f"{number:05}.jpg": {
                "cam": np.zeros((1, 3)), "smpl_thetas": seen["poses"][number:number + 1],
                "smpl_betas": np.zeros((1, 10)), "track_ids": np.array([3]),
                "cam_trans": seen["trans"][number:number + 1]} for number in range(len(turns))}
        np.save(path, np.array(held, dtype=object), allow_pickle=True)
    else:
        held = {"WHAM": wham(made, seen), "PHALP": phalp(seen),
                "VIBE": {1: {"pose": seen["poses"], "betas": np.zeros((60, 10)),
                             "pred_cam": np.ones((60, 3)), "frame_ids": np.arange(60)}}}[kind]
        path.write_bytes(pickle.dumps(held))
    recording = read_motion(path)
    assert (recording.format, recording.motion.frames, recording.motion.fps) == (kind, 60, 30.0)
    assert any("30 fps is assumed" in note for note in recording.notes)
    world = kind in ("GVHMR", "WHAM")
    assert any("gravity is estimated" in note for note in recording.notes) != world
    trunk = places(recording)[:, recording.motion.skeleton.index["head"]] - places(recording)[:, 0]
    upright = trunk[:, 2] / np.linalg.norm(trunk, axis=1)
    assert np.degrees(np.arccos(upright.min())) < 12
    assert np.ptp(recording.motion.root_positions[:, 1]) > 1.0


def test_one_of_several_people_is_chosen(tmp_path):
    path = tmp_path / "two.pkl"
    path.write_bytes(pickle.dumps(phalp(in_camera(walking()), people=2)))
    with pytest.raises(RequestError, match=r"contains 2 people: 1 .60 frames., 2 .* --subject ID"):
        read_motion(path)
    assert read_motion(path, ReadOptions(subject="2")).motion.frames == 60
    with pytest.raises(RequestError, match="no subject '7'"):
        read_motion(path, ReadOptions(subject="7"))


def test_frames_in_which_nobody_was_found_are_bridged(tmp_path):
    made = walking()
    kept = np.r_[0:20, 30:60]
    held = wham({key: value[kept] if len(value) == 60 else value for key, value in made.items()},
                {"poses": made["poses"][kept], "trans": made["trans"][kept]})
    next(iter(held.values()))["frame_ids"] = kept
    path = tmp_path / "gap.pkl"
    path.write_bytes(pickle.dumps(held))
    recording = read_motion(path)
    assert recording.motion.frames == 60
    assert any("10 frames in which nobody was found are bridged" in note
               for note in recording.notes)


@pytest.mark.parametrize(("change", "said"), [
    ({"poses": np.zeros((60, 71))}, r"'poses' has the shape \(60, 71\)"),
    ({"poses": np.full((60, 72), np.nan)}, "'poses' has NaN or infinite values"),
    ({"poses": walking()["poses"] * 180 / np.pi}, "looks like degrees"),
    ({"trans": np.zeros((50, 3))}, r"'trans' has the shape \(50, 3\), expected \(60, 3\)"),
    ({"mocap_framerate": "x", "gender": "male"}, "no frame rate .* --fps-of-file"),
    ({"poses": np.zeros((0, 72))}, "no known kind of motion"),
])
def test_arrays_that_do_not_fit_are_refused_in_one_line(tmp_path, change, said):
    with pytest.raises(RequestError, match=said) as refused:
        read_motion(plain(tmp_path, **change))
    assert "\n" not in str(refused.value)


def test_a_model_file_gives_the_true_bones(tmp_path):
    """A made model: each joint is a vertex, the first coefficient lengthens the legs."""
    body = table_body("SMPL", "neutral")
    dirs = np.zeros((24, 3, 10))
    dirs[[7, 8, 10, 11], 1, 0] = -0.1
    model = tmp_path / "SMPL_NEUTRAL.npz"
    np.savez(model, v_template=body.rest * 1.1, shapedirs=dirs, J_regressor=np.eye(24))
    path = plain(tmp_path, betas=np.r_[1.0, np.zeros(9)])
    recording = read_motion(path, ReadOptions(smpl_model=model))
    skeleton = recording.motion.skeleton
    shin = np.linalg.norm(skeleton.offsets[skeleton.index["left_ankle"]])
    average = np.linalg.norm(body.rest[7] - body.rest[4])
    assert shin == pytest.approx(1.1 * average + 0.1, abs=0.002)
    with pytest.raises(RequestError, match="not a model of SMPL"):
        read_motion(path, ReadOptions(smpl_model=path))
