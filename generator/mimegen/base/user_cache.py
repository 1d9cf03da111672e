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
    try:
        data = _file(kind, key).read_bytes()
        content = data[_HASH:]
        if hashlib.sha256(content).hexdigest().encode() == data[:_HASH]:
            return json.loads(content)
    except (OSError, ValueError, RuntimeError):
        pass
    return None


def keep(kind: str, key: str, content: Any) -> None:
    """Store JSON content under a key if the cache folder is writable."""
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
