"""Asking the web politely: who asks, how often, how much, and errors in one line."""

import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from mimegen import __version__
from mimegen.base.errors import RequestError

# Who asks, as Wikimedia's User-Agent policy wants it: what it is and which library asks.
USER_AGENT = f"mimegen/{__version__} (stimuli for research; 'mimegen background fetch') urllib"
PAUSE_S, PATIENCE_S, TRIES = 1.0, 60.0, 3
MOST_ANSWER, MOST_FILE = 8 * 2**20, 64 * 2**20
BUSY = (429, 500, 502, 503, 504)


class TooLargeError(RequestError):
    """A file has more bytes than are fetched."""


@dataclass
class Web:
    """One who asks, at most once in ``pause_s`` seconds, and again where a server is busy."""

    pause_s: float = PAUSE_S
    _next: float = field(default=0.0, init=False)

    def answer(self, address: str, asked: dict[str, str]) -> dict[str, Any]:
        """Return the JSON object that an API answers. Raises RequestError where it does not."""
        text = self.file(f"{address}?{urlencode(asked)}", MOST_ANSWER)
        try:
            content = json.loads(text)
        except ValueError as problem:
            raise RequestError(f"{_host(address)}: answered no JSON; is this its API?"
                               ) from problem
        if not isinstance(content, dict):
            raise RequestError(f"{_host(address)}: answered something else than was asked")
        return content

    def file(self, address: str, most: int = MOST_FILE) -> bytes:
        """Return the bytes at an address. Raises TooLargeError, or RequestError where none come."""
        for left in reversed(range(TRIES)):
            self._wait()
            try:
                return _read(address, most)
            except urllib.error.HTTPError as problem:
                problem.close()
                if problem.code not in BUSY or not left:
                    raise RequestError(f"{_host(address)}: answered {problem.code}"
                                       f" {problem.reason}; try again later") from problem
                self._next = time.monotonic() + _asked_to_wait(problem)
            except (OSError, http.client.HTTPException, ValueError) as problem:
                reason = getattr(problem, "reason", None) or problem
                raise RequestError(f"{_host(address)}: cannot be reached ({reason}); is there a"
                                   " network?") from problem
        raise AssertionError("the last try returns or raises")

    def _wait(self) -> None:
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self.pause_s


def _read(address: str, most: int) -> bytes:
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError("no address of the web")
    request = urllib.request.Request(address, headers={"User-Agent": USER_AGENT})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
        if int(reply.headers.get("Content-Length") or 0) > most:
            raise TooLargeError(f"{address}: has more than {most // 2**20} MiB")
        content: bytes = reply.read(most + 1)
    if len(content) > most:
        raise TooLargeError(f"{address}: has more than {most // 2**20} MiB")
    return content


def _asked_to_wait(problem: urllib.error.HTTPError) -> float:
    """Return the seconds that a busy server asks for, or two where it says none."""
    seconds = problem.headers.get("Retry-After", "") or ""
    return min(float(seconds), PATIENCE_S) if seconds.isdecimal() else 2.0


def _host(address: str) -> str:
    return urlsplit(address).netloc or address
