"""What strangers do to a study's server: connections that send nothing, floods, foreign pages."""

import contextlib
import io
import logging
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mimegen.study import connections, serverlog
from mimegen.study.connections import ConnectionSlots, address_key
from mimegen.study.making import StudyRequest as StudyRequest
from mimegen.study.making import make_study
from mimegen.study.origin import is_local_name, is_own
from mimegen.study.serving import web_server
from mimegen.study.settings import read_settings
from running import command, invoked
from study_rows import asked_questions
from study_server import SCREEN, Server, serving
from test_study import settings_file
from waiting import wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study for three people."""
    place = tmp_path_factory.mktemp("defended")
    made = asked_questions(place / "out")
    own = settings_file(place, participants=3)
    make_study(StudyRequest(made.file, made.file.parent, place / "s", None, read_settings(own)))
    return place / "s"


async def hello(request: Request) -> Response:
    return PlainTextResponse("x" * int(request.query_params.get("size", 5)))


async def read(request: Request) -> Response:
    return PlainTextResponse(await request.body())


@pytest.fixture
def begin_serving() -> Iterator[Callable[[ConnectionSlots], int]]:
    """Begin a server of these places in a thread; give its port."""
    running: list[tuple[Any, threading.Thread]] = []

    def begin(places: ConnectionSlots) -> int:
        app = Starlette(routes=[Route("/", hello), Route("/", read, methods=["POST"])])
        server = web_server(app, places)
        listening = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        running.append((server, thread))
        return int(listening.getsockname()[1])

    yield begin
    for server, thread in running:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def asks(port: int) -> bytes:
    """Ask for the page on a connection of one's own; nothing where it is refused."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as one:
        one.settimeout(5)
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return b"".join(iter(lambda: one.recv(65536), b""))
    return b""


def is_open(one: socket.socket) -> bool:
    one.settimeout(0.01)
    try:
        return one.recv(1) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


HALVES = [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n"
          b"Content-Length: 99\r\n\r\nhalf"]


@contextlib.contextmanager
def half_open(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Open connections that send nothing, half a head, or half a body."""
    with contextlib.ExitStack() as stack:
        opened = []
        for number in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
            with contextlib.suppress(OSError):
                one.sendall(HALVES[number % 3])
            opened.append(one)
        yield opened


@pytest.mark.parametrize("places", [ConnectionSlots(1000, max_per_address=20), ConnectionSlots(20)])
def test_those_who_wait_for_longest_make_room(
    places: ConnectionSlots, begin_serving: Callable[[ConnectionSlots], int]
) -> None:
    port = begin_serving(places)
    with half_open(port, 200) as opened:
        assert asks(port).startswith(b"HTTP/1.1 200")
        assert places._open.total() <= 20
        assert not is_open(opened[0]) and is_open(opened[-1])
    assert asks(port).startswith(b"HTTP/1.1 200")


def test_connections_of_one_address_leave_others_theirs(
    begin_serving: Callable[[ConnectionSlots], int]
) -> None:
    """What another address has open stays, whatever one of them does."""
    places = ConnectionSlots(40, max_per_address=20)
    port = begin_serving(places)
    with socket.create_connection(("127.0.0.1", port), 5, ("127.0.0.2", 0)) as other:
        other.sendall(HALVES[1])
        with half_open(port, 100):
            assert asks(port).startswith(b"HTTP/1.1 200") and is_open(other)
            other.sendall(b"\r\n")
            other.settimeout(5)
            assert other.recv(12) == b"HTTP/1.1 200"


def test_a_proxy_may_have_all_places(begin_serving: Callable[[ConnectionSlots], int]) -> None:
    port = begin_serving(ConnectionSlots(200, 20, frozenset({"127.0.0.1"})))
    with half_open(port, 60) as opened:
        assert asks(port).startswith(b"HTTP/1.1 200") and all(map(is_open, opened))


def test_who_does_not_ask_in_time_is_gone_however_often_a_byte_comes(
    begin_serving: Callable[[ConnectionSlots], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.6)
    places = ConnectionSlots(100)
    port = begin_serving(places)
    with half_open(port, 9) as opened, socket.create_connection(("127.0.0.1", port)) as asked:
        asked.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        said = b""
        while not said.endswith(b"xxxxx"):
            said += asked.recv(65536)
        opened.append(asked)  # and now half a second request
        def all_gone() -> bool:
            for one in filter(is_open, opened):
                with contextlib.suppress(OSError):
                    one.sendall(b"X")
            return not any(map(is_open, opened))

        wait_until(all_gone)
    assert places._open == {} and places._waiting == {} and places._waiting_of == {}


def test_who_does_not_read_an_answer_is_gone(
    begin_serving: Callable[[ConnectionSlots], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALL_TIMEOUT_S", 0.5)
    places = ConnectionSlots(100)
    port = begin_serving(places)
    with socket.create_connection(("127.0.0.1", port)) as deaf:
        deaf.sendall(b"GET /?size=30000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: places._open)
        wait_until(lambda: not places._open)


def test_an_answer_may_take_longer_than_a_request(
    begin_serving: Callable[[ConnectionSlots], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 0.3)
    port = begin_serving(ConnectionSlots(10))
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"GET /?size=9000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = 0
        while part := slow.recv(1 << 18):
            got += len(part)
            time.sleep(0.02)
        assert got > 9_000_000


def test_networks_of_ipv6_count_as_one_sender() -> None:
    assert address_key("2001:db8::1") == address_key("2001:db8::ffff:1") == "2001:db8::/64"
    assert address_key("::ffff:10.0.0.1") == address_key("10.0.0.1") == "10.0.0.1"
    assert address_key("fe80::1%eth0") == "fe80::/64" and address_key("unix") == "unix"


def limited(files: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


@pytest.mark.slow
def test_a_server_with_few_descriptors_goes_on_and_says_little(folder: Path, tmp_path: Path
                                                               ) -> None:
    """More half-open connections than it may have files: they end, and people are served."""
    log = tmp_path / "log"
    with log.open("wb") as file, subprocess.Popen(
            command("study", "serve", folder, "--port", 0), stdout=subprocess.PIPE, text=True,
            stderr=file, preexec_fn=limited(256),
            env=os.environ | {"PYTHONUNBUFFERED": "1"}) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])
            with half_open(port, 300):
                assert asks(port).startswith(b"HTTP/1.1 200")
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/study.js") as reply:
                    assert reply.status == 200
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(
                        ("127.0.0.1", port)) as one:
                    one.sendall(b"\0\r\n\r\n")
                    one.recv(100)
            assert asks(port).startswith(b"HTTP/1.1 200")
        finally:
            process.terminate()
    lines = log.read_text().splitlines()
    assert 1 <= len(lines) < 30 and max(map(len, lines)) < 400


@pytest.mark.slow
def test_too_few_descriptors_are_said(folder: Path) -> None:
    done = subprocess.run(command("study", "serve", folder, "--port", 0), capture_output=True,
                          text=True, preexec_fn=limited(100))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "the system limits this process to 100 open files" in done.stderr


def test_floods_of_log_lines_are_few_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", stream)
    serverlog.configure_logging()
    logger = logging.getLogger("uvicorn.error")
    for _ in range(10_000):
        logger.warning("Invalid HTTP request received.")
        try:
            raise ValueError("line\n" * 1000)
        except ValueError:
            logger.exception("Exception in ASGI application")
    for number in range(10_000):
        logging.getLogger("asyncio").error(f"kind {number} of trouble")
    logging.getLogger("mimegen.study").info("nothing to worry about")
    lines = stream.getvalue().splitlines()
    assert len(lines) == serverlog.LIMIT_OF_ALL[0] and max(map(len, lines)) < 400
    assert lines[0] == "mimegen: Invalid HTTP request received."
    assert lines[1].startswith("mimegen: Exception in ASGI application (ValueError: line line")
    now[0] = 60.0
    logger.warning("Invalid HTTP request received.")
    assert re.fullmatch(r"mimegen: Invalid HTTP request received\. \(\d{4} lines before this one"
                        r" were left out\)", stream.getvalue().splitlines()[-1])


OWN = "http://127.0.0.1:{port}"
FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": ""},
    {"origin": "http://127.0.0.1:1"}, {"origin": "http://[bad"},
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site", "origin": OWN},
    {"sec-fetch-site": "none"}, {"sec-fetch-site": "cross-site", "origin": OWN},
    {"host": "evil.example"}, {"host": "evil.example", "origin": "http://evil.example"}]
NO_JSON = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "",
           "text/plain; application/json", "application/jsonx"]


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("what", ["session", "answer", "finish"])
def test_pages_of_others_are_refused(server: Server, headers: dict[str, str], what: str) -> None:
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    assert server.post(what, {"ids": {}, "screen": SCREEN}, **sent)[0] == 403


@pytest.mark.parametrize("kind", NO_JSON)
def test_what_does_not_say_that_it_is_json_is_refused(server: Server, kind: str) -> None:
    status, _ = server.post("session", {"ids": {}, "screen": SCREEN}, **{"content-type": kind})
    assert status == 415


@pytest.mark.slow
@pytest.mark.parametrize("headers", [
    {}, {"origin": OWN}, {"sec-fetch-site": "same-origin", "origin": OWN},
    {"content-type": "application/json; charset=utf-8"}])
def test_the_study_s_own_page_is_heard(server: Server, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    assert server.post("session", {"ids": {}, "screen": SCREEN}, **sent)[0] == 200


def test_a_proxy_may_take_tls_off() -> None:
    assert is_own({"origin": "https://study.example", "host": "study.example"})
    assert is_own({"origin": "https://study.example", "host": "STUDY.example:443"})
    assert not is_own({"origin": "https://study.example:8443", "host": "study.example"})
    assert not is_own({"origin": "https://study.example"})


def test_names_of_this_machine() -> None:
    for name in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "x.localhost"):
        assert is_local_name(name)
    for name in ("", "evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[", "localhost.evil"):
        assert not is_local_name(name)


@pytest.mark.slow
def test_behind_a_proxy_people_are_told_apart_and_hosts_are_its_own(folder: Path) -> None:
    process = subprocess.Popen(command("study", "serve", folder, "--port", 0, "--proxy",
                                       "127.0.0.1"), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        behind = Server.__new__(Server)
        behind.process = process
        behind.address = process.stdout.readline().split(": ")[-1].strip()
        headers = {"host": "study.example", "origin": "https://study.example"}
        for number in range(130):  # an address may begin 120 at once
            status, _ = behind.post("session", {"ids": {}, "screen": SCREEN}, **headers,
                                    **{"x-forwarded-for": f"203.0.113.{number}"})
            assert status == 200
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_a_proxy_is_an_address(folder: Path) -> None:
    done = invoked("study", "serve", folder, "--port", 0, "--proxy", "nginx")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--proxy nginx: expected the IP address" in done.stderr


@pytest.mark.slow
def test_a_study_is_full_of_those_who_answer(folder: Path) -> None:
    """For three people: thirty who begin take nobody's place, and the fourth to answer is told."""
    with serving(folder) as server:
        began = [server.begin() for _ in range(30)]
        for state in began[:3]:
            assert server.answer(state, state["trials"][0])[0] == 200
        assert server.post("session", {"ids": {}, "screen": SCREEN}) == (409, "full")
        assert server.answer(began[3], began[3]["trials"][0]) == (409, "full")
        assert server.answer(began[0], began[0]["trials"][1])[0] == 200


@pytest.mark.slow
def test_ctrl_c_ends_a_server_in_one_line_whoever_is_connected(folder: Path) -> None:
    process = subprocess.Popen(command("study", "serve", folder, "--port", 0), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout is not None
    port = int(process.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])
    with half_open(port, 9):
        assert asks(port)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and errors.startswith("mimegen: stopped")
    assert errors.count("\n") == 1
