"""Sets to publish: what is public gives no answer away, and every file is checked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exports_clips import small_clips
from mimegen.base.errors import RequestError
from mimegen.evaluation.exports.exporting import export
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.opaque import opaque_name
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.file import read_manifest
from running import invoke


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips, and questions about them."""
    out = tmp_path_factory.mktemp("clips") / "out"
    rows = small_clips(out)
    write_questions(out / "questions-mc.jsonl", questions_of(rows, QuestionRequest(
        "mc", "label", "zero-shot", read_templates("mc", None))))
    return out


ARGUMENTS = ("--title", "A set", "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")


def published(clips: Path, out: Path, *more: str) -> Path:
    done = invoke("publish", clips / "questions-mc.jsonl", "--to", out, *ARGUMENTS, *more,
                  "--no-verify")
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.slow
def test_the_public_half_tells_no_answer(clips: Path, tmp_path: Path) -> None:
    public = published(clips, tmp_path / "set") / "public"
    answers = {line["answer"] for line in lines(tmp_path / "set/private/keys.jsonl")}
    rows = lines(tmp_path / "set/private/manifest.jsonl")
    assert len(answers) > 1 and len(rows) == len(list((public / "clips").iterdir()))
    for file in public.rglob("*.json*"):
        text = file.read_text(encoding="utf-8")
        assert '"answer":' not in text and '"labels":' not in text, file
        assert not any(row["sample_id"] in text for row in rows), file
    assert all({"prompt", "options", "media"} <= set(line)
               for line in lines(public / "questions.jsonl"))


@pytest.mark.slow
def test_public_names_cannot_be_found_by_trial(clips: Path, tmp_path: Path) -> None:
    first, again = (published(clips, tmp_path / name) for name in ("one", "two"))
    rows, questions = read_manifest(clips), lines(clips / "questions-mc.jsonl")
    guessed = {opaque_name(row) for row in rows} | {one["question_id"] for one in questions}
    guessed |= {Path(name).stem for name in guessed}
    for public in (first / "public", again / "public"):
        asked = lines(public / "questions.jsonl")
        assert len(asked) == len(questions)
        names = {path.name for path in (public / "clips").iterdir()}
        assert not guessed & names
        assert not guessed & {one[key] for one in asked for key in ("question_id", "clip")}
        text = "".join(file.read_text(encoding="utf-8") for file in public.rglob("*.json*"))
        assert not any(name in text for name in guessed)
    assert not {path.name for path in (first / "public/clips").iterdir()} & {
        path.name for path in (again / "public/clips").iterdir()}
    kept = lines(first / "private/questions.jsonl")
    public_ones = {one["question_id"]: one for one in lines(first / "public/questions.jsonl")}
    shown = {row["sample_id"]: row["published_as"]
             for row in lines(first / "private/manifest.jsonl")}
    for one in kept:
        assert public_ones[one["question_id"]]["prompt"] == one["prompt"]
        assert public_ones[one["question_id"]]["media"] == [f"clips/{shown[one['sample_id']]}"]
    assert {one["question_id"] for one in lines(first / "private/keys.jsonl")} == set(public_ones)
    open_set = published(clips, tmp_path / "open", "--with-answers") / "public"
    assert {one["question_id"] for one in lines(open_set / "questions.jsonl")} == {
        one["question_id"] for one in questions}


@pytest.mark.slow
def test_the_answers_match_the_public_commitment(clips: Path, tmp_path: Path) -> None:
    out = published(clips, tmp_path / "set")
    done = invoke("permute", "--verify", out / "private" / "COMMITMENT.json",
                  out / "private" / "keys.jsonl")
    assert "match the commitment" in done.output
    assert (out / "public/COMMITMENT.json").read_bytes() == (
        out / "private/COMMITMENT.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["changed", "missing", "added"])
def test_the_script_in_the_set_finds_what_is_not_as_published(clips: Path, tmp_path: Path,
                                                              harm: str) -> None:
    public = published(clips, tmp_path / "set") / "public"
    script = [sys.executable, "-I", str(public / "verify.py")]
    assert subprocess.run(script, capture_output=True, check=False).returncode == 0
    if harm == "changed":
        (public / "datasheet.md").write_text("other")
    elif harm == "missing":
        (public / "datasheet.md").unlink()
    else:
        (public / "more.txt").write_text("more")
    done = subprocess.run(script, capture_output=True, check=False, text=True)
    assert done.returncode == 1
    assert ("more.txt" if harm == "added" else "datasheet.md") in done.stdout


@pytest.mark.slow
def test_what_describes_the_set_is_complete(clips: Path, tmp_path: Path) -> None:
    public = published(clips, tmp_path / "set", "--with-answers") / "public"
    described = json.loads((public / "croissant.json").read_text(encoding="utf-8"))
    assert {"rai:dataCollectionType", "rai:dataBiases", "rai:dataLimitations", "rai:dataUseCases",
            "rai:dataReleaseMaintenancePlan"} <= set(described)
    assert described["creator"] == [{"@type": "sc:Person", "name": "Doe, Jane"}]
    assert json.loads((public / "datacite.json").read_text())["creators"][0]["name"] == "Doe, Jane"
    assert json.loads((public / ".zenodo.json").read_text())["license"] == "cc-by-4.0"
    assert "$" not in (public / "datasheet.md").read_text(encoding="utf-8")
    assert '"answer"' in (public / "records.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_nothing_is_overwritten(clips: Path, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    done = invoke("publish", clips / "questions-mc.jsonl", "--to", tmp_path / "set", *ARGUMENTS,
                  "--no-verify")
    assert done.exit_code == 2 and "already exists" in done.stderr


@pytest.mark.slow
def test_stimuli_in_bids_have_a_row_each(clips: Path, tmp_path: Path) -> None:
    export(clips, "bids", tmp_path / "bids")
    table = (tmp_path / "bids/stimuli/stimuli.tsv").read_text(encoding="utf-8").splitlines()
    heads, *rows = [line.split("\t") for line in table]
    meant = json.loads((tmp_path / "bids/stimuli/stimuli.json").read_text(encoding="utf-8"))
    assert heads[:2] == ["stimulus_id", "type"] and set(meant) == set(heads)
    files = {path.name for path in (tmp_path / "bids/stimuli").glob("*_video.mp4")}
    assert {f"{row[0]}_video.mp4" for row in rows} == files and all(
        len(row) == len(heads) for row in rows)
    with pytest.raises(RequestError, match="already exists"):
        export(clips, "bids", tmp_path / "bids")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_clips_are_there_where_questions_show_frames(clips: Path, tmp_path: Path) -> None:
    done = invoke("questions", clips, "--sampling", "uniform:2", "--out",
                  tmp_path / "questions.jsonl", "--no-verify")
    assert done.exit_code == 0, done.output
    done = invoke("publish", tmp_path / "questions.jsonl", "--clips", clips, "--to",
                  tmp_path / "set", *ARGUMENTS, "--no-verify")
    assert done.exit_code == 0, done.output
    public = tmp_path / "set" / "public"
    named = {line["file_name"] for line in lines(public / "records.jsonl")}
    assert named == {path.name for path in (public / "clips").iterdir()}


@pytest.mark.slow
def test_clips_are_rebuilt_from_their_rows(tmp_path: Path) -> None:
    """The script in the private half finds the same bytes, and a clip that was exchanged."""
    out = tmp_path / "out"
    rendered = invoke("render", "--action", "boxing,salute", "--variants", "pointlight@0",
                      "--out", out)
    assert rendered.exit_code == 0, rendered.output
    write_questions(out / "questions-mc.jsonl", questions_of(read_manifest(out), QuestionRequest(
        "free", "label", "zero-shot", read_templates("free", None))))
    made = published(out, tmp_path / "set")
    kept, exchanged = sorted((made / "public" / "clips").iterdir())
    exchanged.unlink()
    exchanged.write_bytes(kept.read_bytes())
    done = subprocess.run([sys.executable, str(made / "private" / "rebuild.py"), "--count", "2"],
                          capture_output=True, check=False, text=True, env=with_command())
    assert f"{kept.name}: the same bytes" in done.stdout, done.stderr
    assert f"{exchanged.name}: DIFFERENT" in done.stdout
    assert "1 of 2 clips are the same" in done.stdout and done.returncode == 1


def with_command() -> dict[str, str]:
    """Return an environment in which the command mimegen is found."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
