"""The same walk in the layouts of more data sets and tools: dances, crowds, joints without names.

No file is a recording: each is made after what its writer's code or documentation says.
"""

import gzip
import json
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from array_files import FRAMES, in_camera, matrices, walking
from camera_files import AZURE, KINECT, MEDIAPIPE, OPENPOSE, seen, tracked_joints
from mimegen.readers import ReadOptions, Recording, read_motion
from mimegen.readers.cameras3d.posejson import MEDIAPIPE_NAMES
from test_other_writers import landmarks, most_off

WALK = walking()
POSES, PLACE = WALK["poses"], WALK["trans"]
TURNS = matrices(POSES)
STILL = np.zeros((FRAMES, 4))
CAMERA = in_camera(WALK)
STOOD = Rotation.from_euler("x", 90, degrees=True)
# SMPL-X's rest pose is another one: head and collars.
TOLERANCE_DEG, TOLERANCE_X_DEG = 1.5, 14.0
HUMAN36M = ["pelvis", "rhi", "rkn", "ran", "lhi", "lkn", "lan", "naval", "sps", "nose", "head",
            "lsh", "lel", "lwr", "rsh", "rel", "rwr"]
COCO = ["nose", "leye", "reye", "lear", "rear", "lsh", "rsh", "lel", "rel", "lwr", "rwr", "lhi",
        "rhi", "lkn", "rkn", "lan", "ran"]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("walk") / "walk.npz"
    np.savez(path, **WALK, mocap_framerate=30.0)
    return read_motion(path)


@pytest.fixture(scope="module")
def tracked(walk: Recording) -> dict[str, Any]:
    index, places = walk.motion.skeleton.index, walk.motion.global_pose.positions
    return tracked_joints({role: places[:, index[name]] for role, name in walk.roles.items()})


def six(joints: int) -> Any:
    whole = np.tile(np.eye(3), (FRAMES, joints, 1, 1))
    whole[:, :22] = TURNS[:, :22]
    return whole[:, :, :2].reshape(FRAMES, -1)


def quaternions(vectors: Any) -> Any:
    """Quaternions (F, J, 4), w first."""
    turns = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_quat()[:, [3, 0, 1, 2]]
    return turns.reshape(FRAMES, -1, 4)


def places_of_24(walk: Recording) -> Any:
    x, y, z = np.moveaxis(walk.motion.global_pose.positions[:, :24], -1, 0)
    return np.stack([x, z, -y], axis=-1)


def easymocap() -> list[Any]:
    """Its root is aside, and the pose's own root never turns."""
    body = np.concatenate([np.zeros((FRAMES, 3)), POSES[:, 3:]], axis=1)
    return [[{"id": 0, "Rh": POSES[n:n + 1, :3].tolist(), "Th": PLACE[n:n + 1].tolist(),
              "poses": body[n:n + 1].tolist(), "shapes": np.zeros((1, 10)).tolist()}]
            for n in range(FRAMES)]


SMPL: dict[str, Callable[[], Any]] = {
    "EDGE's row": lambda: np.concatenate([STILL, PLACE, six(24)], axis=1),
    "LODGE": lambda: np.concatenate([STILL, PLACE, six(22)], axis=1),
    "FineDance": lambda: np.concatenate([PLACE, six(52)], axis=1),
    "a path and vectors": lambda: np.concatenate([PLACE, POSES], axis=1),
    "EgoAllo": lambda: {
        "Ts_world_root": np.concatenate([quaternions(POSES[:, :3])[:, 0], PLACE], axis=1)[None],
        "body_quats": quaternions(POSES[:, 3:66])[None], "betas": np.zeros((1, FRAMES, 16)),
        "timestamps_ns": np.arange(FRAMES) * 33_333_333},
    "SLOPER4D": lambda: {"RGB_info": {"fps": 20.0}, "framerate": 20, "second_person": {
        "pose": POSES, "trans": PLACE, "gender": "male", "point_frame": np.arange(FRAMES)}},
    "GLAMR": lambda: {"person_data": {0: {
        "smpl_pose": POSES[:, 3:], "smpl_beta": np.zeros((FRAMES, 10)),
        "smpl_orient_world": (STOOD * Rotation.from_rotvec(POSES[:, :3])).as_rotvec(),
        "root_trans_world": STOOD.apply(PLACE), "smpl_orient_cam": CAMERA["poses"][:, :3]}}},
    "HybrIK": lambda: {"pred_thetas": [one.reshape(-1) for one in matrices(CAMERA["poses"])],
                       "transl": list(CAMERA["trans"]), "pred_betas": [np.zeros(10)] * FRAMES,
                       "img_path": ["x"] * FRAMES},
    "CLIFF": lambda: {"pose": CAMERA["poses"], "global_t": CAMERA["trans"],
                      "shape": np.zeros((FRAMES, 10)), "focal_l": np.ones(FRAMES)},
    "ROMP of 2021": lambda: {"results": {f"{n:06}.png": [
        {"pose": CAMERA["poses"][n], "trans": CAMERA["trans"][n], "betas": np.zeros(10)}]
        for n in range(FRAMES)}}}
SMPLX: dict[str, Callable[[], Any]] = {
    "Meshcapade": lambda: {
        "codecVersion": 2, "smplVersion": np.array("smplx"), "gender": np.array("neutral"),
        "shapeParameters": np.zeros(10), "bodyTranslation": PLACE, "frameRate": np.array(30.0),
        "bodyPose": POSES.reshape(FRAMES, 24, 3)[:, :22], "headPose": np.zeros((FRAMES, 3, 3)),
        "leftHandPose": np.zeros((FRAMES, 15, 3)), "rightHandPose": np.zeros((FRAMES, 15, 3))},
    "GRAB": lambda: {"gender": "male", "framerate": 120.0, "n_comps": 24, "body": {"params": {
        "transl": PLACE, "global_orient": POSES[:, :3], "body_pose": POSES[:, 3:66],
        "jaw_pose": np.zeros((FRAMES, 3)), "left_hand_pose": np.zeros((FRAMES, 24)),
        "right_hand_pose": np.zeros((FRAMES, 24)),
        "fullpose": np.concatenate([POSES[:, :66], np.zeros((FRAMES, 99))], axis=1)}},
        "object": {"params": {"transl": PLACE, "global_orient": POSES[:, :3]}}}}


def written(path: Path, content: Any, protocol: int = 2) -> Path:
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


@pytest.mark.parametrize("kind", [*SMPL, *SMPLX])
def test_more_layouts_of_smpl_are_read(tmp_path, walk, kind):
    found = read_motion(written(tmp_path / "made.pkl", (SMPL | SMPLX)[kind]()))
    assert found.motion.frames == FRAMES
    assert most_off(walk, found) < (TOLERANCE_X_DEG if kind in SMPLX else TOLERANCE_DEG)
    assert np.ptp(found.motion.root_positions[:, 1]) == pytest.approx(2.0, abs=0.1)
    assert found.motion.fps == pytest.approx({"GRAB": 120, "SLOPER4D": 20}.get(kind, 30))


def romp_frame(number: int) -> dict[str, Any]:
    return {"pose": CAMERA["poses"][number], "trans": CAMERA["trans"][number],
            "betas": np.zeros(10)}


def phalp_frame(number: int) -> dict[str, Any]:
    turns = Rotation.from_rotvec(CAMERA["poses"][number].reshape(-1, 3)).as_matrix()
    return {"tid": [1], "camera": [CAMERA["trans"][number]], "smpl": [
        {"global_orient": turns[:1], "body_pose": turns[1:], "betas": np.zeros(10)}]}


@pytest.mark.parametrize("key", [str, int, "frame_{}.png".format])
@pytest.mark.parametrize("tool", ["ROMP", "PHALP"])
def test_frames_are_in_the_order_of_their_numbers(tmp_path, walk, tool, key):
    """Files are named 1 to 100 by many tools, and 10 comes before 2 in the alphabet."""
    frame = {"ROMP": lambda number: [romp_frame(number)], "PHALP": phalp_frame}[tool]
    held = {key(number): frame(number) for number in reversed(range(FRAMES))}
    found = read_motion(written(tmp_path / "made.pkl", held))
    assert found.motion.frames == FRAMES and most_off(walk, found) < TOLERANCE_DEG


def test_frames_in_which_romp_found_nobody_keep_their_time(tmp_path, walk):
    lost = range(20, 26)
    held = {f"{n}.png": [] if n in lost else [romp_frame(n)] for n in range(FRAMES)}
    found = read_motion(written(tmp_path / "made.pkl", held))
    assert found.motion.frames == FRAMES
    assert any("6 frames in which nobody was found" in note for note in found.notes)


def test_several_people_without_ids_are_a_doubt(tmp_path):
    held = {f"{n}.png": [romp_frame(n)] * (1 + (n > 50)) for n in range(FRAMES)}
    found = read_motion(written(tmp_path / "made.pkl", held))
    assert any(f"{FRAMES - 51} of {FRAMES} frames show several people" in note
               for note in found.notes)


def test_a_pose_of_places_is_none(tmp_path, walk):
    """EDGE calls the joints' places its full pose."""
    held = {"smpl_poses": POSES, "smpl_trans": PLACE, "full_pose": places_of_24(walk)}
    assert most_off(walk, read_motion(written(tmp_path / "made.pkl", held))) < TOLERANCE_DEG


@pytest.mark.parametrize("annotated", [False, True])
def test_people_by_frame_are_read(tmp_path, walk, annotated):
    frames = easymocap()
    frames = [{"frame": n, "annots": frame} for n, frame in enumerate(frames)] if annotated \
        else frames
    (tmp_path / "made.json").write_text(json.dumps(frames))
    assert most_off(walk, read_motion(tmp_path / "made.json")) < TOLERANCE_DEG


def test_parameters_by_frame_in_json_are_read(tmp_path, walk):
    frames = [{"global_orient": POSES[n, :3].tolist(), "body_pose": POSES[n, 3:66].tolist(),
               "transl": PLACE[n].tolist()} for n in range(FRAMES)]
    (tmp_path / "made.json").write_text(json.dumps({"metadata": {}, "frames": frames}))
    assert most_off(walk, read_motion(tmp_path / "made.json")) < TOLERANCE_DEG


def test_poses_beside_sensors_are_read(tmp_path, walk):
    held = {"imu_ori": np.full((FRAMES, 17, 3, 3), np.nan), "gt": POSES}
    found = read_motion(written(tmp_path / "made.pkl", held))
    assert (found.format, found.motion.fps) == ("DIP-IMU", 60.0)
    assert most_off(walk, found) < TOLERANCE_DEG


def test_a_crowd_is_parted(tmp_path, walk):
    """CoMotion: all rows of all people, one after the other."""
    held = {"id": np.repeat([3, 8], FRAMES), "frame_idx": np.tile(np.arange(FRAMES), 2),
            "pose": np.concatenate([CAMERA["poses"]] * 2),
            "trans": np.concatenate([CAMERA["trans"]] * 2)}
    found = read_motion(written(tmp_path / "made.pkl", held), ReadOptions(subject="8"))
    assert found.motion.frames == FRAMES and most_off(walk, found) < TOLERANCE_DEG


def test_listed_poses_are_takes_of_one_each(tmp_path, walk):
    """HumanAct12, which has no places."""
    path = written(tmp_path / "made.pkl", {"poses": [POSES, POSES[:40]], "y": [0, 1]})
    assert read_motion(path, ReadOptions(subject="1")).motion.frames == 40
    assert most_off(walk, read_motion(path, ReadOptions(subject="0"))) < TOLERANCE_DEG


JOINTS: dict[str, Callable[[Any], Any]] = {
    "InterGen": lambda places: np.concatenate([places.reshape(FRAMES, 66),
                                               np.zeros((FRAMES, 196))], axis=1),
    "InterGen, two": lambda places: np.stack([np.concatenate(
        [places.reshape(FRAMES, 66), np.zeros((FRAMES, 196))], axis=1)] * 2, axis=1),
    "InterHuman": lambda places: np.concatenate([places.reshape(FRAMES, 66),
                                                 np.zeros((FRAMES, 426))], axis=1),
    "a list of dictionaries": lambda places: [{"joints": places, "text": "walks"}] * 2,
    "takes by name": lambda places: {"000001": places, "000002": places[:40]}}


@pytest.mark.parametrize("kind", JOINTS)
def test_more_layouts_of_joints_are_read(tmp_path, walk, kind):
    places = places_of_24(walk)[:, :22]
    found = read_motion(written(tmp_path / "made.pkl", JOINTS[kind](places)))
    assert (found.motion.frames, found.up_axis) == (FRAMES, "Y")
    assert found.prompt == ("walks" if "dictionaries" in kind else None)
    assert most_off(walk, found) < TOLERANCE_DEG


def human36m_of_32(tracked: Any) -> Any:
    """Human3.6M's own 32 joints, of which 15 say nothing."""
    places = np.repeat(np.stack([tracked["pelvis"]], axis=1), 32, axis=1)
    kept = [0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 15, 17, 18, 19, 25, 26, 27]
    places[:, kept] = np.stack([tracked[name] for name in HUMAN36M], axis=1)
    return places


def more(places: Any, count: int) -> Any:
    return np.concatenate([places, np.full((FRAMES, count - places.shape[1], 3), np.nan)], axis=1)


@pytest.mark.parametrize(("kind", "make"), [
    ("Human3.6M", lambda found: seen(found, HUMAN36M)),
    ("Human3.6M", lambda found: {"reconstruction": seen(found, HUMAN36M)[None]}),
    ("Human3.6M", lambda found: {"positions_3d": {"S1": {"Walking": human36m_of_32(found)}}}),
    ("COCO", lambda found: {"keypoints3d": 100 * seen(found, COCO, False)}),
    ("COCO", lambda found: more(seen(found, COCO), 133)),
    ("Kinect v2", lambda found: {"file_name": "S001", "skel_body0": seen(found, KINECT, False)}),
    ("Kinect v2", lambda found: seen(found, KINECT, False).reshape(FRAMES, 75)),
    ("OpenPose", lambda found: seen(found, OPENPOSE)),
    ("Azure Kinect", lambda found: 1000 * seen(found, AZURE)),
    ("MediaPipe", lambda found: more(seen(found, MEDIAPIPE), 543))])
def test_joints_without_names_are_told_by_limbs(tmp_path, walk, tracked, kind, make):
    found = read_motion(written(tmp_path / "made.pkl", make(tracked)))
    assert found.format == kind
    # Spines of so few joints bend otherwise.
    assert most_off(walk, found) < 25


def test_a_body_that_stays_at_the_origin_gets_its_path_from_its_feet(tmp_path, walk, tracked):
    places = seen(tracked, HUMAN36M)
    np.save(tmp_path / "made.npy", places - places[:, :1])
    found = read_motion(tmp_path / "made.npy")
    assert np.ptp(found.motion.root_positions[:, 1]) > 1.0


def table(head: list[str], rows: Any) -> str:
    return "\n".join(",".join(map(str, row)) for row in ([head] if head else []) + list(rows))


@pytest.mark.parametrize("kind", ["a line a joint", "axis first", "no head"])
def test_tables_of_landmarks_are_read_however_they_are_laid_out(tmp_path, walk, kind):
    places = landmarks(walk)
    wide = [place.ravel() for place in places]
    made = {
        "a line a joint": lambda: table(
            ["frame", "time", "landmark", "x", "y", "z", "visibility"],
            [[n, n / 25, name, *places[n, joint], 1.0] for n in range(FRAMES)
             for joint, name in enumerate(MEDIAPIPE_NAMES)]),
        "axis first": lambda: table([f"{axis}_{name}" for name in MEDIAPIPE_NAMES
                                     for axis in "xyz"], wide),
        "no head": lambda: table([], wide)}
    (tmp_path / "made.csv").write_text(made[kind]())
    found = read_motion(tmp_path / "made.csv")
    assert (found.format, found.motion.frames) == ("MediaPipe", FRAMES)
    assert found.motion.fps == pytest.approx(25.0 if kind == "a line a joint" else 30.0)
    assert most_off(walk, found) < 15


def named(place: Any) -> dict[str, dict[str, float]]:
    return {name: dict(zip("xyz", map(float, one), strict=True))
            for name, one in sorted(zip(MEDIAPIPE_NAMES, place, strict=True))}


@pytest.mark.parametrize("kind", ["by name", "by number", "a line each", "keypoints"])
def test_json_of_landmarks_is_read_however_it_is_laid_out(tmp_path, walk, tracked, kind):
    places = landmarks(walk)
    path = tmp_path / ("made.jsonl" if kind == "a line each" else "made.json")
    openpose = np.concatenate([seen(tracked, OPENPOSE), np.ones((FRAMES, 25, 1))], axis=2)
    made = {
        "by name": lambda: json.dumps({"fps": 30, "frames": [
            {"frame": n, "landmarks": named(place)} for n, place in enumerate(places)]}),
        "by number": lambda: json.dumps({str(n): named(places[n]) for n in
                                         np.argsort([str(n) for n in range(FRAMES)])}),
        "a line each": lambda: "\n".join(json.dumps({"pose_world_landmarks": place.tolist()})
                                         for place in places),
        "keypoints": lambda: json.dumps([[{"id": 0, "keypoints3d": frame.tolist()}]
                                         for frame in openpose])}
    path.write_text(made[kind]())
    found = read_motion(path)
    assert (found.format, found.motion.frames) == (
        "OpenPose" if kind == "keypoints" else "MediaPipe", FRAMES)
    assert most_off(walk, found) < 15


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress,
                                    lambda data: lzma.compress(data, lzma.FORMAT_ALONE)])
@pytest.mark.parametrize("name", ["made.pkl", "made.pkl.gz"])
def test_packed_pickles_are_read_whatever_their_name(tmp_path, walk, packed, name):
    plain = pickle.dumps({"poses": POSES, "trans": PLACE, "fps": 30})
    (tmp_path / name).write_bytes(packed(plain))
    assert most_off(walk, read_motion(tmp_path / name)) < TOLERANCE_DEG


@pytest.mark.parametrize("protocol", [0, 1, 5])
def test_pickles_of_every_protocol_are_read(tmp_path, walk, protocol):
    path = written(tmp_path / "made.pkl", {"poses": POSES, "trans": PLACE}, protocol)
    assert most_off(walk, read_motion(path)) < TOLERANCE_DEG
