"""A clip's own record of what its row says, so that a row that was changed is found out.

A record is the last box of an MP4 file, of the type ``uuid``, which players pass over. It holds
eight bytes for each fact: the first four of the SHA-256 of the field's name, and the first four of
an HMAC-SHA256 of name and value under the clip's key. So it tells nobody what an opaque clip shows
who does not have its row. Nothing in it depends on the machine.
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
# A record has some 900 bytes.
_LONGEST = 2**16
# What is no fact of the clip: its name, what a data set adds, and what made it where and when.
NO_FACTS = frozenset({
    "row_version", "sample_id", "file_name", "plain_id", "sha256", "split", "distractors", "passes",
    "rendered_on", "cpu", "mimegen_version", "numpy_version"})
FACTS = tuple(name for name in Row.model_fields if name not in NO_FACTS)
# Rows may be given these after their clips were made.
_TOLD_LATER = frozenset({"timeline"})
# Stands for the clip's key itself: where it does not fit, nothing else can.
_KEY = "clip_key"


def facts_of(row: Row) -> dict[str, Any]:
    """Return what a row says of its clip, as JSON content, by field; None where it says nothing."""
    content = content_of(row)
    return {name: content.get(name) for name in FACTS}


def sealed(clip: Path, row: Row) -> Row:
    """Give an MP4 file the record of a row; return the row with the file's new SHA-256.

    Other files stay as they are. Raises DiskFullError, or RequestError where it cannot be written.
    """
    if clip.suffix.lower() != ".mp4":
        return row
    content = clip.read_bytes()
    at = _place(content)
    content = (content if at is None else content[:at]) + _box(row)
    publish(clip, content)
    return row.model_copy(update={"sha256": hashlib.sha256(content).hexdigest()})


def false_facts(clip: Path, row: Row) -> list[str] | None:
    """Return the fields of a row that say another thing than its clip's record.

    None where the clip has no record: it is no MP4 file, or older than records are. Fields that
    are younger than the record are not compared. Raises OSError where the file cannot be read.
    """
    tags = _tags(clip)
    if tags is None:
        return None
    facts, secret = facts_of(row), _secret(row)
    false = [name for name, value in facts.items()
             if not _fits(tags.get(_digest(name)), name, value, secret)]
    return [_KEY] if _KEY in false else false


def has_record(clip: Path) -> bool:
    """Whether a file holds a record. Raises OSError where it cannot be read."""
    return _tags(clip) is not None


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of a field are the same; 24 and 24.0 are."""
    return _text(one) == _text(other)


def _fits(tag: bytes | None, name: str, value: Any, secret: bytes) -> bool:
    if tag is None or tag == _tag(name, value, secret):
        return True
    return name in _TOLD_LATER and tag == _tag(name, None, secret)


def _secret(row: Row) -> bytes:
    return (row.clip_key or "").encode()


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:_DIGEST]


def _tag(name: str, value: Any, secret: bytes) -> bytes:
    return hmac.digest(secret, f"{name}\0".encode() + _text(value), "sha256")[:_DIGEST]


def _text(value: Any) -> bytes:
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # As rows are written.
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """Return a value whose whole numbers have no point, whatever program wrote them."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _box(row: Row) -> bytes:
    secret = _secret(row)
    entries = sorted(_digest(name) + _tag(name, value, secret)
                     for name, value in facts_of(row).items())
    payload = b"".join(entries)
    return (_HEAD + len(payload)).to_bytes(4, "big") + b"uuid" + _ID + payload


def _tags(clip: Path) -> dict[bytes, bytes] | None:
    """Return the tag of each name's digest in a clip's record; None without one."""
    with clip.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _LONGEST))
        end = file.read()
    at = _place(end)
    if at is None:
        return None
    payload = end[at + _HEAD:]
    return {payload[i:i + _DIGEST]: payload[i + _DIGEST:i + _ENTRY]
            for i in range(0, len(payload), _ENTRY)}


def _place(content: bytes) -> int | None:
    """Return where in a file, or in its end, the record begins; None without one."""
    at = content.rfind(b"uuid" + _ID, -_LONGEST) - 4
    if at < 0:
        return None
    length = int.from_bytes(content[at:at + 4], "big")
    return at if at + length == len(content) and (length - _HEAD) % _ENTRY == 0 else None
