"""A record inside each clip of what its row says, so that changed rows are detected.

The record is the last box of an MP4 file, of type ``uuid``, which players skip. It holds eight
bytes for each fact: the first four of the SHA-256 of the field's name, and the first four of an
HMAC-SHA256 of name and value under the clip's key. Without the row, which holds the key, the record
does not reveal what an opaque clip shows. The record does not depend on the machine.
"""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from mimegen.base.files import publish
from mimegen.manifest.file import content_of
from mimegen.manifest.row import Row

_ID = bytes.fromhex("6d696d6567656e2d66616374732d3031")
_HEAD = 8 + len(_ID)
_DIGEST = 4
_ENTRY = 2 * _DIGEST
# In bytes. A record has about 900.
_LONGEST = 2**16
# Fields that are not facts about the clip: its name, what a data set adds, and which machine and
# versions made it.
NO_FACTS = frozenset({
    "row_version", "sample_id", "file_name", "plain_id", "sha256", "split", "distractors", "passes",
    "rendered_on", "cpu", "mimegen_version", "numpy_version"})
FACTS = tuple(name for name in Row.model_fields if name not in NO_FACTS)
# Fields that may be added to rows after their clips were made.
_ADDED_LATER = frozenset({"timeline"})
# The key signs all facts. If it does not match, no other fact can.
_KEY = "clip_key"


def facts_of(row: Row) -> dict[str, Any]:
    """Return each fact of a row as JSON content, by field; None for fields that are not set."""
    content = content_of(row)
    return {name: content.get(name) for name in FACTS}


def with_record(clip: Path, row: Row) -> Row:
    """Write the record of a row into an MP4 file; return the row with the file's new SHA-256.

    Other files are left unchanged. Raises DiskFullError, or RequestError if the file cannot be
    written.
    """
    if clip.suffix.lower() != ".mp4":
        return row
    content = clip.read_bytes()
    at = _record_offset(content)
    content = (content if at is None else content[:at]) + _box(row)
    publish(clip, content)
    return row.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})


def false_facts(clip: Path, row: Row) -> list[str] | None:
    """Return the fields in which a row differs from its clip's record.

    Returns None if the clip has no record: it is not an MP4 file, or was made before records
    existed. Fields that the record lacks because they are newer are not compared. Raises OSError if
    the file cannot be read.
    """
    tags = _tags(clip)
    if tags is None:
        return None
    facts, secret = facts_of(row), _secret(row)
    false = [name for name, value in facts.items()
             if not _matches(tags.get(_digest(name)), name, value, secret)]
    return [_KEY] if _KEY in false else false


def has_record(clip: Path) -> bool:
    """Whether a file holds a record. Raises OSError if it cannot be read."""
    return _tags(clip) is not None


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of a field are equal; 24 equals 24.0."""
    return _text(one) == _text(other)


def _matches(tag: bytes | None, name: str, value: Any, secret: bytes) -> bool:
    if tag is None or tag == _tag(name, value, secret):
        return True
    return name in _ADDED_LATER and tag == _tag(name, None, secret)


def _secret(row: Row) -> bytes:
    return (row.clip_key or "").encode()


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:_DIGEST]


def _tag(name: str, value: Any, secret: bytes) -> bytes:
    return hmac.digest(secret, f"{name}\0".encode() + _text(value), "sha256")[:_DIGEST]


def _text(value: Any) -> bytes:
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # Encode as ``json_of`` does for rows.
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """Return a value with whole floats as integers, so that 24 and 24.0 are encoded alike."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _box(row: Row) -> bytes:
    """Return the record of a row as an MP4 box."""
    secret = _secret(row)
    entries = sorted(_digest(name) + _tag(name, value, secret)
                     for name, value in facts_of(row).items())
    payload = b"".join(entries)
    return (_HEAD + len(payload)).to_bytes(4, "big") + b"uuid" + _ID + payload


def _tags(clip: Path) -> dict[bytes, bytes] | None:
    """Return the tags in a clip's record by the digest of each field's name; None without one."""
    with clip.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _LONGEST))
        end = file.read()
    at = _record_offset(end)
    if at is None:
        return None
    payload = end[at + _HEAD:]
    return {payload[i:i + _DIGEST]: payload[i + _DIGEST:i + _ENTRY]
            for i in range(0, len(payload), _ENTRY)}


def _record_offset(content: bytes) -> int | None:
    """Return the offset of the record in a file's content, or in its end; None without a record."""
    at = content.rfind(b"uuid" + _ID, -_LONGEST) - 4
    if at < 0:
        return None
    length = int.from_bytes(content[at:at + 4], "big")
    return at if at + length == len(content) and (length - _HEAD) % _ENTRY == 0 else None
