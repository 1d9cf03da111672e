"""Files of questions, answers and rows whose texts would lead out of a folder, or break a page."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.base.media import DEMUXERS, ffmpeg_input, path_within
from mimegen.evaluation.exports.exporting import OF_TRUTH, WRITERS
from running import command, invoke
from study_rows import asked_questions

PATHS = ("{out}/evil", "../evil", "../../evil.mp4", "a/../../../evil.mp4", "..", "C:\\evil", "x\0y",
         ".hidden", "evil.m3u8", "x" * 300, "!function evil", "$(touch evil)", "<script>", "\ud800")
# Of the same question, for a page takes a second; the first may be refused, the others not.
FIELDS = (("file_name",), ("format", "asks", "prompting", "category", "aspect", "action"),
          ("variant", "condition", "take", "sample_id", "question_id", "prompt", "sampling"))
ACTIONS = ("archery", "bowling", "driving", "fishing", "golf_swing", "boxing")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small clips and the questions about them."""
    out = tmp_path_factory.mktemp("hostile") / "out"
    asked_questions(out, "mc", ACTIONS, ("base+blank@0",), 0.1)
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, content: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in content))
    return path


def files(folder: Path) -> set[Path]:
    return {*folder.rglob("*")}


def refuses_or_stays_within(folder: Path, out: Path, *words: object) -> None:
    """Run a command: it ends in order, and writes nothing in ``folder`` outside of ``out``."""
    before = files(folder)
    done = invoke(*words)
    assert done.exit_code in (0, 1, 2), done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if done.exit_code == 2:
        assert len(done.stderr.strip().splitlines()) == 1
    new = files(folder) - before
    assert all(path == out or out in path.parents for path in new), new
    assert not Path("/abs").exists()


def asked(made: Path, tmp_path: Path, change: dict[str, Any]) -> Path:
    """Questions beside links to their clips, of which the first has some fields changed."""
    place = tmp_path / "in" / "deep"
    shutil.copytree(made, place)
    content = lines(made / "questions-mc.jsonl")
    given = {key: value.replace("{out}", str(tmp_path)) for key, value in change.items()}
    return write(place / "questions-mc.jsonl", [content[0] | given, *content[1:]])


@pytest.mark.slow
@pytest.mark.parametrize("value", PATHS)
def test_no_text_of_a_question_leads_out_of_a_report(made, tmp_path, value):
    for number, fields in enumerate(FIELDS):
        folder = tmp_path / str(number)
        file = asked(made, folder, dict.fromkeys(fields, value))
        content = lines(file)
        answers = write(folder / "answers.jsonl", [
            {"question_id": one["question_id"], "model": "m" + value, "output": "A " + value}
            for one in content])
        refuses_or_stays_within(folder, folder / "report", "evaluate", file, answers, "--report",
                                folder / "report", "--clips", file.parent)
    refuses_or_stays_within(folder, folder / "none", "questions", "--audit", file)


@pytest.mark.slow
@pytest.mark.parametrize("target", [one for one in WRITERS if one not in OF_TRUTH])
def test_no_text_of_a_question_leads_out_of_an_export(made, tmp_path, target):
    for field in ("format", "clip", "split"):
        for number, value in enumerate(PATHS):
            folder = tmp_path / f"{field}{number}"
            file = asked(made, folder, {field: value})
            refuses_or_stays_within(folder, folder / "export", "export", file, "--to", target,
                                    "--out", folder / "export")


@pytest.mark.slow
@pytest.mark.parametrize("field", ["split", "plain_id", "file_name", "sample_id"])
def test_no_text_of_a_row_leads_out_of_an_export_or_of_frames(made, tmp_path, field):
    for number, value in enumerate(PATHS):
        folder = tmp_path / str(number)
        place = asked(made, folder, {}).parent
        rows = lines(place / "manifest.jsonl")
        given = {"plain_id": "p"} | {field: value.replace("{out}", str(tmp_path))}
        write(place / "manifest.jsonl", [rows[0] | given, *rows[1:]])
        (place / "questions-mc.jsonl").unlink()
        for target in ("huggingface", "webdataset"):
            refuses_or_stays_within(folder, folder / target, "export", place, "--to", target,
                                    "--out", folder / target)
        refuses_or_stays_within(
            folder, folder / "made", "questions", place, "--sampling", "uniform:2", "--frames",
            folder / "made" / "frames", "--out", folder / "made" / "q.jsonl")


@pytest.mark.slow
def test_no_text_of_a_question_leads_out_of_a_study(made, tmp_path):
    for field in ("file_name", "question_id"):
        for number, value in enumerate(PATHS):
            folder = tmp_path / f"{field}{number}"
            file = asked(made, folder, {field: value})
            refuses_or_stays_within(folder, folder / "study", "study", file, "--out",
                                    folder / "study")


def test_no_text_of_an_arm_leads_out_of_a_report_on_contamination(tmp_path):
    for number, value in enumerate(PATHS):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = [{"sample_id": f"s{one}{value}", "model": value, "action": f"{value}{one % 3}",
                 "variant": value, "correct": one % 2} for one in range(12)]
        arms = [write(folder / f"{name}.jsonl", rows) for name in ("seen", "unseen")]
        refuses_or_stays_within(folder, folder / "report", "contamination", *arms, "--report",
                                folder / "report")


@pytest.mark.slow
def test_what_a_symbolic_link_leads_to_is_neither_embedded_nor_published(made, tmp_path):
    file = asked(made, tmp_path, {})
    secret = tmp_path / "secret.mp4"
    shutil.copyfile(made / "clip.mp4", secret)
    content = lines(file)
    for one in content:
        clip = file.parent / one["file_name"]
        clip.unlink()
        clip.symlink_to(secret)
    answers = write(tmp_path / "answers.jsonl", [
        {"question_id": one["question_id"], "model": "m",
         "output": "AB"[one["answer"] == one["options"][0]]} for one in content])
    assert invoke("evaluate", file, answers, "--report", tmp_path / "report").exit_code == 0
    assert "data:video" not in (tmp_path / "report/index.html").read_text()
    for words in (("export", file, "--to", "jsonl"), ("study", file),):
        done = invoke(*words, "--out", tmp_path / words[0])
        assert done.exit_code == 2 and "outside" in done.stderr
        assert not [*(tmp_path / words[0]).rglob("*.mp4")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clips/list.m3u8", "clips/list.mp4", "clips/list.ffconcat",
                                  "clips/secret.txt"])
def test_a_playlist_is_no_clip(made, tmp_path, name):
    file = asked(made, tmp_path, {"file_name": name})
    clip = made / lines(made / "questions-mc.jsonl")[0]["file_name"]
    (file.parent / name).write_text(
        f"ffconcat version 1.0\nfile '{clip}'\n" if "concat" in name else
        f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{clip}\n#EXT-X-ENDLIST\n")
    first = lines(file)[0]
    wrong = "AB"[first["answer"] == first["options"][0]]
    answers = write(tmp_path / "answers.jsonl", [
        {"question_id": first["question_id"], "model": "m", "output": wrong}])
    assert invoke("evaluate", file, answers, "--report", tmp_path / "report").exit_code == 0
    assert "data:video" not in (tmp_path / "report/index.html").read_text()


def test_ffmpeg_is_told_which_kind_of_file_it_reads(tmp_path):
    for ending in DEMUXERS:
        words = ffmpeg_input(Path(f"a{ending}"))
        assert words[:3] == ["-protocol_whitelist", "file", "-f"]
        assert words[-1] == f"file:a{ending}"
    with pytest.raises(RequestError, match="expected a video file"):
        ffmpeg_input(Path("list.m3u8"))


def test_a_path_is_kept_within_its_folder(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "up").symlink_to(tmp_path)
    assert path_within(tmp_path / "inside", "clip.mp4") == tmp_path / "inside" / "clip.mp4"
    for name in ("../x", "up/x", "/etc/hostname"):
        with pytest.raises(RequestError, match="outside"):
            path_within(tmp_path / "inside", name)


NOT_TEXT = ("\ud800", "a\udfffb", "\udc80")


@pytest.mark.slow
@pytest.mark.parametrize("half", NOT_TEXT)
def test_halves_of_characters_break_nothing(made, tmp_path, half):
    content = lines(made / "questions-mc.jsonl")
    file = write(tmp_path / "q.jsonl", [
        one | {"prompt": half, "options": [f"{half} {text}" for text in one["options"]],
               "answer": f"{half} {one['answer']}", "labels": [half], "category": half}
        for one in content])
    answers = write(tmp_path / "a.jsonl", [
        {"question_id": one["question_id"], "model": f"m{half}", "output": f"{half} B"}
        for one in content])
    for words in (("--json",), ("--report", tmp_path / "report")):
        assert invoke("evaluate", file, answers, *words).exit_code == 0
    assert "\ufffd" in (tmp_path / "report/index.html").read_text(encoding="utf-8")
    assert invoke("questions", "--audit", file, "--json").exit_code in (0, 1)
    (tmp_path / "wrong.yaml").write_text(f"boxing: [{json.dumps(half)}, waving, bowing, sitting]")
    done = invoke("questions", made, "--distractors", tmp_path / "wrong.yaml", "--out",
                  tmp_path / "made.jsonl")
    assert done.exit_code == 2 and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_names_of_files_that_are_no_text_are_printed_and_reported(made, tmp_path):
    """As the shell hands them on, where a terminal is strict about its encoding."""
    named = tmp_path / "q\udc80.jsonl"
    shutil.copyfile(made / "questions-mc.jsonl", named)
    answers = write(tmp_path / "a.jsonl", [
        {"question_id": one["question_id"], "model": "m", "output": "A"} for one in lines(named)])
    for words in (("evaluate", named, answers, "--json"),
                  ("evaluate", named, answers, "--report", tmp_path / "report"),
                  ("questions", "--audit", named)):
        done = subprocess.run(command(*words), capture_output=True,
                              env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"})
        assert done.returncode in (0, 1) and b"Traceback" not in done.stderr, done.stderr
