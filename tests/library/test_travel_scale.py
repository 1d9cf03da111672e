"""Rows, renders and methods state how much farther a character goes than the recorded person."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import mimegen as mg
from mimegen.writers.research import humanml_joints
from running import invoked, mimegen

# How much smaller than the standard person the recorded one is.
SMALLER = 0.9


@pytest.fixture(scope="module")
def small_walker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the joint positions (F, 22, 3) of a small person walking, as saved with NumPy."""
    file = tmp_path_factory.mktemp("joints") / "small.npy"
    joints = humanml_joints(mg.take("walking").motion())
    np.save(file, SMALLER * joints.astype(np.float32))
    return file


@pytest.mark.parametrize("who", ["man", "woman"])
def test_the_factor_is_that_of_the_shown_path(small_walker: Path, who: str) -> None:
    take = mg.load_motion(small_walker)
    shown = take.on(who)
    # Of the hips' whole path, from the first frame to the last.
    ways = [np.linalg.norm((places[-1, 0] - places[0, 0])[:2])
            for places in (take.positions(), shown.positions())]
    scale = shown.pointlight().record["travel_scale"]
    assert scale == pytest.approx(ways[1] / ways[0], rel=0.02) and scale > 1.02


def test_dots_of_the_recording_itself_and_takes_of_the_library_have_none(small_walker: Path
                                                                        ) -> None:
    assert mg.load_motion(small_walker).pointlight().record.get("travel_scale") is None
    assert mg.take("boxing").on("man").pointlight().record.get("travel_scale") is None


def test_two_people_share_a_factor(small_walker: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(small_walker, tmp_path / "other.npy"))
    alone = [mg.load_motion(small_walker).on(who).pointlight().record["travel_scale"]
             for who in ("man", "woman")]
    pair = mg.load_motion(small_walker, partner=other).on("man", "woman")
    assert pair.pointlight().record["travel_scale"] == pytest.approx(
        np.sqrt(np.prod(alone)), abs=1e-3)


def test_renders_rows_and_methods_say_so(small_walker: Path, tmp_path: Path) -> None:
    done = mimegen("render", "--motion", small_walker, "--label", "walking", "--trim", "0f:3f",
                          "--variants", "base+blank@0,base+blank@90", "--config", "draft",
                          "--out", tmp_path / "out", "--store", tmp_path / "store")
    clips = mg.open(tmp_path / "out")
    scale = clips[0].travel_scale
    words = f"distances and speeds are {scale:.3f} times those of the recording, because the" \
        " character's legs are longer"
    assert done.stderr.count(f"small.npy on man: {words}") == 1
    faster = mimegen("render", "--motion", small_walker, "--label", "walking", "--trim", "0f:3f",
                     "--tempo", "1.1", "--variants", "base+blank@0", "--config", "draft",
                     "--out", tmp_path / "faster", "--store", tmp_path / "store")
    assert f"small.npy on man: distances are {scale:.3f} times" in faster.stderr
    said = invoked("cite", tmp_path / "out").stdout
    assert f"{words[0].upper()}{words[1:]}." in said
