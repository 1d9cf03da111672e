"""The same walk as other tools write it: other names, shapes, axes and ways to write rotations.

No file is a recording: each is made after what its writer's code or documentation says.
"""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from array_files import FRAMES, matrices, walking, with_tensors
from camera_files import MEDIAPIPE, tracked_joints
from mimegen.base.errors import RequestError
from mimegen.readers import ReadOptions, Recording, read_motion

BONES = (("left_thigh", "left_shin"), ("right_thigh", "right_shin"), ("left_shin", "left_foot"),
         ("left_upper_arm", "left_forearm"), ("right_forearm", "right_hand"), ("hips", "head"))
WALK = walking()
POSES, PLACE = WALK["poses"], WALK["trans"]
TURNS = matrices(POSES)
# SMPL-X's rest pose is another one: head and collars.
TOLERANCE_DEG, TOLERANCE_X_DEG = 0.5, 14.0


def directions(recording: Recording) -> NDArray[Any]:
    """Where bones point in every frame (F, B, 3)."""
    index, places = recording.motion.skeleton.index, recording.motion.global_pose.positions
    found = [places[:, index[recording.roles[end]]] - places[:, index[recording.roles[start]]]
             for start, end in BONES]
    whole = np.stack(found, axis=1)
    return np.asarray(whole / np.linalg.norm(whole, axis=2, keepdims=True))


def most_off(first: Recording, second: Recording) -> float:
    """The largest angle (degrees) between the same bones."""
    cosines = np.sum(directions(first) * directions(second), axis=2)
    return float(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).max())


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("walk") / "walk.npz"
    np.savez(path, **WALK, mocap_framerate=30.0)
    return read_motion(path)


def split(joints: int = 24) -> dict[str, NDArray[Any]]:
    return {"global_orient": POSES[:, :3], "body_pose": POSES[:, 3:3 * joints], "transl": PLACE,
            "betas": np.zeros((1, 10))}


def quaternions() -> NDArray[Any]:
    return Rotation.from_rotvec(POSES.reshape(-1, 3)).as_quat().reshape(FRAMES, 24, 4)


def four_by_four() -> NDArray[Any]:
    made = np.tile(np.eye(4), (FRAMES, 24, 1, 1))
    made[..., :3, :3] = TURNS
    return made


def motion_x() -> NDArray[Any]:
    made = np.zeros((FRAMES, 322), np.float32)
    made[:, :66], made[:, 309:312] = POSES[:, :66], PLACE
    return made


def person(shift: float = 0.0) -> dict[str, Any]:
    return {"trans": PLACE + shift, "root_orient": POSES[:, :3], "pose_body": POSES[:, 3:66],
            "betas": np.zeros(10), "gender": "neutral"}


SMPL: dict[str, Callable[[], Any]] = {
    "a batch of one": lambda: {name: value[None] for name, value in split().items()},
    "a batch of one whole pose": lambda: {"poses": POSES[None], "trans": PLACE[None]},
    "a root of its own axis": lambda: split() | {"global_orient": POSES[:, None, :3]},
    "matrices of four rows": lambda: {"pose": four_by_four(), "transl": PLACE},
    "six numbers, rows": lambda: {"rot6d": TURNS[:, :, :2].reshape(FRAMES, 24, 6),
                                  "transl": PLACE},
    "six numbers, columns": lambda: {"rot6d": np.concatenate([TURNS[..., 0], TURNS[..., 1]], -1),
                                     "transl": PLACE},
    "six numbers, woven": lambda: {"poses": TURNS[..., :2].reshape(FRAMES, 24, 6), "trans": PLACE},
    "quaternions, w first": lambda: {"poses": quaternions()[..., [3, 0, 1, 2]], "trans": PLACE},
    "quaternions, w last": lambda: {"poses": quaternions(), "trans": PLACE},
    "lists": lambda: {"poses": POSES.tolist(), "trans": PLACE.tolist()},
    "objects": lambda: {"poses": POSES.astype(object), "trans": PLACE},
    "a dictionary a frame": lambda: [
        {name: value[frame:frame + 1] for name, value in split().items() if name != "betas"}
        for frame in range(FRAMES)],
    "EMDB": lambda: {"gender": "male", "smpl": {"poses_root": POSES[:, :3], "trans": PLACE,
                                                "poses_body": POSES[:, 3:]}},
    "an array of poses": lambda: POSES,
    "an array of joints' poses": lambda: POSES.reshape(FRAMES, 24, 3)}
OTHERS: dict[str, Callable[[], Any]] = {
    "Motion-X": motion_x,
    "HY-Motion": lambda: {"Rh": POSES[:, :3], "trans": PLACE, "poses": walking(52)["poses"],
                          "betas": np.zeros((1, 16)), "gender": np.array(["neutral"])},
    "SMPL-X": lambda: {"people": {1: {"frames": np.arange(FRAMES), "smplx_world": {
        "pose": walking(55)["poses"], "shape": np.zeros((FRAMES, 10)), "trans": PLACE}}},
        "camera_world": {"Rwc": np.zeros((FRAMES, 3, 3))}}}
PEOPLE: dict[str, Callable[[], Any]] = {
    "InterHuman": lambda: {"mocap_framerate": 60.0, "frames": FRAMES, "person1": person(),
                           "person2": person(1.0)},
    "SLAHMR": lambda: {name: np.stack([value, value]) for name, value in person().items()
                       if name != "gender"},
    "3DPW": lambda: {"poses": [POSES, POSES], "trans": [PLACE, PLACE + 1.0],
                     "betas": [np.zeros(10)] * 2, "cam_poses": np.zeros((FRAMES, 4, 4))}}


def written(path: Path, content: Any) -> Path:
    path.write_bytes(pickle.dumps(content, protocol=2))
    return path


@pytest.mark.parametrize("kind", SMPL)
def test_smpl_is_read_however_it_is_packed(tmp_path, walk, kind):
    found = read_motion(written(tmp_path / "made.pkl", SMPL[kind]()))
    assert found.format.startswith("SMPL")
    assert most_off(walk, found) < TOLERANCE_DEG


@pytest.mark.parametrize("kind", OTHERS)
def test_other_layouts_are_read_as_what_they_are(tmp_path, walk, kind):
    found = read_motion(written(tmp_path / "made.pkl", OTHERS[kind]()))
    assert (found.format, found.motion.fps, found.up_axis) == (kind, 30.0, "Y")
    assert most_off(walk, found) < TOLERANCE_X_DEG
    assert np.ptp(found.motion.root_positions[:, 1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("kind", PEOPLE)
def test_one_of_the_people_of_other_layouts_is_chosen(tmp_path, walk, kind):
    path = written(tmp_path / "made.pkl", PEOPLE[kind]())
    with pytest.raises(RequestError, match="contains 2 people") as refused:
        read_motion(path)
    first = str(refused.value).partition("people: ")[2].partition(" (")[0]
    found = read_motion(path, ReadOptions(subject=first))
    assert found.motion.fps == (60.0 if kind == "InterHuman" else 30.0)
    assert most_off(walk, found) < TOLERANCE_DEG


def test_tensors_in_files_of_numpy_are_read(tmp_path, walk, monkeypatch):
    """MDM's parameters hold a tensor of vertices; TRAM's are tensors all."""
    held = {"motion": np.zeros((25, 6, FRAMES)),
            "thetas": np.moveaxis(TURNS[:, :, :2].reshape(FRAMES, 24, 6), 0, -1),
            "root_translation": PLACE.T, "vertices": np.zeros((2, 3, FRAMES)), "text": "walks"}
    path = tmp_path / "sample00_smpl_params.npy"
    path.write_bytes(with_tensors(held, monkeypatch))
    found = read_motion(path)
    assert (found.format, found.motion.fps) == ("MDM", 20.0)
    assert most_off(walk, found) < TOLERANCE_DEG


def joints(walk: Recording) -> NDArray[Any]:
    """SMPL's 22 joints (F, 22, 3), Y up."""
    x, y, z = np.moveaxis(walk.motion.global_pose.positions[:, :22], -1, 0)
    return np.stack([x, z, -y], axis=-1)


def with_fingers(places: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([places, np.repeat(places[:, 20:21], 30, axis=1)], axis=1)


@pytest.mark.parametrize(("kind", "fps", "up"), [
    ("float32", 20.0, "Y"), ("one row a frame", 20.0, "Y"), ("with fingers", 20.0, "Y"),
    ("frames last", 20.0, "Y"), ("a dictionary", 30.0, "Y"), ("Z up", 20.0, "Z"),
    ("two people", 20.0, "Y"), ("a batch", 20.0, "Y")])
def test_joints_are_read_in_other_shapes(tmp_path, walk, kind, fps, up):
    places = joints(walk)
    made: dict[str, Callable[[], Any]] = {
        "float32": lambda: places.astype(np.float32),
        "one row a frame": lambda: places.reshape(FRAMES, 66),
        "with fingers": lambda: with_fingers(places),
        "frames last": lambda: np.moveaxis(places, 0, -1),
        "a dictionary": lambda: {"joints": places, "text": "walks", "fps": 30},
        "Z up": lambda: walk.motion.global_pose.positions[:, :22],
        "two people": lambda: np.stack([places, places + 1.0], axis=1),
        "a batch": lambda: places[None]}
    found = read_motion(written(tmp_path / "made.pkl", made[kind]()))
    assert (found.motion.frames, found.motion.fps, found.up_axis) == (FRAMES, fps, up)
    assert found.prompt == ("walks" if kind == "a dictionary" else None)
    assert most_off(walk, found) < TOLERANCE_DEG


@pytest.mark.parametrize(("made", "said"), [
    (np.random.default_rng(0).normal(size=(60, 263)), "normalised vectors.*Std.npy"),
    (np.zeros((60, 22, 3)), "do not keep their distances"),
    (np.random.default_rng(0).normal(size=(60, 22, 3)), "do not keep their distances")])
def test_arrays_that_only_look_like_a_motion_are_refused(tmp_path, made, said):
    np.save(tmp_path / "made.npy", made)
    with pytest.raises(RequestError, match=said):
        read_motion(tmp_path / "made.npy")


def test_parameters_in_json_are_read(tmp_path, walk):
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"poses": POSES.tolist(), "trans": PLACE.tolist(), "fps": 30}))
    assert most_off(walk, read_motion(path)) < TOLERANCE_DEG


def landmarks(walk: Recording) -> NDArray[Any]:
    """MediaPipe's 33 landmarks (F, 33, 3), Z up, as several cameras see them."""
    places = {role: walk.motion.global_pose.positions[:, walk.motion.skeleton.index[name]]
              for role, name in walk.roles.items()}
    found = tracked_joints(places)
    return np.stack([found[name] for name in MEDIAPIPE], axis=1)


@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_landmarks_of_several_cameras_have_z_up(tmp_path, walk, kind):
    """FreeMocap writes both, in millimetres."""
    places = 1000.0 * landmarks(walk)
    path = tmp_path / f"made.{kind}"
    if kind == "npy":
        np.save(path, places)
    else:
        names = [f"joint{joint}_{axis}" for joint in range(33) for axis in "xyz"]
        rows = [",".join(["timestamp", *names])]
        rows += [",".join([f"{frame / 25:.4f}", *map(str, place.ravel())])
                 for frame, place in enumerate(places)]
        path.write_text("\n".join(rows))
    found = read_motion(path)
    assert (found.format, found.up_axis, found.unit) == ("MediaPipe", "Z", 0.001)
    assert found.motion.fps == pytest.approx(25.0 if kind == "csv" else 30.0)
    assert most_off(walk, found) < 15


def test_a_hidden_joint_is_where_the_estimator_guesses(tmp_path, walk):
    """From the side an elbow may be hidden in every frame."""
    places = landmarks(walk)[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"fps": 30, "frames": [{"pose_world_landmarks": [
        {"x": x, "y": y, "z": z, "visibility": 0.02 if joint == 14 else 0.9}
        for joint, (x, y, z) in enumerate(frame)]} for frame in places.tolist()]}))
    found = read_motion(path)
    assert any("1 joint hidden for longer than 2 s" in note for note in found.notes)
    assert most_off(walk, found) < 15


def write_trc(path: Path, labels: list[str], places: NDArray[Any]) -> Path:
    x, y, z = np.moveaxis(places, -1, 0)
    places = np.stack([x, z, -y], axis=-1)
    rows = ["PathFileType\t4\t(X/Y/Z)\tmade.trc",
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
            f"30\t30\t{len(places)}\t{len(labels)}\tm", "Frame#\tTime\t" + "\t\t\t".join(labels),
            "\t\t" + "\t".join(f"{axis}{n + 1}" for n in range(len(labels)) for axis in "XYZ")]
    rows += [f"{n + 1}\t{n / 30:.5f}\t" + "\t".join(f"{one:.5f}" for one in place.ravel())
             for n, place in enumerate(places)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("toes", [True, False])
@pytest.mark.parametrize("mark", [lambda side, part: f"{side[0].upper()}{part.title()}",
                                  lambda side, part: f"{side}_{part}"], ids=["RHip", "right_hip"])
def test_joint_centres_in_tables_of_markers_need_no_marker_set(tmp_path, walk, mark, toes):
    """Pose2Sim, Sports2D, OpenCap and FreeMocap write such TRC files."""
    index, places = walk.motion.skeleton.index, walk.motion.global_pose.positions
    parts = {"hip": "thigh", "knee": "shin", "ankle": "foot", "shoulder": "upper_arm",
             "elbow": "forearm", "wrist": "hand"} | ({"BigToe": "toe"} if toes else {})
    at = {mark(side, part): places[:, index[walk.roles[f"{side}_{role}"]]]
          for side in ("right", "left") for part, role in parts.items()}
    found = read_motion(write_trc(tmp_path / "made.trc", list(at), np.stack(list(at.values()), 1)))
    assert (found.format, found.system, found.up_axis) == ("TRC", "joint centres", "Y")
    assert not found.marker_rms_mm
    assert np.median(np.degrees(np.arccos(np.clip(np.sum(
        directions(walk)[:, :5] * directions(found)[:, :5], axis=2), -1, 1)))) < 3


def test_centres_that_are_never_there_together_are_refused_in_one_line(tmp_path, walk):
    labels = [f"{side}{part}" for side in "RL" for part in (
        "Hip", "Knee", "Ankle", "Shoulder", "Elbow", "Wrist")]
    places = np.full((FRAMES, len(labels), 3), np.nan)
    places[::2, :6], places[1::2, 6:] = np.arange(18.0).reshape(6, 3), 1.0
    with pytest.raises(RequestError, match="shows most of a body in 0 frames"):
        read_motion(write_trc(tmp_path / "a.trc", labels, places))


MOTIVE = {"hips": "Hip", "spine1": "Ab", "chest": "Chest", "neck1": "Neck", "head": "Head"} | {
    f"{side}_{role}": side[0].upper() + bone for side in ("left", "right") for role, bone in {
        "clavicle": "Shoulder", "upper_arm": "UArm", "forearm": "FArm", "hand": "Hand",
        "thigh": "Thigh", "shin": "Shin", "foot": "Foot", "toe": "Toe"}.items()}


def write_motive(path: Path, walk: Recording, lost: int = 0) -> Path:
    """Write the bones of a skeleton as Motive 2 exports them, in millimetres, Y up."""
    pose, index = walk.motion.global_pose, walk.motion.skeleton.index
    stand = Rotation.from_euler("x", -90, degrees=True)
    columns = [["", "", "", "Frame"], ["", "", "", "Time"]]
    values = []
    for role, bone in MOTIVE.items():
        joint = index[walk.roles[role]]
        turns = stand * Rotation.from_quat(np.roll(pose.rotations[:, joint], -1, 1)) * stand.inv()
        values += [turns.as_quat(), 1000.0 * stand.apply(pose.positions[:, joint])]
        columns += [["Bone", f"Anna:{bone}", "Rotation", axis] for axis in "XYZW"]
        columns += [["Bone", f"Anna:{bone}", "Position", axis] for axis in "XYZ"]
    kinds, names, measures, axes = (",".join(row) for row in zip(*columns, strict=True))
    rows = ["Format Version,1.23,Take Name,a,Export Frame Rate,30.000000,Length Units,Millimeters",
            "", kinds, names, measures, axes]
    for frame, row in enumerate(np.concatenate(values, axis=1)):
        cells = [f"{one:.6f}" for one in row]
        cells[:7] = [""] * 7 if frame in range(5, 5 + lost) else cells[:7]
        rows.append(",".join([str(frame), f"{frame / 30:.4f}", *cells]))
    path.write_text("\n".join(rows) + "\n")
    return path


def test_bones_of_motive_need_no_markers(tmp_path, walk):
    found = read_motion(write_motive(tmp_path / "a.csv", walk))
    assert (found.format, found.motion.fps, found.up_axis) == ("Motive", 30.0, "Y")
    assert most_off(walk, found) < TOLERANCE_DEG
    held = read_motion(write_motive(tmp_path / "b.csv", walk, lost=4))
    assert any("lost in 4 frames are held" in note for note in held.notes)
    with pytest.raises(RequestError, match="bones are lost in 83%"):
        read_motion(write_motive(tmp_path / "c.csv", walk, lost=50))
