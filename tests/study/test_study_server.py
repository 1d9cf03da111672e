"""The server of a study: whom it gives what, what it keeps, and what it refuses."""

import json
import shutil
import signal
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from mimegen.study.database import FORSAKEN_S, UNBEGUN_S, Database
from mimegen.study.folder import Study
from mimegen.study.limits import Limit
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.responses import Ids, Screen
from mimegen.study.settings import read_settings
from running import invoked
from study_rows import Made, asked_questions
from study_server import SCREEN, Server, response_to, serving
from test_study import settings_file
from waiting import EVERY_S


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return asked_questions(tmp_path_factory.mktemp("served") / "out")


@pytest.fixture(scope="module")
def folder(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that comes with a completion address."""
    place = tmp_path_factory.mktemp("study")
    own = settings_file(place, completion_address="https://example.org/?cc=ABC&c={survey_code}",
                        completion_code="ABC", repeat_options=True)
    make_study(StudyRequest(made.file, made.file.parent, place / "s", None, read_settings(own)))
    return place / "s"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


@pytest.fixture
def own_folder(folder: Path, tmp_path: Path) -> Path:
    """The same study without anybody's answers."""
    shutil.copytree(folder, tmp_path / "s", ignore=shutil.ignore_patterns("answers.sqlite*"))
    return tmp_path / "s"


def exported(folder: Path, target: Path, *more: object) -> list[dict[str, Any]]:
    done = invoked("study", "export", folder, "--out", target, *more)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in target.read_text().splitlines()]


def patiently(ask: Callable[..., tuple[int, Any]], *what: Any) -> Any:
    """Ask as the page does: again, where the server says that it is too much at a time."""
    while (reply := ask(*what))[0] == 429:
        time.sleep(EVERY_S)
    assert reply[0] == 200, reply
    return reply[1]


@pytest.mark.slow
def test_fifty_people_at_once_lose_nothing_and_are_spread_evenly(own_folder, tmp_path):
    def take_part(number: int) -> tuple[str, int]:
        state = host.begin(PROLIFIC_PID=f"person{number}")
        for trial in state["trials"]:
            assert patiently(host.answer, state, trial, number % 2) == {"stored": trial["id"]}
        assert patiently(host.post, "finish", {"session": state["session"]})["code"] == "ABC"
        return state["session"], len(state["trials"])

    with serving(own_folder) as host, ThreadPoolExecutor(50) as pool:
        taken = list(pool.map(take_part, range(50)))
    assert len({token for token, _ in taken}) == 50
    database = sqlite3.connect(own_folder / "private" / "answers.sqlite")
    lists = Counter(number for number, in database.execute("SELECT list FROM sessions"))
    assert max(lists.values()) - min(lists.values()) <= 1
    stored = database.execute("SELECT COUNT(*) FROM answers").fetchone()[0]
    assert stored == sum(count for _, count in taken)
    lines = exported(own_folder, tmp_path / "a.jsonl", "--ids", tmp_path / "ids.jsonl")
    assert len({line["rater"] for line in lines}) == 50
    assert all(line["complete"] for line in lines)
    assert "person7" not in (tmp_path / "a.jsonl").read_text()
    ids = [json.loads(line) for line in (tmp_path / "ids.jsonl").read_text().splitlines()]
    assert {one["PROLIFIC_PID"] for one in ids} == {f"person{number}" for number in range(50)}


@pytest.mark.slow
def test_a_killed_server_has_every_answer_that_it_acknowledged(own_folder, tmp_path):
    acknowledged: list[tuple[str, str]] = []

    def take_part(number: int) -> None:
        state = host.begin()
        for trial in state["trials"]:
            try:
                status, _ = host.answer(state, trial)
            except (OSError, HTTPException):  # killed before or amid its reply
                return
            if status == 200:
                acknowledged.append((state["session"], trial["id"]))
            if len(acknowledged) == 40:
                host.kill()

    host = Server(own_folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(take_part, range(8)))
    assert len(acknowledged) >= 40
    assert host.process.returncode == -signal.SIGKILL
    with serving(own_folder) as again:
        for token in {token for token, _ in acknowledged}:
            status, state = again.post("session", {"session": token})
            assert status == 200
            assert {trial for one, trial in acknowledged if one == token} <= {*state["answered"]}
            for trial in state["trials"]:
                assert again.answer(state, trial)[0] == 200
            assert again.post("finish", {"session": token})[0] == 200


@pytest.mark.slow
def test_the_first_answer_stays_and_a_session_goes_on_where_it_was(server, folder):
    state = server.begin()
    first = state["trials"][0]
    assert server.answer(state, first, 0)[0] == 200
    assert server.answer(state, first, 1)[0] == 200
    status, again = server.post("session", {"session": state["session"]})
    assert status == 200
    assert again["trials"] == state["trials"]
    assert again["answered"] == [first["id"]]
    with Database(folder / "private" / "answers.sqlite", study_of(folder).name) as database:
        session = database.session(state["session"])
        assert session is not None
        kept = json.loads(database.answers(session)[first["id"]])
    assert kept["answers"]["choice"]["option"] == 0


def study_of(folder: Path) -> Study:
    return Study.model_validate_json((folder / "private" / "key.json").read_bytes())


@pytest.mark.slow
def test_the_completion_address_is_told_at_the_end_alone_and_has_the_person_s_code(server, folder):
    state = server.begin(survey_code="4711")
    status, said = server.post("finish", {"session": state["session"]})
    assert (status, said) == (409, f"{len(state['trials'])} trials are not answered")
    assert b"example.org" not in server.get("study-data.js")[2]
    for trial in state["trials"]:
        assert server.answer(state, trial)[0] == 200
    assert server.post("finish", {"session": state["session"]}) == (
        200, {"address": "https://example.org/?cc=ABC&c=4711", "code": "ABC"})


@pytest.mark.slow
def test_whoever_came_before_goes_on_only_with_the_recruiting_site_s_session(server):
    ids = {"PROLIFIC_PID": "again", "STUDY_ID": "s", "SESSION_ID": "secret"}
    first = server.begin(**ids)
    assert server.begin(**ids)["session"] == first["session"]
    for other in (ids | {"SESSION_ID": "guessed"}, {"PROLIFIC_PID": "again"}):
        assert server.post("session", {"ids": other, "screen": SCREEN}) == (409, "begun")
    server.begin(survey_code="12")
    assert server.post("session", {"ids": {"survey_code": "12"}, "screen": SCREEN}) \
        == (409, "begun")


@pytest.mark.slow
def test_a_browser_gets_trials_of_its_own_and_no_answer(server, folder):
    script = server.get("study-data.js")[2].decode()
    content = json.loads(script.removeprefix("window.STUDY = ").strip().removesuffix(";"))
    assert content["served"] is True
    assert not {"trials", "lists", "completion"} & {*content}
    study = study_of(folder)
    for trial in server.begin()["trials"]:
        assert {*trial} == {"id", "practice", "tasks", "ask", "clips", "options"}
        assert trial["practice"] == (trial["id"] in study.practice)


@pytest.mark.slow
@pytest.mark.parametrize("path", [
    "../private/key.json", "..%2fprivate/key.json", "%2e%2e/private/questions.jsonl",
    "private/key.json", "clips/../../private/answers.sqlite", "//etc/passwd", "api/session",
])
def test_what_is_private_cannot_be_fetched(server, path):
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(f"GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        said = b"".join(iter(lambda: raw.recv(65536), b""))
    assert said.split(b" ")[1] in (b"404", b"405")
    assert b"secret" not in said


@pytest.mark.slow
def test_clips_come_in_parts_as_safari_asks_for_them(server):
    clip = server.begin()["trials"][0]["clips"][0]
    status, headers, whole = server.get(clip)
    assert (status, headers["content-type"]) == (200, "video/mp4")
    assert headers["accept-ranges"] == "bytes"
    status, headers, part = server.get(clip, range="bytes=0-1")
    assert (status, part) == (206, whole[:2])
    assert headers["content-range"] == f"bytes 0-1/{len(whole)}"
    status, headers, part = server.get(clip, range=f"bytes={len(whole) - 5}-")
    assert (status, part) == (206, whole[-5:])
    assert server.get(clip, range=f"bytes={len(whole)}-")[0] == 416


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere_and_tell_nobody_where_they_were_called_from(server):
    _, headers, _ = server.get("")
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.slow
@pytest.mark.parametrize(("what", "content", "status"), [
    ("session", b"", 400), ("session", b"[]", 400), ("session", b"{" * 9000, 400),
    ("session", b"\xff\xfe", 400), ("session", b"x" * 20_000, 413),
    ("session", {"ids": {"NAME": "me"}, "screen": SCREEN}, 400),
    ("session", {"ids": {"survey_code": "<script>"}, "screen": SCREEN}, 400),
    ("session", {"ids": {}}, 400), ("session", {"session": 5}, 404),
    ("session", {"session": "guess"}, 404), ("answer", {}, 404), ("finish", {}, 404),
    ("answer", {"session": "guess", "trial": "x", "response": {}}, 404),
])
def test_what_no_page_sends_is_refused(server, what, content, status):
    assert server.post(what, content)[0] == status


@pytest.mark.slow
def test_answers_to_others_trials_are_refused(server, folder):
    state = server.begin()
    own = {trial["id"] for trial in state["trials"]}
    other = next(name for names in study_of(folder).lists for name in names if name not in own)
    for trial in (other, "x", None, 5):
        sent = {"session": state["session"], "trial": trial,
                "response": response_to(state["trials"][0])}
        assert server.post("answer", sent)[0] == 404
    wrong = {"session": state["session"], "trial": state["trials"][0]["id"], "response": {}}
    assert server.post("answer", wrong)[0] == 400


@pytest.mark.slow
def test_who_sends_too_much_is_asked_to_wait(own_folder):
    with serving(own_folder) as server:
        state = server.begin()
        said = [server.answer(state, state["trials"][0])[0] for _ in range(60)]
        assert said[:30] == [200] * 30
        assert 429 in said
        other = server.begin()
        assert server.answer(other, other["trials"][0])[0] == 200


def test_buckets_fill_again_and_do_not_pile_up() -> None:
    limit = Limit(most=2, a_second=0.5, keys=3)
    assert [limit.wait("a", 0), limit.wait("a", 0), limit.wait("a", 0)] == [0, 0, 2]
    assert limit.wait("a", 1) == 1
    assert limit.wait("a", 2) == 0
    assert limit.wait("b", 2) == 0
    for number in range(10):
        limit.wait(str(number), 3)
    assert len(limit._left) == 3


ANYONE = Ids(), Screen(width=1, height=1, touch=True)


def test_lists_of_those_who_left_are_given_again(tmp_path):
    def begin(now: float) -> int:
        session = database.begin(*ANYONE, 3, None, now)
        return session.list if session else -1

    with Database(tmp_path / "a.sqlite", "s") as database:
        assert [begin(0), begin(1), begin(2), begin(3)] == [0, 1, 2, 0]
        first, finished = database.sessions()[:2]
        database.store(first, "t", "{}", None, 5)
        database.finish(finished, 10)
        later = UNBEGUN_S + 10  # two have answered something: lists 0 and 1
        assert [begin(later), begin(later), begin(later), begin(later)] == [2, 0, 1, 2]
        much_later = FORSAKEN_S + 3 * later  # the one who finished stays
        assert [begin(much_later), begin(much_later), begin(much_later)] == [0, 2, 0]


def test_whoever_answers_takes_part_and_whoever_begins_does_not(tmp_path):
    with Database(tmp_path / "a.sqlite", "s") as database:
        began = [database.begin(*ANYONE, 3, 2, now) for now in range(20)]
        first, second, third = [one for one in began if one is not None][:3]
        assert None not in began
        assert database.store(first, "t", "{}", 2, 21) and database.store(second, "t", "{}", 2, 22)
        assert database.begin(*ANYONE, 3, 2, 23) is None
        assert not database.store(third, "t", "{}", 2, 24) and not database.answers(third)
        assert database.store(second, "u", "{}", 2, 25) and database.store(first, "t", "{}", 2, 26)
        database.finish(second, 27)
        later = FORSAKEN_S + 27  # the first went away, the second's place stays taken
        assert database.begin(*ANYONE, 3, 1, later) is None
        assert database.store(third, "t", "{}", 2, later)
        assert database.begin(*ANYONE, 3, 2, later) is None


@pytest.mark.slow
def test_a_port_in_use_is_said_in_one_line(server, folder):
    done = invoked("study", "serve", folder, "--port", server.port)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"--port {server.port}: is already in use" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["text", "cut", "another"])
def test_a_damaged_database_is_said_in_one_line_and_left_as_it_is(own_folder, tmp_path, damage):
    path = own_folder / "private" / "answers.sqlite"
    if damage == "another":
        Database(path, "another study").__exit__(None, None, None)
    elif damage == "text":
        path.write_text("no database " * 1000)
    else:
        with Database(path, study_of(own_folder).name) as database:
            for _ in range(200):
                database.begin(Ids(), Screen(width=1, height=1, touch=True), 3, None, 0)
        whole = path.read_bytes()
        path.write_bytes(whole[:8192] + b"\xff" * 8192 + whole[16384:])
    before = path.read_bytes()
    for command in (["serve", own_folder, "--port", 0],
                    ["export", own_folder, "--out", tmp_path / "a"]):
        done = invoked("study", *command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "the database of answers is damaged or cannot be used" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.slow
def test_export_counts_those_whose_answers_count_and_those_who_came_to_the_end(
    own_folder, tmp_path
):
    with serving(own_folder) as server:
        for told in (10_000, 2, 1, 0):  # all; practice and one more; practice alone; nothing
            state = server.begin()
            for trial in state["trials"][:told]:
                patiently(server.answer, state, trial)
            if told >= len(state["trials"]):
                patiently(server.post, "finish", {"session": state["session"]})
    done = invoked("study", "export", own_folder, "--out", tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    first, second = done.stdout.splitlines()
    assert f"{len(lines)} answers from 2 people, of whom 1 finished; " in first
    assert second == "2 more people started without a usable answer"
