"""Licences of parts: a set is not published under a licence that they do not allow."""

import json
from pathlib import Path

import pytest

from exports_clips import small_clips
from mimegen.evaluation.exports.rights import known_licence, withheld_parts
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.file import MANIFEST, add_rows, read_manifest
from mimegen.manifest.row import Row
from questions_rows import library_rows
from running import invoke

ALLOWED = [
    ("CC0-1.0", "CC-BY-4.0"), ("CC0-1.0", "a licence of ours"), ("public domain", "CC0-1.0"),
    ("CC BY 4.0", "CC-BY-SA-4.0"), ("cc-by-3.0", "CC-BY-4.0"), ("CC-BY-4.0", "CC-BY-NC-4.0"),
    ("CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"), ("CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    ("CC-BY-NC-SA-4.0", "CC-BY-NC-SA-4.0"), ("MIT", "CC-BY-4.0"),
    ("Apache-2.0", "Apache-2.0")]
NOT_ALLOWED = [
    ("CC-BY-4.0", "CC0-1.0"), ("CC-BY-NC-4.0", "CC0-1.0"), ("CC-BY-NC-4.0", "CC-BY-4.0"),
    ("CC-BY-NC-4.0", "CC-BY-SA-4.0"), ("CC-BY-SA-4.0", "CC-BY-4.0"),
    ("CC-BY-SA-4.0", "CC-BY-SA-3.0"), ("CC-BY-SA-4.0", "CC-BY-NC-SA-4.0"),
    ("CC-BY-ND-4.0", "CC-BY-ND-4.0"), ("CC-BY-NC-ND-4.0", "CC-BY-NC-ND-4.0"),
    ("AMASS non-commercial", "CC0-1.0"), ("AMASS non-commercial", "AMASS non-commercial"),
    ("not stated", "CC0-1.0"), (None, "CC-BY-NC-SA-4.0"), ("CC-BY-4.0", "a licence of ours"),
    ("CC0-1.0 but not for business", "CC0-1.0")]


def row(**facts: object) -> Row:
    plain = library_rows(("base+blank@0",), ("boxing",))[0]
    return Row.model_validate(dict(plain) | {"licence": "CC0-1.0"} | facts)


@pytest.mark.parametrize(("own", "wanted"), ALLOWED)
def test_licences_that_allow_the_sets(own: str, wanted: str) -> None:
    assert not withheld_parts([row(licence=own)], wanted)


@pytest.mark.parametrize(("own", "wanted"), NOT_ALLOWED)
def test_licences_that_do_not_allow_the_sets(own: str | None, wanted: str) -> None:
    assert [part.licence for part in withheld_parts([row(licence=own)], wanted)] == [own]


@pytest.mark.parametrize("facts", [
    {"licence": "CC-BY-NC-4.0"},
    {"character_licence": "CC-BY-NC-4.0", "character_file": "me.glb"},
    {"character_source": "a shop", "character_file": "me.glb"},
    {"partner_character_licence": "custom", "partner_character_file": "you.glb"},
    {"background_name": "a_photo", "background_licence": "CC-BY-NC-4.0"},
    {"background_name": "a_photo", "background_licence": None},
    {"face": {"file": "me.csv", "sha256": "0" * 64}},
])
def test_every_part_counts(facts: dict[str, object]) -> None:
    assert len(withheld_parts([row(), row(**facts)], "CC-BY-4.0")) == 1


def test_names_of_licences_have_versions() -> None:
    found = known_licence("cc by-nc 3.0")
    assert found is not None and (found.name, found.version) == ("CC-BY-NC", (3, 0))
    assert known_licence("") is None


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    """Clips, two of them of motion that may not be published under any licence, and questions."""
    out = tmp_path / "out"
    small_clips(out)
    rows = read_manifest(out)
    facts: dict[str, object] = {"licence": "AMASS non-commercial", "motion_file": "walk_poses.npz"}
    rows[:2] = [one.model_copy(update=facts) for one in rows[:2]]
    rows[2] = rows[2].model_copy(update={"licence": "not stated", "motion_file": "mine.bvh"})
    (out / MANIFEST).unlink()
    add_rows(out, rows)
    write_questions(out / "questions-mc.jsonl", questions_of(rows, QuestionRequest(
        "mc", "label", "zero-shot", read_templates("mc", None))))
    return out


def publish(clips: Path, out: Path, *more: str, status: int = 0) -> str:
    done = invoke("publish", clips / "questions-mc.jsonl", "--to", out, "--title", "A set",
                  "--creator", "Doe, Jane", "--licence", "CC0-1.0", "--no-verify", *more)
    assert done.exit_code == status, done.output
    return done.stderr


@pytest.mark.slow
def test_a_set_with_stricter_parts_is_refused_unless_rights_are_cleared(
        clips: Path, tmp_path: Path) -> None:
    told = publish(clips, tmp_path / "set", status=2)
    assert "motion walk_poses.npz (AMASS non-commercial, a licence unknown to mimegen, 2 clips)" \
        in told and "motion mine.bvh (licence not stated, 1 clip)" in told
    assert "--rights-cleared" in told and told.count("\n") == 1
    assert not (tmp_path / "set").exists()
    assert "is empty" in publish(clips, tmp_path / "set", "--rights-cleared", " ", status=2)
    publish(clips, tmp_path / "set", "--rights-cleared", "letter of the owners, 2026-03-01")
    public = tmp_path / "set" / "public"
    sheet = (public / "datasheet.md").read_text(encoding="utf-8")
    assert "letter of the owners, 2026-03-01" in sheet and "AMASS non-commercial" in sheet
    assert json.loads((public / ".zenodo.json").read_text())["license"] == "cc0-1.0"


@pytest.mark.slow
def test_a_set_of_free_parts_needs_no_reason(clips: Path, tmp_path: Path) -> None:
    free = [one.model_copy(update={"licence": "CC0-1.0"}) for one in read_manifest(clips)]
    (clips / MANIFEST).unlink()
    add_rows(clips, free)
    publish(clips, tmp_path / "set")
    assert "publishers state" not in (tmp_path / "set/public/datasheet.md").read_text()
