"""Names of unfinished files and folders, which identify their owner process.

An unfinished file is named ``.NAME.HOST.PID.RANDOM.part`` and lies beside its final path. From the
name, other processes can tell whether the owner is dead. RANDOM ends with a checksum of the text
before it, so that no other program's file is mistaken for one.
"""

import hashlib
import os
import re
import secrets
import socket
from functools import cache
from pathlib import Path

MAX_NAME = 80  # bytes of the final name that are kept
_DIGITS = 8  # hex digits of the random part and of the checksum
_OWNED = re.compile(r"\.(?P<name>.*)\.(?P<host>[A-Za-z0-9-]+)\.(?P<pid>[1-9][0-9]*)"
                    r"\.[0-9a-f]+\.part", re.DOTALL)
_SEALED = re.compile(rf"(?P<name>.*)(?P<seal>[0-9a-f]{{{_DIGITS}}})\.part", re.DOTALL)


def unfinished_name(name: str) -> str:
    """Return a unique temporary name for a file that this process is making."""
    kept = os.fsencode(name)[:MAX_NAME].decode(errors="ignore")
    owner = f".{kept}.{this_host()}.{os.getpid()}.{secrets.token_hex(_DIGITS // 2)}"
    return f"{owner}{_seal(owner)}.part"


def is_unfinished(name: str) -> bool:
    """Return whether a name was made by ``unfinished_name``, in any process."""
    sealed = _SEALED.fullmatch(name)
    return (sealed is not None and _OWNED.fullmatch(name) is not None
            and sealed["seal"] == _seal(sealed["name"]))


def _seal(text: str) -> str:
    """Return the checksum that ends a name."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]


def unfinished_of(name: str) -> str | None:
    """Return the final name of an unfinished file, perhaps cut off; None for other names."""
    owned = _OWNED.fullmatch(name) if is_unfinished(name) else None
    return None if owned is None else owned["name"]


def owner_lives(name: str) -> bool | None:
    """Return whether the owner of an unfinished file still runs.

    None if it is on another machine, or if the name contains no owner.
    """
    owned = _OWNED.fullmatch(name)
    return None if owned is None else process_lives(owned["host"], int(owned["pid"]))


def process_lives(host: str, pid: int) -> bool | None:
    """Return whether a process of this machine still runs; None for another ``host``."""
    return _runs(pid) if host == this_host() else None


def this_host() -> str:
    """Return a name for this machine since its last boot, and for its process id namespace.

    Containers may share a host name, or share a machine while their process ids differ in meaning.
    Tests replace this function to simulate another machine.
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
    """Return whether a process with this id runs; a process of another user counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
