"""A study's server in a process of its own, and people who talk to it without a browser."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from running import command

SCREEN = {"width": 1280, "height": 800, "touch": False}
RATINGS = {"subject": 20, "completeness": 40, "interaction": 60}


class Server:
    """A running server: ``address`` ends with a slash."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.process = subprocess.Popen(
            command("study", "serve", folder, "--port", port), stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"})
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split(": ")[-1].strip()
        assert self.address.startswith("http"), "the server did not start"

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rsplit(":", 1)[1])

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        return answered(urllib.request.Request(self.address + path, headers=headers))

    def post(self, what: str, content: Any, **headers: str) -> tuple[int, Any]:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        status, got, said = answered(
            urllib.request.Request(f"{self.address}api/{what}", body, method="POST",
                                   headers={"content-type": "application/json"} | headers))
        as_json = got["content-type"].startswith("application/json")
        return status, json.loads(said) if as_json else said.decode()

    def begin(self, **ids: str) -> dict[str, Any]:
        status, said = self.post("session", {"ids": ids, "screen": SCREEN})
        assert status == 200, said
        return dict(said)

    def answer(self, state: dict[str, Any], trial: dict[str, Any], option: int = 0
               ) -> tuple[int, Any]:
        return self.post("answer", {"session": state["session"], "trial": trial["id"],
                                    "response": response_to(trial, option)})


def response_to(trial: dict[str, Any], option: int = 0) -> dict[str, Any]:
    """What a page sends of a trial."""
    values: dict[str, dict[str, Any]] = {
        "free": {"text": "rowing a boat"}, "choice": {"option": option},
        "same": {"option": option}, "ratings": {"ratings": RATINGS}}
    rest = {"rt_ms": 900, "replays": 0, "timed_out": False}
    return {"answers": {task: values[task] | rest for task in trial["tasks"]}, "left": 0}


def answered(request: urllib.request.Request) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, {k.lower(): v for k, v in reply.headers.items()}, reply.read()
    except urllib.error.HTTPError as refused:
        return refused.code, {k.lower(): v for k, v in refused.headers.items()}, refused.read()


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[Server]:
    server = Server(folder, port)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill(signal.SIGTERM)
