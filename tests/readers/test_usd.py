"""USD's skeletons, which Blender reads."""

import numpy as np
import pytest

from array_files import FRAMES, walking
from mimegen.base.errors import RequestError
from mimegen.readers import read_motion
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
