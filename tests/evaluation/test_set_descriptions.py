"""Descriptions of sets are written from their rows: what clips show, and where motion is from."""

import json
from pathlib import Path

import pytest

from displays import displays_of_every_kind, recording
from exports_clips import clips_of_views
from mimegen.base.files import file_hash
from mimegen.evaluation.exports.description import SetDescription
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.file import read_manifest
from mimegen.manifest.row import Row
from running import invoke

RENDERING = ("retargeted to 3D characters, rendered", "composed over backgrounds")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def displays(tmp_path_factory: pytest.TempPathFactory, recorded: Path) -> Path:
    out = tmp_path_factory.mktemp("displays") / "out"
    displays_of_every_kind(out, recorded)
    write_questions(out / "questions-free.jsonl", questions_of(read_manifest(out), QuestionRequest(
        "free", "label", "zero-shot", read_templates("free", None))))
    return out


def published(displays: Path, out: Path, *more: str) -> Path:
    done = invoke("publish", displays / "questions-free.jsonl", "--to", out, "--title", "Dots",
                  "--creator", "Doe, Jane", "--licence", "CC-BY-4.0", "--no-verify", *more)
    assert done.exit_code == 0, done.output
    return out / "public"


def texts(public: Path) -> dict[str, str]:
    """Return the texts that describe a set, by file."""
    croissant = json.loads((public / "croissant.json").read_text(encoding="utf-8"))
    kept = [str(value) for name, value in croissant.items()
            if name == "description" or name.startswith("rai:")]
    return {"datasheet": (public / "datasheet.md").read_text(encoding="utf-8"),
            "zenodo": json.loads((public / ".zenodo.json").read_text())["description"],
            "croissant": " ".join(kept)}


def alone(rows: list[Row], **facts: object) -> SetDescription:
    found = [row for row in rows if all(getattr(row, name) == value
                                        for name, value in facts.items())]
    assert found
    return SetDescription(found)


@pytest.mark.slow
def test_a_set_of_displays_names_kinds_files_and_hashes(displays: Path, recorded: Path,
                                                        tmp_path: Path) -> None:
    for text in texts(published(displays, tmp_path / "open", "--with-answers")).values():
        for kind in ("4 point-light displays of joints of recorded motion",
                     "1 point-light display of recorded markers",
                     "2 point-light displays of computed walkers",
                     "1 point-light display of joints of written motion",
                     "1 point-light display of characters' joints"):
            assert kind in text
        assert f"my_walk.bvh, SHA-256 {file_hash(recorded)}" in text
        assert "motion of 2 clips is computed by mimegen's gait model" in text
        assert not any(words in text for words in RENDERING)
        assert "by 0 performers" not in text and "mimed human actions" not in text


@pytest.mark.slow
def test_names_of_files_are_withheld_with_the_answers(displays: Path, recorded: Path,
                                                      tmp_path: Path) -> None:
    for text in texts(published(displays, tmp_path / "set")).values():
        assert "my_walk" not in text and f"SHA-256 {file_hash(recorded)}" in text


@pytest.mark.slow
def test_performers_are_counted_from_rows(displays: Path) -> None:
    rows = read_manifest(displays)
    assert SetDescription(rows).performers == (
        "1 character (woman), 2 recordings without a character (rows do not state how many people"
        " were recorded), 2 computed walkers and 1 written performance without a character")
    assert alone(rows, motion_kind="gait").performers == "2 computed walkers"
    assert alone(rows, avatar="woman").performers == "1 character (woman)"


@pytest.mark.slow
def test_sets_of_one_kind_say_nothing_of_others(displays: Path) -> None:
    rows = read_manifest(displays)
    walkers, markers = alone(rows, motion_kind="gait"), alone(rows, dots_from="markers")
    assert "recorded" not in walkers.motion + walkers.making + walkers.remaking
    assert "recorded files" in markers.remaking
    assert walkers.people == "No real person is shown."
    assert walkers.varied == "Clips differ in: gait."
    assert "gait" not in markers.motion and markers.making.startswith("Dots of recorded markers")
    assert "recognised by how they move" in markers.people
    assert markers.varied == "All clips are of one kind."


@pytest.mark.slow
def test_what_only_some_clips_have_is_no_difference(displays: Path, tmp_path: Path) -> None:
    walker = next(row for row in read_manifest(displays) if row.motion_kind == "gait")
    rendered = clips_of_views(tmp_path / "out")[0]
    assert SetDescription([walker, rendered]).varied == "Clips differ in: action, take, frame rate."


@pytest.mark.slow
def test_rendered_sets_say_how_they_are_rendered(tmp_path: Path) -> None:
    rows = clips_of_views(tmp_path / "out")
    description = SetDescription([row.model_copy(update={"motion_kind": "score"}) for row in rows])
    assert all(words in description.making for words in RENDERING)
    assert "90 rendered clips" in description.abstract and "18 control clips" in (
        description.abstract)
    assert "3 characters (man, spacesuit, woman)" in description.performers
    assert "written choreographies" in description.motion
