"""Gaps in motion files: short ones are bridged and said, long ones refused, in every format."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bvh_files import BvhFile, repeated, walk
from examples import examples
from glb_files import parts_of, values, write
from mimegen.base.errors import RequestError
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import Recording, read_motion
from mimegen.readers.options import AS_FOUND
from mimegen.readers.sides import reflected
from mimegen.writers import write_motion
from places import DATA


def places(recording: Recording) -> FloatArray:
    return recording.motion.global_pose.positions


def written(file: BvhFile, path: Path, word: str = "nan") -> Path:
    """Write a BVH file whose values that are no numbers stand as a ``word``."""
    file.write(path)
    path.write_text(path.read_text().replace(" nan", f" {word}").replace("\nnan", f"\n{word}"))
    return path


def lose(file: BvhFile, joint: str, frames: slice) -> BvhFile:
    for column in file.channels(joint):
        file.table[frames, column] = np.nan
    return file


@pytest.mark.parametrize("word", ["nan", "NaN", "-nan(ind)", "-1.#IND00", "1.#QNAN"])
def test_a_short_gap_in_a_bvh_is_bridged_and_said(tmp_path: Path, word: str) -> None:
    true = read_motion(walk().write(tmp_path / "whole.bvh"))
    found = read_motion(written(lose(walk(), "LeftArm", slice(12, 18)), tmp_path / "a.bvh", word))
    assert found.notes == ("tracking was lost in frames 12 to 17, where the values of 'LeftArm' are"
                           " not numbers: the motion is bridged there",)
    kept = np.r_[0:12, 18:40]
    assert places(found)[kept] == pytest.approx(places(true)[kept], abs=1e-9)
    assert np.abs(places(found) - places(true)).max() < 0.1


@settings(max_examples=examples(20), deadline=None)
@given(first=st.integers(0, 38), length=st.integers(1, 20),
       joint=st.sampled_from(["Hips", "Spine1", "LeftUpLeg", "RightForeArm", "Head"]))
def test_any_short_gap_leaves_a_motion_that_is_whole(tmp_path_factory: pytest.TempPathFactory,
                                                     first: int, length: int, joint: str) -> None:
    folder = tmp_path_factory.mktemp("gap")
    true = read_motion(walk().write(folder / "whole.bvh"))
    found = read_motion(written(lose(walk(), joint, slice(first, first + length)),
                                folder / "a.bvh"))
    assert "are not numbers" in " ".join(found.notes)
    assert np.isfinite(places(found)).all() and found.motion.frames == true.motion.frames
    assert np.abs(places(found) - places(true)).max() < 1.0


def test_a_long_gap_is_refused_with_its_lines(tmp_path: Path) -> None:
    file = lose(repeated(walk(), 2), "LeftArm", slice(40, 71))
    with pytest.raises(RequestError, match=r"line \d+, joint 'LeftArm': the gap of invalid values"
                                           r" up to line \d+ is longer than the 1 s") as caught:
        read_motion(written(file, tmp_path / "a.bvh"))
    lines = (tmp_path / "a.bvh").read_text().splitlines()
    named = [int(word) for word in str(caught.value).split() for word in [word.strip(",:")]
             if word.isdigit() and int(word) > 1]
    assert ["nan" in lines[number - 1] for number in named] == [True, True]
    assert "nan" not in lines[named[0] - 2] and "nan" not in lines[named[1]]


def test_what_is_never_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="the gap of invalid values"):
        read_motion(written(lose(walk(), "LeftArm", slice(None)), tmp_path / "a.bvh"))


@pytest.fixture
def walked(tmp_path: Path) -> Motion:
    return read_motion(walk().write(tmp_path / "walk.bvh")).motion


def npz(motion: Motion, folder: Path) -> Recording:
    write_motion(folder / "take.npz", motion)
    return read_motion(folder / "take.npz")


def test_an_npz_comes_back_as_it_was_without_doubts(walked: Motion, tmp_path: Path) -> None:
    found = npz(walked, tmp_path)
    assert found.notes == () and not found.mirrored
    assert np.array_equal(found.motion.rotations, walked.rotations)
    assert np.array_equal(found.motion.root_positions, walked.root_positions)


def _with(motion: Motion, frames: slice, value: float) -> Motion:
    rotations, roots = motion.rotations.copy(), motion.root_positions.copy()
    rotations[frames] = [1.0, 0.0, 0.0, 0.0] if value == 0.0 else value
    roots[frames] = value
    return replace(motion, rotations=rotations, root_positions=roots)


@pytest.mark.parametrize(("spoil", "said"), [
    (reflected, "the file is mirrored: knees bend backward"),
    (lambda motion: _with(motion, slice(9, 13), 0.0), "frames 9 to 12, where every joint is zero"),
    (lambda motion: _with(motion, slice(10, 14), np.nan), "frames 10 to 13, where the values of"),
    (lambda motion: replace(motion, root_positions=motion.root_positions * [1.0, 300.0, 1.0]),
     "no person runs faster"),
])
def test_an_npz_is_doubted_as_other_files_are(walked: Motion, tmp_path: Path,
                                              spoil: Callable[[Motion], Motion], said: str) -> None:
    found = npz(spoil(walked), tmp_path)
    assert said in " ".join(found.notes)
    assert np.isfinite(places(found)).all()
    if "runs" not in said:
        away = places(found) - walked.global_pose.positions
        assert np.abs(away).max() < (1e-9 if "mirrored" in said else 0.25)


def test_an_animal_in_an_npz_is_refused(tmp_path: Path) -> None:
    animal = read_motion(DATA / "quadruped.bvh", replace(AS_FOUND, mapping=_all_bones(tmp_path)))
    with pytest.raises(RequestError, match=r"take\.npz: not an upright person"):
        npz(animal.motion, tmp_path)


def _all_bones(folder: Path) -> Path:
    """Return a mapping that insists on a bone, so that the file is read."""
    path = folder / "map.yaml"
    path.write_text("hips: Hips\n")
    return path


@pytest.mark.engines
def test_a_gap_in_a_glb_is_bridged_and_said(walked: Motion, tmp_path: Path) -> None:
    write_motion(tmp_path / "a.glb", walked)
    true = read_motion(tmp_path / "a.glb")
    document, buffer = parts_of(tmp_path / "a.glb")
    arm = next(n for n, node in enumerate(document["nodes"]) if node["name"] == "LeftForeArm")
    animation = document["animations"][0]
    sampler = next(one["sampler"] for one in animation["channels"]
                   if one["target"] == {"node": arm, "path": "rotation"})
    turns = values(document, buffer, animation["samplers"][sampler]["output"])
    turns[20:23] = np.nan
    found = read_motion(write(tmp_path / "b.glb", document, buffer))
    assert "where the values of 'LeftForeArm'" in " ".join(found.notes)
    assert np.abs(places(found) - places(true)).max() < 0.1
