"""``mimegen import``: takes of motion capture in a user's library."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from conftest import invoke
from mimegen.base.errors import RequestError
from mimegen.library import importing
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.motion.trimming import Span


def imported(file: Path, library: Path, action: str, *arguments: object) -> Result:
    return invoke("import", file, "--library", library, "--action", action, *arguments)


def files_of(library: Path) -> dict[str, bytes]:
    return {str(file.relative_to(library)): file.read_bytes()
            for file in sorted(library.rglob("*")) if file.is_file()}


def take_of(library: Path, action: str, name: str | None = None) -> Any:
    return library_take(Catalogue.with_libraries((library,)).action(action), name, 5)


@pytest.fixture
def jump(samples: Path) -> Path:
    return samples / "bvh" / "anim_fair_jumping.bvh"


def test_a_new_action(jump: Path, tmp_path: Path) -> None:
    done = imported(jump, tmp_path / "mine", "Rope jumping", "--label", "jumping", "--licence",
                    "MIT", "--source", "a database", "--aligned", "boxing_gym")
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "mine" / "mocap" / "rope_jumping"
    assert sorted(file.name for file in folder.iterdir()) == [
        "action.yaml", "anim_fair_jumping.bvh", "anim_fair_jumping.take.yaml"]
    assert (folder / "anim_fair_jumping.bvh").read_bytes() == jump.read_bytes()
    facts = yaml.safe_load((folder / "anim_fair_jumping.take.yaml").read_text())
    assert facts["sha256"] == hashlib.sha256(jump.read_bytes()).hexdigest()
    assert (facts["licence"], facts["source"]) == ("MIT", "a database")
    take = take_of(tmp_path / "mine", "rope jumping")
    assert (take.labels, take.aligned, take.misaligned) == (("jumping",), "boxing_gym", None)
    assert (take.actor, take.licence, take.seed) == ("recorded", "MIT", 0)
    reading = take.reading()
    assert reading["motion_source"] == "a database"
    assert reading["motion_original_name"] == "anim_fair_jumping.bvh"
    assert 120 < reading["motion_first_frame"] < 220 and reading["motion_last_frame"] == 653
    assert take.sources(30)[0][0].frames == 654 - reading["motion_first_frame"]


def test_a_take_of_a_known_action_comes_first(jump: Path, tmp_path: Path) -> None:
    assert imported(jump, tmp_path, "shadow boxing", "--take", "Mine 1", "--trim",
                    "none").exit_code == 0
    assert list(files_of(tmp_path)) == ["mocap/boxing/mine_1.bvh", "mocap/boxing/mine_1.take.yaml"]
    take = take_of(tmp_path, "boxing")
    assert take.name == "mine_1" and "boxing" in take.labels and take.aligned == "boxing_gym"
    assert isinstance(take_of(tmp_path, "boxing", "boxing"), ScoreTake)
    listed = json.loads(invoke("list", "takes", "--library", tmp_path, "--json").stdout)
    assert ("mine_1", "boxing", "mine_1.take.yaml") in [
        (row["take"], row["action"], row["file"]) for row in listed]


def test_nothing_is_overwritten_or_left_half_done(jump: Path, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    assert imported(jump, tmp_path, "boxing").exit_code == 0
    before = files_of(tmp_path)
    again = imported(jump, tmp_path, "boxing")
    assert again.exit_code == 2 and "there already" in again.stderr
    assert files_of(tmp_path) == before
    known = imported(jump, tmp_path, "boxing", "--take", "boxing")
    assert known.exit_code == 2 and "there already" in known.stderr

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fails)
    full = imported(jump, tmp_path, "boxing", "--take", "other")
    assert full.exit_code == 2 and "no space left" in full.stderr
    assert files_of(tmp_path) == before
    assert [file.name for file in (tmp_path / "mocap").iterdir()] == ["boxing"]


def test_long_takes_become_several(samples: Path, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    spans = [Span(10, 200), Span(250, 600)]
    monkeypatch.setattr(importing, "segments", lambda *_: spans)
    done = imported(samples / "bvh" / "anim_fair_jumping.bvh", tmp_path, "hopping", "--segment")
    assert done.exit_code == 0
    takes = Catalogue.with_libraries((tmp_path,)).action("hopping").takes
    assert list(takes) == ["anim_fair_jumping_01", "anim_fair_jumping_02"]
    second = take_of(tmp_path, "hopping", "anim_fair_jumping_02").reading()
    assert (second["motion_first_frame"], second["motion_last_frame"]) == (250, 600)


def test_acclaim_files_bring_their_skeleton_and_mapping(samples: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "roles.yaml"
    mapping.write_text("left_toe: null\n")
    library = tmp_path / "mine"
    assert imported(samples / "asf-amc" / "09_06-run.amc", library, "running", "--map",
                    mapping, "--take", "run").exit_code == 0
    assert sorted(file.name for file in (library / "mocap" / "running").iterdir()) == [
        "action.yaml", "run.amc", "run.asf", "run.roles.yaml", "run.take.yaml"]
    take = take_of(library, "running")
    assert "left_toe" not in take.recordings[0].roles
    key = take.key
    (library / "mocap" / "running" / "run.roles.yaml").write_text("right_toe: null\n")
    assert take_of(library, "running").key != key


def test_a_mocap_file_dropped_in_a_folder_is_a_take(jump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mocap" / "boxing"
    folder.mkdir(parents=True)
    shutil.copy(jump, folder / "mine.bvh")
    take = take_of(tmp_path, "boxing")
    assert (take.name, take.licence, take.file) == ("mine", "not stated", folder / "mine.bvh")


def test_a_changed_or_missing_file_is_refused(jump: Path, tmp_path: Path) -> None:
    imported(jump, tmp_path, "boxing", "--take", "mine")
    file = tmp_path / "mocap" / "boxing" / "mine.bvh"
    with file.open("ab") as opened:
        opened.write(b"\n")
    with pytest.raises(RequestError, match=r"mine\.bvh: is not the file that was imported"):
        take_of(tmp_path, "boxing")
    file.unlink()
    with pytest.raises(RequestError, match=r"mine\.take\.yaml: its file mine\.bvh is not there"):
        take_of(tmp_path, "boxing")


@pytest.mark.parametrize(("arguments", "message"), [
    (("--action", "???"), "starts with a letter"),
    (("--action", "x", "--aligned", "boxing_gim"), "did you mean boxing_gym"),
    (("--action", "x", "--segment", "--trim", "1:2"), "leave out --trim"),
    (("--action", "x", "--trim", "9:99"), "lies outside"),
    (("--action", "x", "--stack", "Take"), "leave out --stack"),
    (("--action", "x", "--label", " "), "--label is empty"),
    (("--action", "x", "--library", __file__), "test_import.py: is a file"),
])
def test_requests_that_are_wrong(jump: Path, tmp_path: Path, arguments: tuple[str, ...],
                                 message: str) -> None:
    library = tmp_path / "mine"
    done = invoke("import", jump, "--library", library, *arguments)
    assert done.exit_code == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not library.exists()


def test_gltf_with_its_numbers_in_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dance.gltf"
    file.write_text(json.dumps({"buffers": [{"uri": "the%20dance.bin"}, {"uri": "data:,x"}]}))
    (tmp_path / "the dance.bin").write_bytes(b"1")
    done = imported(file, tmp_path / "mine", "dancing")
    assert done.exit_code == 2
    assert "dance.gltf: its motion lies in the dance.bin beside it; export it as .glb" \
        in done.stderr
    assert not (tmp_path / "mine").exists()
    keys = set()
    for content in (b"1", b"2"):
        (tmp_path / "the dance.bin").write_bytes(content)
        keys.add(RecordedTake(action="dancing", name="dance", labels=("dancing",), aligned=None,
                              misaligned=None, file=file, actor="recorded", licence="").key)
    assert len(keys) == 2


def test_takes_without_an_action_are_pointed_out(jump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mocap" / "boxin"
    folder.mkdir(parents=True)
    shutil.copy(jump, folder)
    with pytest.raises(RequestError, match=r"boxin: has no action\.yaml.*did you mean boxing"):
        _ = Catalogue.with_libraries((tmp_path,)).actions


def test_a_slip_of_the_pen_makes_a_new_action_and_says_so(jump: Path, tmp_path: Path) -> None:
    near = imported(jump, tmp_path, "boxng")
    assert near.exit_code == 0 and "did you mean boxing?" in near.stdout
    assert "did you mean" not in imported(jump, tmp_path, "rope jumping").stdout
