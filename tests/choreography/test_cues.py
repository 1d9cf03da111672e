"""Nonverbal cues: their scores, the stances they are laid over, and how they are performed."""

from pathlib import Path

import numpy as np
import pytest
import scipy
import yaml

from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.base.paths import data_folder
from mimegen.choreography.lint import lint
from mimegen.choreography.manner import CueManner
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import HandKey, PelvisKey, Score
from mimegen.evaluation.question import read_questions
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion, quaternions
from running import invoked, mimegen, rows_of

CUES = data_folder() / "cues"
CATALOGUE = Catalogue.with_libraries(())



@pytest.mark.parametrize(("manner", "words"), [
    (CueManner("seated", 0.5, 3), ("seated", "intensity0.5", "frequency3")),
    (CueManner("talking"), ("talking",)), (CueManner(intensity=0.25), ("intensity0.25",))])
def test_names_of_clips_say_the_manner(manner: CueManner, words: tuple[str, ...]) -> None:
    assert manner.words == words
    assert path_name("neck_massage", *manner.words, "man") == "-".join(
        ("neck_massage", *words, "man"))


SCENE = """\
description: Somebody waves.
labels: [waving]
place: beach
misplaced: office
licence: CC0-1.0
author: nobody
marks: {here: {left: 0, forward: 0}}
performers:
  one:
    about: Waves.
    starts: here
    steps: [{do: wave}]
"""


def cue(name: str, manner: CueManner | None = None) -> ScoreTake:
    take = library_take(CATALOGUE.action(name), None, 0, manner=manner or CueManner())
    assert isinstance(take, ScoreTake)
    return take


def nods(score: Score) -> float:
    """Return how far the head goes up and down: the range of the height (m) of a point before it.
    """
    [motion] = perform_scene(score, 0, 15.0)
    head = motion.global_pose.rotations[:, motion.skeleton.index["Head"]]
    return float(np.ptp(quaternions.rotate(head, np.array([0.0, -0.1, 0.0]))[:, 2]))


def test_there_are_cues_of_all_regions_beside_the_actions() -> None:
    regions = {entry.action.cue.region for entry in CATALOGUE.cues.values() if entry.action.cue}
    assert len(CATALOGUE.cues) >= 36 and len(regions) >= 15
    assert not CATALOGUE.cues.keys() & CATALOGUE.actions.keys()
    assert CATALOGUE.action("self-hug").action.id == "self_hug"


@pytest.mark.parametrize("entry", CATALOGUE.cues.values(), ids=CATALOGUE.cues)
def test_every_cue_says_what_it_may_mean_and_when_it_is_seen(entry: Entry) -> None:
    sources = yaml.safe_load((CUES / "sources.yaml").read_text())
    said = entry.action.cue
    assert said is not None and 2 <= len(said.explanations) <= 4
    assert said.sources and set(said.sources) <= sources.keys()
    assert said.means_in and said.means_nothing_in
    take = cue(entry.action.id)
    [seen] = [one for one in take.timeline if one.kind == "cue"][:1]
    assert seen.peak_s is not None and seen.start_s < seen.peak_s < seen.end_s
    assert seen.cue is not None and seen.cue.region == said.region


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stance"), [
    ("neck_massage", "seated"), ("chin_stroke", "talking"), ("thighs_rubbed", None)])
def test_cues_pass_lint_in_their_stances(name: str, stance: str | None) -> None:
    score = read_score(CUES / name / f"{name}.score.yaml", stance)
    assert not lint(perform_scene(score, 0, 30.0), score, 0, None)


@pytest.mark.slow
def test_a_cue_is_linted_in_a_stance_and_so_is_a_scene_without(tmp_path: Path) -> None:
    file = CUES / "thumbs_up" / "thumbs_up.score.yaml"
    for stance, words in (("talking", "1 score, 0 findings"), ("dancing", "dancing")):
        assert words in invoked("score", "lint", file, "--stance", stance).stdout
    scene = tmp_path / "short.yaml"
    scene.write_text(SCENE)
    assert "short: reach" not in invoked("score", "lint", scene).stdout
    assert "leave out --stance" in invoked("score", "lint", scene, "--stance", "seated").stdout


def test_lint_refuses_what_is_no_file(tmp_path: Path) -> None:
    done = invoked("score", "lint", tmp_path / "missing.score.yaml")
    assert done.returncode == 2 and "no such file" in done.stderr


def test_a_stance_gives_what_the_score_leaves_out_and_the_score_wins() -> None:
    file = CUES / "chin_stroke" / "chin_stroke.score.yaml"
    seated, talking = read_score(file, "seated"), read_score(file, "talking")
    assert not seated.balanced and seated.partner is None
    assert talking.partner is not None and talking.partner.phases[-1].at <= talking.duration
    rest = dict(seated.phases[-2].moves())["right_hand"]
    assert isinstance(rest, HandKey) and rest.to is not None and rest.to.anchor == "knee"
    standing = read_score(CUES / "hands_behind_back" / "hands_behind_back.score.yaml")
    assert standing.facing == 150


def test_intensity_is_how_far_movements_go_and_frequency_how_often() -> None:
    whole, faint, often = (cue("nodding", manner) for manner in (
        CueManner(), CueManner(intensity=0.2), CueManner(frequency=6)))
    assert nods(faint.score) < 0.7 * nods(whole.score)
    assert often.score.repeat[0].times == 6
    assert len([one for one in often.timeline if one.kind == "action"]) == 1
    assert len({take.key for take in (whole, faint, often)}) == 3
    assert faint.version == ("seed0", "intensity0.2")


@pytest.mark.parametrize("times", [2, 5])
def test_every_seed_makes_a_movement_as_often_as_was_asked_for(times: int) -> None:
    for seed in range(1, 6):
        take = library_take(CATALOGUE.action("head_shake"), None, seed,
                            manner=CueManner(frequency=times))
        assert isinstance(take, ScoreTake)
        [motion] = perform_scene(take.score, seed, 30.0)
        assert head_shakes(motion) == times, f"seed {seed}"


def head_shakes(motion: Motion) -> int:
    """How often the head swings from one side to the other and back."""
    turns = quaternions.multiply(
        quaternions.conjugate(motion.global_pose.rotations[:, motion.skeleton.index["Spine2"]]),
        motion.global_pose.rotations[:, motion.skeleton.index["Head"]])
    yaw = np.degrees(2 * np.arctan2(turns[:, 3], turns[:, 0]))
    # It begins and ends on the same side, where the head comes from and goes back to the middle.
    sides = [scipy.signal.find_peaks(sign * yaw, prominence=15)[0] for sign in (1, -1)]
    return min(map(len, sides))


def test_what_is_usual_is_no_other_clip() -> None:
    usual = cue("shrug", CueManner(stance="standing", intensity=1.0))
    assert (usual.key, usual.version) == (cue("shrug").key, cue("shrug").version)
    assert usual.facts()["stance"] == "standing"


@pytest.mark.parametrize(("name", "manner", "said"), [
    ("thighs_rubbed", CueManner(stance="standing"),
     r"unknown stance 'standing' \(available: seated\)$"),
    ("shrug", CueManner(stance="seatd"), "did you mean seated"),
    ("arms_crossed", CueManner(frequency=3), "held, not repeated"),
    ("boxing", CueManner(intensity=0.5),
     r"^boxing: is not a cue, so --intensity does not apply .* --emotion NAME"),
    ("boxing", CueManner("seated", frequency=2),
     r"so --stance and --frequency do not apply \(cues: mimegen list cues\)$"),
])
def test_an_impossible_manner_is_refused(name: str, manner: CueManner, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        library_take(CATALOGUE.action(name), None, 0, manner=manner)


def test_a_library_may_hold_cues_on_stances_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "cues" / "bow"
    place.mkdir(parents=True)
    (place / "bow.score.yaml").write_text(yaml.safe_dump({
        "action": "bow", "about": "Bows.", "duration": 2, "stances": ["kneeling"],
        "phases": [{"at": 0}, {"at": 1, "chest": {"lean": 30}}]}))
    with pytest.raises(RequestError, match="unknown stance 'kneeling'"):
        read_score(place / "bow.score.yaml")
    (tmp_path / "cues" / "stances.yaml").write_text(yaml.safe_dump({"kneeling": {
        "about": "Kneels.", "begins": {"pelvis": {"up": -40}}}}))
    score = read_score(place / "bow.score.yaml")
    pelvis = dict(score.phases[0].moves())["pelvis"]
    assert isinstance(pelvis, PelvisKey) and pelvis.up == -40


@pytest.mark.slow
def test_rendered_cues_are_asked_about(tmp_path: Path) -> None:
    names = "nodding,shrug,neck massage,thumbs up"
    made = mimegen("render", "--action", names, "--stance", "seated", "--intensity", "0.6",
                   "--variants", "pointlight@0", "--out", tmp_path, "--quiet")
    assert made.returncode == 0, made.stderr
    rows = rows_of(tmp_path)
    assert {(row["stance"], row["intensity"]) for row in rows} == {("seated", 0.6)}
    for asks in ("explanation", "cue"):
        asked = invoked("questions", tmp_path, "--format", "cue", "--asks", asks)
        assert asked.returncode == 0, asked.stderr
        questions = read_questions(tmp_path / "questions-cue.jsonl")
        assert {question.action for question in questions} == {row["action"] for row in rows}


def test_options_of_cues_are_checked_in_one_line() -> None:
    wrong = invoked("plan", "--action", "cues", "--intensity", "1.5")
    assert wrong.returncode == 2 and "numbers from 0 to 1" in wrong.stderr


@pytest.mark.parametrize("action", ["shrug", "boxing,shrug"])
def test_the_intensity_of_a_cue_beside_an_emotion_is_refused(action: str) -> None:
    done = invoked("plan", "--action", action, "--variants", "base+blank@0", "--emotion", "sadness",
                   "--intensity", 0.5)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
    assert "that of the cue shrug or of the --emotion; leave out --intensity" in done.stderr
