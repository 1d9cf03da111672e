"""Users read one length of a motion everywhere: its number of frames divided by their rate."""

import json
from pathlib import Path

import numpy as np
import pytest

import mimegen as mg
from mimegen.writers.research import humanml_joints
from running import invoked

FRAMES, FPS = 60, 20.0


@pytest.fixture(scope="module")
def three_seconds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Joints (60, 22, 3) at 20 frames a second."""
    file = tmp_path_factory.mktemp("joints") / "walk.npy"
    np.save(file, humanml_joints(mg.take("walking").motion())[:FRAMES])
    return file


def test_commands_and_python_give_the_same_length(three_seconds: Path) -> None:
    facts = json.loads(invoked("inspect", three_seconds, "--json").stdout)
    assert (facts["frames"], facts["fps"], facts["duration_s"]) == (FRAMES, FPS, FRAMES / FPS)
    assert "60 at 20 fps, 3.00 s" in invoked("inspect", three_seconds).stdout
    take = mg.load_motion(three_seconds)
    assert repr(take).startswith("<Take: walk, 3.0 s, 60 frames")
    assert repr(take.motion()).startswith("<Motion: 3.0 s, 60 frames")
    assert take.motion().duration == 3.0 and take.motion().last_s == pytest.approx(2.95)
    assert take.pointlight(fps=20).record["duration_s"] == 3.0


def test_a_motion_can_be_trimmed_to_its_whole_length(three_seconds: Path) -> None:
    assert mg.load_motion(three_seconds, trim="0:3").frames == FRAMES
    for trim, message in (("0:3.2", r"outside the motion of 60 frames \(0f:59f\), 3.00 s long"),
                          ("0f:60f", "outside")):
        with pytest.raises(mg.RequestError, match=message):
            mg.load_motion(three_seconds, trim=trim).motion()
    with pytest.raises(mg.RequestError, match="start 3 s is after the last frame of the motion"):
        mg.load_motion(three_seconds).pointlight(start=3)
