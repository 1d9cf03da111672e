import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import Answer
from mimegen.evaluation.judge import Judge
from mimegen.evaluation.question import Question, write_questions
from mimegen.evaluation.scoring import score
from running import command, invoked
from waiting import wait_until


class Server(ThreadingHTTPServer):
    """A judge that says TRUE to boxing, after failures, and silence where a test wants it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.failures: list[int] = []
        self.asked: list[dict[str, Any]] = []
        # From so many requests on, answers wait until they may go on.
        self.hold_from: int | None = None
        self.may_go_on = threading.Event()
        self.reply: bytes | None = None

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of callers that went away."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body | {"path": self.path})
        if self.server.hold_from is not None and len(self.server.asked) > self.server.hold_from:
            self.server.may_go_on.wait(60)
        if self.server.failures:
            self.send_error(self.server.failures.pop())
            return
        said = body["messages"][0]["content"]
        words = "TRUE, it is." if "Candidate answer: boxing" in said else \
            "perhaps" if "Candidate answer: hm" in said else "**FALSE**: no."
        reply = self.server.reply or json.dumps(
            {"choices": [{"message": {"content": words}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def questions(count: int = 1) -> list[Question]:
    return [Question.model_validate({
        "question_id": f"q{number}", "sample_id": "s", "action": "boxing",
        "variant": "base+blank@0", "format": "free", "prompt": "What?", "options": [],
        "answer": "boxing", "labels": ["boxing"], "clip": "x.mp4", "file_name": "x.mp4",
        "take": "t"}) for number in range(count)]


def judge(server: Server, tmp_path: Path, **settings) -> Judge:
    return Judge(server.url, "m", tmp_path / "kept" / "judge.jsonl", **{
        "wait": 0.01, "timeout": 5.0, "attempts": 4} | settings)


def answers(*outputs: str) -> list[Answer]:
    return [Answer(questions()[0], f"model {number}", output)
            for number, output in enumerate(outputs)]


def test_verdicts_are_the_judge_s_and_what_it_does_not_say_is_not_guessed(server, tmp_path):
    scored = score(answers("boxing", "fishing", "hm", " "), "wordllama", judge(server, tmp_path))
    assert [one.right for one in scored] == [True, False, False, False]
    assert [one.chosen for one in scored] == ["boxing", "fishing", None, None]
    assert len(server.asked) == 3
    assert {one["path"] for one in server.asked} == {"/v1/chat/completions"}
    assert {(one["model"], one["temperature"]) for one in server.asked} == {("m", 0)}


def test_what_was_judged_once_is_not_asked_again(server, tmp_path):
    for _ in range(2):
        assert judge(server, tmp_path).verdicts(answers("boxing", "fishing")) == [True, False]
    assert len(server.asked) == 2
    judge(server, tmp_path).verdicts(answers("boxing", "a third"))
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_that_passes_is_waited_for(server, tmp_path, status):
    server.failures = [status, status]
    assert judge(server, tmp_path).verdicts(answers("boxing")) == [True]
    assert len(server.asked) == 3


def test_a_refusal_is_said_at_once(server, tmp_path):
    server.failures = [401]
    with pytest.raises(RequestError, match="HTTP 401"):
        judge(server, tmp_path).verdicts(answers("boxing"))
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [b"no JSON", b"[]", b'{"choices": []}'])
def test_what_is_no_chat_completion_is_no_verdict(server, tmp_path, reply):
    server.reply = reply
    with pytest.raises(RequestError, match="no verdict after 4 attempts"):
        judge(server, tmp_path).verdicts(answers("boxing"))


def test_a_judge_that_hangs_is_given_up_after_its_time(server, tmp_path):
    server.hold_from = 0
    with pytest.raises(RequestError, match="no verdict after 2 attempts"):
        judge(server, tmp_path, timeout=0.2, attempts=2).verdicts(answers("boxing"))


def test_nobody_at_the_address_is_said_in_one_line(tmp_path):
    free = Server()
    free.server_close()
    write_questions(tmp_path / "q.jsonl", questions())
    (tmp_path / "a.jsonl").write_text(json.dumps(
        {"question_id": "q0", "model": "m", "output": "boxing"}))
    with pytest.raises(RequestError, match="run the same command again"):
        judge(free, tmp_path, attempts=2).verdicts(answers("boxing"))
    for arguments, said in ((["--judge", "ftp://x", "--judge-model", "m"], "expected an address"),
                            (["--judge", free.url], "require each other")):
        done = invoked("evaluate", tmp_path / "q.jsonl", tmp_path / "a.jsonl", *arguments)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert said in done.stderr


@pytest.mark.slow
def test_verdicts_outlive_a_kill(server, tmp_path):
    """And a line that is cut off is asked again."""
    server.hold_from = 20
    many = questions(60)
    write_questions(tmp_path / "q.jsonl", many)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(
        {"question_id": one.question_id, "model": "m", "output": f"boxing {number}"}) + "\n"
        for number, one in enumerate(many)))
    arguments = command("evaluate", tmp_path / "q.jsonl", tmp_path / "a.jsonl", "--judge",
                        server.url, "--judge-model", "m", "--json")
    running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = tmp_path / "judge.jsonl"
    wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") >= 10)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    server.hold_from = None
    server.may_go_on.set()
    judged = kept.read_bytes().count(b"\n")
    assert 10 <= judged < 60
    kept.write_bytes(kept.read_bytes() + b'{"key": "cut o')
    before = len(server.asked)
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["models"][0]["right"] == 60
    assert len(server.asked) - before == 60 - judged
