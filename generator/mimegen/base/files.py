"""Files that are only ever seen whole, and what names their content."""

import hashlib
import json
import os
from pathlib import Path

# When a file was written, in nanoseconds, and how long it is.
Stamp = tuple[int, int]


def content_key(*parts: object) -> str:
    """Return the SHA-256 of values that JSON can hold; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Path) -> Stamp | None:
    """Return what changes when a file is written again; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def code_hash(*places: Path) -> str:
    """Return one SHA-256 of all Python files in these files and folders."""
    files = [file for place in places
             for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))]
    return content_key([(file.name, file_hash(file)) for file in files])


def publish(path: Path, content: str | bytes) -> None:
    """Write a file so that it is only ever seen whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content if isinstance(content, bytes) else content.encode())
        beside.replace(path)
    except OSError as problem:
        problem.filename, problem.filename2 = str(path), None
        raise
    finally:
        beside.unlink(missing_ok=True)
