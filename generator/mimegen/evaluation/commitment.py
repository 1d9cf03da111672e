"""Commitments to clips: hashes that are published before the clips and reveal nothing of them.

``SPEC.jsonl`` holds one declaration per line, in canonical JSON (RFC 8785). Publish
COMMITMENT.json; keep COMMITMENT.nonce (256 random bits) and SPEC.jsonl secret until you show the
clips.

The digest, field ``commitment``, is SHA-256 over the nonce, the commitment's facts and every
declaration. The Merkle root is over single declarations. Each is hashed with the digest and its own
nonce, the HMAC-SHA-256 of its number under the secret nonce. So one declaration can be revealed
without the others, which cannot be guessed by trial, and its proof detects any changed byte of the
commitment.

Commitments of format 2 (ANNOUNCEMENT.json and ANNOUNCEMENT.nonce) can still be verified.
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

COMMITMENT = "COMMITMENT.json"
NONCE = "COMMITMENT.nonce"
FORMAT = "mimegen commitment 3"
# Format 2 differs from format 3 only in these names and in the leaves' key.
OLD_COMMITMENT = "ANNOUNCEMENT.json"
OLD_NONCE = "ANNOUNCEMENT.nonce"
OLD_FORMAT = "mimegen announcement 2"
_LEAF_KEYS = {FORMAT: "commitment", OLD_FORMAT: "announcement"}
_PROOF = ("expected one line of canonical JSON with declaration, item, nonce and path; whoever has"
          " SPEC.jsonl can write it again (permute --verify COMMITMENT.json SPEC.jsonl --item K)")
_SPEC = "expected one declaration a line, or the proof of one item"
_HEX = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"format", "count", "versions", "commitment", "merkle_root"}
Facts = dict[str, Any]


@dataclass(frozen=True)
class Commitment:
    """What you publish: the facts, the digest of all declarations, and the Merkle root of items."""

    facts: Facts
    digest: str
    merkle_root: str

    @property
    def committed(self) -> Facts:
        """The facts and the digest, which the Merkle root covers."""
        return {**self.facts, "commitment": self.digest}

    def text(self) -> str:
        """Return the commitment as the JSON text that mimegen writes."""
        return json.dumps({**self.committed, "merkle_root": self.merkle_root},
                          indent=2, sort_keys=True) + "\n"


def write_commitment(declarations: Sequence[Facts], spec: Path) -> Path:
    """Write SPEC.jsonl, its commitment and its nonce into one folder; return the commitment's path.

    If a commitment to the same declarations exists (of this format or the older one), nothing
    changes, because it may have been published. Raises RequestError if the folder holds a
    commitment to other declarations, or if a declaration has no canonical JSON.
    """
    lines = [canonical(declaration, f"{spec}: item {number}")
             for number, declaration in enumerate(declarations)]
    text = b"".join(line + b"\n" for line in lines)
    for name in (COMMITMENT, OLD_COMMITMENT):
        if spec.with_name(name).exists():
            _check_same(spec.with_name(name), spec, text)
            return spec.with_name(name)
    nonce = secrets.token_bytes(32)
    commitment = _commitment_to(lines, nonce, {
        "format": FORMAT, "count": len(lines), "versions": {"mimegen": __version__}})
    target = spec.with_name(COMMITMENT)
    publish(spec.with_name(NONCE), nonce.hex() + "\n", synced=True)
    publish(spec, text, synced=True)
    publish(target, commitment.text(), synced=True)
    return target


def check_free(spec: Path) -> None:
    """Raise RequestError if the folder of SPEC.jsonl holds a commitment to another file.

    Commands that sample for minutes call this before they start. The same file may be written
    again.
    """
    for name in (COMMITMENT, OLD_COMMITMENT):
        if spec.with_name(name).exists() and not spec.is_file():
            raise _taken(spec.with_name(name), spec)


def _taken(commitment: Path, spec: Path) -> RequestError:
    return RequestError(f"{commitment}: commits to other clips, and may be published; choose"
                        f" another folder for {spec.name}")


def _check_same(commitment: Path, spec: Path, text: bytes) -> None:
    if not spec.is_file() or spec.read_bytes() != text:
        raise _taken(commitment, spec)
    verify_all(commitment, spec)


def canonical(content: object, place: str) -> bytes:
    """Return JSON content in the canonical form of RFC 8785.

    Raises RequestError, naming ``place``, for content without one, such as integers over 2^53.
    """
    try:
        return rfc8785.dumps(content)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, ValueError) as problem:
        raise RequestError(f"{place}: has no canonical JSON ({problem})") from problem


def _commitment_to(lines: Sequence[bytes], nonce: bytes, facts: Facts) -> Commitment:
    """Return the commitment to canonical declarations."""
    whole = hashlib.sha256(nonce + canonical(facts, COMMITMENT) + b"\n")
    for line in lines:
        whole.update(line + b"\n")
    committed = {**facts, "commitment": whole.hexdigest()}
    return Commitment(facts, whole.hexdigest(), root_of(_leaves(lines, nonce, committed)).hex())


def _leaves(lines: Sequence[bytes], nonce: bytes, committed: Facts) -> list[bytes]:
    return [_leaf(line, index, item_nonce(nonce, index), committed)
            for index, line in enumerate(lines)]


def _leaf(line: bytes, index: int, nonce: str, committed: Facts) -> bytes:
    """Return the hash of a declaration with its number, its nonce and the rest of the commitment.
    """
    about = canonical({_LEAF_KEYS[committed["format"]]: committed, "item": index, "nonce": nonce},
                      COMMITMENT)
    return leaf_hash(about + b"\n" + line)


def item_nonce(nonce: bytes, index: int) -> str:
    """Return an item's own nonce, which reveals nothing of the other items' nonces."""
    return hmac.digest(nonce, f"item {index}".encode(), "sha256").hex()


def read_commitment(path: Path) -> Commitment:
    """Read a commitment of either format. Raises RequestError if its text is not as written."""
    text = _text(path)
    content = _json(text, path)
    if (not isinstance(content, dict) or {*content} != _FIELDS
            or content["format"] not in (FORMAT, OLD_FORMAT)):
        raise RequestError(f"{path}: not a commitment as mimegen writes it, or it was changed;"
                           f" expected the {COMMITMENT} (or {OLD_COMMITMENT}) of mimegen permute")
    commitment = Commitment(
        {name: content[name] for name in sorted(_FIELDS - {"commitment", "merkle_root"})},
        str(content["commitment"]), str(content["merkle_root"]))
    if commitment.text() != text:
        raise RequestError(f"{path}: was changed since it was written")
    return commitment


def verify_all(commitment: Path, spec: Path) -> int:
    """Check a specification against its commitment; return its number of declarations.

    The nonce is in the folder of either file. Raises RequestError if any byte of the three was
    changed.
    """
    published = read_commitment(commitment)
    lines = _spec_lines(spec)
    if len(lines) != published.facts["count"]:
        raise RequestError(f"{spec}: has {len(lines)} declarations, but {commitment} commits to"
                           f" {published.facts['count']}")
    nonce = _nonce(commitment, spec, published.facts["format"])
    if _commitment_to(lines, nonce, published.facts) != published:
        raise RequestError(f"{spec}: does not match {commitment}: a declaration, the nonce or the"
                           " commitment was changed")
    return len(lines)


def proof_of(commitment: Path, spec: Path, item: int) -> str:
    """Return, as JSON, the proof that the commitment covers one item; it reveals no other item.

    Raises RequestError as ``verify_all`` does, and if there is no such item (they count from 0).
    """
    count = verify_all(commitment, spec)
    if not 0 <= item < count:
        raise RequestError(f"{spec}: no item {item}; there are 0 to {count - 1}")
    published, lines = read_commitment(commitment), _spec_lines(spec)
    nonce = _nonce(commitment, spec, published.facts["format"])
    leaves = _leaves(lines, nonce, published.committed)
    return _proof_text({"item": item, "nonce": item_nonce(nonce, item),
                        "path": [node.hex() for node in path_of(leaves, item)],
                        "declaration": json.loads(lines[item])})


def _proof_text(proof: Facts) -> str:
    return canonical(proof, "proof").decode() + "\n"


def verify_item(commitment: Path, proof: Path) -> int:
    """Check the proof of one item against a commitment, and return the item's number.

    Raises RequestError if any byte of either was changed.
    """
    published = read_commitment(commitment)
    text = _text(proof)
    content = _json(text, proof, _PROOF)
    if not is_proof(content) or _proof_text(content) != text:
        raise RequestError(f"{proof}: not a proof as mimegen writes it, or changed since; {_PROOF}")
    item = content["item"]
    line = canonical(content["declaration"], str(proof))
    leaf = _leaf(line, item, content["nonce"], published.committed)
    root = root_from(leaf, item, published.facts["count"], [
        bytes.fromhex(node) for node in content["path"]])
    if root is None or root.hex() != published.merkle_root:
        raise RequestError(f"{proof}: item {item} does not match {commitment}: its number,"
                           " declaration, nonce or path, or the commitment, was changed")
    return int(item)


def is_proof(content: object) -> bool:
    """Return whether JSON content has the form of the proof of one item."""
    if not isinstance(content, dict) or {*content} != {"item", "nonce", "path", "declaration"}:
        return False
    hashes = [content["nonce"], *content["path"]] if isinstance(content["path"], list) else [None]
    return type(content["item"]) is int and all(
        isinstance(text, str) and _HEX.fullmatch(text) for text in hashes)


def holds_proof(path: Path) -> bool:
    """Return whether a file holds the proof of one item, intact or damaged."""
    return '"declaration":' in _text(path)


def _spec_lines(path: Path) -> list[bytes]:
    """Return a specification's lines. Raises RequestError if one is not canonical."""
    *lines, last = _text(path).split("\n")
    if last:
        raise RequestError(f"{path}: the last line does not end; it was changed or cut off"
                           f" ({_SPEC})")
    for number, line in enumerate(lines):
        content = _json(line, Path(f"{path}: item {number}"), f"it was changed ({_SPEC})")
        if canonical(content, f"{path}: item {number}") != line.encode():
            raise RequestError(f"{path}: item {number} is not in canonical JSON; it was changed")
    return [line.encode() for line in lines]


def _nonce(commitment: Path, spec: Path, written_as: str) -> bytes:
    """Return the secret nonce from the folder of either file, trying the format's own name first.
    """
    names = (OLD_NONCE, NONCE) if written_as == OLD_FORMAT else (NONCE, OLD_NONCE)
    for path in [place.with_name(name) for name in names for place in (spec, commitment)]:
        if path.is_file():
            return _read_nonce(path)
    raise RequestError(f"{spec.with_name(names[0])}: no such file; nothing can be proved without"
                       " the nonce: put it beside the specification")


def _read_nonce(path: Path) -> bytes:
    text = _text(path)
    if not _HEX.fullmatch(text.removesuffix("\n")) or not text.endswith("\n"):
        raise RequestError(f"{path}: not a nonce as mimegen writes it, or it was changed; expected"
                           " 64 hexadecimal digits in one line")
    return bytes.fromhex(text)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: not UTF-8 text; it was changed") from problem
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror}); expected a file that"
                           " mimegen permute writes") from problem


def _json(text: str, path: Path, expected: str = "it was changed") -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: not JSON; {expected}") from problem
