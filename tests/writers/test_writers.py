"""What is written reads back to the same motion."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodies import capsule_character, read_back, wandering_motion
from examples import examples
from mimegen.base.blender import Blender
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.imported.importing import import_character
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion
from mimegen.motion.editing import resampled, trimmed
from mimegen.readers import read_motion
from mimegen.writers import write_motion

BOXING = data_folder() / "mocap" / "boxing" / "boxing.score.yaml"


@pytest.fixture(scope="module")
def boxer() -> Motion:
    return trimmed(perform(read_score(BOXING), 0, 30.0), 0, 40)


def largest_error(first: Motion, second: Motion) -> float:
    places = [motion.global_pose.positions[:, [motion.skeleton.index[name]
                                               for name in first.skeleton.names]]
              for motion in (first, second)]
    return float(np.abs(places[0] - places[1])[..., :2].max())


@pytest.mark.parametrize(("suffix", "tolerance_m"),
                         [(".bvh", 1e-4), (".npz", 1e-9), (".fbx", 1e-3), (".glb", 1e-3)])
def test_written_motion_reads_back(boxer: Motion, tmp_path: Path, suffix: str,
                                   tolerance_m: float) -> None:
    path = tmp_path / f"boxer{suffix}"
    write_motion(path, boxer)
    back = read_back(path)
    assert back.fps == pytest.approx(boxer.fps)
    assert back.frames == boxer.frames
    assert largest_error(boxer, back) < tolerance_m
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_odd_frame_rates_survive(boxer: Motion, tmp_path: Path) -> None:
    odd = resampled(boxer, 23.976)
    for suffix in (".bvh", ".npz"):
        write_motion(tmp_path / f"odd{suffix}", odd)
        assert read_back(tmp_path / f"odd{suffix}").fps == pytest.approx(23.976, abs=1e-4)


@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_a_scene_file_keeps_the_time_between_whole_rates(boxer: Motion, tmp_path: Path,
                                                         suffix: str) -> None:
    odd = resampled(boxer, 100 / 3)
    write_motion(tmp_path / f"odd{suffix}", odd)
    back = read_motion(tmp_path / f"odd{suffix}").motion
    assert back.frames == odd.frames and back.fps == pytest.approx(odd.fps, rel=1e-3)


@pytest.mark.parametrize(("suffix", "fps"), [
    (".fbx", 30 / 1.001), (".glb", 20.0), (".glb", 30 / 1.001), (".vrma", 24 / 1.001),
    (".vrma", 60 / 1.001)])
def test_files_keep_rates_of_video(boxer: Motion, tmp_path: Path, suffix: str, fps: float) -> None:
    odd = resampled(boxer, fps)
    write_motion(tmp_path / f"odd{suffix}", odd)
    back = read_motion(tmp_path / f"odd{suffix}").motion
    assert back.frames == odd.frames and back.fps == pytest.approx(fps, rel=1e-5)


def test_a_character_comes_with_its_skin(tmp_path: Path) -> None:
    body = capsule_character(8, 7)
    motion = wandering_motion(body.skeleton, 3, 1, 0.2)
    path = tmp_path / "body.glb"
    write_motion(path, motion, body)
    found = import_character(path)
    assert math.isclose(found.height, body.height, abs_tol=0.03)
    assert set(found.skeleton.names) >= set(body.skeleton.names)
    # glTF knows triangles only.
    faces = sum(1 + int(face[3] >= 0) for mesh in body.meshes for face in mesh.faces)
    assert sum(1 + int(face[3] >= 0) for mesh in found.meshes for face in mesh.faces) == faces


def test_another_ending_is_refused(boxer: Motion, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"written as \.bvh, \.npz, \.fbx, \.glb"):
        write_motion(tmp_path / "boxer.c3d", boxer)
    assert not list(tmp_path.iterdir())


def test_an_unwritable_scene_is_one_line_and_leaves_nothing(
    boxer: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Blender, "command", lambda *_: ["/bin/false"])
    with pytest.raises(RequestError, match="Blender could not write it"):
        write_motion(tmp_path / "boxer.fbx", boxer)
    assert not list(tmp_path.iterdir())


@settings(max_examples=examples(60), deadline=None)
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_damaged_archive_is_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    body = capsule_character(6, 5)
    write_motion(folder / "whole.npz", wandering_motion(body.skeleton, 2, 1, 0.2))
    content = bytearray((folder / "whole.npz").read_bytes())
    content[place % len(content)] = value
    (folder / "damaged.npz").write_bytes(content)
    try:
        read_motion(folder / "damaged.npz")
    except RequestError as problem:
        assert "damaged.npz" in str(problem) and "\n" not in str(problem)


def test_archives_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, picture=np.zeros(3))
    with pytest.raises(RequestError, match="no known kind of motion"):
        read_motion(path)
