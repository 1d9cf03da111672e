"""Folders and archives of motion files are imported file by file."""

import pickle
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

from array_files import walking
from bvh_files import walk
from mimegen.library import importfolder
from running import invoke


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two walks, a take of a text-to-motion model, what is no motion, and what is damaged."""
    walks = tmp_path / "data" / "walking"
    walks.mkdir(parents=True)
    for name in "ab":
        np.savez(walks / f"{name}.npz", **walking(), mocap_framerate=30.0, gender="neutral")
    np.savez(walks / "shape.npz", betas=np.zeros(10))
    (walks / "notes.txt").write_text("no motion")
    (walks / "bad.pkl").write_bytes(pickle.dumps({"x": 1}))
    return tmp_path / "data"


def takes(library: Path) -> list[str]:
    return sorted(file.name for file in library.rglob("*.take.yaml"))


@pytest.mark.parametrize("kind", ["folder", "zip", "gztar"])
def test_every_motion_of_a_collection_is_a_take(tmp_path, folder, kind):
    source = folder if kind == "folder" else Path(shutil.make_archive(
        str(tmp_path / "all"), kind, folder))
    done = invoke("import", source, "--library", tmp_path / "mine", "--licence", "CC0")
    assert done.exit_code == 1
    assert "2 files imported, 1 failed" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "bad.pkl" in line]
    assert len(lines) == 1
    assert "no known kind of motion" in lines[0]
    assert takes(tmp_path / "mine") == ["walking_a.take.yaml", "walking_b.take.yaml"]
    # Walking is an action of the library, which the takes are added to.
    assert (tmp_path / "mine" / "mocap" / "walk").is_dir()


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    for number, place in enumerate(("one/walking", "two/walking")):
        (tmp_path / "data" / place).mkdir(parents=True)
        file = walk()
        file.table = file.table[number:]
        file.write(tmp_path / "data" / place / "a.bvh")
    done = invoke("import", tmp_path / "data", "--library", tmp_path / "mine", "--replace")
    assert done.exit_code == 1
    assert "one/walking/a.bvh; rename" in " ".join(done.stderr.split())
    assert takes(tmp_path / "mine") == ["walking_a.take.yaml"]
    [kept] = (tmp_path / "mine").rglob("*.bvh")
    assert kept.read_text() == (tmp_path / "data" / "one/walking/a.bvh").read_text()


def test_rows_of_one_take_name_do_not_replace_each_other(tmp_path: Path) -> None:
    for name in ("run.1", "run_1"):
        walk().write(tmp_path / f"{name}.bvh")
    (tmp_path / "all.csv").write_text("file,action\nrun.1.bvh,stroll\nrun_1.bvh,stroll\n")
    done = invoke("import", "--table", tmp_path / "all.csv", "--library", tmp_path / "mine",
                  "--replace")
    assert done.exit_code == 1
    assert "same take as row 2" in done.stderr
    assert "1 row imported, 1 failed" in done.stdout


@pytest.mark.parametrize("action", ["letter x", "shrug"])
def test_nothing_is_added_to_what_is_no_action_of_bodies(tmp_path: Path, action: str) -> None:
    done = invoke("import", walk().write(tmp_path / "a.bvh"), "--action", action, "--library",
                  tmp_path / "mine")
    assert done.exit_code == 2
    assert "choose another name" in done.stderr
    assert not (tmp_path / "mine").exists()


def test_an_archive_that_is_damaged_or_empty_is_refused(tmp_path):
    broken = tmp_path / "a.tar.gz"
    broken.write_bytes(b"\x1f\x8b nothing")
    assert invoke("import", broken, "--library", tmp_path / "mine").exit_code == 2
    with tarfile.open(tmp_path / "b.tar", "w"):
        pass
    done = invoke("import", tmp_path / "b.tar", "--library", tmp_path / "mine")
    assert done.exit_code == 2
    assert "holds no motion file" in done.stderr


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_a_file_that_is_too_large_to_unpack_is_named(tmp_path, folder, kind, monkeypatch):
    archive = shutil.make_archive(str(tmp_path / "all"), kind, folder)
    monkeypatch.setattr(importfolder, "MAX_FILE_BYTES", 500)
    done = invoke("import", archive, "--library", tmp_path / "mine", "--licence", "CC0")
    assert done.exit_code == 1
    assert sum("is larger than" in line for line in done.stderr.splitlines()) == 2
    assert takes(tmp_path / "mine") == []
