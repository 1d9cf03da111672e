"""``mimegen import``: takes of motion capture in a user's library."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from click.testing import Result

from mimegen.base.errors import RequestError
from mimegen.library import importing
from mimegen.library.catalogue import Catalogue
from mimegen.library.misleading import misleading
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.motion.trimming import Span
from running import invoke


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
    done = imported(jump, tmp_path / "mine", "Rope dancing", "--label", "jumping", "--licence",
                    "MIT", "--source", "a database", "--aligned", "boxing_gym")
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "mine" / "mocap" / "rope_dancing"
    assert sorted(file.name for file in folder.iterdir()) == [
        "action.yaml", "anim_fair_jumping.bvh", "anim_fair_jumping.take.yaml"]
    assert (folder / "anim_fair_jumping.bvh").read_bytes() == jump.read_bytes()
    facts = yaml.safe_load((folder / "anim_fair_jumping.take.yaml").read_text())
    assert facts["sha256"] == hashlib.sha256(jump.read_bytes()).hexdigest()
    assert (facts["licence"], facts["source"]) == ("MIT", "a database")
    take = take_of(tmp_path / "mine", "rope dancing")
    assert (take.labels, take.aligned, take.misaligned) == (("jumping",), "boxing_gym", None)
    assert (take.actor, take.licence, take.seed) == ("recorded", "MIT", 0)
    reading = take.reading()
    assert reading["motion_source"] == "a database"
    assert reading["motion_original_name"] == "anim_fair_jumping.bvh"
    assert 120 < reading["motion_first_frame"] < 220 and reading["motion_last_frame"] == 653
    assert take.sources(30)[0][0].frames == 654 - reading["motion_first_frame"]


@pytest.mark.slow
def test_a_take_of_a_known_action_comes_first(jump: Path, tmp_path: Path) -> None:
    assert imported(jump, tmp_path, "shadow boxing", "--name", "Mine 1", "--trim",
                    "none").exit_code == 0
    assert list(files_of(tmp_path)) == ["mocap/boxing/mine_1.bvh", "mocap/boxing/mine_1.take.yaml"]
    take = take_of(tmp_path, "boxing")
    assert take.name == "mine_1" and "boxing" in take.labels and take.aligned == "boxing_gym"
    assert isinstance(take_of(tmp_path, "boxing", "boxing"), ScoreTake)
    listed = json.loads(invoke("list", "takes", "--library", tmp_path, "--json").stdout)
    assert ("mine_1", "boxing", "mine_1.take.yaml") in [
        (row["take"], row["action"], row["file"]) for row in listed]


def test_a_number_chooses_a_take_of_the_file_and_a_word_names_it(jump: Path, tmp_path: Path
                                                                 ) -> None:
    number = imported(jump, tmp_path, "boxing", "--take", "2", "--name", "mine")
    assert number.exit_code == 2 and "hold several takes; leave out --take" in number.stderr
    both = imported(jump, tmp_path, "boxing", "--take", "other", "--name", "mine")
    assert both.exit_code == 2 and "--take other: expected a number" in both.stderr
    assert not files_of(tmp_path)


@pytest.mark.slow
def test_nothing_is_overwritten_or_left_half_done(jump: Path, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    assert imported(jump, tmp_path, "boxing").exit_code == 0
    before = files_of(tmp_path)
    again = imported(jump, tmp_path, "boxing")
    assert again.exit_code == 2 and "already exists" in again.stderr
    assert files_of(tmp_path) == before
    known = imported(jump, tmp_path, "boxing", "--take", "boxing")
    assert known.exit_code == 2 and "already exists" in known.stderr

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fails)
    full = imported(jump, tmp_path, "boxing", "--take", "other")
    assert full.exit_code == 2 and "no space left" in full.stderr
    assert files_of(tmp_path) == before
    assert [file.name for file in (tmp_path / "mocap").iterdir()] == ["boxing"]


@pytest.mark.slow
def test_an_action_has_the_group_that_is_given_and_no_other(jump: Path, tmp_path: Path) -> None:
    none = imported(jump, tmp_path, "yodelling")
    assert none.exit_code == 0 and "yodelling has no semantic group" in none.stdout
    assert "semantic_group" not in (tmp_path / "mocap/yodelling/action.yaml").read_text()
    assert take_of(tmp_path, "yodelling").semantic_group is None
    given = imported(jump, tmp_path, "yodelling", "--take", "b", "--group", "Exercise")
    assert given.exit_code == 0 and "semantic group" not in given.stdout
    assert take_of(tmp_path, "yodelling").semantic_group == "exercise"
    other = imported(jump, tmp_path, "yodelling", "--take", "c", "--group", "dance")
    assert other.exit_code == 2 and "belongs to the group 'exercise'" in other.stderr
    assert imported(jump, tmp_path, "yodelling", "--take", "c", "--group", "dance",
                    "--replace").exit_code == 0
    assert take_of(tmp_path, "yodelling").semantic_group == "dance"
    theirs = imported(jump, tmp_path, "boxing", "--group", "dance", "--replace")
    assert theirs.exit_code == 2 and "belongs to the group 'combat sport'" in theirs.stderr
    slip = imported(jump, tmp_path, "juggling", "--group", "excercise")
    assert "the group 'excercise' is new (did you mean exercise" in slip.stdout


def test_an_old_group_that_nobody_gave_is_none(jump: Path, tmp_path: Path) -> None:
    assert imported(jump, tmp_path, "yodelling").exit_code == 0
    with (tmp_path / "mocap/yodelling/action.yaml").open("a") as file:
        file.write("semantic_group: not stated\n")
    assert take_of(tmp_path, "yodelling").semantic_group is None
    assert misleading(Catalogue.with_libraries((tmp_path,)), "yodelling", "jump") == ()


@pytest.mark.slow
def test_a_take_is_replaced_whole(jump: Path, samples: Path, tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = tmp_path / "roles.yaml"
    mapping.write_text("left_toe: null\n")
    library, folder = tmp_path / "mine", tmp_path / "mine" / "mocap" / "juggling"
    run = samples / "asf-amc" / "09_06-run.amc"
    assert imported(run, library, "juggling", "--take", "one", "--map", mapping, "--label", "a run",
                    "--group", "locomotion").exit_code == 0
    before = files_of(library)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", Mock(side_effect=OSError(28, "No space left")))
        full = imported(jump, library, "juggling", "--take", "one", "--replace")
        assert full.exit_code == 2 and "no space left" in full.stderr
    assert files_of(library) == before
    done = imported(jump, library, "juggling", "--take", "one", "--replace", "--label", "jumping")
    assert done.exit_code == 0, done.stderr
    assert sorted(file.name for file in folder.iterdir()) == [
        "action.yaml", "one.bvh", "one.take.yaml"]
    take = take_of(library, "juggling")
    assert (take.labels, take.semantic_group) == (("jumping",), "locomotion")
    # The very same request again changes nothing; another file of the same kind takes its place.
    after = files_of(library)
    imported(jump, library, "juggling", "--take", "one", "--replace", "--label", "jumping")
    assert files_of(library) == after
    other = samples / "bvh" / "cmu_18_01.bvh"
    for _ in range(2):
        assert imported(other, library, "juggling", "--take", "one", "--replace").exit_code == 0
        [motion] = list(folder.rglob("*.bvh"))
        assert motion.read_bytes() == other.read_bytes()
        assert take_of(library, "juggling").file == motion
        assert list(Catalogue.with_libraries((library,)).action("juggling").takes) == ["one"]


def test_what_is_no_import_of_the_library_is_not_replaced(jump: Path, tmp_path: Path) -> None:
    known = imported(jump, tmp_path, "boxing", "--take", "boxing", "--replace")
    assert known.exit_code == 2 and "was not imported to this library" in known.stderr
    assert not files_of(tmp_path)


@pytest.mark.slow
def test_parts_of_an_earlier_import_go_with_it(jump: Path, tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    spans = [Span(10, 200), Span(250, 400), Span(420, 600)]
    monkeypatch.setattr(importing, "segments", lambda *_: spans)
    assert imported(jump, tmp_path, "yodelling", "--take", "hop", "--segment").exit_code == 0
    assert imported(jump, tmp_path, "yodelling", "--take", "hop_09").exit_code == 0
    spans.pop()
    assert imported(jump, tmp_path, "yodelling", "--take", "hop", "--segment",
                    "--replace").exit_code == 0
    takes = Catalogue.with_libraries((tmp_path,)).action("yodelling").takes
    assert list(takes) == ["hop_01", "hop_02", "hop_09"]


def test_long_takes_become_several(samples: Path, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    spans = [Span(10, 200), Span(250, 600)]
    monkeypatch.setattr(importing, "segments", lambda *_: spans)
    done = imported(samples / "bvh" / "anim_fair_jumping.bvh", tmp_path, "yodelling", "--segment")
    assert done.exit_code == 0
    takes = Catalogue.with_libraries((tmp_path,)).action("yodelling").takes
    assert list(takes) == ["anim_fair_jumping_01", "anim_fair_jumping_02"]
    second = take_of(tmp_path, "yodelling", "anim_fair_jumping_02").reading()
    assert (second["motion_first_frame"], second["motion_last_frame"]) == (250, 600)


@pytest.mark.slow
def test_acclaim_files_bring_their_skeleton_and_mapping(samples: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "roles.yaml"
    mapping.write_text("left_toe: null\n")
    library = tmp_path / "mine"
    assert imported(samples / "asf-amc" / "09_06-run.amc", library, "juggling", "--map",
                    mapping, "--take", "run").exit_code == 0
    assert sorted(file.name for file in (library / "mocap" / "juggling").iterdir()) == [
        "action.yaml", "run.amc", "run.asf", "run.roles.yaml", "run.take.yaml"]
    take = take_of(library, "juggling")
    assert "left_toe" not in take.recordings[0].roles
    key = take.key
    (library / "mocap" / "juggling" / "run.roles.yaml").write_text("right_toe: null\n")
    assert take_of(library, "juggling").key != key


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
    with pytest.raises(RequestError, match=r"mine\.bvh: differs from the imported file"):
        take_of(tmp_path, "boxing")
    file.unlink()
    with pytest.raises(RequestError, match=r"mine\.take\.yaml: its file mine\.bvh does not exist"):
        take_of(tmp_path, "boxing")


@pytest.mark.parametrize(("arguments", "message"), [
    (("--action", "???"), "starts with a letter"),
    (("--action", "x", "--aligned", "boxing_gim"), "did you mean boxing_gym"),
    (("--action", "x", "--segment", "--trim", "1:2"), "leave out --trim"),
    (("--action", "x", "--trim", "9:99"), "is outside"),
    (("--action", "x", "--stack", "Take"), "leave out --stack"),
    (("--action", "x", "--label", " "), "--label is empty"),
    (("--action", "x", "--licence", ""), "--licence is empty"),
    (("--action", "x", "--source", " "), "--source is empty"),
    (("--action", "x", "--group", ""), "--group is empty"),
    (("--action", ""), "--action is empty"),
    ((), "expected FILE and --action NAME, or --table CSV"),
    (("--table", "x.csv"), "cannot be combined with --table"),
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
    assert "dance.gltf: its motion is stored in the dance.bin next to it; export it as .glb" \
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


@pytest.mark.slow
def test_a_slip_of_the_pen_makes_a_new_action_and_says_so(jump: Path, tmp_path: Path) -> None:
    near = imported(jump, tmp_path, "boxng")
    assert near.exit_code == 0 and "did you mean boxing?" in near.stdout
    assert "did you mean" not in imported(jump, tmp_path, "rope jumping").stdout


def table(folder: Path, text: str, *arguments: object) -> Result:
    file = folder / "table.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return invoke("import", "--table", file, "--library", folder / "mine", *arguments)


@pytest.mark.slow
def test_a_table_imports_its_good_rows_and_names_the_bad_ones(jump: Path, tmp_path: Path) -> None:
    shutil.copy(jump, tmp_path / "jump.bvh")
    text = ("file,action,label,group,aligned,licence,take,trim\n"
            "jump.bvh,rope jumping,skipping rope|jumping,exercise,boxing_gym,MIT,,\n"
            "\n"
            "gone.bvh,x,,,,,,\n"
            "jump.bvh,yodelling,,,boxing_gim,,,\n"
            "jump.bvh,yodelling,,,,,,2:3\n"
            "jump.bvh,yodelling,,,,,JUMP,\n"
            "jump.bvh,rope-jumping,,dance,,,b,\n"
            "jump.bvh,,,,,,,\n"
            ",yodelling,,,,,,\n"
            "jump.bvh,yodelling,,,,,c,soon\n"
            "jump.bvh,yodelling,a,b,c,d,e,f,g\n")
    done = table(tmp_path, text, "--licence", "CC0-1.0")
    assert done.exit_code == 1 and "2 rows imported, 8 failed" in done.stdout
    problems = done.stderr.splitlines()
    for problem, (number, said) in zip(problems, [
            (4, "gone.bvh"), (5, "boxing_gym"), (7, "the same take as row 6"),
            (8, "to the group 'dance', but row 2 to 'exercise'"), (9, "has no action or label"),
            (10, "has no file"), (11, "--trim"), (12, "has 9 cells, the heads are 8")],
            strict=True):
        assert f"table.csv: row {number}: " in problem and said in problem
    library = tmp_path / "mine"
    take = take_of(library, "rope jumping")
    assert (take.labels, take.semantic_group, take.aligned, take.licence) == (
        ("skipping rope", "jumping"), "exercise", "boxing_gym", "MIT")
    assert take_of(library, "yodelling").licence == "CC0-1.0"
    before = files_of(library)
    again = table(tmp_path, text, "--licence", "CC0-1.0", "--replace")
    assert again.exit_code == 1 and "2 rows imported" in again.stdout
    assert files_of(library) == before
    assert table(tmp_path, text).stdout.endswith("0 rows imported, 10 failed\n")


@pytest.mark.slow
def test_a_table_gives_rates_and_says_a_note_once(jump: Path, tmp_path: Path) -> None:
    for name in ("a.bvh", "b.bvh"):
        shutil.copy(jump, tmp_path / name)
    text = "file,action,fps\na.bvh,rope jumping,75\nb.bvh,yodelling,75\na.bvh,skipping,fast\n"
    done = table(tmp_path, text, "--trim", "none")
    assert done.exit_code == 1 and "row 4: fps: fast: expected frames per second" in done.stderr
    said = [line for line in done.stdout.splitlines() if "the rate is 75 fps" in line]
    assert len(said) == 1 and said[0].endswith("(2 files: rows 2, 3)")
    for action in ("rope jumping", "yodelling"):
        assert take_of(tmp_path / "mine", action).facts()["motion_fps"] == 75.0


def test_tables_of_other_programs(jump: Path, tmp_path: Path) -> None:
    shutil.copy(jump, tmp_path / "jump.bvh")
    done = table(tmp_path, '\ufeffFile;Label;Segment\r\njump.bvh;"hop; and skip";no\r\n')
    assert done.exit_code == 0, done.stderr
    assert take_of(tmp_path / "mine", "hop; and skip").labels == ("hop; and skip",)


@pytest.mark.parametrize(("text", "message"), [
    ("", "is empty"), ("file,action\n", "has no row"),
    ("action\nx\n", "the column 'file' is missing"),
    ("file,grop\nx,y\n", "did you mean group?"), ("file,label,labels\nx,y,z\n", "duplicate column"),
    ('file,action\n"x,y\n', "not a CSV table"), ("file,action\n\n,\n", "has no row"),
])
def test_tables_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    done = table(tmp_path, text)
    assert done.exit_code == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "mine").exists()
