"""What was read once is read again after the file, or what it needs, was written again."""

import os
import shutil
from pathlib import Path

import yaml

import mimegen as mg
from bvh_files import walk
from mimegen.base.paths import data_file
from mimegen.library.cast import built, cast_member
from mimegen.library.catalogue import Catalogue


def written_later(path: Path, seconds: int) -> None:
    """Let a file's time of writing differ, as it does where people edit files."""
    stat = path.stat()
    os.utime(path, (stat.st_atime, stat.st_mtime + seconds))


def test_a_motion_file(tmp_path: Path) -> None:
    path = tmp_path / "me.bvh"
    file = walk()
    file.write(path)
    first = mg.load_motion(path)
    assert first.frames == 40
    file.table = file.table[:20]
    file.write(path)
    written_later(path, 1)
    second = mg.load_motion(path)
    assert (second.frames, len(second.positions())) == (20, 20)


def test_a_mapping(tmp_path: Path) -> None:
    path, mapping = tmp_path / "me.bvh", tmp_path / "map.yaml"
    walk().write(path)
    roles = mg.load_motion(path).roles()
    for number, (left, right) in enumerate((("left", "right"), ("right", "left"))):
        other = {"left": left, "right": right}
        mapping.write_text(yaml.safe_dump({
            "_".join([other.get(side, side), *rest]): joint for role, joint in roles.items()
            for side, *rest in [role.split("_")]}))
        written_later(mapping, number)
        found = mg.load_motion(path, mapping=mapping).roles()
        assert found["left_hand"] == roles[f"{left}_hand"]


def test_a_character(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    shutil.copyfile(data_file("rigs/man.yaml"), path)
    catalogue = Catalogue.with_libraries(())
    before = built(cast_member(catalogue, str(path)))
    tall = yaml.safe_load(path.read_text())
    tall["phenotype"]["height"] = 1.95
    path.write_text(yaml.safe_dump(tall))
    written_later(path, 1)
    after = built(cast_member(catalogue, str(path)))
    assert after.height > before.height + 0.1
