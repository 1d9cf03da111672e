"""Clips record what their rows say of them; rows that say another thing are found and mended."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.files import file_hash
from mimegen.compositing.decode import decoded_clip
from mimegen.manifest.file import json_of, row_from, typed_row
from mimegen.manifest.record import FACTS, NO_FACTS, false_facts, has_record, with_record
from mimegen.manifest.row import Row
from mimegen.production.verify import verify
from mimegen.store.store import Store
from running import invoke, invoked, rows_of

ALIGNED = "base+aligned@0"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small clip without a record, not to be changed."""
    path = tmp_path_factory.mktemp("clip") / "a.mp4"
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "testsrc=size=64x36:rate=5:d=1", "-pix_fmt", "yuv420p", "-movflags",
                    "+faststart", path], check=True)
    return path


@pytest.fixture
def out(three_clips: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_clips, tmp_path / "out"))


def other(value: Any) -> Any:
    """A value of the same kind that is another."""
    match value:
        case bool() | None:
            return not value
        case str():
            return "juggling" if value != "juggling" else "walking"
        case int() | float():
            return value + 1
        case list():
            return [*value, value[-1] if value else "juggling"]
        case dict():
            return {**value, "juggling": 1}


ROW: dict[str, Any] = {
    "row_version": 2, "sample_id": "a", "file_name": "a.mp4", "action": "walk", "take": "walk",
    "actor": "recorded", "labels": ["walking", "a walk"], "avatar": "man", "angle": 0,
    "config_name": ALIGNED, "background_config": "aligned", "background_name": "street", "seed": 3,
    "fps": 5.0, "frames": 5, "width": 64, "height": 36, "sha256": "0" * 64, "shot_key": "ab" * 32,
    "clip_key": "cd" * 32,
    "timeline": [{"kind": "step", "name": "stepping", "start_s": 0.0, "end_s": 1.0}],
    "camera": {"position": [1, -9.5, 5.25], "rotation": [1.0, 0, 0, 0], "lens_mm": 50.0,
               "width": 64, "height": 36, "sensor_width_mm": 36.0}}


def copy_of(clip: Path, folder: Path) -> Path:
    return Path(shutil.copy(clip, folder / "a.mp4"))


@pytest.mark.slow
def test_a_sealed_clip_plays_as_before_and_says_no_word_of_what_it_shows(
    clip: Path, tmp_path: Path
) -> None:
    path = copy_of(clip, tmp_path)
    assert not has_record(path) and false_facts(path, typed_row(ROW)) is None
    row = with_record(path, typed_row(ROW))
    assert row.sha256 == file_hash(path) and false_facts(path, row) == []
    assert decoded_clip(path).frames == decoded_clip(clip).frames
    added = path.read_bytes().removeprefix(clip.read_bytes())
    assert 0 < len(added) < 2000 and b"walk" not in added and b"labels" not in added
    again = with_record(path, row)
    assert again == row and path.read_bytes() == clip.read_bytes() + added, "same row, same bytes"


@pytest.mark.slow
def test_names_machines_and_what_data_sets_add_are_no_facts(clip: Path, tmp_path: Path) -> None:
    path = copy_of(clip, tmp_path)
    before = with_record(path, typed_row(ROW))
    one = path.read_bytes()
    renamed = typed_row(ROW | {
        "sample_id": "0123", "file_name": "clips/0123.mp4", "plain_id": "a", "split": "test",
        "cpu": "another", "rendered_on": "x", "numpy_version": "9", "mimegen_version": "9",
        "my_own": 3})
    assert false_facts(path, renamed) == []
    assert with_record(path, renamed).sha256 == before.sha256 and path.read_bytes() == one


@pytest.mark.slow
def test_numbers_are_the_same_whatever_program_wrote_them(clip: Path, tmp_path: Path) -> None:
    path = copy_of(clip, tmp_path)
    row = with_record(path, typed_row(ROW))
    assert false_facts(path, row_from(json_of(row).replace('"fps": 5.0', '"fps": 5'))) == []
    assert false_facts(path, typed_row(ROW | {"angle": 0.0})) == []
    assert false_facts(path, typed_row(ROW | {"angle": 0.5})) == ["angle"]


@pytest.mark.slow
def test_another_clips_row_is_told_by_its_key(clip: Path, tmp_path: Path) -> None:
    path = copy_of(clip, tmp_path)
    with_record(path, typed_row(ROW))
    assert false_facts(path, typed_row(ROW | {"clip_key": "ef" * 32})) == ["clip_key"]


@pytest.mark.slow
def test_a_timeline_may_be_told_later_but_not_otherwise(clip: Path, tmp_path: Path) -> None:
    path = copy_of(clip, tmp_path)
    with_record(path, typed_row(ROW | {"timeline": None}))
    assert false_facts(path, typed_row(ROW)) == []
    assert false_facts(path, typed_row(ROW | {"style": "angry"})) == ["style"]
    with_record(path, typed_row(ROW))
    assert false_facts(path, typed_row(ROW | {"timeline": None})) == ["timeline"]


def test_what_is_no_mp4_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    path.write_bytes(b"GIF89a")
    assert with_record(path, typed_row(ROW)).sha256 == "0" * 64 and path.read_bytes() == b"GIF89a"


@given(st.integers(0, 2**16), st.integers(1, 255))
def test_a_damaged_record_is_never_an_error(tmp_path_factory: pytest.TempPathFactory, place: int,
                                            flip: int) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.mp4"
    path.write_bytes(b"ftyp" * 20)
    with_record(path, typed_row(ROW))
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= flip
    path.write_bytes(data)
    found = false_facts(path, typed_row(ROW))
    assert found is None or set(found) <= set(FACTS)


def falsified(row: dict[str, Any]) -> Iterator[tuple[str, Row]]:
    """The row with each of its facts changed, and with each that it has not."""
    for name in FACTS:
        for value in [other(row[name])] if name in row else ["juggling", 1, True, ["x"], {"a": 1}]:
            content = row | {name: value}
            if name in ("config_name", "variant"):
                content |= {"config_name": value, "variant": value}
            try:
                yield name, typed_row(content)
            except ValueError:
                continue


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whatever_a_row_says_falsely_of_its_clip_is_named(three_clips: Path, place: int) -> None:
    row = rows_of(three_clips)[place]
    path = three_clips / row["file_name"]
    assert false_facts(path, typed_row(row)) == []
    tried = set()
    for name, false in falsified(row):
        tried.add(name)
        assert name in (false_facts(path, false) or ()), name
    # A key or a part that has a form of its own is refused by the row itself.
    assert len(tried) > 60 and not tried & NO_FACTS


def rewritten(out: Path, of: str, **said: Any) -> None:
    """Change what the row of a variant says."""
    rows = rows_of(out)
    for row in rows:
        if row["config_name"] == of:
            row.update(said)
    (out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


FALSE: list[dict[str, Any]] = [
    {"angle": 270}, {"label": "juggling"}, {"labels": ["juggling"]}, {"avatar": "woman"},
    {"action": "juggling"}, {"background_name": "beach"}, {"background_config": "misaligned"},
    {"config_name": "base+aligned@270", "variant": "base+aligned@270", "angle": 270}, {"seed": 7},
    {"take": "another"}, {"timeline": []}, {"semantic_group": "sports of others"},
    {"camera": None}, {"clip_key": "0" * 64}, {"shot_key": "0" * 64}]


@pytest.mark.parametrize("said", FALSE, ids=lambda said: next(iter(said)))
def test_verify_names_the_field_that_is_not_so(out: Path, said: dict[str, Any]) -> None:
    rewritten(out, ALIGNED, **said)
    faults = [fault for fault in verify(out, Store(out / "store")).faults if fault.false]
    assert len(faults) == 1 and next(iter(said)) in faults[0].false
    assert f"its row says {faults[0].false[0]}" in faults[0].why and "\n" not in faults[0].why


def test_repair_restores_what_the_store_recorded_and_makes_nothing(
    three_clips: Path, out: Path
) -> None:
    rewritten(out, ALIGNED, angle=270, labels=["juggling"], action="juggling", split="test",
              my_own=7)
    before = {path: path.stat().st_mtime_ns for path in (out / "clips").iterdir()}
    done = invoked("verify", out)
    assert done.returncode == 1 and "angle 270" in done.stdout and "juggling" in done.stdout
    done = invoked("verify", out, "--repair")
    assert done.returncode == 0, done.stdout
    assert [{name: value for name, value in row.items() if name not in ("split", "my_own")}
            for row in rows_of(out)] == rows_of(three_clips)
    assert sum(row.get("my_own") == 7 and row["split"] == "test" for row in rows_of(out)) == 1
    assert {path: path.stat().st_mtime_ns for path in (out / "clips").iterdir()} == before


def test_without_a_record_in_the_store_the_clip_is_made_again_or_the_row_stays(
    three_clips: Path, out: Path
) -> None:
    shutil.rmtree(out / "store" / "clips")
    rewritten(out, "base+blank@0", angle=270, labels=["juggling"])
    rewritten(out, "pointlight@0", action="juggling")
    done = invoked("verify", out, "--repair")
    assert done.returncode == 1 and "its row's action is needed to make it again" in done.stdout
    rows = {row["config_name"]: row for row in rows_of(out)}
    were = {row["config_name"]: row for row in rows_of(three_clips)}
    assert rows["base+blank@0"] == were["base+blank@0"]
    assert rows["pointlight@0"] == were["pointlight@0"] | {"action": "juggling"}


def test_a_clip_of_before_is_compared_with_the_store_and_that_is_said(
    clip: Path, out: Path
) -> None:
    row = next(row for row in rows_of(out) if row["config_name"] == ALIGNED)
    path, store = out / row["file_name"], Store(out / "store")
    data = path.read_bytes()
    path.write_bytes(data[:data.rfind(b"uuid") - 4])
    told = store.clip_row(row["clip_key"]) or {}
    store.record_clip(row["clip_key"], told | {"sha256": file_hash(path)})
    rewritten(out, ALIGNED, sha256=file_hash(path))
    findings = verify(out, store)
    assert not findings.faults and "1 clip without a record" in findings.notes[0]
    rewritten(out, ALIGNED, take="another")
    assert [fault.false for fault in verify(out, store).faults] == [("take",)]
    rewritten(out, ALIGNED, take=row["take"], angle=90)
    assert [fault.false for fault in verify(out, Store(out / "none")).faults] == [("angle",)]


# ---------------------------------------------------------------- before clips are used

@pytest.mark.parametrize("wrong", ["damaged", "false"])
def test_commands_that_use_clips_refuse_what_is_not_whole(out: Path, tmp_path: Path, wrong: str
                                                          ) -> None:
    questions = tmp_path / "questions.jsonl"
    assert invoke("questions", out, "--format", "free", "--out", questions).exit_code == 0
    if wrong == "damaged":
        path = out / next(row["file_name"] for row in rows_of(out) if row["angle"] == 0)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        rewritten(out, ALIGNED, angle=270)
    commands = [("questions", out, "--format", "free", "--out", tmp_path / "again.jsonl"),
                ("contactsheet", out, "--out", tmp_path / "sheet.png"),
                ("export", out, "--to", "webdataset", "--out", tmp_path / "export"),
                ("export", questions, "--clips", out, "--to", "inspect", "--out", tmp_path / "e2"),
                ("study", questions, "--clips", out, "--out", tmp_path / "study")]
    for words in commands:
        done = invoke(*words)
        assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1, (words, done.output)
        assert "--repair, or add --no-verify" in done.stderr
        assert "SHA-256" in done.stderr if wrong == "damaged" else "angle 270" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"out", "questions.jsonl"}
    for words in commands:
        assert invoke(*words, "--no-verify").exit_code == 0, words


def test_clips_that_stay_as_they_were_are_not_hashed_again(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = "questions", out, "--format", "free", "--out", tmp_path / "questions.jsonl"
    assert invoke(*words).exit_code == 0
    hashed: list[Path] = []

    def counted_hash(path: Path) -> str:
        hashed.append(path)
        return file_hash(path)

    monkeypatch.setattr("mimegen.manifest.checking.file_hash", counted_hash)
    assert invoke(*words).exit_code == 0 and not hashed
    touched = out / rows_of(out)[0]["file_name"]
    touched.write_bytes(touched.read_bytes())
    assert invoke(*words).exit_code == 0 and hashed == [touched]
    for kept in (tmp_path / "cache").rglob("*.json"):
        kept.write_text('{"a": 3, "b": [1, 2')
    assert invoke(*words).exit_code == 0 and len(hashed) == 4


def set_of(clip: Path, out: Path, names: list[str]) -> list[Row]:
    """Write a folder of clips under these names, each with a key of its own; return the rows."""
    (out / "clips").mkdir(parents=True)
    rows = []
    for number, name in enumerate(names):
        path = Path(shutil.copy(clip, out / "clips" / f"{name}.mp4"))
        rows.append(with_record(path, typed_row(ROW | {
            "sample_id": name, "file_name": f"clips/{name}.mp4", "clip_key": f"{number:064x}"})))
    return rows


def reasons(out: Path, rows: list[Row]) -> list[str]:
    (out / "manifest.jsonl").write_text("".join(map(json_of, rows)))
    return [fault.why for fault in verify(out, Store(out / "store")).faults]


@pytest.mark.slow
def test_a_clip_copied_to_a_second_row_is_found(clip: Path, tmp_path: Path) -> None:
    rows = set_of(clip, tmp_path, ["a", "b"])
    assert reasons(tmp_path, rows) == []
    shutil.copy(tmp_path / rows[0].file_name, tmp_path / "clips" / "c.mp4")
    copied = rows[0].model_copy(update={"sample_id": "c", "file_name": "clips/c.mp4"})
    assert reasons(tmp_path, [*rows, copied]) == [
        "is clips/a.mp4 once more, under another name: their rows have the same clip_key"]


@pytest.mark.slow
def test_rows_that_swapped_their_names_are_found(clip: Path, tmp_path: Path) -> None:
    first, second = set_of(clip, tmp_path, ["a", "b"])
    swapped = [first.model_copy(update={"sample_id": "b"}),
               second.model_copy(update={"sample_id": "a"})]
    assert reasons(tmp_path, swapped) == ["its row has the sample_id of another clip, b",
                                          "its row has the sample_id of another clip, a"]
