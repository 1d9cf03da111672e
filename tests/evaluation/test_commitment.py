"""Commitments prove what they cover, and detect any changed byte."""
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.evaluation.commitment import (
    COMMITMENT,
    NONCE,
    OLD_COMMITMENT,
    OLD_NONCE,
    item_nonce,
    proof_of,
    verify_all,
    verify_item,
    write_commitment,
)
from mimegen.evaluation.merkle import leaf_hash, path_of, root_from, root_of
from places import DATA


def declarations(count: int) -> list[dict[str, Any]]:
    return [{"item": number, "action": "böxing", "take_seed": 7 + number, "azimuth": 48.5}
            for number in range(count)]


# What permute --count 3 --seed 4 --actions stop --out SPEC.jsonl wrote before format 3.
FORMAT_2 = DATA / "announcement_format_2"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "SPEC.jsonl"
    write_commitment(declarations(3), path)
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


def test_a_specification_matches_its_commitment(spec: Path) -> None:
    result = CliRunner().invoke(
        main, ["permute", "--verify", str(spec.with_name(COMMITMENT)), str(spec)])
    assert result.exit_code == 0 and "all 3 declarations" in result.output
    published = json.loads(spec.with_name(COMMITMENT).read_text())
    assert published["count"] == 3 and published["versions"]["mimegen"]
    assert [json.loads(line) for line in spec.read_text().splitlines()] == declarations(3)


def test_a_commitment_reveals_nothing(tmp_path: Path) -> None:
    """Two commitments to the same clips share nothing, so nobody can guess the clips by trial."""
    texts = []
    for name in ("a", "b"):
        write_commitment(declarations(2), tmp_path / name / "SPEC.jsonl")
        texts.append((tmp_path / name / COMMITMENT).read_text())
        assert (tmp_path / name / NONCE).read_text().strip() not in texts[-1]
    one, other = map(json.loads, texts)
    assert one["commitment"] != other["commitment"] and one["merkle_root"] != other["merkle_root"]


def test_one_item_is_proved_without_the_others(spec: Path, tmp_path: Path) -> None:
    commitment = spec.with_name(COMMITMENT)
    proof = tmp_path / "elsewhere" / "item-1.json"
    made = CliRunner().invoke(main, ["permute", "--verify", str(commitment), str(spec),
                                     "--item", "1", "--out", str(proof)])
    assert made.exit_code == 0
    assert json.loads(proof.read_text())["declaration"] == declarations(3)[1]
    nonce = bytes.fromhex(spec.with_name(NONCE).read_text())
    secrets = [nonce.hex(), item_nonce(nonce, 0), item_nonce(nonce, 2)]
    assert not any(secret in proof.read_text() for secret in secrets)
    spec.unlink()
    spec.with_name(NONCE).unlink()
    checked = CliRunner().invoke(main, ["permute", "--verify", str(commitment), str(proof)])
    assert checked.exit_code == 0 and "item 1 matches" in checked.output


@pytest.fixture
def old_spec(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FORMAT_2, tmp_path / "old")) / "SPEC.jsonl"


def verify(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["permute", "--verify", *map(str, arguments)])


def test_commitments_of_format_2_are_still_verified(old_spec: Path) -> None:
    commitment, stored_proof = old_spec.with_name(OLD_COMMITMENT), old_spec.with_name("item-1.json")
    assert "all 3 declarations" in verify(commitment, old_spec).output
    assert "item 1 matches" in verify(commitment, stored_proof).output
    assert proof_of(commitment, old_spec, 1) == stored_proof.read_text()
    again = verify(commitment, old_spec, "--item", "2")
    assert again.exit_code == 0 and "--verify ANNOUNCEMENT.json item-2.json" in again.output


@pytest.mark.parametrize("names", [(COMMITMENT, NONCE), (COMMITMENT, OLD_NONCE),
                                   (OLD_COMMITMENT, NONCE), ("mine.json", OLD_NONCE)])
def test_commitments_of_format_2_may_be_renamed(old_spec: Path, names: tuple[str, str]) -> None:
    nonce = old_spec.with_name(OLD_NONCE).rename(old_spec.with_name(names[1]))
    commitment = old_spec.with_name(OLD_COMMITMENT).rename(old_spec.with_name(names[0]))
    assert verify_all(commitment, old_spec) == 3
    nonce.unlink()
    with pytest.raises(RequestError, match="without the nonce"):
        verify_all(commitment, old_spec)


def test_both_formats_may_lie_in_one_folder(old_spec: Path) -> None:
    """Each is verified with the nonce of its own name."""
    old, new = old_spec.with_name(OLD_COMMITMENT), old_spec.with_name(COMMITMENT)
    elsewhere = old_spec.parent / "new" / old_spec.name
    write_commitment([json.loads(line) for line in old_spec.read_text().splitlines()], elsewhere)
    for name in (COMMITMENT, NONCE):
        elsewhere.with_name(name).rename(old_spec.with_name(name))
    assert verify_all(old, old_spec) == verify_all(new, old_spec) == 3


def test_a_commitment_of_format_2_is_never_replaced(old_spec: Path) -> None:
    before = {path.name: path.read_bytes() for path in old_spec.parent.iterdir()}
    same = [json.loads(line) for line in old_spec.read_text().splitlines()]
    assert write_commitment(same, old_spec).name == OLD_COMMITMENT
    with pytest.raises(RequestError, match="may be published"):
        write_commitment(same[:2], old_spec)
    assert {path.name: path.read_bytes() for path in old_spec.parent.iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize("name", [OLD_COMMITMENT, OLD_NONCE])
def test_no_byte_of_format_2_can_be_another(old_spec: Path, name: str) -> None:
    commitment = old_spec.with_name(OLD_COMMITMENT)
    assert tampered(old_spec.with_name(name), lambda: verify_all(commitment, old_spec)) == []


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SPEC.jsonl", COMMITMENT, NONCE])
def test_no_byte_can_be_another(spec: Path, name: str) -> None:
    commitment = spec.with_name(COMMITMENT)
    assert tampered(spec.with_name(name), lambda: verify_all(commitment, spec)) == []


@pytest.mark.slow
def test_no_byte_of_a_proof_can_be_another(spec: Path, tmp_path: Path) -> None:
    commitment, proof = spec.with_name(COMMITMENT), tmp_path / "proof.json"
    proof.write_text(proof_of(commitment, spec, 2))
    assert tampered(proof, lambda: verify_item(commitment, proof)) == []
    assert tampered(commitment, lambda: verify_item(commitment, proof)) == []
    changed = commitment.read_text().replace('"count": 3', '"count": 4')
    commitment.write_text(changed)
    with pytest.raises(RequestError, match="item 2 does not match"):
        verify_item(commitment, proof)


@pytest.mark.parametrize("order", [[0, 2, 1], [0, 1], [0, 1, 2, 2], []])
def test_lines_neither_move_nor_go_nor_come(spec: Path, order: list[int]) -> None:
    lines = spec.read_text().splitlines(keepends=True)
    spec.write_text("".join(lines[at] for at in order))
    result = CliRunner().invoke(
        main, ["permute", "--verify", str(spec.with_name(COMMITMENT)), str(spec)])
    assert result.exit_code == 2 and result.output.count("\n") == 1


def test_a_commitment_is_never_overwritten(spec: Path) -> None:
    files = [spec, spec.with_name(COMMITMENT), spec.with_name(NONCE)]
    before = [path.read_bytes() for path in files]
    write_commitment(declarations(3), spec)
    with pytest.raises(RequestError, match="may be published"):
        write_commitment(declarations(4), spec)
    assert [path.read_bytes() for path in files] == before


def test_what_cannot_be_proved_is_refused(spec: Path, tmp_path: Path) -> None:
    commitment = spec.with_name(COMMITMENT)
    with pytest.raises(RequestError, match="no item 3; there are 0 to 2"):
        proof_of(commitment, spec, 3)
    with pytest.raises(RequestError, match="item 0: has no canonical JSON"):
        write_commitment([{"seed": 2**60}], tmp_path / "new" / "SPEC.jsonl")
    spec.with_name(NONCE).unlink()
    with pytest.raises(RequestError, match="without the nonce"):
        verify_all(commitment, spec)
    assert CliRunner().invoke(main, ["permute"]).exit_code == 2
