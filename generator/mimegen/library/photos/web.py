"""Asking the web politely: who asks, how often, how much, and errors in one line."""

import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http import HTTPStatus
from platform import python_version
from typing import Any
from urllib.parse import urlencode, urlsplit

from mimegen import __version__
from mimegen.base.errors import RequestError

PAUSE_S, TIMEOUT_S, TRIES = 1.0, 60.0, 3
MOST_ANSWER, MOST_FILE = 8 * 2**20, 64 * 2**20
BUSY = (429, 500, 502, 503, 504)


class TooLargeError(RequestError):
    """A file has more bytes than are fetched."""


@dataclass
class Web:
    """One who asks, at most once in ``pause_s`` seconds, and again where a server is busy.

    ``contact`` is how whoever asks can be reached.
    """

    contact: str = ""
    pause_s: float = PAUSE_S
    _next: float = field(default=0.0, init=False)

    def answer(self, address: str, asked: dict[str, str]) -> dict[str, Any]:
        """Return the JSON object that an API answers. Raises RequestError where it does not."""
        text = self.file(f"{address}?{urlencode(asked)}", MOST_ANSWER)
        try:
            content = json.loads(text)
        except ValueError as problem:
            raise RequestError(f"{_host(address)}: answered no JSON; check that this is the address"
                               " of its API"
                               ) from problem
        if not isinstance(content, dict):
            raise RequestError(f"{_host(address)}: answered an unexpected document")
        return content

    def file(self, address: str, most: int = MOST_FILE) -> bytes:
        """Return the bytes at an address. Raises TooLargeError, or RequestError where none come."""
        for left in reversed(range(TRIES)):
            self._wait()
            try:
                return _read(address, most, self.agent)
            except urllib.error.HTTPError as problem:
                problem.close()
                if problem.code not in BUSY or not left:
                    raise RequestError(f"{_host(address)}: answered {problem.code}"
                                       f" {_phrase(problem)}; {self._advice(problem.code)}"
                                       ) from problem
                self._next = time.monotonic() + _asked_to_wait(problem)
            except (OSError, http.client.HTTPException, ValueError) as problem:
                reason = getattr(problem, "reason", None) or problem
                raise RequestError(f"{_host(address)}: cannot be reached ({reason}); check the"
                                   " network") from problem
        raise AssertionError("the last try returns or raises")

    @property
    def agent(self) -> str:
        """Who asks, as Wikimedia's User-Agent policy wants it: program, contact, library."""
        told = "; ".join(part for part in (self.contact, "stimuli for research") if part)
        return f"mimegen/{__version__} ({told}) Python-urllib/{python_version()}"

    def _advice(self, code: int) -> str:
        if code == HTTPStatus.FORBIDDEN and not self.contact:
            return "give a contact address with --contact EMAIL, which the collection may require"
        return "try again later"

    def _wait(self) -> None:
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self.pause_s


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect to any host of the web, but to nothing else, nor from HTTPS to HTTP."""

    def redirect_request(self, req: urllib.request.Request, fp: Any, code: int, msg: str,
                         headers: Any, newurl: str) -> urllib.request.Request | None:
        """Return the request that a redirect asks for; raises ValueError for others."""
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in allowed:
            raise ValueError(f"is redirected to {newurl}, which is not safe")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_SafeRedirects)


def _phrase(problem: urllib.error.HTTPError) -> str:
    """Return what a status means, in a line: urllib has several for redirects without an end."""
    return str(problem.reason).splitlines()[0] if problem.reason else ""


def _read(address: str, most: int, agent: str) -> bytes:
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError("not a web address")
    request = urllib.request.Request(address, headers={"User-Agent": agent})
    with _OPENER.open(request, timeout=TIMEOUT_S) as reply:
        if int(reply.headers.get("Content-Length") or 0) > most:
            raise TooLargeError(f"{address}: is larger than {most // 2**20} MiB")
        content: bytes = reply.read(most + 1)
    if len(content) > most:
        raise TooLargeError(f"{address}: is larger than {most // 2**20} MiB")
    return content


def _asked_to_wait(problem: urllib.error.HTTPError) -> float:
    """Return the seconds that a busy server asks for, or two where it says none."""
    seconds = problem.headers.get("Retry-After", "") or ""
    return min(float(seconds), TIMEOUT_S) if seconds.isdecimal() else 2.0


def _host(address: str) -> str:
    return urlsplit(address).netloc or address
