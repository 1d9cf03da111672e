"""Questions about several clips: what is equal among the choices, and what is not."""

import json
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from exports_clips import as_rendered, small_clips
from mimegen.base.errors import RequestError
from mimegen.evaluation.audit import audit, read_items
from mimegen.evaluation.controls import NAMES, ControlRequest, control_questions
from mimegen.evaluation.exports.exporting import OF_TRUTH, WRITERS, export
from mimegen.evaluation.matching import (
    MATCHES,
    MatchRequest,
    match_questions,
    parse_matches,
    person_and_clothes,
    read_match_wording,
)
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.evaluation.sampling import parse_sampling
from mimegen.manifest.row import Row
from mimegen.study.settings import read_settings
from mimegen.study.trials import trial_of
from questions_rows import library_rows, written
from running import invoke

SIDES = ("base+blank@0", "base+blank@90", "base+blank@180", "woman+blank@0")
ACTIONS = ("archery", "boxing", "bowling", "fishing", "deadlift", "playing_violin", "golf_swing",
           "sweep_floor", "soccer_shot", "writing")
UNIFORM = parse_sampling("uniform:4")


def other(row: Row, name: str, **facts: object) -> Row:
    sample = f"{row.sample_id}-{name}"
    return Row.model_validate(dict(row) | {
        "sample_id": sample, "file_name": f"clips/{sample}.mp4"} | facts)


def clips() -> list[Row]:
    """Ten actions from several sides, as dots, and by three people in two sets of clothes."""
    rows = [as_rendered(row) for row in library_rows(SIDES, ACTIONS)]
    first = [row for row in rows if row.config_name == SIDES[0]]
    dots = [other(row, "dots", config_name="pointlight@0", variant="pointlight@0",
                  type="pointlight", avatar=None, background_name=None) for row in first]
    dressed = [other(row, f"{who}-{clothes}", avatar=f"random_{who}_{clothes}")
               for row in first for who in (1, 2, 3) for clothes in (7, 8)]
    return [*rows, *dots, *dressed]


def asked(match: str, rows: list[Row], seed: int = 0) -> list[tuple[list[Row], int, Question]]:
    """Return the clips of each question, the place of the right one among them, and the question.
    """
    row_of = {row.sample_id: row for row in rows}
    made = match_questions(rows, MatchRequest((match,), read_match_wording(None), seed))
    return [([row_of[one.sample_id] for one in question.shown],
             int(question.answer.removeprefix("video ")) - 1, question) for question in made]


def performed(row: Row) -> tuple[str, str, int]:
    return row.action, row.take, row.seed


def test_the_same_performance_is_shown_once_from_the_side_that_all_choices_share() -> None:
    for (first, *choices), right, _ in asked("same_performance", clips()):
        assert [performed(one) == performed(first) for one in choices].count(True) == 1
        assert performed(choices[right - 1]) == performed(first)
        assert {one.angle for one in choices} != {first.angle}
        assert len({(one.angle, one.avatar, one.background_name) for one in choices}) == 1
        assert choices[0].avatar == first.avatar


def test_other_seeds_of_the_action_are_the_first_choices_for_a_performance() -> None:
    rows = clips()
    rows += [other(row, f"seed{seed}", seed=seed) for row in rows if row.avatar == "man"
             for seed in (1, 2)]
    found = [one for one in asked("same_performance", rows) if one[0][0].avatar == "man"]
    assert found and all(len({one.action for one in shown}) == 1 for shown, _, _ in found)


def test_the_same_person_wears_other_clothes_and_the_choices_wear_the_same() -> None:
    found = asked("same_person", clips())
    assert len(found) == 60, "each person in each clothes in each action"
    for (first, *choices), right, _ in found:
        person, clothes = person_and_clothes(str(first.avatar))
        worn = [person_and_clothes(str(one.avatar)) for one in choices]
        assert worn[right - 1][0] == person and len({who for who, _ in worn}) == 3
        assert {own for _, own in worn} == {"7" if clothes == "8" else "8"}
        assert len({performed(one) for one in choices}) == 1 and choices[0].action != first.action


def test_dots_are_matched_with_who_moves_alike() -> None:
    found = asked("dots", clips())
    assert len(found) == 10
    for (first, *choices), right, _ in found:
        assert first.type == "pointlight" and all(one.type != "pointlight" for one in choices)
        assert performed(choices[right - 1]) == performed(first)
        assert len({one.action for one in choices}) == 3
        assert len({(one.angle, one.avatar) for one in choices}) == 1


def test_one_clip_is_odd_by_its_action_alone() -> None:
    found = asked("odd_one_out", clips())
    for shown, right, question in found:
        actions = Counter(one.action for one in shown)
        assert sorted(actions.values()) == [1, 3] and actions[shown[right].action] == 1
        groups = {one.semantic_group for one in shown}
        assert len(groups) == 2, "two actions of one group are too near"
        assert len({(one.avatar, one.angle) for one in shown}) == 4
        assert question.action == shown[right].action
    assert len({right for _, right, _ in found}) == 4


def test_answers_are_in_every_place_equally_often_and_the_audit_finds_nothing(tmp_path: Path
                                                                              ) -> None:
    rows = clips()
    for match in MATCHES:
        counts = Counter(question.answer for *_, question in asked(match, rows))
        assert max(counts.values()) - min(counts.values()) <= 1, match
    made = match_questions(rows, MatchRequest(tuple(MATCHES), read_match_wording(None)))
    write_questions(tmp_path / "questions.jsonl", made)
    tested, _ = audit(read_items(tmp_path / "questions.jsonl"))
    assert not [one.rule for one in tested if one.leaks]
    text = (tmp_path / "questions.jsonl").read_text()
    assert not [one for one in made if one.prompt.count("video") < 2]
    assert "{" not in "".join(one.prompt for one in made) and '"further"' in text


def test_seeds_draw_other_questions_and_the_same_seed_the_same() -> None:
    first, again, drawn = (match_questions(clips(), MatchRequest(
        ("odd_one_out",), read_match_wording(None), seed)) for seed in (1, 1, 2))
    assert first == again
    assert [one.further for one in first] != [one.further for one in drawn]


def test_what_cannot_be_asked_says_what_to_render() -> None:
    rows = [as_rendered(row) for row in library_rows(("base+blank@0",), ("boxing",))]
    with pytest.raises(RequestError, match="dots: render pointlight variants"):
        match_questions(rows, MatchRequest(("dots",), read_match_wording(None)))
    with pytest.raises(RequestError, match=r"no such probe .did you mean odd_one_out"):
        parse_matches("odd_one")


def test_controls_of_several_clips_change_the_frames_of_each() -> None:
    assert UNIFORM is not None
    rows = clips()
    made = match_questions(rows, MatchRequest(
        ("odd_one_out",), read_match_wording(None), 0, UNIFORM, "uniform:4"))[:5]
    controls, missing = control_questions(made, rows, ControlRequest(
        tuple(NAMES.values()), UNIFORM, "uniform:4"))
    full = {one.question_id: one for one in made}
    for one in controls:
        whole = full[str(one.control_of)]
        shown = [(clip.frames or []) for clip in one.shown]
        wholly = [(clip.frames or []) for clip in whole.shown]
        if one.control == "reversed":
            assert shown == [frames[::-1] for frames in wholly]
        elif one.control == "one frame":
            assert all(len(frames) == 1 for frames in shown) and len(shown) == 4
        elif one.control == "shuffled":
            assert [sorted(frames) for frames in shown] == wholly
    assert Counter(one.control for one in controls) == {
        "no video": 5, "one frame": 20, "shuffled": 5, "reversed": 5}
    assert {missing[name] for name in ("person alone", "dots alone", "background alone")} == {5}


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small clips from four sides, and questions about them in frames and as they are."""
    out = tmp_path_factory.mktemp("matching") / "out"
    rows = [as_rendered(row) for row in small_clips(out, SIDES)]
    for name, sampling in (("frames", "uniform:2"), ("video", "video")):
        made = match_questions(rows, MatchRequest(
            ("odd_one_out", "same_performance"), read_match_wording(None), 0,
            parse_sampling(sampling), sampling))[:6]
        write_questions(out / f"questions-{name}.jsonl", made)
    return out


@pytest.mark.parametrize("target", WRITERS)
def test_exports_hold_every_clip_or_say_in_one_line_that_they_cannot(
        questions: Path, tmp_path: Path, target: str) -> None:
    for kind in ("frames", "video"):
        file, out = questions / f"questions-{kind}.jsonl", tmp_path / kind
        if target in OF_TRUTH or (target, kind) == ("vlmevalkit", "video"):
            with pytest.raises(RequestError) as refused:
                export(file, target, out)
            assert "\n" not in str(refused.value)
            continue
        source = export(file, target, out)
        asked = read_questions(file)
        assert {*source.clips} == {one.clip for question in asked
                                   for one in question.shown}
        if target not in ("inspect", "lmms-eval", "jsonl"):
            continue
        items = [json.loads(line) for line in (out / "questions.jsonl").open()]
        for item, question in zip(items, asked, strict=True):
            assert len(item["clips"]) == 1 + len(question.further)
            assert [*chain(*item["clips"])] == item["media"]
            assert len(item["media"]) == len(item["clips"]) * len(question.frames or [0])
            assert all((out / media).is_file() for media in item["media"])


def test_a_study_shows_several_clips_of_matches_alone(questions: Path, tmp_path: Path) -> None:
    made = [one for one in read_questions(questions / "questions-video.jsonl")
            if one.asks == "odd_one_out"]
    file = questions / "questions-of-mc.jsonl"
    write_questions(file, [one.model_copy(update={"format": "mc"}) for one in made])
    done = invoke("study", file, "--out", tmp_path / "study")
    assert done.exit_code == 2
    assert "shows 4 clips, which a study does for questions of format match only" in " ".join(
        done.output.split())
    trial, [asked] = trial_of(made[0], ("choice",), read_settings(None))
    assert trial.sources == tuple(clip.file_name for clip in made[0].shown)
    assert trial.question == made[0].question and asked == made[0]


def test_the_command_asks_and_says_what_is_missing(tmp_path: Path) -> None:
    out = written(tmp_path / "out", [row for row in clips() if row.type != "pointlight"])
    done = invoke("questions", out, "--format", "match", "--no-verify")
    assert done.exit_code == 0, done.output
    assert "same_person: 60 questions" in done.output
    assert "dots: 0 questions; render pointlight variants" in " ".join(done.output.split())
    made = read_questions(out / "questions-match.jsonl")
    assert {one.asks for one in made} == {*MATCHES} - {"dots"}


def test_a_question_that_shows_other_clips_has_another_id():
    def shown(rows: list[Row]) -> dict[str, list[str]]:
        return {question.question_id: [one.sample_id for one in question.shown]
                for _, _, question in asked("same_performance", rows)}

    some, every = (shown([as_rendered(row) for row in library_rows(SIDES, actions)])
                   for actions in (ACTIONS[:5], ACTIONS))
    assert some and {*some} - {*every}
    assert all(some[same] == every[same] for same in {*some} & {*every})
