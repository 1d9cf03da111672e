"""Logs as the packages write them: real ones of tests/data/harness_logs, and others made alike."""
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.evaluation import logs
from mimegen.evaluation.answers import Answer, read_answers
from mimegen.evaluation.question import Question, read_questions, write_questions
from places import DATA
from running import invoked

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

REAL = DATA / "harness_logs"
QUESTIONS = [Question.model_validate({
    "question_id": f"q{number}", "sample_id": f"s{number}", "action": "boxing",
    "variant": "base+blank@0", "format": "mc", "prompt": "What?",
    "options": ["boxing", "fishing"], "answer": "boxing", "labels": ["boxing"],
    "clip": "x.mp4", "file_name": "clips/x.mp4", "take": "t"}) for number in range(3)]


def sample(number: int, content: Any, epoch: int = 1) -> dict[str, Any]:
    return {"id": f"q{number}", "epoch": epoch, "input": "What?", "target": "A",
            "output": {"model": "m", "choices": [{"message": {
                "role": "assistant", "content": content}, "stop_reason": "stop"}]},
            "scores": {"read_answer": {"value": "C"}}}


PARTS = [{"type": "reasoning", "reasoning": "B?"}, {"type": "text", "text": "A"}]
FAILED = {"id": "q2", "epoch": 1, "error": {"message": "gone"}, "output": {"choices": []}}
HEADER = {"version": 2, "status": "success", "eval": {"model": "openai/m", "task": "mimegen_mc"}}


def inspect_json(path: Path) -> Path:
    path.write_text(json.dumps(HEADER | {"samples": [sample(0, "A"), sample(1, PARTS), FAILED]}))
    return path


def inspect_eval(path: Path, whole: bool = True, method: int = zipfile.ZIP_ZSTANDARD) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("_journal/start.json", json.dumps(HEADER))
        for one in (sample(0, "A"), sample(1, PARTS), FAILED):
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
        if whole:
            archive.writestr("header.json", json.dumps(HEADER))
    return path


def lmms_samples(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "20261122_100000_samples_mimegen_mc.jsonl"
    lines = [{"doc_id": number, "target": "boxing", "doc_hash": "0", "filtered_resps": said,
              "input": "What?", "accuracy": {"question_id": f"q{number}", "score": 1.0}}
             for number, said in ((0, ["A"]), (1, [["B"]]), (2, [""]))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def said(answers: list[Answer]) -> set[tuple[str, str, str]]:
    return {(one.question.question_id, one.model, one.output) for one in answers}


@pytest.mark.parametrize("whole", [True, False])
def test_an_eval_file_of_inspect_is_read_also_where_its_run_was_interrupted(tmp_path, whole):
    found = read_answers([inspect_eval(tmp_path / "log.eval", whole)], QUESTIONS)
    assert said(found) == {("q0", "openai/m", "A"), ("q1", "openai/m", "A")}


def test_an_older_eval_file_is_read_too(tmp_path):
    path = inspect_eval(tmp_path / "log.eval", method=zipfile.ZIP_DEFLATED)
    assert said(read_answers([path], QUESTIONS)) == {("q0", "openai/m", "A"),
                                                     ("q1", "openai/m", "A")}


@pytest.mark.parametrize("name", ["inspect-mc.json", "inspect-mockllm-mc.eval",
                                  "lmms-eval-mc_samples_mimegen_mc.jsonl"])
def test_logs_that_the_packages_wrote_themselves_answer_every_question(name):
    if not (REAL / name).is_file():
        pytest.skip(f"{name} does not lie in tests/data/harness_logs")
    asked = read_questions(REAL / "questions-mc.jsonl")
    found = read_answers([REAL / name], asked)
    assert {one.question.question_id for one in found} == {one.question_id for one in asked}
    assert len({one.model for one in found}) == 1
    assert all(one.output for one in found)


def test_a_json_log_of_inspect_is_read_and_failed_samples_are_no_answers(tmp_path):
    found = read_answers([inspect_json(tmp_path / "log.json")], QUESTIONS)
    assert said(found) == {("q0", "openai/m", "A"), ("q1", "openai/m", "A")}


def test_epochs_are_models_of_their_own(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEADER | {"samples": [sample(0, "A"), sample(0, "B", 2)]}))
    assert said(read_answers([path], QUESTIONS)) == {
        ("q0", "openai/m", "A"), ("q0", "openai/m epoch 2", "B")}


def test_samples_of_lmms_eval_are_read_with_the_model_of_the_results_beside_them(tmp_path):
    path = lmms_samples(tmp_path / "org__model")
    assert said(read_answers([path], QUESTIONS)) == {
        ("q0", "org__model", "A"), ("q1", "org__model", "B"), ("q2", "org__model", "")}
    (path.parent / "20261122_100000_results.json").write_text(json.dumps(
        {"model_name": "org/model", "config": {"model": "vllm"}}))
    assert {one.model for one in read_answers([path], QUESTIONS)} == {"org/model"}


def test_the_command_takes_several_logs_at_once(tmp_path):
    write_questions(tmp_path / "q.jsonl", QUESTIONS)
    done = invoked("evaluate", tmp_path / "q.jsonl", inspect_eval(tmp_path / "log.eval"),
                   lmms_samples(tmp_path / "other"), "--json")
    assert done.returncode == 0, done.stderr
    right = {one["model"]: one["right"] for one in json.loads(done.stdout)["models"]}
    assert right == {"openai/m": 2, "other": 1}


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("log.eval", b"PK no archive", "not a complete log of Inspect"),
    ("log.json", b"{", "not valid JSON"), ("log.json", b"[]", "expected a JSON object"),
    ("log.json", b"{}", "with its samples"),
    ("log.json", b'{"eval": {"model": "m"}, "samples": [3]}', "expected a JSON object"),
    ("samples.jsonl", b'{"doc_id": 0, "filtered_resps": ["A"]}', "without question_id")])
def test_damaged_logs_are_refused_in_one_line(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RequestError, match=expected):
        read_answers([tmp_path / name], QUESTIONS)


def test_a_log_in_which_every_sample_failed_is_one_clear_line(tmp_path):
    write_questions(tmp_path / "questions.jsonl", QUESTIONS)
    log = tmp_path / "log.json"
    log.write_text(json.dumps(HEADER | {"status": "error", "samples": [FAILED]}))
    done = invoked("evaluate", tmp_path / "questions.jsonl", log)
    assert done.returncode == 2
    assert f"{log}: contains no answer" in done.stderr and len(done.stderr.splitlines()) == 1


def test_an_archive_cut_anywhere_is_refused_or_read_and_never_breaks(tmp_path):
    whole = inspect_eval(tmp_path / "log.eval").read_bytes()
    for end in range(0, len(whole), 97):
        (tmp_path / "cut.eval").write_bytes(whole[:end])
        with pytest.raises(RequestError):
            read_answers([tmp_path / "cut.eval"], QUESTIONS)
    for place in range(0, len(whole), 41):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        (tmp_path / "broken.eval").write_bytes(broken)
        try:
            read_answers([tmp_path / "broken.eval"], QUESTIONS)
        except RequestError as problem:
            assert len(str(problem).splitlines()) == 1


def test_an_archive_that_unpacks_to_more_than_a_log_is_refused_before_it_is_read(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = inspect_eval(tmp_path / "log.eval")
    monkeypatch.setattr(logs, "_unpacked", lambda *_: pytest.fail("was read"))
    monkeypatch.setattr(logs, "MAX_SAMPLE", 10)
    with pytest.raises(RequestError, match="expected samples of at most"):
        [*logs.logged_answers(path)]
    monkeypatch.setattr(logs, "MAX_SAMPLE", 10**6)
    monkeypatch.setattr(logs, "MAX_UNPACKED", 100)
    with pytest.raises(RequestError, match="expected a log of at most"):
        [*logs.logged_answers(path)]


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_ZSTANDARD, zipfile.ZIP_DEFLATED])
def test_a_member_that_says_less_than_it_holds_takes_no_memory(tmp_path: Path, method: int) -> None:
    path = tmp_path / "bomb.eval"
    size = 200 * 2**20
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        with archive.open("samples/q0_epoch_1.json", "w", force_zip64=False) as member:
            for _ in range(size // 2**20):
                member.write(b" " * 2**20)
    content = path.read_bytes()
    told = size.to_bytes(4, "little")
    assert content.count(told) >= 1
    path.write_bytes(content.replace(told, (2000).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(RequestError, match=r"bomb\.eval"):
        [*logs.logged_answers(path)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20


def test_a_failed_sample_with_an_empty_message_is_no_answer(tmp_path):
    message = {"choices": [{"message": {"role": "assistant", "content": ""}}]}
    log = {"eval": {"model": "m"}, "samples": [
        {"id": "a", "epoch": 1, "output": message, "error": {"message": "rate limit"}},
        {"id": "b", "epoch": 1, "output": message}]}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    assert [one.content["question_id"] for one in logs.logged_answers(file)] == ["b"]
