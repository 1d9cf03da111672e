"""Motion from FBX files: rate, length, uprightness, and what is refused."""
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.readers import ReadOptions, Recording, blender_process, read_motion
from places import SAMPLES, SUPPORT

SAMPLES = SAMPLES / "fbx"
pytestmark = [pytest.mark.engines,
              pytest.mark.skipif(not SAMPLES.is_dir(), reason="no mocap samples beside the repo")]


@cache
def sample(name: str) -> Recording:
    """Return a sample's recording, read once: each reading starts Blender."""
    return read_motion(SAMPLES / name)


@pytest.mark.parametrize(("name", "frames", "fps"), [
    ("bvhtoolbox_template.fbx", 251, 60.0),
    ("isaac_cmu_07_01.fbx", 316, 120.0),
    ("mixamo_kicking_left.fbx", 90, 60.0),
    ("mixamo_ybot_punch.fbx", 66, 30.0),
])
def test_frames_and_rate(name: str, frames: int, fps: float) -> None:
    found = sample(name)
    assert found.format == "FBX"
    assert found.motion.fps == fps
    assert abs(found.motion.frames - frames) <= 2
    places = found.motion.global_pose.positions
    index = found.motion.skeleton.index
    head = places[:, index[found.roles["head"]], 2]
    feet = np.minimum(*(places[:, index[found.roles[f"{side}_foot"]], 2]
                        for side in ("left", "right")))
    assert np.median(head) == pytest.approx(1.55, abs=0.2)
    assert -0.05 < feet.min() < 0.15
    thighs = [places[0, index[found.roles[f"{side}_thigh"]]] for side in ("left", "right")]
    left = thighs[0] - thighs[1]
    assert left[0] > 0.8 * np.linalg.norm(left[:2])


def test_other_units_of_one_scene_stand_alike() -> None:
    found = sample("naeem_idle.fbx")
    places = found.motion.global_pose.positions
    assert np.ptp(places[0, :, 2]) == pytest.approx(1.7, abs=0.15)


def test_cartwheels_on_rigid_bones() -> None:
    found = sample("isaac_cmu_49_08.fbx").motion
    rest = found.skeleton.heads[:, 2]
    assert rest[found.skeleton.index["Head"]] > 1.2 > 0.2 > rest[found.skeleton.index["LeftFoot"]]
    bones = np.linalg.norm(found.skeleton.offsets[1:], axis=1)
    places = found.global_pose.positions
    shown = np.linalg.norm(places[:, 1:] - places[:, found.skeleton.parents[1:]], axis=2)
    assert np.allclose(shown, bones, atol=1e-6)
    # Cartwheels: the head is the lowest part at some moment, and the highest at another.
    head = places[:, found.skeleton.index["Head"], 2]
    assert head.min() < 0.5 * head.max()


@pytest.mark.parametrize(("share", "expected"), [(0.0, "is empty"), (0.6, "cannot read")])
def test_truncated(share: float, expected: str, tmp_path: Path) -> None:
    whole = (SAMPLES / "mixamo_ybot_punch.fbx").read_bytes()
    broken = tmp_path / "broken.fbx"
    broken.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(RequestError, match=rf"broken\.fbx: .*{expected}") as error:
        read_motion(broken)
    assert "\n" not in str(error.value)


def test_a_file_without_motion() -> None:
    with pytest.raises(RequestError, match="has a skeleton but no motion"):
        read_motion(SAMPLES / "ufbx_maya_human_ik_7400_ascii.fbx")


@pytest.fixture(scope="module")
def stacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("fbx") / "stacked.fbx"
    script = SUPPORT / "stacked_fbx.py"
    done = subprocess.run([sys.executable, script, target], capture_output=True, text=True)
    assert target.is_file(), done.stderr
    return target


def test_animation_stacks_by_name(stacked: Path) -> None:
    found = read_motion(stacked, ReadOptions(stack="Person|nod"))
    assert found.motion.frames == 20 and found.stacks == ("Person|bow", "Person|nod")
    assert found.roles["left_forearm"] == "Actor:LeftForeArm"
    turns = np.ptp(found.motion.rotations, axis=0).max(axis=1)
    moving = {found.motion.skeleton.names[j] for j in np.flatnonzero(turns > 0.01)}
    assert moving == {"Actor:Head"}
    with pytest.raises(RequestError, match=r"no animation stack 'jump'; expected one of: "
                                           r"Person\|bow, Person\|nod"):
        read_motion(stacked, ReadOptions(stack="jump"))


def test_a_file_of_another_size_or_unit() -> None:
    """A girl of 1.39 m stays one; a figure twelve times too big does not."""
    girl = read_motion(SAMPLES / "mixamo_girl_dance.fbx")
    assert girl.unit == 0.01 and "1.39 m" in girl.unit_source
    giant = sample("naeem_idle.fbx")
    assert "says centimetres, but the body would be 21.16 m tall" in giant.unit_source


def test_limits_are_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blender_process, "GIBIBYTES_TO_READ", 0.1)
    with pytest.raises(RequestError, match=r"punch\.fbx: Blender needs more than 0\.1 G") as caught:
        read_motion(SAMPLES / "mixamo_ybot_punch.fbx")
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(blender_process, "GIBIBYTES_TO_READ", 6.0)
    monkeypatch.setattr(blender_process, "SECONDS_TO_READ", 0.05)
    monkeypatch.setattr(blender_process, "SECONDS_PER_MEGABYTE", 1.0)
    with pytest.raises(RequestError, match=r"did not finish reading it in 0 s"):
        read_motion(SAMPLES / "mixamo_ybot_punch.fbx")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes_give_a_motion_or_one_line(seed: int, tmp_path: Path) -> None:
    chance = np.random.default_rng(seed)
    content = bytearray((SAMPLES / "mixamo_ybot_punch.fbx").read_bytes())
    for at in chance.integers(len(content) if seed % 2 else 4000, size=12):
        content[int(at)] = int(chance.integers(256))
    path = tmp_path / "damaged.fbx"
    path.write_bytes(content)
    try:
        assert np.isfinite(read_motion(path).motion.global_pose.positions).all()
    except RequestError as problem:
        assert "damaged.fbx" in str(problem) and "\n" not in str(problem)
