"""Clips announced before anybody sees them: hashes that say nothing, until they prove everything.

``SPEC.jsonl`` has one declaration a line, in canonical JSON (RFC 8785). ANNOUNCEMENT.json is for
publishing; ANNOUNCEMENT.nonce, 256 random bits, and SPEC.jsonl stay secret until the clips are
shown. The commitment is SHA-256 over the nonce, the announcement's facts and every declaration. The
Merkle root is over single declarations, each with the commitment and a nonce of its own,
HMAC-SHA-256 of its number under the nonce: one can be shown without a word about the others, which
nobody can find by trying, and its proof finds any byte of the announcement that is another.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785

from mimegen import __version__
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.evaluation.merkle import leaf_hash, path_of, root_from, root_of

ANNOUNCEMENT, NONCE = "ANNOUNCEMENT.json", "ANNOUNCEMENT.nonce"
FORMAT = "mimegen announcement 2"
_PROOF = ("expected one line of canonical JSON with declaration, item, nonce and path; ask whoever"
          " has SPEC.jsonl for it again (permute --verify ANNOUNCEMENT.json SPEC.jsonl --item K)")
_SPEC = "expected one declaration a line, or the proof of one item"
_HEX = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"format", "count", "versions", "commitment", "merkle_root"}
Facts = dict[str, Any]


@dataclass(frozen=True)
class Announcement:
    """What is published: the facts, the hash over everything, the root over single items."""

    facts: Facts
    commitment: str
    merkle_root: str

    @property
    def committed(self) -> Facts:
        """The facts and the commitment, which the root goes over."""
        return {**self.facts, "commitment": self.commitment}

    def text(self) -> str:
        """Return it as the one text that says it."""
        return json.dumps({**self.committed, "merkle_root": self.merkle_root},
                          indent=2, sort_keys=True) + "\n"


def write_announcement(declarations: Sequence[Facts], spec: Path) -> Path:
    """Write SPEC.jsonl, and beside it the announcement and its nonce; return the announcement.

    Where the same declarations are announced already nothing is changed, for the announcement may
    be published. Raises RequestError where others are, or a declaration has no canonical JSON.
    """
    lines = [canonical(declaration, f"{spec}: item {number}")
             for number, declaration in enumerate(declarations)]
    target = spec.with_name(ANNOUNCEMENT)
    text = b"".join(line + b"\n" for line in lines)
    if target.exists():
        _check_same(target, spec, text)
        return target
    nonce = secrets.token_bytes(32)
    announced = _announced(lines, nonce, {
        "format": FORMAT, "count": len(lines), "versions": {"mimegen": __version__}})
    publish(spec.with_name(NONCE), nonce.hex() + "\n", synced=True)
    publish(spec, text, synced=True)
    publish(target, announced.text(), synced=True)
    return target


def _check_same(target: Path, spec: Path, text: bytes) -> None:
    if not spec.is_file() or spec.read_bytes() != text:
        raise RequestError(f"{target}: announces other clips, and may be published; choose another"
                           f" folder for {spec.name}")
    verify_all(target, spec)


def canonical(content: object, place: str) -> bytes:
    """Return JSON content in the one form of RFC 8785.

    Raises RequestError, naming ``place``, for what that has no form for, as integers over 2^53.
    """
    try:
        return rfc8785.dumps(content)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, ValueError) as problem:
        raise RequestError(f"{place}: has no canonical JSON ({problem})") from problem


def _announced(lines: Sequence[bytes], nonce: bytes, facts: Facts) -> Announcement:
    """Return the announcement of canonical declarations."""
    whole = hashlib.sha256(nonce + canonical(facts, ANNOUNCEMENT) + b"\n")
    for line in lines:
        whole.update(line + b"\n")
    committed = {**facts, "commitment": whole.hexdigest()}
    return Announcement(facts, whole.hexdigest(), root_of(_leaves(lines, nonce, committed)).hex())


def _leaves(lines: Sequence[bytes], nonce: bytes, committed: Facts) -> list[bytes]:
    return [_leaf(line, index, item_nonce(nonce, index), committed)
            for index, line in enumerate(lines)]


def _leaf(line: bytes, index: int, nonce: str, committed: Facts) -> bytes:
    """Return the hash of one declaration with its number, its nonce and all that is announced but
    the root.
    """
    about = canonical({"announcement": committed, "item": index, "nonce": nonce}, ANNOUNCEMENT)
    return leaf_hash(about + b"\n" + line)


def item_nonce(nonce: bytes, index: int) -> str:
    """Return an item's own nonce, which tells nothing of the others'."""
    return hmac.digest(nonce, f"item {index}".encode(), "sha256").hex()


def read_announcement(path: Path) -> Announcement:
    """Read an announcement. Raises RequestError where it is not as mimegen writes it."""
    text = _text(path)
    content = _json(text, path)
    if not isinstance(content, dict) or {*content} != _FIELDS or content["format"] != FORMAT:
        raise RequestError(f"{path}: is no announcement as mimegen writes it, or was changed")
    announced = Announcement(
        {name: content[name] for name in sorted(_FIELDS - {"commitment", "merkle_root"})},
        str(content["commitment"]), str(content["merkle_root"]))
    if announced.text() != text:
        raise RequestError(f"{path}: was changed since it was written")
    return announced


def verify_all(announcement: Path, spec: Path) -> int:
    """Check that a specification is what was announced, and return its number of declarations.

    The nonce lies beside either file. Raises RequestError where a byte of any of them is another.
    """
    announced = read_announcement(announcement)
    lines = _spec_lines(spec)
    if len(lines) != announced.facts["count"]:
        raise RequestError(f"{spec}: has {len(lines)} declarations,"
                           f" {announced.facts['count']} were announced")
    found = _announced(lines, _nonce(announcement, spec), announced.facts)
    if found != announced:
        raise RequestError(f"{spec}: is not what {announcement} announces: a declaration, the nonce"
                           " or the announcement was changed")
    return len(lines)


def proof_of(announcement: Path, spec: Path, item: int) -> str:
    """Return the proof that one declaration was announced, as JSON: it tells no other.

    Raises RequestError as ``verify_all``, and where there is no such item (they count from 0).
    """
    count = verify_all(announcement, spec)
    if not 0 <= item < count:
        raise RequestError(f"{spec}: no item {item}; there are 0 to {count - 1}")
    lines, nonce = _spec_lines(spec), _nonce(announcement, spec)
    leaves = _leaves(lines, nonce, read_announcement(announcement).committed)
    return _proof_text({"item": item, "nonce": item_nonce(nonce, item),
                        "path": [node.hex() for node in path_of(leaves, item)],
                        "declaration": json.loads(lines[item])})


def _proof_text(proof: Facts) -> str:
    return canonical(proof, "proof").decode() + "\n"


def verify_item(announcement: Path, proof: Path) -> int:
    """Check a proof against an announcement, and return the item's number.

    Raises RequestError where a byte of either is another.
    """
    announced = read_announcement(announcement)
    text = _text(proof)
    content = _json(text, proof, _PROOF)
    if not is_proof(content) or _proof_text(content) != text:
        raise RequestError(f"{proof}: is no proof as mimegen writes it, or was changed; {_PROOF}")
    item = content["item"]
    line = canonical(content["declaration"], str(proof))
    leaf = _leaf(line, item, content["nonce"], announced.committed)
    root = root_from(leaf, item, announced.facts["count"], [
        bytes.fromhex(node) for node in content["path"]])
    if root is None or root.hex() != announced.merkle_root:
        raise RequestError(f"{proof}: item {item} is not what {announcement} announces: its number,"
                           " declaration, nonce or path, or the announcement, was changed")
    return int(item)


def is_proof(content: object) -> bool:
    """Whether JSON content is the proof of one item, by its form."""
    if not isinstance(content, dict) or {*content} != {"item", "nonce", "path", "declaration"}:
        return False
    hashes = [content["nonce"], *content["path"]] if isinstance(content["path"], list) else [None]
    return type(content["item"]) is int and all(
        isinstance(text, str) and _HEX.fullmatch(text) for text in hashes)


def holds_proof(path: Path) -> bool:
    """Whether a file holds, or held before it was mangled, the proof of one item."""
    return '"declaration":' in _text(path)


def _spec_lines(path: Path) -> list[bytes]:
    """Return a specification's lines. Raises RequestError where one is not canonical."""
    *lines, last = _text(path).split("\n")
    if last:
        raise RequestError(f"{path}: the last line does not end; it was changed or cut off"
                           f" ({_SPEC})")
    for number, line in enumerate(lines):
        content = _json(line, Path(f"{path}: item {number}"), f"it was changed ({_SPEC})")
        if canonical(content, f"{path}: item {number}") != line.encode():
            raise RequestError(f"{path}: item {number} is not in canonical JSON; it was changed")
    return [line.encode() for line in lines]


def _nonce(announcement: Path, spec: Path) -> bytes:
    for path in (spec.with_name(NONCE), announcement.with_name(NONCE)):
        if path.is_file():
            text = _text(path)
            if not _HEX.fullmatch(text.removesuffix("\n")) or not text.endswith("\n"):
                raise RequestError(f"{path}: is no nonce as mimegen writes it, or was changed")
            return bytes.fromhex(text)
    raise RequestError(f"{spec.with_name(NONCE)}: no such file; without its nonce nothing can be"
                       " proved")


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: is no UTF-8 text; it was changed") from problem
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror}); expected a file that"
                           " mimegen permute writes") from problem


def _json(text: str, path: Path, expected: str = "it was changed") -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: is no JSON; {expected}") from problem
