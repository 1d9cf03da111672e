"""Takes that start and end in mid-step."""

from dataclasses import replace

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.spec import read_character
from mimegen.motion.contacts import velocities
from mimegen.motion.lowpass import low_passed
from mimegen.readers import read_motion
from mimegen.readers.points import read_points
from mimegen.retarget import retarget
from mimegen.retarget.report import quality


def test_what_moves_steadily_does_so_up_to_the_ends():
    steady = np.arange(40.0)[:, None] * [0.01, 0.0, -0.02]
    assert np.allclose(low_passed(steady, 3.0), steady)
    assert np.allclose(velocities(steady, 100.0), [1.0, 0.0, -2.0])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "last"), [
    ("btk_c3dorg04_sub_labels", 160, 208), ("btk_PiG_Motion3_FF", 100, 180)])
def test_a_gait_trial_cut_in_mid_step_is_as_smooth_as_it_was(samples, monkeypatch, name, first,
                                                             last):
    """They came out with jerk ratios of 1.15 and 1.13."""
    path = samples / "c3d" / f"{name}.c3d"
    points = read_points(path)
    cut = replace(points, positions=points.positions[first : last + 1])
    monkeypatch.setattr("mimegen.readers.c3d.read_points", lambda *_: cut)
    recording = read_motion(path)
    man = build_character(read_character(data_folder() / "rigs" / "man.yaml"))
    performance = retarget(recording.motion, man, recording.roles)
    assert quality(recording.motion, recording.roles, performance)["jerk_ratio"] < 1.05
