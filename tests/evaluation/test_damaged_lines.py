"""Files of lines that were damaged on the way, and slips of the pen, told in one line."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.evaluation.contamination.rows import read_arm
from mimegen.evaluation.question import read_questions
from mimegen.evaluation.statistics import cluster_bootstrap
from mimegen.manifest.file import row_from


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("note", ["\ufeff", "a\u2028b\x85c"])
def test_scored_answers_may_have_a_byte_order_mark_and_odd_line_ends(tmp_path: Path, note: str
                                                                      ) -> None:
    line = json.dumps({"sample_id": "a", "action": "b", "variant": "c", "model": "m", "correct": 1,
                       "note": note}, ensure_ascii=False)
    file = tmp_path / "scored.jsonl"
    file.write_text(("\ufeff" if note == "\ufeff" else "") + line + "\n", encoding="utf-8")
    assert len(read_arm("seen", file, {}).rows) == 1


def test_a_question_whose_answer_is_no_option_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({
        "question_id": "1", "sample_id": "a", "action": "b", "variant": None, "format": "mc",
        "prompt": "?", "options": ["b", "c"], "answer": "d", "labels": ["b"], "clip": "x.mp4",
        "file_name": "clips/x.mp4", "take": "b"}) + "\n")
    with pytest.raises(RequestError, match="expected one of the options"):
        read_questions(file)


@pytest.mark.parametrize(("line", "why"), [(b"{\"a\": \"\xf6\"}", "no UTF-8"),
                                           (b"{\"a\": \"b", "no JSON: Unterminated string")])
def test_a_manifest_line_says_what_is_wrong_with_it(line: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        row_from(line)


def test_specifications_are_files(tmp_path: Path) -> None:
    folder = tmp_path / "drawn"
    folder.mkdir()
    done = invoke("permute", "--count", 1, "--actions", "boxing", "--out", folder)
    assert done.exit_code == 2 and "is a folder; expected a file" in done.stderr
    assert sorted(tmp_path.rglob("*")) == [folder]
    done = invoke("permute", "--verify", folder, folder)
    assert done.exit_code == 2 and "expected a file that mimegen permute writes" in done.stderr


@pytest.mark.parametrize(("command", "heading"), [
    ("permute", "Verifying a commitment:"), ("questions", "Distractors:")])
def test_long_helps_have_parts(command: str, heading: str) -> None:
    shown = invoke(command, "--help").stdout
    assert heading in shown
    *_, last = shown.split("\n\n")
    title, *lines = last.splitlines()
    named = [line.split()[0] for line in lines if not line.startswith("   ")]
    assert title == "Other options:" and named in (["-h,"], ["--library", "-h,"])


def test_the_bootstrap_does_not_chatter() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cluster_bootstrap(np.array([1.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]), 0.95, "x")
        cluster_bootstrap(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 0.95, "x")
