"""What took time to find out, kept in the user's cache folder for other processes.

Each thing is a file of its own, named by all that it follows from, and is only ever seen whole. It
begins with the hash of what it holds: a file that was damaged counts for none.
"""

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import publish

# What nobody has found out again for so long is removed as its neighbours are written.
FORGOTTEN_S = 60 * 24 * 3600.0
_HASH = 64  # letters of a SHA-256


def cache_folder() -> Path:
    """Return the folder in which mimegen keeps what it can find out again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mimegen"


def kept(kind: str, key: str) -> Any:
    """Return the JSON content that was kept under a key; None without any that is whole."""
    try:
        data = _file(kind, key).read_bytes()
        content = data[_HASH:]
        if hashlib.sha256(content).hexdigest().encode() == data[:_HASH]:
            return json.loads(content)
    except (OSError, ValueError, RuntimeError):
        pass
    return None


def keep(kind: str, key: str, content: Any) -> None:
    """Keep JSON content under a key, where the cache folder can be written."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    with suppress(OSError, RequestError, RuntimeError):
        file = _file(kind, key)
        if not file.parent.is_dir():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(file.parent)
        publish(file, hashlib.sha256(data).hexdigest().encode() + data)


def _file(kind: str, key: str) -> Path:
    return cache_folder() / kind / key[:2] / f"{key[2:]}.json"


def _forget_old(folder: Path) -> None:
    now = time.time()
    for entry in os.scandir(folder):
        if now - entry.stat().st_mtime > FORGOTTEN_S:
            Path(entry.path).unlink(missing_ok=True)
