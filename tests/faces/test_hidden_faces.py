"""Faces that nobody can see: suits, lights and dots show no emotion and speak nothing."""

from pathlib import Path

import pytest

from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.timeline import PARTNER, PERFORMER, Interval, without_faces
from running import mimegen, rows_of

CATALOGUE = Catalogue.with_libraries(())
FACIAL = ("smile", "frown", "lips_pressed", "brows_raised", "eye_roll")


def test_speech_is_told_only_of_those_whose_face_is_seen() -> None:
    found = [Interval(kind=kind, name="x", performer=who, start_s=0, end_s=1)
             for kind in ("speech", "step") for who in (PERFORMER, PARTNER, "ann")]

    def kept(*hidden: str, everybody: bool = False, facial: bool = False) -> list[str]:
        return [f"{one.kind} {one.performer}"
                for one in without_faces(found, hidden, everybody, facial)]

    steps = [f"step {who}" for who in (PERFORMER, PARTNER, "ann")]
    assert kept() == [f"speech {who}" for who in (PERFORMER, PARTNER, "ann")] + steps
    assert kept(PARTNER) == [f"speech {PERFORMER}", "speech ann", *steps]
    assert kept(PERFORMER, PARTNER, everybody=True) == steps
    assert kept(PERFORMER, everybody=True, facial=True) == []


@pytest.mark.parametrize("cue", [*FACIAL, "face_palm", "head_nod"])
def test_cues_of_the_face_alone_are_marked(cue: str) -> None:
    take = library_take(CATALOGUE.action(cue), None, 0)
    shown = [one.cue for one in take.timeline or () if one.cue is not None]
    assert shown and all((one.facial is True) == (cue in FACIAL) for one in shown)


@pytest.mark.slow
def test_rows_and_questions_say_nothing_of_hidden_faces(tmp_path: Path, tiny_config: Path
                                                        ) -> None:
    variants = "base+blank@0,spacesuit+blank@0,lights+blank@0,pointlight@0"
    done = mimegen("render", "--action", "joy,wave", "--say", "Hello", "--variants", variants,
                   "--config", tiny_config, "--out", tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    rows = {(row["action"], row["config_name"]): row for row in rows_of(tmp_path)}
    assert len(rows) == 8
    for (action, variant), row in rows.items():
        kinds = [one["kind"] for one in row["timeline"]]
        seen = variant == "base+blank@0"
        assert row.get("faces_hidden") == (None if seen else ["performer"])
        assert ("speech" in kinds) == seen
        assert ("step" in kinds) == (seen or action == "wave")
        assert next(one["name"] for one in row["timeline"] if one["kind"] == "action") == action
    asked = mimegen("questions", tmp_path, "--out", tmp_path / "q.jsonl")
    assert asked.returncode == 0, asked.stderr
    assert "3 clips of faces left out" in asked.stdout
    assert len((tmp_path / "q.jsonl").read_text().splitlines()) == 5
    assert mimegen("verify", tmp_path).returncode == 0
