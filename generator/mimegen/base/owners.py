"""Names of unfinished files and folders say who makes them, so that others can tell what is dead.

An unfinished file is called ``.NAME.HOST.PID.RANDOM.part`` and lies beside its final place.
"""

import hashlib
import os
import re
import secrets
import socket
from functools import cache
from pathlib import Path

LONGEST_NAME = 80
_OWNED = re.compile(r"\..*\.(?P<host>[A-Za-z0-9-]+)\.(?P<pid>\d+)\.[0-9a-f]{8}\.part", re.DOTALL)
_UNFINISHED = re.compile(r"\..*\.part", re.DOTALL)


def unfinished_name(name: str) -> str:
    """Return what to call a file while this process makes it; no two calls give the same."""
    kept = os.fsencode(name)[:LONGEST_NAME].decode(errors="ignore")
    return f".{kept}.{this_host()}.{os.getpid()}.{secrets.token_hex(4)}.part"


def is_unfinished(name: str) -> bool:
    """Whether a file's name is that of one that is being made, by whatever version."""
    return _UNFINISHED.fullmatch(name) is not None


def owner_lives(name: str) -> bool | None:
    """Whether the owner of an unfinished file still runs; None where it is on another machine.

    None is also said of files whose names tell no owner, as earlier versions left them.
    """
    owned = _OWNED.fullmatch(name)
    return None if owned is None else process_lives(owned["host"], int(owned["pid"]))


def process_lives(host: str, pid: int) -> bool | None:
    """Whether a process of this machine still runs; None where ``host`` is another."""
    return _runs(pid) if host == this_host() else None


def this_host() -> str:
    """Return a name for the machine, since its start, and for its space of process numbers.

    Containers may share a host name, or a machine on which their process numbers mean different
    processes.
    Tests put another function here to be on another machine.
    """
    return _host_name()


@cache
def _host_name() -> str:
    parts = [_text(Path("/proc/sys/kernel/random/boot_id")), _link(Path("/proc/self/ns/pid"))]
    digest = hashlib.sha256(" ".join([socket.gethostname(), *parts]).encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9]+", "-", socket.gethostname())[:40] + f"-{digest}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
