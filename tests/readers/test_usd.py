"""USD's skeletons, which Blender reads."""

import os
import sys

import numpy as np
import pytest

from array_files import FRAMES, walking
from mimegen.base.errors import RequestError
from mimegen.readers import blender_process, read_motion
from usd_files import write_usda


@pytest.mark.slow
def test_a_skeleton_without_a_body_is_read(tmp_path):
    np.savez(tmp_path / "walk.npz", **walking(), mocap_framerate=30.0)
    walk = read_motion(tmp_path / "walk.npz")
    found = read_motion(write_usda(tmp_path / "walk.usda", walk.motion))
    assert (found.motion.frames, found.motion.fps, found.up_axis) == (FRAMES, 30.0, "Z")
    for role in ("left_hand", "right_foot", "head"):
        true, seen = (one.motion.global_pose.positions[
            :, one.motion.skeleton.index[one.roles[role]]] for one in (walk, found))
        assert np.abs((true - true[0]) - (seen - seen[0])).max() < 0.01


@pytest.mark.slow
def test_a_usd_without_a_skeleton_is_refused_in_one_line(tmp_path):
    path = tmp_path / "a.usda"
    path.write_text('#usda 1.0\n\ndef Xform "Nothing"\n{\n}\n')
    with pytest.raises(RequestError) as refused:
        read_motion(path)
    assert "\n" not in str(refused.value)


def said_by(code, seconds=60):
    return blender_process._run([sys.executable, "-c", code], dict(os.environ), seconds)


def test_the_first_and_the_last_errors_of_blender_are_kept():
    done = said_by("import sys; sys.stderr.write('first' + 300_000 * 'x' + 'last'); sys.exit(3)")
    assert done.returncode == 3 and len(done.stderr) < 4 * blender_process.KEPT_ERRORS
    assert done.stderr.startswith(b"first") and done.stderr.endswith(b"last")


def test_a_program_that_finds_errors_without_end_is_ended():
    with pytest.raises(blender_process._TooManyErrorsError):
        said_by("import sys\nwhile True: sys.stderr.write(4096 * 'x')")


def test_a_program_that_does_not_end_is_ended():
    assert said_by("import time; time.sleep(600)", 1).returncode == blender_process.TIMED_OUT
