"""What was read once is read again after the file, or what it needs, was written again."""

import os
import shutil
from pathlib import Path

import pytest
import yaml

import mimegen as mg
from bvh_files import walk
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file, data_folder, using_libraries
from mimegen.choreography.checks import checks_file
from mimegen.library.cast import built, cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import scene_take
from mimegen.library.takes import library_take
from mimegen.pointlight.landmarks import dot_sets
from mimegen.store.store import Store


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


def casting_of(library: Path) -> Casting:
    catalogue = Catalogue.with_libraries((library,))
    take = library_take(catalogue.action("hail"), None, 0)
    return Casting(take, (cast_member(catalogue, str(library / "rigs" / "mine.yaml")),))


@pytest.mark.slow
def test_what_is_edited_between_plan_and_work_is_never_kept_under_the_old_key(
    tmp_path: Path
) -> None:
    library, store = tmp_path / "lib", Store(tmp_path / "store")
    for own, name in ("mocap/salute", "mocap/hail"), ("rigs/man.yaml", "rigs/mine.yaml"):
        source, target = data_folder() / own, library / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
    folder = library / "mocap" / "hail"
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("salute", "hail"))
        file.rename(folder / file.name.replace("salute", "hail"))
    score, body = folder / "hail.score.yaml", library / "rigs" / "mine.yaml"
    # What was performed before the edit is kept by frame rate, so each has its own.
    for fps, path, old, new in ((6.0, body, "height: 1.8", "height: 1.6"),
                                (5.0, score, "about:", "# about\nabout:")):
        casting, written = casting_of(library), path.read_text()
        planned = casting.key
        assert old in written
        path.write_text(written.replace(old, new, 1))
        written_later(path, 1)
        with pytest.raises(RequestError, match="changed after it was planned"):
            casting.perform(fps, store)
        assert not store.character(casting.members[0].key).exists() or path == score
        assert casting_of(library).key != planned
        path.write_text(written)
        casting = casting_of(library)
        assert casting.key == planned
        casting.perform(fps, store)


def test_a_dot_set(tmp_path: Path) -> None:
    path = tmp_path / "rigs" / "dot_sets" / "mine.yaml"
    path.parent.mkdir(parents=True)
    for number, joint in enumerate(("left_hand", "right_hand")):
        path.write_text(yaml.safe_dump({"name": "mine", "description": "one dot", "source": "own",
                                        "dots": {"dot": [joint]}}))
        written_later(path, number)
        with using_libraries((tmp_path,)):
            assert dot_sets()["mine"].dots == {"dot": (joint,)}


def test_a_take_stays_that_of_its_folder_after_another_was_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = {"first": 20, "second": 30}
    for name, length in lengths.items():
        (tmp_path / name).mkdir()
        file = walk()
        file.table = file.table[:length]
        file.write(tmp_path / name / "me.bvh")
    monkeypatch.chdir(tmp_path / "first")
    take = mg.load_motion("me.bvh")
    monkeypatch.chdir(tmp_path / "second")
    assert len(take.positions()) == lengths["first"]
    assert len(take.on("man").positions()) == lengths["first"]


def test_checks_beside_a_scene_are_in_the_key_of_what_they_limit(tmp_path: Path) -> None:
    scene = tmp_path / "locked_door.yaml"
    shutil.copyfile(data_folder() / "scenes" / "locked_door.yaml", scene)
    catalogue = Catalogue.with_libraries(())
    before = [scene_take(catalogue, str(scene), seed).key for seed in (0, 1)]
    take = scene_take(catalogue, str(scene), 1)
    checks_file(take.score).write_text("checks: []\n")
    after = [scene_take(catalogue, str(scene), seed).key for seed in (0, 1)]
    assert after[0] == before[0] and after[1] != before[1]


def test_what_a_take_states_later_does_not_name_the_file_as_it_is_then() -> None:
    take = library_take(Catalogue.with_libraries(()).action("salute"), None, 0)
    assert {"labels", "licence"} <= take.stated().keys()
    assert not {"motion_file", "motion_sha256"} & take.stated().keys()
