"""A cache, in the user's cache folder, of results that take time to compute.

Each result is a file, named by a key of all that it depends on, and never seen incomplete. The file
begins with the hash of its content: a damaged file is ignored.
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

# Seconds after which an entry is removed when others in its folder are written.
FORGOTTEN_S = 60 * 24 * 3600.0
_HASH = 64  # hex digits of a SHA-256


def cache_folder() -> Path:
    """Return mimegen's cache folder; everything in it can be computed again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mimegen"


def cached_json(kind: str, key: str) -> Any:
    """Return the JSON content stored under a key; None if there is none or it is damaged."""
    content = cached_bytes(kind, key, ".json")
    with suppress(ValueError):
        return None if content is None else json.loads(content)
    return None


def keep(kind: str, key: str, content: Any) -> None:
    """Store JSON content under a key if the cache folder is writable."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    keep_bytes(kind, key, data, ".json")


def cached_bytes(kind: str, key: str, suffix: str) -> bytes | None:
    """Return the bytes stored under a key; None if there are none or they are damaged."""
    with suppress(OSError, RuntimeError):
        data = _file(kind, key, suffix).read_bytes()
        content = data[_HASH:]
        if hashlib.sha256(content).hexdigest().encode() == data[:_HASH]:
            return content
    return None


def keep_bytes(kind: str, key: str, content: bytes, suffix: str) -> None:
    """Store bytes under a key if the cache folder is writable."""
    with suppress(OSError, RequestError, RuntimeError):
        file = _file(kind, key, suffix)
        if not file.parent.is_dir():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(file.parent)
        publish(file, hashlib.sha256(content).hexdigest().encode() + content)


def _file(kind: str, key: str, suffix: str) -> Path:
    return cache_folder() / kind / key[:2] / f"{key[2:]}{suffix}"


def _forget_old(folder: Path) -> None:
    now = time.time()
    for entry in os.scandir(folder):
        if now - entry.stat().st_mtime > FORGOTTEN_S:
            Path(entry.path).unlink(missing_ok=True)
