"""What is said of a score's faults: where in its file they are, and what helps."""

import re
import shutil
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.choreography.checks import read_checks
from mimegen.choreography.course import course_of
from mimegen.choreography.finding import Finding
from mimegen.choreography.reading import read_score
from mimegen.choreography.variation import vary
from mimegen.choreography.where import spot_of
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.tasks import CastingFailed, casting_tasks
from mimegen.shots.config import read_config
from mimegen.store.store import Store
from running import invoke

KNOCKING = data_folder() / "mocap/knocking_on_door"
BOXING = data_folder() / "mocap" / "boxing" / "boxing.score.yaml"


@pytest.fixture
def turned(tmp_path: Path) -> Path:
    """A boxer whose left palm faces up at first and must whirl round."""
    file = tmp_path / "boxing.score.yaml"
    file.write_text(BOXING.read_text().replace(
        "left_hand: {to: chin 7 22 -2, palm: in+0.3down",
        "left_hand: {to: chin 7 22 -2, palm: up+0.3out", 1))
    return file


def test_findings_name_line_key_and_the_scores_second(turned: Path) -> None:
    done = invoke("score", "lint", turned, "--against", BOXING)
    assert done.exit_code == 1
    line, total = done.stdout.splitlines()
    assert total == "1 score, 1 finding"
    number = int(line.removeprefix(f"{turned}: line ").partition(":")[0])
    assert "left_hand" in "".join(turned.read_text().splitlines()[number - 1:number + 9])
    for said in (": left_hand: speed: LeftForeArm at 0.", " s of the score: ", "(limit 2000); new",
                 "changed near it: left_hand at 0 s", "give the move more time"):
        assert said in line


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """Knocking in a library of its own, whose timeline ends after the score, with its score."""
    folder = shutil.copytree(KNOCKING, tmp_path / "mocap" / KNOCKING.name)
    timeline = folder / f"{KNOCKING.name}.timeline.yaml"
    with timeline.open("a") as file:
        file.write("  - {from: 1, to: 99, does: waits}\n")
    return folder / f"{KNOCKING.name}.score.yaml"


def test_lint_and_preview_name_what_no_longer_fits_beside_a_score(
    late: Path, tmp_path: Path
) -> None:
    timeline, checks = (late.with_name(late.name.replace("score", kind))
                        for kind in ("timeline", "checks"))
    said = f"{timeline}: line {len(timeline.read_text().splitlines())}: steps to: 1 to 99 s is not"
    done = invoke("score", "lint", late)
    assert done.exit_code == 1 and done.stdout.startswith(said)
    assert done.stdout.endswith("1 score, 1 finding\n")
    # A check that a performance misses, and one of a time that the score does not have.
    about = read_checks(read_score(late))[0].about
    text = checks.read_text()
    line = next(number for number, words in enumerate(text.splitlines(), 1) if "- " in words)
    checks.write_text(re.sub(r"(least|most): [0-9.]+", lambda found: f"{found[1]}: "
                             f"{9999 if found[1] == 'least' else 0}", text, count=1))
    missed = invoke("score", "preview", late, "--out", tmp_path / "late.png").stdout
    assert said in missed and f"{checks}: line {line}: " in missed and f"seen: {about}" in missed
    checks.write_text(text + "  - {about: never, height: left_wrist, most: 0, from: 90}\n")
    lines = invoke("score", "lint", late).stdout.splitlines()
    assert lines[0].startswith(f"{checks}: line {len(text.splitlines()) + 1}: ")
    assert lines[1].startswith(said) and len(lines) == 3


def test_a_timeline_that_does_not_fit_fails_clips_before_a_frame_is_drawn(
    late: Path, tmp_path: Path
) -> None:
    catalogue = Catalogue.with_libraries((tmp_path,))
    take = library_take(catalogue.action(KNOCKING.name), None, 0)
    plan = make_plan(catalogue, [take], parse_variants("base+blank@0", set(), set()),
                     read_config(catalogue.file("config", "draft")), "opengl")
    [part] = plan.castings()
    [failed] = casting_tasks(part, Store(tmp_path / "store"), set())
    assert isinstance(failed, CastingFailed) and "1 to 99 s is not a valid span" in failed.why


def test_checks_are_evaluated_on_a_random_person() -> None:
    done = invoke("score", "lint", BOXING, "--body", "random:7")
    assert (done.exit_code, done.stdout) == (0, "1 score, 0 findings\n")
    refused = invoke("score", "lint", BOXING, "--body", "random:seven")
    assert refused.exit_code == 2 and "as in random:7" in refused.stderr


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_seconds_of_a_take_are_those_of_its_score(seed: int) -> None:
    """A seed repeats and leaves out parts of its score, at a tempo of its own."""
    score = read_score(BOXING)
    course = course_of(score, vary(score, seed)[0])
    for first, last, begin, end in course.pieces:
        assert course.score_time((begin + end) / 2) == pytest.approx((first + last) / 2)
    times = np.linspace(-1, course.pieces[-1][3] + 1, 50)
    assert all(0 <= course.score_time(time) <= score.duration for time in times)


@pytest.mark.parametrize(("part", "key"), [
    ("left wrist", "left_hand"), ("RightForeArm", "right_hand"), ("Head", "head"),
    ("LeftUpLeg", "left_foot"), ("nothing known", "pelvis")])
def test_parts_lead_to_the_tracks_that_move_them(part: str, key: str) -> None:
    score = read_score(BOXING)
    spot = spot_of(Finding("wrist", part, 0.0, 1, 0, "degrees"), score, 0, None)
    assert spot.key in (key, "hands", "feet") and spot.line > 1 and spot.second == 0


@pytest.mark.slow
def test_a_preview_is_a_video_with_the_second_in_every_frame(tmp_path: Path) -> None:
    short = tmp_path / "short.score.yaml"
    short.write_text("action: short\nabout: stands\nduration: 0.3\nphases:\n"
                     "  - at: 0\n    pelvis: {up: -2}\n  - at: 0.3\n    pelvis: {up: -1}\n")
    done = invoke("score", "preview", short, "--out", tmp_path / "short.mp4")
    assert done.exit_code == 0, done.output
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "short.mp4"))
    assert next(frames)["size"] == (480, 600)
    heads = [np.frombuffer(frame, np.uint8).reshape(600, 480, 3)[:36, :120] for frame in frames]
    assert len(heads) in (9, 10)
    assert all((head < 90).any() for head in heads)
    assert np.abs(heads[0].astype(int) - heads[5]).max() > 100
