"""Announcements: what was announced is proved, and no byte of anything can be another."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.evaluation.commitment import (
    ANNOUNCEMENT,
    NONCE,
    item_nonce,
    proof_of,
    verify_all,
    verify_item,
    write_announcement,
)
from mimegen.evaluation.merkle import leaf_hash, path_of, root_from, root_of


def declarations(count: int) -> list[dict[str, Any]]:
    return [{"item": number, "action": "böxing", "take_seed": 7 + number, "azimuth": 48.5}
            for number in range(count)]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "SPEC.jsonl"
    write_announcement(declarations(3), path)
    return path


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def rfc_root(leaves: list[bytes]) -> bytes:
    """RFC 6962's own recursion."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node(rfc_root(leaves[:split]), rfc_root(leaves[split:]))


def test_the_tree_is_that_of_the_rfc() -> None:
    # Published roots of certificate transparency's own tests.
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657",
              "606162636465666768696a6b6c6d6e6f"]
    leaves = [leaf_hash(bytes.fromhex(text)) for text in inputs]
    roots = {1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
             8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"}
    for size, root in roots.items():
        assert root_of(leaves[:size]).hex() == root
    assert root_of([]) == hashlib.sha256().digest()


@settings(deadline=None)
@given(st.integers(1, 70), st.data())
def test_every_leaf_has_a_path_and_no_other_leads_there(size: int, data: Any) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    root, path = root_of(leaves), path_of(leaves, index)
    assert root == rfc_root(leaves)
    assert root_from(leaves[index], index, size, path) == root
    assert root_from(leaf_hash(b"other"), index, size, path) != root
    assert root_from(leaves[index], index, size, [*path, root]) is None
    assert root_from(leaves[index], size, size, path) is None
    if path:
        assert root_from(leaves[index], index, size, path[1:]) is None
        assert root_from(leaves[index], index ^ 1, size, path) != root


def test_what_was_announced_is_proved(spec: Path) -> None:
    result = CliRunner().invoke(
        main, ["permute", "--verify", str(spec.with_name(ANNOUNCEMENT)), str(spec)])
    assert result.exit_code == 0 and "all 3 declarations" in result.output
    announced = json.loads(spec.with_name(ANNOUNCEMENT).read_text())
    assert announced["count"] == 3 and announced["versions"]["mimegen"]
    assert [json.loads(line) for line in spec.read_text().splitlines()] == declarations(3)


def test_the_announcement_says_nothing(tmp_path: Path) -> None:
    """The same clips announced twice have nothing in common, so none can be found by trying."""
    texts = []
    for name in ("a", "b"):
        write_announcement(declarations(2), tmp_path / name / "SPEC.jsonl")
        texts.append((tmp_path / name / ANNOUNCEMENT).read_text())
        assert (tmp_path / name / NONCE).read_text().strip() not in texts[-1]
    one, other = map(json.loads, texts)
    assert one["commitment"] != other["commitment"] and one["merkle_root"] != other["merkle_root"]


def test_one_item_is_proved_without_the_others(spec: Path, tmp_path: Path) -> None:
    announcement = spec.with_name(ANNOUNCEMENT)
    proof = tmp_path / "elsewhere" / "item-1.json"
    made = CliRunner().invoke(main, ["permute", "--verify", str(announcement), str(spec),
                                     "--item", "1", "--out", str(proof)])
    assert made.exit_code == 0
    assert json.loads(proof.read_text())["declaration"] == declarations(3)[1]
    nonce = bytes.fromhex(spec.with_name(NONCE).read_text())
    secrets = [nonce.hex(), item_nonce(nonce, 0), item_nonce(nonce, 2)]
    assert not any(secret in proof.read_text() for secret in secrets)
    spec.unlink()
    spec.with_name(NONCE).unlink()
    checked = CliRunner().invoke(main, ["permute", "--verify", str(announcement), str(proof)])
    assert checked.exit_code == 0 and "item 1 is" in checked.output


def tampered(path: Path, check: Callable[[], object]) -> list[int]:
    """Return the places of bytes that can be another without ``check`` noticing."""
    whole = path.read_bytes()
    passed = []
    for place in range(len(whole)):
        for flip in (1, 32, 128):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1:])
            passed += _passes(check, place)
        path.write_bytes(whole[:place] + whole[place + 1:])
        passed += _passes(check, place)
        path.write_bytes(whole[:place] + b" " + whole[place:])
        passed += _passes(check, place)
    path.write_bytes(whole)
    check()
    return passed


def _passes(check: Callable[[], object], place: int) -> list[int]:
    try:
        check()
    except RequestError:
        return []
    return [place]


@pytest.mark.parametrize("name", ["SPEC.jsonl", ANNOUNCEMENT, NONCE])
def test_no_byte_can_be_another(spec: Path, name: str) -> None:
    announcement = spec.with_name(ANNOUNCEMENT)
    assert tampered(spec.with_name(name), lambda: verify_all(announcement, spec)) == []


def test_no_byte_of_a_proof_can_be_another(spec: Path, tmp_path: Path) -> None:
    announcement, proof = spec.with_name(ANNOUNCEMENT), tmp_path / "proof.json"
    proof.write_text(proof_of(announcement, spec, 2))
    assert tampered(proof, lambda: verify_item(announcement, proof)) == []
    assert tampered(announcement, lambda: verify_item(announcement, proof)) == []
    changed = announcement.read_text().replace('"count": 3', '"count": 4')
    announcement.write_text(changed)
    with pytest.raises(RequestError, match="item 2 is not what"):
        verify_item(announcement, proof)


@pytest.mark.parametrize("order", [[0, 2, 1], [0, 1], [0, 1, 2, 2], []])
def test_lines_neither_move_nor_go_nor_come(spec: Path, order: list[int]) -> None:
    lines = spec.read_text().splitlines(keepends=True)
    spec.write_text("".join(lines[at] for at in order))
    result = CliRunner().invoke(
        main, ["permute", "--verify", str(spec.with_name(ANNOUNCEMENT)), str(spec)])
    assert result.exit_code == 2 and result.output.count("\n") == 1


def test_what_is_announced_is_not_announced_otherwise(spec: Path) -> None:
    files = [spec, spec.with_name(ANNOUNCEMENT), spec.with_name(NONCE)]
    before = [path.read_bytes() for path in files]
    write_announcement(declarations(3), spec)
    with pytest.raises(RequestError, match="may be published"):
        write_announcement(declarations(4), spec)
    assert [path.read_bytes() for path in files] == before


def test_what_cannot_be_proved_is_refused(spec: Path, tmp_path: Path) -> None:
    announcement = spec.with_name(ANNOUNCEMENT)
    with pytest.raises(RequestError, match="no item 3; there are 0 to 2"):
        proof_of(announcement, spec, 3)
    with pytest.raises(RequestError, match="item 0: has no canonical JSON"):
        write_announcement([{"seed": 2**60}], tmp_path / "new" / "SPEC.jsonl")
    spec.with_name(NONCE).unlink()
    with pytest.raises(RequestError, match="without its nonce"):
        verify_all(announcement, spec)
    assert CliRunner().invoke(main, ["permute"]).exit_code == 2
