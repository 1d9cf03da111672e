"""Displays of mimegen pointlight are made again from their rows: the same bytes, or a reason."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from displays import MARKERS, SMALL, displays_of_every_kind, recording, show
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.file import MANIFEST, clip_path, read_manifest
from mimegen.manifest.row import Row
from running import invoke

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    recording(folder, "partner", seed=3)
    return recording(folder)


def partner_of(recorded: Path) -> Path:
    return recorded.with_name("partner.bvh")


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory, recorded: Path) -> Path:
    out = tmp_path_factory.mktemp("displays") / "out"
    displays_of_every_kind(out, recorded)
    show(out, "--action", "walk", "--seed", 4, "--treadmill", "--cycles", 1)
    show(out, "--action", "fist", "--hand", "left", "--dots", "hands")
    show(out, "--action", "shake_hands", "--partner", "boxing")
    show(out, "--action", "shake_hands", "--grid", "partner=own,boxing;inverted=no,yes/who=2",
         "--character", "man")
    show(out, "--action", "basketball", "--display", "johansson")
    show(out, recorded, "--partner", partner_of(recorded), "--color-by", "performer")
    return out


@pytest.fixture
def out(every_kind: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(every_kind, tmp_path / "out"))


def contents(out: Path) -> dict[str, bytes]:
    return {row.file_name: clip_path(out, row).read_bytes() for row in read_manifest(out)}


def remove_clips(out: Path) -> None:
    for row in read_manifest(out):
        clip_path(out, row).unlink()


def repaired(out: Path, *more: object) -> tuple[int, dict[str, str]]:
    done = invoke("verify", out, "--repair", "--json", *more)
    assert not done.stderr, done.stderr
    return done.exit_code, json.loads(done.stdout).get("not_repaired", {})


def test_every_kind_is_made_again_with_the_same_bytes(out: Path, recorded: Path,
                                                      tmp_path: Path) -> None:
    before, manifest = contents(out), (out / MANIFEST).read_bytes()
    renamed = Path(shutil.copy(recorded, tmp_path / "renamed.bvh"))
    moved = Path(shutil.copy(MARKERS, tmp_path / "moved.c3d"))
    remove_clips(out)
    status, unrepaired = repaired(out, "--motion", renamed, "--motion", moved,
                                  "--motion", partner_of(recorded))
    assert (status, unrepaired) == (0, {}) and contents(out) == before
    assert (out / MANIFEST).read_bytes() == manifest


def test_recordings_that_are_not_given_are_named(out: Path, recorded: Path) -> None:
    before = contents(out)
    remove_clips(out)
    status, unrepaired = repaired(out, "--motion", recorded, "--motion", partner_of(recorded))
    markers = [row for row in read_manifest(out) if row.dots_from == "markers"]
    assert status == 1 and set(unrepaired) == {row.sample_id for row in markers}
    assert all("z_up_stated.c3d is needed; give it with --motion" in why
               for why in unrepaired.values())
    assert len(read_manifest(out)) == len(before)


@pytest.mark.parametrize("facts", [
    {"dots_seed": 9}, {"seed": 5}, {"render_config": {"fps": 60}}, {"condition": "inverted"},
    {"grid": {"happy": 1.0}}, {"dots_from": "character"}, {"labels": ["dancing"]}])
def test_rows_that_were_changed_are_not_believed(out: Path, recorded: Path,
                                                 facts: dict[str, object]) -> None:
    first = next(row for row in read_manifest(out) if row.action == "walking")
    change(out, first, facts)
    clip_path(out, first).write_bytes(clip_path(out, first).read_bytes())
    status, unrepaired = repaired(out, "--motion", recorded)
    assert status == 1 and next(iter(facts)) in unrepaired[first.sample_id]


def change(out: Path, row: Row, facts: dict[str, object]) -> None:
    lines = [json.loads(line) for line in (out / MANIFEST).read_text("utf-8").splitlines()]
    for line in lines:
        if line["sample_id"] == row.sample_id:
            line.update(facts)
    (out / MANIFEST).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_a_display_whose_settings_no_longer_fit_its_name_is_refused(out: Path) -> None:
    walker = next(row for row in read_manifest(out) if row.grid)
    clip_path(out, walker).unlink()
    change(out, walker, {"dots_seed": 7})
    _, unrepaired = repaired(out)
    assert "the row would now make" in unrepaired[walker.sample_id]


def test_windows_of_a_sample_are_made_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = invoke("pointlight", "--action", "boxing", "--display", "actpld", *SMALL[:2],
                  "--formats", "none", "--out", out)
    assert done.exit_code == 0, done.output
    before = contents(out)
    windows = [row for row in read_manifest(out) if row.window is not None]
    assert windows
    clip_path(out, windows[0]).unlink()
    assert repaired(out) == (0, {}) and contents(out) == before


def test_a_published_set_of_displays_is_rebuilt(out: Path, recorded: Path, tmp_path: Path) -> None:
    rows = read_manifest(out)
    write_questions(out / "questions-free.jsonl", questions_of(rows, QuestionRequest(
        "free", "label", "zero-shot", read_templates("free", None))))
    done = invoke("publish", out / "questions-free.jsonl", "--to", tmp_path / "set", "--title",
                  "Dots", "--creator", "Doe, Jane", "--licence", "CC-BY-4.0", "--no-verify",
                  "--rights-cleared", "our own recordings")
    assert done.exit_code == 0, done.output
    script = [sys.executable, str(tmp_path / "set/private/rebuild.py"), "--count", "99"]
    for file in (recorded, partner_of(recorded), MARKERS):
        script += ["--motion", str(file)]
    rebuilt = subprocess.run(script, capture_output=True, check=False, text=True,
                             env=with_command())
    assert f"{len(rows)} of {len(rows)} clips are the same" in rebuilt.stdout, rebuilt.stderr


def with_command() -> dict[str, str]:
    """Return an environment in which the command mimegen is found."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
