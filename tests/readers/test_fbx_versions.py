"""FBX of other ages and forms: written by fbx_files.py, read back as the same motion."""

import json
import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from fbx_files import fbx_file
from glb_files import parts_of
from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.readers import read_motion
from mimegen.readers.fbx import stated_settings
from places import DATA, ROOT

pytestmark = pytest.mark.engines

FRAMES, FPS = 20, 30.0


@pytest.fixture(scope="module")
def bowing() -> Motion:
    """Someone who bows, lifts the left arm and walks off."""
    skeleton, time = standard_skeleton(), np.linspace(0.0, 1.0, FRAMES)
    rotations = np.tile(quaternions.IDENTITY, (FRAMES, len(skeleton.names), 1))
    for joint, turn in (("Spine", [0.7, 0.0, 0.0]), ("LeftArm", [0.2, -1.1, 0.5]),
                        ("LeftForeArm", [0.0, 0.0, 1.2]), ("RightArm", [0.0, 1.2, 0.0])):
        rotations[:, skeleton.index[joint]] = quaternions.from_rotation_vectors(
            time[:, None] * turn)
    roots = skeleton.heads[0] + time[:, None] * [0.2, -0.5, 0.0]
    return Motion(skeleton, FPS, roots, rotations)


@pytest.mark.parametrize(("version", "binary", "unit"), [
    (6100, False, 1.0), (6100, True, 2.54), (7300, False, 2.54), (7700, False, 1.0),
    (7100, True, 1.0),
])
def test_every_age_and_form_gives_the_same_motion(bowing: Motion, tmp_path: Path, version: int,
                                                  binary: bool, unit: float) -> None:
    path = tmp_path / "bow.fbx"
    path.write_bytes(fbx_file(bowing, version, binary, unit))
    found = read_motion(path)
    assert (found.motion.frames, found.motion.fps, found.stacks) == (FRAMES, FPS, ("Take 001",))
    assert found.unit == pytest.approx(0.01 * unit) and found.up_axis == "Y"
    names = found.motion.skeleton.names
    assert set(names) == set(bowing.skeleton.names)
    order = [found.motion.skeleton.index[name] for name in bowing.skeleton.names]
    away = found.motion.global_pose.positions[:, order] - bowing.global_pose.positions
    # The reader puts the start over the origin and the soles on the ground.
    assert np.abs(away - away[0, 0]).max() < 1e-4
    assert np.abs(away[0, 0] + bowing.root_positions[0] * [1, 1, 0])[:2].max() < 1e-4


def test_keys_that_are_no_numbers_get_one_line(bowing: Motion, tmp_path: Path) -> None:
    path = tmp_path / "bow.fbx"
    path.write_bytes(fbx_file(bowing, 6100).replace(b"Key: 0,", b"Key: nan,", 1))
    with pytest.raises(RequestError, match=r"bow\.fbx: Blender cannot read it \(its keys are at"
                                           r" times that are not numbers\)") as caught:
        read_motion(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("unit", [b"inf", b"nan", b"1e999", b"-2.54", b"0", b"1e300", b"x"])
def test_a_unit_that_cannot_be_is_none(bowing: Motion, tmp_path: Path, unit: bytes) -> None:
    path, stated = tmp_path / "bow.fbx", fbx_file(bowing, 7300, False, 2.54)
    path.write_bytes(stated)
    assert stated_settings(path).unit == pytest.approx(0.0254)
    line = next(line for line in stated.splitlines() if b'"UnitScaleFactor"' in line)
    path.write_bytes(stated.replace(line, line.replace(b"2.54", unit)))
    assert stated_settings(path).unit == 0.01


def test_damaged_files_that_blender_reads_give_a_motion_or_one_line(bowing: Motion, tmp_path: Path
                                                                   ) -> None:
    """A few of the damages of ``benchmarks/fuzz_readers.py``: FBX, glTF text, and a VRM figure."""
    (tmp_path / "old.fbx").write_bytes(fbx_file(bowing, 6100))
    (tmp_path / "new.fbx").write_bytes(fbx_file(bowing, 7700, binary=True))
    document, buffer = parts_of(DATA / "motion_without_skin.glb")
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + b64encode(
        buffer).decode()
    (tmp_path / "take.gltf").write_text(json.dumps(document))
    shutil.copy(DATA / "motion_without_skin.glb", tmp_path / "figure.vrm")
    script = ROOT / "benchmarks" / "fuzz_readers.py"
    done = subprocess.run(
        [sys.executable, script, *sorted(tmp_path.glob("*.*")), "--mutations", "24", "--seed", "39",
         "--keep", tmp_path / "kept"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]
    assert "'refused'" in done.stdout
