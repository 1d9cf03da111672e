"""SMPL-X, SOMA, HumanML3D, TRC and VRM animations are read back as they were written."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.editing import resampled
from mimegen.readers import read_motion
from mimegen.readers.points import read_points
from mimegen.readers.recording import Recording
from mimegen.readers.roles import find_roles
from mimegen.writers import FORMATS, format_of, write_motion
from mimegen.writers.research import humanml_joints


@pytest.fixture(scope="module")
def boxing() -> Motion:
    take = library_take(Catalogue.with_libraries(()).action("boxing"), None, 0)
    return resampled(take.sources(30.0)[0][0], 20.0)


def apart_mm(first: Motion, second: Motion) -> float:
    """How far joints are apart at most, from where the body starts and faces."""
    names = [name for name in first.skeleton.names if name in second.skeleton.index]
    a, b = (one.global_pose.positions[:, [one.skeleton.index[name] for name in names]]
            for one in (first, second))
    count = min(len(a), len(b))
    return float(np.abs(a[:count] - a[:1, :1] - b[:count] + b[:1, :1]).max() * 1000)


@pytest.mark.parametrize("kind", ["smplx", "soma", "humanml3d", "humanml3d-vectors", "trc"])
def test_what_was_read_is_written_and_read_again_within_a_millimetre(tmp_path, boxing, kind):
    files = [tmp_path / f"{name}{FORMATS[kind]}" for name in "ab"]
    write_motion(files[0], boxing)
    first = read_motion(files[0])
    write_motion(files[1], first.motion)
    second = read_motion(files[1])
    assert apart_mm(first.motion, second.motion) < 1.0
    assert abs(first.motion.frames - boxing.frames) <= 1


@pytest.mark.parametrize("kind", ["smplx", "soma"])
def test_limbs_point_where_they_did(tmp_path, boxing, kind):
    path = tmp_path / f"a{FORMATS[kind]}"
    write_motion(path, boxing)
    found = read_motion(path)
    own = boxing.skeleton.index
    lift = []
    for role, names in (("left_{}", ("LeftArm", "LeftForeArm", "LeftHand")),
                        ("right_{}", ("RightUpLeg", "RightLeg", "RightFoot"))):
        parts = ("upper_arm", "forearm", "hand") if "Arm" in names[0] else ("thigh", "shin", "foot")
        for a in (0, 1):
            ends = [found.roles[role.format(parts[a + b])] for b in (0, 1)]
            index = found.motion.skeleton.index
            for motion, pair in ((boxing, [own[names[a]], own[names[a + 1]]]),
                                 (found.motion, [index[end] for end in ends])):
                places = motion.global_pose.positions
                bone = places[:, pair[1]] - places[:, pair[0]]
                lift.append(np.degrees(np.arcsin(bone[:, 2] / np.linalg.norm(bone, axis=1))))
    for true, seen in zip(lift[::2], lift[1::2], strict=True):
        assert np.abs(true - seen).max() < 1.0


def test_smplx_has_the_layout_of_amass(tmp_path, boxing):
    path = tmp_path / "a.smplx.npz"
    write_motion(path, boxing)
    with np.load(path) as held:
        assert held["poses"].shape == (boxing.frames, 165)
        assert held["root_orient"].shape == (boxing.frames, 3)
        assert held["pose_body"].shape == (boxing.frames, 63)
        assert held["trans"].shape == (boxing.frames, 3)
        assert float(held["mocap_frame_rate"]) == 20.0
        assert np.abs(held["betas"]).max() <= 3.0
        assert np.isfinite(held["poses"]).all()


def test_humanml3d_starts_over_the_origin_with_y_up(boxing):
    joints = humanml_joints(boxing)
    assert joints.shape == (boxing.frames, 22, 3)
    assert np.allclose(joints[0, 0, [0, 2]], 0.0)
    assert joints[0, 15, 1] > joints[0, 0, 1] > joints[0, 7, 1]
    assert joints[..., 1].min() > -0.1


def test_markers_of_a_trc_are_where_they_were_put(tmp_path, boxing):
    path = tmp_path / "a.trc"
    write_motion(path, boxing)
    points = read_points(path)
    assert points.positions.shape[0] == boxing.frames
    assert points.fps == 20.0
    heel = points.labels.index("L.Heel")
    foot = boxing.global_pose.positions[:, boxing.skeleton.index["LeftFoot"]]
    lift = points.positions[:, heel, 2] - foot[:, 2]
    assert np.abs(lift).max() < 0.15


def test_a_spine_that_begins_at_the_hips_turns_no_pelvis(tmp_path, boxing):
    """As in CMU's files: what is between both is how the file rounds them."""
    own, roles = boxing.skeleton, find_roles(boxing.skeleton).joints
    heads = own.heads.copy()
    heads[own.index[roles["spine1"]]] = heads[own.index[roles["hips"]]]
    motion = replace(boxing, skeleton=replace(own, heads=heads))
    write_motion(tmp_path / "a.trc", motion)
    found = read_motion(tmp_path / "a.trc")
    assert not [note for note in found.notes if "hovers" in note or "turns up to" in note]
    assert off_mm(motion, found) < 5.0


def off_mm(motion: Motion, found: Recording) -> float:
    """How far limbs are apart at most, wherever a body stands and faces in both."""
    own, roles = motion.skeleton.index, find_roles(motion.skeleton).joints
    shared = [f"{side}_{part}" for side in ("left", "right")
              for part in ("thigh", "shin", "foot", "upper_arm", "forearm", "hand")]
    true, seen = (one.global_pose.positions[:, [index[names[role]] for role in shared]]
                  for one, index, names in ((motion, own, roles), (
                      found.motion, found.motion.skeleton.index, found.roles)))
    seen = seen - seen.mean(axis=(0, 1))
    true = true - true.mean(axis=(0, 1))
    turn, _ = Rotation.align_vectors(true.reshape(-1, 3), seen.reshape(-1, 3))
    off = np.linalg.norm(true - turn.apply(seen.reshape(-1, 3)).reshape(true.shape), axis=2)
    return float(1000 * off.max())


def test_joint_centres_of_a_trc_are_read_where_they_are(tmp_path, boxing):
    path = tmp_path / "a.trc"
    write_motion(path, boxing)
    found = read_motion(path)
    assert found.system == "joint centres"
    assert off_mm(boxing, found) < 1.0


def test_endings_tell_formats(tmp_path):
    assert [format_of(Path(f"a{ending}")) for ending in FORMATS.values()] == list(FORMATS)
    assert format_of(Path("a.SMPLX.npz")) == "smplx"
    assert format_of(Path("a.txt")) is None
