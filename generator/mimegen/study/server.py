"""The server of a study: the page, its clips, and three requests that store answers."""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mimegen.study.connections import REQUEST_TIMEOUT_S, address_key
from mimegen.study.database import Database, Session
from mimegen.study.folder import PUBLIC, Study
from mimegen.study.limits import MAX_REQUEST, Limit
from mimegen.study.origin import is_json, is_local_name, is_own
from mimegen.study.public import completion, public_trial, session_order, study_script
from mimegen.study.responses import Ids, Screen, read_response

HEADERS = {
    "content-security-policy": "default-src 'self'; media-src 'self' blob:; connect-src 'self';"
                               " img-src 'self' data:; style-src 'self' 'unsafe-inline';"
                               " frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    # Addresses contain people's ids, so other sites must not receive them as referrers.
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
Content = dict[str, Any]
logger = logging.getLogger("mimegen.study")


class Headers:
    """Middleware that adds ``HEADERS``; browsers may cache only clips."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the headers to its answer."""
        path = str(scope.get("path", ""))
        kept = "private, max-age=86400" if path.startswith("/clips/") else "no-cache"
        added = [(name.encode(), value.encode())
                 for name, value in {**HEADERS, "cache-control": kept}.items()]

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, send_more)


def make_app(study: Study, folder: Path, database: Database,
             clock: Callable[[], float] = time.time, is_local: bool = False) -> Starlette:
    """Return a study's web application; every answer that it acknowledges is in the database.

    With ``is_local``, it accepts answers only under names of this machine.
    """
    desk = Desk(study, database, clock, is_local)
    script = study_script(study, served=True)

    async def study_data(_request: Request) -> Response:
        return Response(script, media_type="text/javascript")

    return Starlette(
        routes=[
            Route("/api/session", desk.asked(desk.session), methods=["POST"]),
            Route("/api/answer", desk.asked(desk.answer), methods=["POST"]),
            Route("/api/finish", desk.asked(desk.finish), methods=["POST"]),
            Route("/study-data.js", study_data),
            Mount("/", StaticFiles(directory=folder / PUBLIC, html=True)),
        ],
        middleware=[Middleware(Headers)])


class Desk:
    """Handle requests: limit, check and answer them."""

    def __init__(self, study: Study, database: Database, clock: Callable[[], float],
                 is_local: bool = False) -> None:
        self.study, self.database, self.clock = study, database, clock
        self.is_local = is_local
        # Many people may share an address, as in a laboratory, but one person does not answer twice
        # a second.
        self.by_address = Limit(most=600, a_second=60)
        self.beginners = Limit(most=120, a_second=1)
        self.by_session = Limit(most=30, a_second=2)

    def asked(self, handle: Callable[[Content, str], Content]
              ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that calls a handler with the JSON content and the sender's address.
        """

        async def endpoint(request: Request) -> Response:
            address = address_key(request.client.host if request.client else "")
            self._count(self.by_address, address)
            self._see_who_asks(request)
            content = await _content(request)
            try:
                return JSONResponse(await run_in_threadpool(handle, content, address))
            except sqlite3.Error as problem:
                logger.error("%s: %s; answers are not acknowledged until it can be written",
                             self.database.path, problem)
                raise HTTPException(503, "cannot be stored now") from problem

        return endpoint

    def _see_who_asks(self, request: Request) -> None:
        """Refuse requests from other sites' pages, and those that are not JSON."""
        if not is_own(request.headers):
            _refuse(403, "sent by another site's page")
        if self.is_local and not is_local_name(request.headers.get("host", "")):
            logger.warning("answers for %s are refused: behind a proxy, use --proxy ADDRESS",
                           request.headers.get("host", "no host"))
            _refuse(403, "sent to another host")
        if not is_json(request.headers):
            _refuse(415, "expected content-type: application/json")

    def session(self, content: Content, address: str) -> Content:
        """Begin or continue a session; return its trials and which of them are answered."""
        token = content.get("session")
        session = self._known(token) if token is not None else self._begun(content, address)
        order = session_order(self.study, session.number, session.list)
        answered = self.database.answers(session)
        return {"session": session.token, "finished": session.finished is not None,
                "trials": [public_trial(self.study, name) for name in order],
                "answered": [name for name in order if name in answered]}

    def _begun(self, content: Content, address: str) -> Session:
        """Begin a session, or return the one that the person has begun with the same ids."""
        try:
            ids = Ids.model_validate(content.get("ids", {}))
            screen = Screen.model_validate(content.get("screen"))
        except ValidationError as problem:
            _refuse(400, problem.errors()[0]["msg"])
        before = self.database.session_of(ids.person) if ids.person else None
        if before is not None:
            # Another browser may continue a session only with all its ids, including the recruiting
            # site's session id.
            if ids.SESSION_ID is None or before.ids != ids:
                _refuse(409, "begun")
            return before
        self._count(self.beginners, address)
        settings = self.study.settings
        session = self.database.begin(ids, screen, len(self.study.lists), settings.participants,
                                      self.clock())
        return session or _refuse(409, "full")

    def answer(self, content: Content, _address: str) -> Content:
        """Store the answers of a trial; if it was answered before, keep the first answers."""
        session = self._known(content.get("session"))
        self._count(self.by_session, session.token)
        name = content.get("trial")
        order = session_order(self.study, session.number, session.list)
        if not isinstance(name, str) or name not in order:
            _refuse(404, "no such trial")
        try:
            response = read_response(self.study, name, content.get("response"))
        except ValueError as problem:
            _refuse(400, str(problem))
        if not self.database.store(session, name, response.model_dump_json(),
                                   self.study.settings.participants, self.clock()):
            _refuse(409, "full")
        return {"stored": name}

    def finish(self, content: Content, _address: str) -> Content:
        """Return where a person goes who has answered everything."""
        session = self._known(content.get("session"))
        self._count(self.by_session, session.token)
        order = session_order(self.study, session.number, session.list)
        missing = {*order} - {*self.database.answers(session)}
        if missing:
            _refuse(409, f"{len(missing)} trials are not answered")
        self.database.finish(session, self.clock())
        return completion(self.study.settings, session.ids.given())

    def _known(self, token: object) -> Session:
        session = self.database.session(token) if isinstance(token, str) else None
        return session or _refuse(404, "no such session")

    def _count(self, limit: Limit, key: str) -> None:
        wait = limit.wait(key, self.clock())
        if wait:
            raise HTTPException(429, "too many requests",
                                headers={"retry-after": str(int(wait) + 1)})


async def _content(request: Request) -> Content:
    """Return a request's JSON object, reading no more than the size limit."""
    body = b""
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_REQUEST:
                    raise HTTPException(413, "too large")
    except ClientDisconnect as gone:
        raise HTTPException(400, "not sent to its end") from gone
    except TimeoutError as late:
        raise HTTPException(408, "too slow") from late
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise HTTPException(400, "expected a JSON object")
    return content


def _refuse(status: int, why: str) -> NoReturn:
    raise HTTPException(status, why)
