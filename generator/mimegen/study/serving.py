"""Run a study's server on a port of this machine."""

import errno
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from mimegen.base.errors import RequestError
from mimegen.study.connections import (
    BACKLOG,
    ConnectionSlots,
    address_key,
    max_connections,
    protocol,
)
from mimegen.study.database import Database
from mimegen.study.folder import ANSWERS, PRIVATE, read_study
from mimegen.study.origin import is_local_name
from mimegen.study.server import make_app
from mimegen.study.serverlog import configure_logging

# Seconds to finish requests that are in progress when the server is stopped.
LAST_ANSWERS_S = 5


def serve(folder: Path, host: str, port: int, tell: Callable[[str], None],
          proxies: Sequence[str] = ()) -> None:
    """Serve a study until it is stopped; ``tell`` receives its address. Port 0 takes any free port.

    ``proxies`` are the addresses of reverse proxies whose X-Forwarded-For headers are trusted.

    Raises RequestError if the folder is not a study, its answers are damaged, the port is in use, a
    proxy is not an IP address, or the system allows this process too few open files.
    """
    study = read_study(folder)
    slots = ConnectionSlots(max_connections(), proxies=frozenset(map(_proxy, proxies)))
    with Database(folder / PRIVATE / ANSWERS, study.name) as database, \
            _listening(host, port) as listening:
        app = make_app(study, folder, database,
                       is_local=is_local_name(_as_name(host)) and not proxies)
        server = web_server(app, slots, proxies)
        tell(f"http://{_as_name(host)}:{listening.getsockname()[1]}/")
        server.run(sockets=[listening])


def web_server(app: Starlette, slots: ConnectionSlots,
               proxies: Sequence[str] = ()) -> uvicorn.Server:
    """Return the server of an application, with limited connections and a quiet log."""
    configure_logging()
    # Addresses contain people's ids, so requests are not logged.
    return uvicorn.Server(uvicorn.Config(
        app, http=protocol(slots), ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, backlog=BACKLOG, proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies), timeout_graceful_shutdown=LAST_ANSWERS_S))


def _as_name(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _proxy(address: str) -> str:
    try:
        return address_key(str(ip_address(address)))
    except ValueError:
        raise RequestError(f"--proxy {address}: expected the IP address of the reverse proxy, as in"
                           " 127.0.0.1") from None


def _listening(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises RequestError if the port is in use or not allowed."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise RequestError(f"--port {port}: is already in use; choose another port, or 0 for"
                               " any free one") from problem
        raise RequestError(f"--host {host} --port {port}: cannot listen there"
                           f" ({problem.strerror})") from problem
    return listening
