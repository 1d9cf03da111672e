"""A study's server on a port of this machine."""

import errno
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from mimegen.base.errors import RequestError
from mimegen.study.database import Database
from mimegen.study.folder import ANSWERS, PRIVATE, read_study
from mimegen.study.server import make_app


def serve(folder: Path, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve a study until it is stopped; ``tell`` gets its address. Port 0 takes any free one.

    Raises RequestError where the folder is no study, its answers are damaged, or the port is taken.
    """
    study = read_study(folder)
    with Database(folder / PRIVATE / ANSWERS, study.name) as database, \
            _listening(host, port) as listening:
        app = make_app(study, folder, database)
        # Addresses hold people's ids, so requests are not logged.
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False,
                                               server_header=False, limit_concurrency=2000))
        name = f"[{host}]" if ":" in host else host
        tell(f"http://{name}:{listening.getsockname()[1]}/")
        server.run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise RequestError(f"--port {port}: something else listens there already; name another"
                               " one, or 0 for any that is free") from problem
        raise RequestError(f"--host {host} --port {port}: cannot be listened on"
                           f" ({problem.strerror})") from problem
    return listening
