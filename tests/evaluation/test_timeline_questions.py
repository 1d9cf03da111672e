import re
import subprocess
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from mimegen.base.files import file_hash
from mimegen.evaluation.audit import audit, read_items
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.evaluation.sampling import parse_sampling
from mimegen.evaluation.timeline.making import TimelineRequest, timeline_questions
from mimegen.evaluation.timeline.wording import read_wording
from mimegen.manifest.row import Row
from questions_rows import library_rows, told_rows, written
from running import invoked

WORDING = read_wording(None)


@cache
def told() -> list[Row]:
    """All takes, as two seeds make them."""
    return told_rows((0, 1))


def asked(rows: list[Row] | None = None, prompting: str = "zero-shot", seed: int = 0,
          sampling: str = "video") -> list[Question]:
    return timeline_questions(told() if rows is None else rows, TimelineRequest(
        prompting, WORDING, seed, parse_sampling(sampling), sampling))[0]


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return asked()


def test_four_of_seven_categories_are_asked_for_and_three_are_said_to_be_left_out(questions):
    assert {one.category for one in questions} == {
        "grounding the imagined", "temporal", "intention", "working memory"}
    assert {*WORDING.left_out} == {"affect recognition", "social judgment", "theory of mind"}
    # Where a thing is, is asked only where it changes hands or is put down: in scenes.
    assert {one.aspect for one in questions} == {*WORDING.sentences} - {"whereabouts"}


def test_each_of_an_aspect_s_choices_is_the_answer_equally_often(questions):
    for aspect, choices in WORDING.choices.items():
        answers = Counter(one.answer for one in questions if one.aspect == aspect)
        assert {*answers} == {*choices}
        assert len({*answers.values()}) == 1
    for one in questions:
        assert one.options.count(one.answer) == 1


def test_the_order_of_steps_is_that_of_the_timeline():
    """Of a take whose steps are known: a shot with a bow."""
    first = [one for one in asked(told_rows((0,), actions=("archery",)))
             if one.aspect == "order"]
    answers = {re.findall(r"happens (\w+)", one.question or "")[0]: one.answer for one in first}
    assert answers == {"first": "the person takes an arrow from the quiver on the back",
                       "second": "the person sets the arrow on the string",
                       "third": "the person draws the string to the cheek",
                       "fourth": "the person lets the arrow go"}
    assert len({frozenset(one.options) for one in first}) == 1


def test_before_and_after_are_what_they_are(questions):
    rows = {row.sample_id: row for row in told()}
    for one in (one for one in questions if one.aspect == "before"):
        found = re.findall(r"(?:First|Second): the (?:other )?person (.*?)\.", one.question or "")
        start = {step.name: step.start_s for step in rows[one.sample_id].timeline or ()
                 if step.kind == "step"}
        assert one.answer == ("before" if start[found[0]] < start[found[1]] else "after")


def test_hands_things_and_counts_are_those_of_the_row(questions):
    rows = {row.sample_id: row.timeline or [] for row in told()}
    for one in questions:
        timeline, (start, end) = rows[one.sample_id], one.window or [0, 0]
        during = [step for step in timeline if step.kind == "held" and step.start_s <= start
                  and step.end_s >= end]
        if one.aspect == "thing":
            assert one.answer in {step.name for step in during}
            assert not {step.name for step in timeline} & ({*one.options} - {one.answer})
        if one.aspect == "hand":
            thing = re.findall("holds the (.*) between", one.question or "")[0]
            hands = sorted(str(step.hand) for step in during if step.name == thing)
            assert one.answer == {
                "left": "the left hand", "right": "the right hand", "left right": "both hands",
                "": "neither hand"}[" ".join(hands)]
        if one.aspect == "often":
            step_name = (one.question or "").split(": the person ")[-1].split(
                ": the other person ")[-1].rstrip("?")
            count = sum(step.kind == "step" and step.name == step_name for step in timeline)
            assert one.answer == WORDING.choices["often"][count - 1]
        if one.aspect == "held" and one.answer == "nothing":
            hand = re.findall(r"person's (\w+) hand", one.question or "")[0]
            assert not [step for step in timeline if step.kind in ("held", "contact")
                        and step.hand == hand and step.performer == "performer"
                        and step.start_s < end and step.end_s > start]


def test_mirrored_takes_are_asked_about_the_other_hand():
    for row in told_rows(tuple(range(6)), actions=("drinking_from_cup",)):
        assert {one.answer for one in asked([row]) if one.aspect == "held"} == {
            "cup", "nothing"}
    hands = {row.seed: {step.hand for step in row.timeline or () if step.kind == "held"}
             for row in told_rows(tuple(range(6)), actions=("drinking_from_cup",))}
    assert {frozenset(hand) for hand in hands.values()} == {frozenset({"left"}),
                                                            frozenset({"right"})}


@pytest.mark.parametrize("seed", [0, 3])
def test_options_give_nothing_away(tmp_path, seed):
    write_questions(tmp_path / "q.jsonl", asked(seed=seed))
    tested, _ = audit(read_items(tmp_path / "q.jsonl"))
    assert [one.rule for one in tested if one.leaks] == []


def test_all_variants_of_a_performance_have_the_same_questions():
    rows = told_rows((0,), ("base+blank@0", "woman+blank@0"))
    found = defaultdict(set)
    for one in asked(rows):
        found[one.performance].add((one.prompt, one.answer, one.variant))
    assert all(len(same) == 2 and len({one[:2] for one in same}) == 1 for same in found.values())
    assert len({one.question_id for one in asked(rows)}) == len(asked(rows))


def test_open_questions_have_the_paper_s_words_and_nothing_to_choose_from(questions):
    found = asked(prompting="open")
    assert all(one.options == [] and one.labels == [one.answer] for one in found)
    assert found[0].prompt.startswith(
        "You are an expert in mime performance understanding and question answering.\n")
    assert "order" not in {one.aspect for one in found}
    assert "letter" not in "".join(one.prompt for one in found)
    assert {one.question_id for one in found} & {one.question_id for one in questions} == set()


def test_what_can_be_told_from_the_text_alone_is_a_table_of_its_own():
    rows = told_rows((0,), actions=("writing",))
    request = TimelineRequest("zero-shot", WORDING, condition="text")
    found, _ = timeline_questions(rows, request)
    assert all(one.frames == [] and one.condition == "text" for one in found)
    assert {one.question_type[2] for one in found} == {"zero-shot, text only"}
    shown = asked(rows)
    assert {one.prompt for one in found} == {one.prompt for one in shown}
    assert {one.question_type[2] for one in shown} == {"zero-shot"}
    assert not {one.question_id for one in found} & {one.question_id for one in shown}


def test_models_without_video_are_told_when_each_frame_is():
    one = asked(told_rows((0,), actions=("writing",)), sampling="fps:1")[0]
    assert one.frames is not None and len(one.frames) == 8
    assert "The video lasts for 8.63s, and 8 frames are uniformly sampled from it.\n" \
        "These frames are located at 0.00s, 1.00s, 2.00s" in one.prompt
    long = parse_sampling("fps:1")
    assert long is not None and len(long.frames(30 * 600, 30)) == 64


def test_frames_are_fitted_and_bear_their_time(tmp_path: Path):
    out = tmp_path / "out"
    (out / "clips").mkdir(parents=True)
    [row] = told_rows((0,), actions=("writing",))
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "color=gray:96x54:r=30:d=9", "-pix_fmt", "yuv420p", out / row.file_name],
                   check=True)
    written(out, [row.model_copy(update={"sha256": file_hash(out / row.file_name)})])
    done = invoked("questions", out, "--format", "timeline", "--sampling", "fps:1", "--size",
                   "256x256", "--stamp", "--frames", tmp_path / "frames")
    assert done.returncode == 0, done.stderr
    assert "theory of mind: none" in done.stdout
    [question, *_] = read_questions(out / "questions-timeline.jsonl")
    files = sorted((tmp_path / "frames" / Path(question.clip).stem).iterdir())
    assert len(files) == 8
    for file in files:
        picture = np.asarray(Image.open(file).convert("L"))
        assert picture.shape == (256, 256)
        # Black bars, a white text on them, and the gray of the clip.
        assert picture[250, 128] < 20 < 100 < picture[128, 128] < 160
        assert picture[:25, :80].max() > 200
    other = invoked("questions", out, "--format", "timeline", "--sampling", "fps:2", "--frames",
                    tmp_path / "frames")
    assert other.returncode == 2 and "contains other frames" in other.stderr


def test_rows_without_a_timeline_are_refused_in_one_line(tmp_path):
    out = written(tmp_path / "out", library_rows(("base+blank@0",), ("fishing",)))
    done = invoked("questions", out, "--format", "timeline")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "no row has a timeline" in done.stderr
