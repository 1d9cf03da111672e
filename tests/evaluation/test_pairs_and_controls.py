"""Minimal pairs and control questions: how they are asked, and what their scores tell."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mimegen as mg
from exports_clips import half
from mimegen.base.errors import RequestError
from mimegen.evaluation.audit import audit, read_items
from mimegen.evaluation.controls import NAMES, ControlRequest, control_questions, parse_controls
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.pairs import both_right, pair_questions, read_pair_wording, whole_pairs
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.evaluation.reliance import _MEANINGS, reliance
from mimegen.evaluation.results.page import _needs
from mimegen.evaluation.sampling import parse_sampling
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.tables import paired, report, whole_groups
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.row import Row
from questions_rows import library_rows, written
from running import invoke

BACKGROUNDS = ("base+blank@0", "base+aligned@0", "base+misaligned@0", "nobody+aligned@0",
               "nobody+misaligned@0")
UNIFORM = parse_sampling("uniform:8")


def pairs_of_speed(count: int) -> list[Row]:
    rows = library_rows()
    return [half(rows[number % len(rows)], f"speed-{number:04d}", "speed", value)
            for number in range(count) for value in ("slow", "fast")]


def pairs_of_backgrounds(count: int) -> list[Row]:
    rows = {(row.action, row.background_config): row for row in library_rows(BACKGROUNDS[1:3])}
    actions = sorted({action for action, _ in rows})
    return [half(rows[actions[number % len(actions)], kind], f"background-{number:04d}",
                 "background", kind)
            for number in range(count) for kind in ("aligned", "misaligned")]


def answered(questions: list[Question], model: str, right: Callable[[Question], bool]
             ) -> list[ScoredAnswer]:
    return [ScoredAnswer(one, model, "something", right(one)) for one in questions]


def test_both_halves_of_a_contrast_have_the_same_words_and_different_answers() -> None:
    made = pair_questions(whole_pairs(pairs_of_speed(20)), read_pair_wording(None), 3)
    assert len(made) == 40
    by_pair: dict[str, list[Question]] = {}
    for one in made:
        by_pair.setdefault(str(one.pair), []).append(one)
    for first, second in by_pair.values():
        assert first.prompt == second.prompt and first.options == second.options
        assert {first.answer, second.answer} == {*first.options}
    # Neither place of the answer is preferred.
    assert {one.options.index("in slow motion") for one in made} == {0, 1}


def test_a_pair_that_differs_in_background_asks_both_for_the_same_action() -> None:
    made = pair_questions(whole_pairs(pairs_of_backgrounds(12)), read_pair_wording(None), 0)
    for pair in {one.pair for one in made}:
        first, second = (one for one in made if one.pair == pair)
        assert first.answer == second.answer and first.options == second.options
        assert {first.background_config, second.background_config} == {"aligned", "misaligned"}


@pytest.mark.parametrize("factor", sorted(read_pair_wording(None).prompts))
def test_two_people_are_asked_about_as_two(factor: str) -> None:
    wording = read_pair_wording(None)
    prompt = wording.worded(wording.prompt(factor), 2)
    assert not re.search(r"(?<!one )\b(?:the|a|animated) person\b", prompt), prompt
    assert wording.worded(wording.prompt(factor), 1) == wording.prompt(factor)


def test_pairs_and_choices_of_two_people_are_worded_for_two() -> None:
    rows = [row.model_copy(update={"partner_avatar": "woman"}) for row in pairs_of_speed(1)]
    for one in pair_questions(whole_pairs(rows), read_pair_wording(None), 0):
        assert "faster than the people moved" in one.options and one.answer in one.options
        assert one.prompt.startswith("The video shows two people miming an action.")
    rows = [row.model_copy(update={"partner_avatar": "woman"}) for row in pairs_of_backgrounds(4)]
    for one in [*pair_questions(whole_pairs(rows), read_pair_wording(None), 0), *mc(rows)]:
        assert one.prompt.startswith("What action are the people miming")
    assert "are the people miming" not in "".join(one.prompt for one in mc(pairs_of_speed(4)))


def test_an_order_is_asked_for_in_the_labels_of_both_halves() -> None:
    row = library_rows()[0]
    rows = [half(Row.model_validate(dict(row) | {"labels": [label]}), "order-0000", "order", label)
            for label in ("waving, then clapping", "clapping, then waving")]
    made = pair_questions(whole_pairs(rows), read_pair_wording(None), 0)
    assert {one.answer for one in made} == {*made[0].options} == {rows[0].labels[0],
                                                                  rows[1].labels[0]}
    assert {one.sample_id: one.labels for one in made} == {
        one.sample_id: one.labels for one in rows}
    assert "In which order?" in made[0].prompt


def test_what_needs_all_of_a_clip_is_not_asked_of_a_part(tmp_path: Path) -> None:
    first, second = library_rows()[:2]
    of_order = [half(row, "order-0000", "order", row.sample_id) for row in (first, second)]
    part = parse_sampling("window:0:2:8")
    with pytest.raises(RequestError, match="shows a part of each clip"):
        pair_questions(whole_pairs(of_order), read_pair_wording(None), 0, part, "window:0:2:8")
    rows = [*of_order, *pairs_of_speed(1)]
    out = written(tmp_path / "out", rows)
    done = invoke("questions", out, "--format", "pair", "--no-verify", "--sampling",
                  "window:0:2:8")
    assert done.exit_code == 0, done.output
    assert "1 pair left out, of the factors order, repetitions" in done.output
    assert {one.asks for one in read_questions(out / "questions-pair.jsonl")} == {"speed"}


def test_half_a_pair_is_not_asked_about() -> None:
    made = pair_questions(whole_pairs(pairs_of_speed(3)[:-1]), read_pair_wording(None), 0)
    assert {one.pair for one in made} == {"speed-0000", "speed-0001"}
    with pytest.raises(RequestError, match="no minimal pair is complete"):
        pair_questions(whole_pairs(library_rows()), read_pair_wording(None), 0)


def test_a_model_that_always_says_the_same_is_right_in_half_and_in_no_pair() -> None:
    made = pair_questions(whole_pairs(pairs_of_speed(40)), read_pair_wording(None), 1)
    constant = answered(made, "constant", lambda one: one.answer == "in slow motion")
    found = paired(constant, "constant")
    assert found is not None
    assert np.mean([one.right for one in constant]) == 0.5
    assert (found["right"], found["answered"], found["chance"]) == (0, 40, 0.25)


def test_pairs_of_which_a_half_was_not_answered_do_not_count() -> None:
    made = pair_questions(whole_pairs(pairs_of_speed(5)), read_pair_wording(None), 1)
    assert len(both_right(answered(made[:-1], "m", lambda one: True))) == 4


def test_group_accuracy_needs_every_variant() -> None:
    rows = library_rows(("base+blank@0", "base+blank@90"), ("boxing", "bowling", "fishing"))
    made = questions_of(rows, QuestionRequest("mc", "label", "zero-shot", read_templates("mc",
                                                                                         None)))
    wrong_once = answered(made, "m", lambda one: (one.action, one.variant) != (
        "boxing", "base+blank@90"))
    found = whole_groups(wrong_once, "m")
    assert found is not None and (found["right"], found["answered"]) == (2, 3)


def test_each_performer_has_a_share_over_all_its_variants() -> None:
    rows = library_rows(("base+blank@0", "base+blank@90", "adversarial+blank@0",
                         "adversarial+aligned@0"), ("boxing", "bowling", "fishing"))
    wrong_in_spacesuit = answered(mc(rows), "m", lambda one: (one.variant or "").startswith("base"))
    found, = report(wrong_in_spacesuit, mc(rows))["models"]
    assert {name: (share["right"], share["answered"])
            for name, share in found["performers"].items()} == {"base": (6, 6),
                                                                "adversarial": (0, 6)}
    alone, = report([one for one in wrong_in_spacesuit if one.right], mc(rows))["models"]
    assert "performers" not in alone


def mc(rows: list[Row]) -> list[Question]:
    asked = [row for row in rows if not str(row.config_name).startswith("nobody")]
    return questions_of(asked, QuestionRequest("mc", "label", "zero-shot", read_templates("mc",
                                                                                          None),
                                               sampling=UNIFORM, sampling_text="uniform:8"))


def controlled(rows: list[Row], names: tuple[str, ...]) -> tuple[list[Question], list[Question]]:
    assert UNIFORM is not None
    made = mc(rows)
    return made, control_questions(made, rows, ControlRequest(names, UNIFORM, "uniform:8"))[0]


def test_controls_show_what_they_say() -> None:
    rows = library_rows(BACKGROUNDS, ("boxing", "bowling", "fishing", "archery"))
    made, controls = controlled(rows, tuple(NAMES.values()))
    full = {one.question_id: one for one in made}
    row_of = {row.sample_id: row for row in rows}
    assert len({one.question_id for one in controls + made}) == len(controls) + len(made)
    for one in controls:
        whole = full[str(one.control_of)]
        assert (one.prompt, one.options, one.answer) == (
            whole.prompt, whole.options, whole.answer)
        shown, frames = row_of[one.sample_id], one.frames or []
        if one.control == "no video":
            assert (one.condition, frames) == ("text", [])
        elif one.control == "one frame":
            assert len(frames) == 1 and frames[0] in (whole.frames or [])
        elif one.control == "reversed":
            assert frames == (whole.frames or [])[::-1]
        elif one.control == "shuffled":
            assert sorted(frames) == whole.frames
            assert frames not in (whole.frames, (whole.frames or [])[::-1])
        elif one.control == "person alone":
            assert shown.background_config == "blank" != whole.background_config
        else:
            assert one.control == "background alone"
            assert str(shown.config_name).startswith("nobody+")
            assert shown.background_name == whole.background_name
    kinds = {one.control for one in controls}
    assert kinds == {*NAMES.values()} - {"dots alone"}


def test_what_has_no_control_is_counted() -> None:
    assert UNIFORM is not None
    rows = library_rows(("base+aligned@0",), ("boxing", "bowling", "fishing", "archery"))
    made, missing = control_questions(mc(rows), rows, ControlRequest(
        ("person alone", "shuffled"), UNIFORM, "uniform:8"))
    assert missing == {"person alone": 4, "shuffled": 0}
    assert {one.control for one in made} == {"shuffled"}


def played(count: int) -> list[Row]:
    """Pairs that are played forwards and backwards."""
    rows = library_rows()
    return [half(Row.model_validate(dict(rows[number % len(rows)]) | {
        "reversed": True if value == "backwards" else None}),
        f"reversed-{number:04d}", "reversed", value)
        for number in range(count) for value in ("forwards", "backwards")]


def test_which_way_a_clip_plays_is_asked_of_both_halves_and_nobody_tells_from_the_words(
        tmp_path: Path) -> None:
    rows = played(60)
    made = pair_questions(whole_pairs(rows), read_pair_wording(None), 5)
    row_of = {row.sample_id: row for row in rows}
    for one in made:
        assert one.answer == ("backwards" if row_of[one.sample_id].reversed else "forwards")
        assert {*one.options} == {"forwards", "backwards"} and "forwards, or backwards" in (
            one.prompt)
    write_questions(tmp_path / "questions.jsonl", made)
    tested, _ = audit(read_items(tmp_path / "questions.jsonl"))
    assert not [rule.rule for rule in tested if rule.leaks]


def test_frames_in_reversed_order_are_no_control_of_which_way_a_clip_plays() -> None:
    assert UNIFORM is not None
    rows = played(4)
    made = pair_questions(whole_pairs(rows), read_pair_wording(None), 0, UNIFORM, "uniform:8")
    controls, missing = control_questions(made, rows, ControlRequest(
        ("reversed", "shuffled", "one frame"), UNIFORM, "uniform:8"))
    assert missing == {"reversed": 8, "shuffled": 0, "one frame": 0}
    assert {one.control for one in controls} == {"shuffled", "one frame"}


def test_clips_that_are_played_backwards_are_not_asked_what_they_show(tmp_path: Path) -> None:
    out = written(tmp_path, played(8))
    done = invoke("questions", out, "--format", "mc", "--no-verify")
    assert done.exit_code == 0, done.output
    assert "8 clips played backwards left out" in done.output
    lines = (out / "questions-mc.jsonl").read_text().splitlines()
    assert len(lines) == 8 and not any("backwards" in json.loads(line)["sample_id"]
                                       for line in lines)
    assert {one.sample_id for one in mg.open(out).questions()} == {
        json.loads(line)["sample_id"] for line in lines}
    back = written(tmp_path / "back", [row for row in played(8) if row.reversed])
    done = invoke("questions", back, "--format", "free", "--no-verify")
    assert done.exit_code == 2 and "only --format pair and probe" in done.output
    done = invoke("questions", out, "--format", "pair", "--no-verify")
    assert done.exit_code == 0 and "16 questions" in done.output


def test_an_unknown_control_is_refused() -> None:
    assert parse_controls("text, frame") == ("no video", "one frame")
    with pytest.raises(RequestError, match="no such control"):
        parse_controls("txt")


def draw(one: Question, seed: int, share: float) -> bool:
    """Whether a model is right that is right in a share of questions, always the same ones."""
    key = sum(map(ord, f"{one.question_id}{seed}"))
    return bool(np.random.default_rng(key).random() < share)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_models_that_read_the_background_a_frame_or_the_video_are_told_apart(seed: int) -> None:
    rows = library_rows(BACKGROUNDS)
    made, controls = controlled(rows, ("one frame", "shuffled", "background alone"))
    everything = made + controls

    def reads_background(one: Question) -> bool:
        return draw(one, seed, {"aligned": 0.95, "misaligned": 0.05}.get(
            str(one.background_config), 0.25))

    def reads_a_frame(one: Question) -> bool:
        return draw(one, seed, 0.25 if one.control == "background alone" else 0.6)

    def sees(one: Question) -> bool:
        return draw(one, seed, 0.95 if one.control is None else 0.3)

    tables = {}
    for name, right in (("background", reads_background), ("frame", reads_a_frame),
                        ("video", sees)):
        [tables[name]] = reliance(answered(everything, name, right), everything)
    assert tables["background"]["background"]["interval"][0] > 0.5
    assert tables["background"]["background"]["p"] < 1e-6
    assert tables["background"]["controls"]["background alone"]["interval"][1] < 0.2
    for name in ("frame", "video"):
        low, high = tables[name]["background"]["interval"]
        assert low < 0.1 and high > -0.1 and high - low < 0.5
    assert abs(tables["frame"]["controls"]["one frame"]["difference"]) < 0.1
    assert tables["video"]["controls"]["one frame"]["interval"][0] > 0.4
    assert tables["video"]["controls"]["shuffled"]["gain"] > 1


def test_pairs_and_controls_reach_the_command_line_and_the_report(tmp_path: Path) -> None:
    out = written(tmp_path / "out", pairs_of_speed(6))
    made = invoke("questions", out, "--format", "pair", "--no-verify")
    assert made.exit_code == 0, made.output
    file = out / "questions-pair.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({
        "question_id": one["question_id"], "model": "m", "output": "A"}) + "\n" for one in lines))
    found = invoke("evaluate", file, answers, "--report", tmp_path / "report")
    assert found.exit_code == 0, found.output
    assert "pairs with both halves right: 0 of 6" in found.output
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Minimal pairs with both halves right" in page


def test_controls_are_written_beside_their_questions(tmp_path: Path) -> None:
    rows = library_rows(BACKGROUNDS, ("boxing", "bowling", "fishing", "archery", "driving"))
    out = written(tmp_path / "out", rows)
    made = invoke("questions", out, "--controls", "text,shuffled,background,dots", "--no-verify")
    assert made.exit_code == 0, made.output
    assert "dots alone: no control for" in made.output
    lines = [json.loads(line) for line in
             (out / "questions-mc.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [one for one in lines if one.get("control") is None]
    behind = [one for one in asked if one["background_config"] != "blank"]
    assert [sum(one.get("control") == name for one in lines)
            for name in ("no video", "shuffled", "background alone")] == [
                len(asked), len(asked), len(behind)]
    assert not any(str(one["variant"]).startswith("nobody") for one in lines)


def test_a_report_without_controls_says_nothing_of_them() -> None:
    made = mc(library_rows(("base+blank@0",), ("boxing", "bowling", "fishing", "archery")))
    assert report(answered(made, "m", lambda one: True), made)["reliance"] == []


def by_raters(questions: list[Question],
              right: Callable[[Question, str], bool]) -> list[ScoredAnswer]:
    return [ScoredAnswer(one, "people", "x", right(one, rater), rater=rater)
            for one in questions for rater in ("first", "second")]


def test_people_are_right_in_a_pair_each_for_themselves() -> None:
    made = pair_questions(whole_pairs(pairs_of_speed(10)), read_pair_wording(None), 1)
    found = paired(by_raters(made, lambda one, rater: rater == "first"), "people")
    assert found is not None and (found["right"], found["answered"]) == (10, 20)


def test_people_are_right_in_a_group_each_for_themselves() -> None:
    rows = library_rows(("base+blank@0", "base+blank@90"), ("boxing", "bowling", "fishing"))
    made = questions_of(rows, QuestionRequest(
        "mc", "label", "zero-shot", read_templates("mc", None)))
    found = whole_groups(by_raters(made, lambda one, rater: rater == "first"), "people")
    assert found is not None and found["accuracy"] == 0.5


def test_every_rater_counts_in_what_answers_rest_on() -> None:
    made, controls = controlled(library_rows(BACKGROUNDS), ("one frame",))
    answers = by_raters(made + controls, lambda one, rater: rater == "first")
    [table] = reliance(answers, made + controls)
    assert table["controls"]["one frame"]["full"] == table["controls"]["one frame"]["accuracy"]
    assert table["background"]["aligned"] == table["background"]["misaligned"] == 0.5


def test_a_position_of_single_frames_is_that_of_the_clip_whatever_was_answered() -> None:
    made, controls = controlled(library_rows(BACKGROUNDS), ("one frame",))
    place: dict[str, int] = {}
    for one in sorted(controls, key=lambda one: (one.frames or [0])[0]):
        place[one.question_id] = sum(other.control_of == one.control_of for other in controls
                                     if other.question_id in place)
    # Right in the third quarter alone; every other answer about the first quarter is missing.
    said = [one for number, one in enumerate(controls)
            if place[one.question_id] or number % 8]
    answers = answered(made + said, "m", lambda one: place.get(one.question_id, 2) == 2)
    [table] = reliance(answers, made + controls)
    assert table["frame_disparity"] == pytest.approx(3)
    [table] = reliance(by_raters(made + controls, lambda one, rater: place.get(
        one.question_id, 2) == 2), made + controls)
    assert table["frame_disparity"] == pytest.approx(3)


def test_backgrounds_are_compared_behind_the_same_person() -> None:
    made, _ = controlled(library_rows(("base+aligned@0", "base+misaligned@0",
                                       "adversarial+misaligned@0")), ())
    made = [one.model_copy(update={"avatar": str(one.variant).split("+")[0]}) for one in made]
    # The spacesuit is hard, the background does not matter.
    [table] = reliance(answered(made, "m", lambda one: one.avatar == "base"), made)
    assert table["background"]["difference"] == 0


def test_what_answers_rest_on_is_said_of_every_control() -> None:
    assert set(NAMES.values()) == set(_MEANINGS)


@pytest.mark.parametrize("content", ["x", 7, [], {"id": "a"},
                                     {"id": "", "factor": "f", "value": "v"}])
def test_a_row_whose_pair_cannot_be_is_refused_in_a_line(content: object) -> None:
    row = Row.model_validate(dict(library_rows()[0]) | {"permutation": {"pair": content}})
    with pytest.raises(RequestError, match=r"permutation\.pair: expected id, factor and value"):
        pair_questions(whole_pairs([row]), read_pair_wording(None), 0)


def test_templates_without_a_factor_are_refused_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("about: mine\nprompts: {action: '{options}'}\nvalues: {}\n")
    with pytest.raises(RequestError, match="no prompt for the factor speed"):
        pair_questions(whole_pairs(pairs_of_speed(1)), read_pair_wording(file), 0)


def test_the_api_asks_nothing_about_places_without_anybody(tmp_path: Path) -> None:
    out = written(tmp_path / "out", library_rows(BACKGROUNDS, ("boxing", "bowling", "fishing",
                                                               "archery", "driving")))
    asked = mg.open(out).questions()
    assert asked and not any(str(one.variant).startswith("nobody") for one in asked)


def test_accuracy_is_parted_by_whether_one_frame_can_tell_the_answer() -> None:
    rows = library_rows()
    marked = [half(rows[number % len(rows)], f"{factor}-{number:04d}", factor, value).model_copy(
        update={"permutation": {"pair": {"id": f"{factor}-{number:04d}", "factor": factor,
                                         "value": value, "needs": needs, "pose_gap_m": 0.5}}})
              for number in range(12)
              for factor, values, needs in (("speed", ("slow", "fast"), "several frames"),
                                            ("hand", ("left", "right"), "one frame"))
              for value in values]
    made = pair_questions(whole_pairs(marked), read_pair_wording(None), 0)
    assert {(one.asks, one.needs) for one in made} == {
        ("speed", "several frames"), ("hand", "one frame")}
    # A model that sees single frames knows the hand, and answers each speed with the same option.
    scored = answered(made, "m", lambda one: one.asks == "hand" or one.answer == "in slow motion")
    found = {row["needs"]: row for row in report(scored, made)["needs"]}
    assert (found["one frame"]["accuracy"], found["one frame"]["pairs"]["right"]) == (1.0, 12)
    assert (found["several frames"]["accuracy"], found["several frames"]["pairs"]["right"]) \
        == (0.5, 0)
    page = _needs(report(scored, made)).html
    assert "One frame or several" in page and "several frames" in page
    # Pairs whose two clips have the same answer are asked about the action, not the factor.
    same = pair_questions(whole_pairs(pairs_of_backgrounds(4)), read_pair_wording(None), 0)
    assert {one.needs for one in same} == {None}
    assert report(answered(same, "m", lambda _: True), same)["needs"] == []
