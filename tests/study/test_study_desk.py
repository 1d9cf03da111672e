"""A study's desk without a server: who gets what, how often one may ask, what counts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from mimegen.base.errors import RequestError
from mimegen.study import server
from mimegen.study.database import FORSAKEN_S, UNBEGUN_S, Database
from mimegen.study.export import SHOWN_SIZE, TIMES, Person, _passed, answer_lines, stored_people
from mimegen.study.folder import Study
from mimegen.study.limits import MAX_REQUEST, Limit
from mimegen.study.public import completion, public_trial, session_order
from mimegen.study.responses import Ids, Response, Screen, TaskAnswer
from mimegen.study.server import Desk, _content
from mimegen.study.settings import Task, read_settings
from mimegen.study.trials import Trial

SCREEN = {"width": 10, "height": 10, "touch": False}
ANYONE = Ids(), Screen(width=1, height=1, touch=True)


def trial(**more: Any) -> Trial:
    return Trial(tasks=("choice",), sources=("a.mp4",), clips=("b.mp4",),
                 questions={"choice": "q"}, options=("x", "y", "z"), **more)


def study(**settings: Any) -> Study:
    """Two lists of eight trials, two for practice and one golden."""
    names = [f"t{number}" for number in range(16)]
    return Study(secret="s" * 32, seed=7, practice=("p1", "p2"), golden=("g",),
                 settings=read_settings(None).model_copy(update=settings),
                 trials={name: trial() for name in [*names, "p1", "p2"]} | {"g": trial(right=1)},
                 lists=(tuple(names[:8]), tuple(names[8:])))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path: Path, clock: Clock) -> Desk:
    return Desk(study(completion_code="done"), Database(tmp_path / "a.sqlite", "s"), clock)


def answer(option: int = 0) -> dict[str, Any]:
    return {"answers": {"choice": {"option": option, "rt_ms": 5, "replays": 0,
                                   "timed_out": False}}}


def begin(desk: Desk, address: str = "1.2.3.4") -> dict[str, Any]:
    return dict(desk.session({"ids": {}, "screen": SCREEN}, address))


def status_of(ask: Any, *given: Any) -> int:
    try:
        ask(*given)
    except HTTPException as problem:
        return problem.status_code
    return 200


@pytest.mark.parametrize(("most", "a_second", "away"), [(3, 1.0, 1e9), (1, 0.1, 11.0),
                                                         (30, 2.0, 16.0)])
def test_however_long_one_was_away_one_may_ask_as_often_as_at_first(
    most: int, a_second: float, away: float
) -> None:
    limit = Limit(most, a_second)
    for now in (0.0, away, 5 * away):
        assert [limit.wait("a", now) for _ in range(most)] == [0.0] * most
        assert limit.wait("a", now) == pytest.approx(1 / a_second)


def test_who_was_away_longest_is_forgotten_first() -> None:
    limit = Limit(1, 0.001, keys=2)
    assert [limit.wait(key, 0) for key in "abac"] == [0, 0, 1000, 0]
    assert limit.wait("a", 0) == 1000 and limit.wait("b", 0) == 0


def test_everybody_has_an_order_of_their_own_after_practice() -> None:
    made = study()
    orders = [session_order(made, number, 0) for number in range(1, 9)]
    assert all(order[:2] == ["p1", "p2"] for order in orders)
    assert all(sorted(order[2:]) == sorted([*made.lists[0], "g"]) for order in orders)
    assert len({tuple(order) for order in orders}) == len(orders)
    assert session_order(made, 3, 0) == orders[2]
    other = made.model_copy(update={"seed": 8})
    assert session_order(other, 3, 0) != orders[2]
    assert {order.index("g") for order in orders} != {2}, "attention checks lie anywhere"


def test_answers_and_ends_are_limited_alike(desk: Desk, clock: Clock) -> None:
    state = begin(desk)
    said = [status_of(desk.finish, {"session": state["session"]}, "") for _ in range(40)]
    assert said == [409] * 30 + [429] * 10, "trials are missing; then it is too often"
    sent = {"session": state["session"], "trial": state["trials"][0]["id"], "response": answer()}
    assert status_of(desk.answer, sent, "") == 429, "one bucket for both"
    clock.now += 1
    assert [status_of(desk.answer, sent, "") for _ in range(3)] == [200, 200, 429]
    other = begin(desk)
    assert status_of(desk.finish, {"session": other["session"]}, "") == 409


def test_beginners_of_an_address_are_limited_and_those_who_come_back_are_not(desk: Desk) -> None:
    first = begin(desk)
    said = [status_of(begin, desk) for _ in range(125)]
    assert said == [200] * 119 + [429] * 6
    assert status_of(begin, desk, "5.6.7.8") == 200
    assert status_of(desk.session, {"session": first["session"]}, "1.2.3.4") == 200


def test_the_end_is_told_who_answered_all(desk: Desk, clock: Clock) -> None:
    state = begin(desk)
    for number, one in enumerate(state["trials"]):
        clock.now += 1
        desk.answer({"session": state["session"], "trial": one["id"],
                     "response": answer(number % 3)}, "")
    assert desk.finish({"session": state["session"]}, "") == {"address": None, "code": "done"}
    again = desk.session({"session": state["session"]}, "")
    assert again["finished"] and len(again["answered"]) == len(state["trials"]) == 11


def test_a_full_study_refuses_beginners_and_first_answers(tmp_path: Path, clock: Clock) -> None:
    desk = Desk(study(participants=1), Database(tmp_path / "a.sqlite", "s"), clock)
    first, late = begin(desk), begin(desk)

    def answers(state: dict[str, Any], place: int) -> int:
        return status_of(desk.answer, {
            "session": state["session"], "trial": state["trials"][place]["id"],
            "response": answer()}, "")

    assert [answers(first, 0), answers(late, 0), answers(first, 1)] == [200, 409, 200]
    assert status_of(begin, desk) == 409
    assert desk.session({"session": late["session"]}, "")["answered"] == []


def test_people_are_counted_by_what_they_did_last(tmp_path: Path) -> None:
    """Not by when they began: a long session is no forsaken one."""
    with Database(tmp_path / "a.sqlite", "s") as database:
        slow = database.begin(*ANYONE, 1, 1, 0.0)
        assert slow is not None and database.store(slow, "a", "{}", 1, 10.0)
        assert database.store(slow, "b", "{}", 1, FORSAKEN_S - 10)
        assert database.begin(*ANYONE, 1, 1, 2 * FORSAKEN_S - 11) is None
        assert database.begin(*ANYONE, 1, 1, 2 * FORSAKEN_S - 9) is not None


def test_who_only_began_has_a_list_for_a_while(tmp_path: Path) -> None:
    with Database(tmp_path / "a.sqlite", "s") as database:
        began = [database.begin(*ANYONE, 2, None, now) for now in (0.0, 1.0, 2.0)]
        assert [one.list for one in began if one] == [0, 1, 0]
        later = database.begin(*ANYONE, 2, None, UNBEGUN_S + 1.5)
        assert later is not None and later.list == 1, "the third alone is still counted"


def test_a_session_is_known_by_its_token_and_its_person(tmp_path: Path) -> None:
    with Database(tmp_path / "a.sqlite", "s") as database:
        ids = Ids(participant="7")
        one = database.begin(ids, ANYONE[1], 2, None, 0.0)
        assert one is not None and database.session(one.token) == one == database.session_of("7")
        assert database.session("guess") is None and database.session_of("8") is None
        assert len(one.token) == 32 and one.rater != one.token and one.ids == ids
        database.finish(one, 5.0)
        database.finish(one, 9.0)
        assert [session.finished for session in database.sessions()] == [5.0]


@pytest.mark.parametrize(("given", "passes"), [
    ({"subject": 60.0}, True), ({"subject": 100.0}, True), ({"subject": 80.0}, True),
    ({"subject": 59.99}, False), ({"subject": 100.01}, False), ({}, False), (None, False)])
def test_attention_checks_hold_up_to_their_bounds(given: dict[str, float] | None, passes: bool
                                                  ) -> None:
    made = study()
    made = made.model_copy(update={"trials": made.trials | {
        "g": trial(expected={"subject": (60.0, 100.0)})}})
    told = TaskAnswer.model_construct(text=None, option=None, ratings=given, rt_ms=1, replays=0,
                                      timed_out=False)
    assert _passed(made, "g", "ratings", told) is passes


def test_attention_checks_need_every_slider_and_tell_nothing_of_texts() -> None:
    made = study()
    made = made.model_copy(update={"trials": made.trials | {
        "g": trial(expected={"subject": (0.0, 50.0), "completeness": (50.0, 100.0)})}})

    def passed(task: Task = "ratings", **answered: Any) -> bool | None:
        return _passed(made, "g", task, TaskAnswer(rt_ms=1, replays=0, timed_out=False, **answered))

    assert passed(ratings={"subject": 50.0, "completeness": 50.0}) is True
    assert passed(ratings={"subject": 50.0}) is False
    assert passed(ratings={"subject": 51.0, "completeness": 50.0}) is False
    # Neither a text nor one that was not given in time fails a check.
    assert passed("free", text="rowing") is passed("free") is None
    assert _passed(made, "g", "ratings", None) is None
    chosen = [TaskAnswer(option=option, rt_ms=1, replays=0, timed_out=False) for option in (0, 1)]
    assert [_passed(study(), "g", "choice", one) for one in chosen] == [False, True]
    assert [_passed(study(), "t0", "choice", one) for one in chosen] == [None, None]


@pytest.mark.parametrize(("is_local", "headers", "status"), [
    (True, {"host": "localhost:8000"}, 200), (True, {"host": "study.example"}, 403),
    (True, {}, 403), (False, {"host": "study.example"}, 200), (False, {}, 200),
    (False, {"host": "study.example", "origin": "https://study.example"}, 200),
    (False, {"host": "study.example", "origin": "https://other.example"}, 403),
    (False, {"origin": "https://other.example"}, 403),
    (False, {"host": "a", "origin": "http://b", "sec-fetch-site": "same-origin"}, 200),
    (False, {"sec-fetch-site": "cross-site"}, 403), (False, {"content-type": "text/plain"}, 415)])
def test_who_asks_is_looked_at(desk: Desk, is_local: bool, headers: dict[str, str], status: int
                               ) -> None:
    desk.is_local = is_local
    sent = {"content-type": "application/json"} | headers
    request = Request({"type": "http", "headers": [
        (name.encode(), value.encode()) for name, value in sent.items()]})
    assert status_of(desk._see_who_asks, request) == status


def test_who_asks_too_often_is_told_when_to_ask_again(desk: Desk) -> None:
    state = begin(desk)
    for _ in range(30):
        assert status_of(desk.finish, {"session": state["session"]}, "") == 409
    with pytest.raises(HTTPException) as refused:
        desk.finish({"session": state["session"]}, "")
    assert (refused.value.status_code, refused.value.detail) == (429, "too many requests")
    assert refused.value.headers == {"retry-after": "1"}
    slow = Limit(1, 0.25)
    desk._count(slow, "a")
    with pytest.raises(HTTPException) as refused:
        desk._count(slow, "a")
    assert refused.value.headers == {"retry-after": "5"}


def test_a_clock_that_is_set_back_keeps_nobody_waiting(desk: Desk, clock: Clock) -> None:
    state = begin(desk)
    first = state["trials"][0]["id"]
    clock.now -= 3600
    desk.answer({"session": state["session"], "trial": first, "response": answer()}, "")
    again = desk.session({"session": state["session"]}, "")
    assert again["answered"] == [first]
    slow = Limit(2, 0.1)
    assert [slow.wait("a", 100.0), slow.wait("a", 10.0), slow.wait("a", 10.0)] == [0, 0, 10]


def content_of(*messages: dict[str, Any], late: bool = False) -> Any:
    """What is read of a request whose body comes in these messages; its status where refused."""
    coming = iter(messages)

    async def receive() -> dict[str, Any]:
        try:
            return {"type": "http.request", "more_body": True} | next(coming)
        except StopIteration:
            await asyncio.Event().wait() if late else None
            return {"type": "http.disconnect"}

    try:
        return asyncio.run(_content(Request({"type": "http", "headers": []}, receive)))
    except HTTPException as problem:
        return problem.status_code


def test_bodies_are_read_whole_in_time_and_no_longer_than_they_may_be(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_TIMEOUT_S", 0.05)
    end = {"more_body": False}
    assert content_of({"body": b'{"a":'}, {"body": b" 1}"} | end) == {"a": 1}
    assert content_of({"body": b'{"a":'}) == 400, "its sender went away"
    assert content_of({"body": b'{"a":'}, late=True) == 408
    padded = b'{"a": "%b"}' % (b"x" * (MAX_REQUEST - 9))
    assert len(padded) == MAX_REQUEST and isinstance(content_of({"body": padded} | end), dict)
    assert content_of({"body": padded}, {"body": b" "} | end) == 413
    for wrong in (b"", b"[]", b"1", b"{", b"\xff", b"[" * 10_000):
        assert content_of({"body": wrong} | end) == 400


def test_what_is_stored_comes_out_again(tmp_path: Path, clock: Clock) -> None:
    made = study()
    (tmp_path / "private").mkdir()
    assert list(stored_people(made, tmp_path)) == [], "nobody yet"
    with Database(tmp_path / "private" / "answers.sqlite", made.name) as database:
        desk = Desk(made, database, clock)
        state = dict(desk.session({"ids": {"participant": "7"}, "screen": SCREEN}, ""))
        begin(desk)
        first, second = (one["id"] for one in state["trials"][:2])
        for name, option in ((first, 2), (second, 0), (second, 1)):
            desk.answer({"session": state["session"], "trial": name,
                         "response": answer(option)}, "")
    one, other = stored_people(made, tmp_path)
    assert {name: response.answers["choice"].option for name, response in one.responses.items()
            } == {first: 2, second: 0}
    assert list(one.order) == [trial["id"] for trial in state["trials"]]
    assert (one.ids.participant, one.complete, dict(other.responses)) == ("7", False, {})
    with Database(tmp_path / "private" / "answers.sqlite", made.name) as database:
        database.finish(database.sessions()[0], 5.0)
        database.store(database.sessions()[1], "t0", "{}", None, 6.0)
    people = stored_people(made, tmp_path)
    assert next(people).complete
    with pytest.raises(RequestError, match=f"{other.rater}: trial t0 is damaged"):
        list(people)


def test_a_line_says_all_of_an_answer() -> None:
    made = study()
    told = Response.model_validate({"answers": {"choice": {
        "option": 1, "rt_ms": 812, "first_input_ms": 90, "last_input_ms": 600, "replays": 3,
        "timed_out": True}}, "left": 2, "shown_width": 640.5, "shown_height": 360.3,
        "pixel_ratio": 1.5})
    person = Person("rater-1", Ids(), ["p1", "t0", "g", "t1"],
                    {"p1": told, "g": told, "t1": Response(answers={}, broken=True)}, True)
    golden, broken = answer_lines(made, person)
    assert golden == {
        "question_id": "q", "model": "rater-1", "output": "B. y", "rater": "rater-1",
        "task": "choice", "place": 2, "rt_ms": 812, "first_input_ms": 90, "last_input_ms": 600,
        "shown_width": 640.5, "shown_height": 360.3, "pixel_ratio": 1.5,
        "replays": 3, "timed_out": True,
        "broken": False, "golden": True, "passed": True, "complete": True, "left": 2}
    assert broken == golden | dict.fromkeys((*TIMES, *SHOWN_SIZE)) | {
        "output": None, "place": 3, "replays": None, "timed_out": False,
        "broken": True, "golden": False, "passed": None, "left": 0}


def test_the_completion_address_has_the_ids_that_a_person_came_with() -> None:
    settings = read_settings(None).model_copy(update={
        "completion_address": "https://a.example/{survey_code}/?s={SESSION_ID}&x={other}",
        "completion_code": "C"})
    assert completion(settings, {"survey_code": "12", "SESSION_ID": "s-1"}) == {
        "address": "https://a.example/12/?s=s-1&x={other}", "code": "C"}
    assert completion(read_settings(None), {"survey_code": "12"}) == {"address": None, "code": None}


def test_raters_are_told_the_action_and_nothing_else_of_a_trial() -> None:
    made = study()
    rated = Trial(tasks=("ratings",), sources=("secret.mp4",), clips=("b.mp4",),
                  action_shown="rowing", questions={"ratings": "q"},
                  expected={"subject": (0.0, 50.0)}, right=1)
    made = made.model_copy(update={"trials": made.trials | {"r": rated}})
    told = public_trial(made, "r")
    assert "rowing" in told["ask"]["ratings"] and "{action}" not in told["ask"]["ratings"]
    assert told == {"id": "r", "practice": False, "tasks": ("ratings",), "ask": told["ask"],
                    "clips": ["clips/b.mp4"], "options": ()}
    assert public_trial(made, "p1")["practice"] is True
