import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.evaluation.audit import LEAKS, audit, own_labels, read_items, verdict
from mimegen.evaluation.balance import balance_notes
from mimegen.evaluation.distractors import Rules, chosen_distractors
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.folds import split_of_actions
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.evaluation.sampling import parse_sampling
from mimegen.evaluation.subjects import (
    Subject,
    known_actions,
    misleading_pairs,
    subject_of_action,
    subject_of_row,
)
from mimegen.evaluation.templates import read_templates
from questions_rows import COUNTED, library_rows, written
from running import invoked

ROWS = library_rows()
TAKES = len({(row.action, row.take) for row in ROWS})
BASE = library_rows(("base+blank@0",))
KNOWN = known_actions()


def asked(rows=BASE, format_="mc", asks="label", prompting="zero-shot", **request
          ) -> list[Question]:
    return questions_of(rows, QuestionRequest(format_, asks, prompting, read_templates(format_,
                                                                                       None),
                                              **request))


@pytest.fixture(scope="module")
def all_questions() -> list[Question]:
    return asked(ROWS)


def found_by(tmp_path: Path, questions: list[Question]) -> dict[str, float]:
    file = tmp_path / "questions.jsonl"
    write_questions(file, questions)
    tested, _ = audit(read_items(file))
    return {one.rule: one.accuracy for one in tested if one.leaks}


def test_every_clip_is_asked_about_once_with_the_prompt_of_the_paper(all_questions):
    assert {one.sample_id for one in all_questions} == {row.sample_id for row in ROWS}
    one = all_questions[0]
    lines = "\n".join(f"{letter}. {text}"
                      for letter, text in zip("ABCD", one.options, strict=True))
    assert one.prompt == (
        "What action is the person miming in this image/video?\n"
        "Choose the most accurate description from the options below.\n\n"
        f"{lines}\n\nRespond with just a single letter (A, B, C, or D).")


def test_options_hold_the_answer_once_and_say_where_each_is_from(all_questions):
    for one in all_questions:
        assert len({*one.options}) == 4
        assert one.answer in one.labels
        assert [text for text in one.options if text in one.labels] == [one.answer]
        texts = [one.answer, *(wrong["text"] for wrong in one.distractors)]
        assert one.options == [texts[place] for place in one.order]


def test_no_distractor_is_of_the_answer_s_group_or_among_its_ten_nearest(all_questions):
    known = known_actions()
    labels = sorted({action.labels[0] for action in known.values()})
    table = similarities(labels, labels)
    for one in all_questions:
        place = labels.index(one.answer)
        others = [other for other in range(len(labels)) if other != place]
        bar = sorted(table[place, others])[-10]
        for wrong in one.distractors:
            assert known[wrong["action"]].semantic_group != one.semantic_group
            assert table[place, labels.index(wrong["text"])] <= bar
            assert wrong["text"] not in known[one.action].labels


def test_every_label_is_a_distractor_three_times_as_often_as_the_answer(all_questions):
    answers = Counter(one.answer for one in all_questions)
    wrong = Counter(text for one in all_questions for text in one.options if text != one.answer)
    share = {label: wrong[label] / answers[label] for label in answers}
    # What does not come out even, a few takes, lends three labels ten times more.
    assert Counter(round(value, 9) for value in share.values())[3.0] >= 68
    assert all(1.5 <= value <= 4 for value in share.values())


def test_questions_with_the_same_options_ask_for_each_of_them_once():
    blocks = defaultdict(list)
    for one in asked():
        blocks[frozenset(one.options)].append(one.answer)
    whole = [answers for options, answers in blocks.items() if {*answers} == options]
    assert len(whole) == TAKES // 4
    assert all(len(answers) == 4 for answers in whole)


def test_answers_stand_in_every_place_equally_often():
    for format_ in ("mc", "3afc"):
        places = Counter(one.options.index(one.answer) for one in asked(format_=format_))
        assert max(places.values()) - min(places.values()) <= 1


def test_variants_of_a_take_differ_in_nothing_but_the_clip(all_questions):
    takes = defaultdict(set)
    for one in all_questions:
        takes[one.action, one.take].add((one.prompt, one.answer))
    assert len(takes) == TAKES
    assert all(len(prompts) == 1 for prompts in takes.values())


def test_three_alternatives_are_shuffled_in_every_trial():
    takes = defaultdict(set)
    for one in asked(ROWS, "3afc"):
        takes[one.action, one.take].add(tuple(one.options))
    assert sum(len(orders) > 1 for orders in takes.values()) == TAKES


@pytest.mark.parametrize("request_", [
    {}, {"seed": 5}, {"difficulty": "near"}, {"difficulty": "far"}, {"format_": "3afc"},
    {"format_": "3afc", "asks": "intention"}, {"fold": 3}, {"prompting": "few-shot"}])
def test_our_own_sets_stay_at_chance(tmp_path, request_):
    assert found_by(tmp_path, asked(ROWS, **request_)) == {}


def test_near_sets_are_nearer_in_meaning_than_far_ones():
    def nearness(difficulty):
        return sum(wrong["similarity"] for one in asked(difficulty=difficulty)
                   for wrong in one.distractors)
    assert nearness("near") > nearness(None) > nearness("far")


def test_the_same_seed_gives_the_same_questions_and_another_one_others():
    again = asked()
    assert again == asked(list(reversed(BASE)))
    other = {one.sample_id: one.options for one in asked(seed=1)}
    assert sum({*other[one.sample_id]} == {*one.options} for one in again) < 10


@settings(max_examples=examples(8), deadline=None)
@given(st.data())
def test_blocks_keep_the_rules_whatever_the_set(data):
    actions = data.draw(st.lists(st.sampled_from(sorted(known_actions())), min_size=6, max_size=40))
    seed = data.draw(st.integers(0, 99))
    known = known_actions()
    subjects = [Subject(name, f"{name}/{number}", known[name].labels[0],
                        frozenset(known[name].labels), known[name].semantic_group)
                for number, name in enumerate(actions)]
    library = [Subject(one.id, one.id, one.labels[0], frozenset(one.labels), one.semantic_group)
               for one in known.values()]
    chosen = chosen_distractors(subjects, library, Rules(4), seed)
    for subject in subjects:
        wrong = chosen[subject.name]
        assert len({one.text for one in wrong} - subject.accepted) == 3
        assert subject.group not in {known[one.action].semantic_group for one in wrong}


@pytest.mark.slow
def test_few_shot_examples_have_no_part_in_the_question():
    questions = asked(prompting="few-shot")
    assert {example.prompt[:6] for one in questions for example in one.examples} == {"What a"}
    action_of = {one.sample_id: one.action for one in questions}
    for one in questions:
        shown = [action_of[example.sample_id] for example in one.examples]
        assert len({*shown}) == 3
        assert one.action not in shown
        texts = {KNOWN[action].labels[0] for action in shown}
        assert not texts & {*one.options}
    wished = [action_of[example.sample_id] for example in questions[0].examples]
    assert len({"soccer_shot", "fishing", "playing_violin"} & {*wished}) >= 2


def test_letters_of_few_shot_examples_tell_nothing_of_the_answer():
    """With eight actions, the letter that no example had was right in 40 % of questions."""
    actions = sorted({row.action for row in BASE})
    missing = examples = 0
    for seed in range(12):
        drawn = {*random.Random(seed).sample(actions, 12)}
        for one in asked([row for row in BASE if row.action in drawn], prompting="few-shot",
                         seed=seed):
            letters = {example.answer[-1] for example in one.examples}
            assert len(letters) == len(one.examples) == 3
            right = "ABCD"[one.options.index(one.answer)]
            missing += right not in letters
            examples += 1
            for example in one.examples:
                [line] = [text for text in example.prompt.splitlines()
                          if text.startswith(f"{example.answer[-1]}. ")]
                shown = next(row for row in BASE if row.sample_id == example.sample_id)
                assert line[3:] in shown.labels
    assert 0.15 < missing / examples < 0.35


def test_few_shot_without_base_clips_is_refused():
    with pytest.raises(RequestError, match="few-shot needs 3 clips base"):
        asked(library_rows(("woman+blank@0",)), prompting="few-shot")


def test_folds_part_actions_as_in_the_paper_and_never_share_options():
    for fold in range(1, 6):
        questions = asked(fold=fold)
        part = {one.action: one.split for one in questions}
        counts, actions = Counter(part.values()), len({row.action for row in ROWS})
        assert sum(counts.values()) == actions
        # The paper has 35, 16 and 35 of 86.
        for split, share in (("train", 35), ("validation", 16), ("test", 35)):
            assert abs(counts[split] - share / 86 * actions) <= 4
        for one in questions:
            assert all(part[wrong["action"]] == one.split for wrong in one.distractors
                       if wrong["origin"] != "library")
    tested = Counter(action for fold in range(1, 6)
                     for action, where in split_of_actions({*part}, fold, 0).items()
                     if where == "test")
    assert {*tested} == {*part}
    assert {*tested.values()} <= {2, 3}


def test_the_library_lends_a_split_no_answer_of_another():
    rows = library_rows(("base+blank@0",), tuple(COUNTED[:20]))
    lent = 0
    for fold in range(1, 6):
        questions = questions_of(rows, QuestionRequest(
            "mc", "label", "zero-shot", read_templates("mc", None), fold=fold))
        part = {one.action: one.split for one in questions}
        for one in questions:
            assert all(part.get(wrong["action"], one.split) == one.split
                       for wrong in one.distractors)
            lent += any(wrong["origin"] == "library" for wrong in one.distractors)
    assert lent


def of_own(*labels: str) -> list[Any]:
    """Rows of a user's actions, one with each label."""
    first = library_rows(("base+blank@0",), ("boxing",))[0]
    return [first.model_copy(update={
        "action": f"own_{number}", "take": f"own_{number}", "labels": [label], "intentions": None,
        "semantic_group": None, "sample_id": f"own_{number}"})
        for number, label in enumerate(labels)]


@pytest.mark.parametrize("label", ["Boxing ", "Shadow-Boxing", "boxing, then fishing", "punching"])
@pytest.mark.parametrize("format_", ["mc", "3afc"])
def test_what_a_clip_shows_too_is_not_offered_beside_it(label, format_):
    others = library_rows(("base+blank@0",), ("boxing", "bowling", "golf_swing", "waltz"))
    for seed in range(3):
        made = asked([*others, *of_own(label)], format_, seed=seed)
        assert all(len({"boxing", label} & {*one.options}) < 2 for one in made)


def test_all_pairs_at_once_follow_the_rule_of_each():
    subjects = [found for action in KNOWN.values()
                if (found := subject_of_action(action, "label"))][::3]

    def alike(one: Subject, other: Subject) -> bool:
        return (one.action == other.action
                or (one.group is not None and one.group == other.group)
                or bool(one.names & other.names)
                or any(a in b or b in a for a in one.words for b in other.words))

    assert misleading_pairs(subjects).tolist() == [
        [not alike(one, other) for other in subjects] for one in subjects]


def test_no_label_is_offered_beside_one_that_it_is_part_of():
    known = known_actions()
    subjects = {name: subject for name in (
        "walk", "walk_dog", "throw", "throwing_dart", "paint_wall", "paint_picture", "boxing")
        if (subject := subject_of_action(known[name], "label"))}
    allowed = misleading_pairs([*subjects.values()])
    barred = [(one, other) for (one, other), (row, column) in zip(
        combinations(subjects, 2), combinations(range(len(subjects)), 2), strict=True)
        if not allowed[row, column]]
    assert barred == [("walk", "walk_dog"), ("throw", "throwing_dart"),
                      ("paint_wall", "paint_picture")]
    emoji = [subject_of_row(row, {}, "label") for row in of_own("\U0001f3b8", "\U0001f941")]
    assert misleading_pairs(emoji)[0, 1]


OF_TWO = ("cheers", "hug", "waltz", "high_five", "tug_of_war")


def of_one_and_two(one: int, two: int) -> list[Any]:
    """Rows of some actions of one person and of some of two."""
    return [row.model_copy(update={"partner_avatar": "woman" if row.action in OF_TWO else None})
            for row in library_rows(("base+blank@0",), (*COUNTED[:one], *OF_TWO[:two]))
            if KNOWN[row.action].people == 1 or row.action in OF_TWO]


@pytest.mark.parametrize("format_", ["mc", "3afc"])
@pytest.mark.parametrize(("one", "two"), [(24, 5), (8, 1), (0, 2)])
def test_counting_people_rules_no_option_out(format_, one, two):
    known = known_actions()
    assert all(known[action].people == 2 for action in OF_TWO)
    made = asked(of_one_and_two(one, two), format_)
    assert {question.people for question in made} == ({1, 2} if one else {2})
    for question in made:
        assert {known[wrong["action"]].people for wrong in question.distractors} == {
            question.people}


def test_options_that_counting_people_rules_out_are_named():
    [question] = [one for one in asked(of_one_and_two(8, 1)) if one.people == 2]
    assert not any("counting people" in note for note in balance_notes([question]))
    wrong = [one | {"action": COUNTED[0]} for one in question.distractors]
    [note] = [note for note in balance_notes([question.model_copy(update={"distractors": wrong})])
              if "counting people" in note]
    assert "clinking glasses" in note


def test_a_question_with_other_options_has_another_id():
    before, after = (asked(library_rows(("base+blank@0",), tuple(COUNTED[:count])))
                     for count in (12, 13))
    prompts = [{one.question_id: one.prompt for one in made} for made in (before, after)]
    changed = {one.sample_id for one in before} & {one.sample_id for one in after
                                                   if one.prompt not in prompts[0].values()}
    assert changed
    assert all(prompts[0][same] == prompts[1][same] for same in {*prompts[0]} & {*prompts[1]})
    assert asked(library_rows(("base+blank@0",), tuple(COUNTED[:12]))) == before


def test_what_a_clip_is_called_says_nothing(all_questions):
    for one in all_questions[:50]:
        assert not any(word in one.clip for word in one.action.split("_"))
        assert one.clip != Path(one.file_name).name


def test_one_action_alone_borrows_from_the_library_and_says_so(tmp_path):
    out = written(tmp_path / "out", library_rows(("base+blank@0",), ("basketball_shot",)))
    done = invoked("questions", out)
    assert done.returncode == 0, done.stderr
    assert "OUT shows one action, basketball shot," in done.stdout
    [question] = read_questions(out / "questions-mc.jsonl")
    assert {wrong["origin"] for wrong in question.distractors} == {"library"}


def test_render_configs_that_tables_would_pool_are_named(tmp_path):
    actions = ("fishing", "boxing", "waving", "bowling")
    alike = [row.model_copy(update={"render_config_name": "draft"})
             for row in library_rows(("base+blank@0",), actions)]
    other = [row.model_copy(update={"render_config_name": "other", "file_name": "clips/o.mp4",
                                    "sample_id": f"other-{row.sample_id}"}) for row in alike[:1]]
    one, two = (invoked("questions", written(tmp_path / name, rows)).stdout
                for name, rows in (("one", alike), ("two", [*alike, *other])))
    assert "render configs" not in one
    assert "clips of 2 render configs (draft, other)" in two


def test_what_could_not_be_balanced_is_named_with_the_reason():
    rows = library_rows(("base+blank@0", "base+aligned@0"))
    actions = sorted({row.action for row in rows})[:38]
    few = [row for row in rows if row.action in actions]
    made = questions_of(few, QuestionRequest("mc", "label", "zero-shot",
                                             read_templates("mc", None)))
    single = {one.answer for one in made if one.distractors[0]["origin"] == "set"}
    [note] = balance_notes(made)
    assert note.startswith(f"{2 * len(single)} question") and all(
        label in note for label in single)
    assert "41 performances make blocks of 4 and leave 1 over" in note
    assert not [*balance_notes([one for one in made if one.answer not in single])]


def test_few_actions_are_named_in_one_note_if_there_is_only_one():
    for actions, start in ((("boxing",), "OUT shows one action, boxing,"),
                           (("boxing", "fishing"), "4 questions could not be balanced")):
        rows = library_rows(("base+blank@0", "base+aligned@0"), actions)
        notes = [*balance_notes(questions_of(rows, QuestionRequest(
            "mc", "label", "zero-shot", read_templates("mc", None))))]
        assert len(notes) == len(actions) and notes[0].startswith(start)


def test_what_clashes_is_named_and_does_not_keep_others_out_of_a_block():
    """Bowling and archery are of one group: one of them is left over, whatever the seed."""
    rows = library_rows(("base+blank@0",), ("boxing", "bowling", "archery", "fishing",
                                           "playing_violin"))
    for seed in range(4):
        made = questions_of(rows, QuestionRequest("mc", "label", "zero-shot",
                                                  read_templates("mc", None), seed))
        single = [one for one in made if one.distractors[0]["origin"] == "set"]
        assert [one.action for one in single] in (["bowling"], ["archery"])
        [note] = balance_notes(made)
        assert "5 performances make blocks of 4 and leave 1 over" in note
    clashing = [one for one in made if one.action in ("bowling", "archery")]
    odd = [one.model_copy(update={"distractors": [
        {"text": "x", "action": "x", "origin": "set"}] * 3}) for one in (*made, *[
            one.model_copy(update={"performance": f"again {one.action}"}) for one in made
            if one not in clashing])]
    [note] = balance_notes(odd)
    assert len(clashing) == 2 and "no block of 4 was found" in note
    assert "are of one semantic group, or share a label or words of it" in note


def test_a_crowded_group_leaves_one_block_whole_and_the_cause_is_named():
    """Three target sports and three daily actions go into three blocks, but eight fill only two."""
    actions = ("archery", "bowling", "throwing_dart", "drinking_from_cup", "knocking_on_door",
               "taking_photo", "golf_swing", "boxing")
    rows = library_rows(("base+blank@0",), actions)
    assert Counter(KNOWN[name].semantic_group for name in actions)["target sport"] == 3
    for seed in range(6):
        made = questions_of(rows, QuestionRequest("mc", "label", "zero-shot",
                                                  read_templates("mc", None), seed))
        in_block = [one for one in made if one.distractors[0]["origin"] == "block"]
        assert len(in_block) == 4 and len({one.semantic_group for one in in_block}) == 4
        assert {*in_block[0].options} == {one.answer for one in in_block}
        note = next(iter(balance_notes(made)))
        assert "has 3 (drinking out of a cup, knocking on door, taking photo) for 2 blocks" in note
        assert "add 4 actions of other groups" in note
    more = library_rows(("base+blank@0",), (*actions, "fishing", "playing_violin", "yoga_tree",
                                            "chicken_dance"))
    made = questions_of(more, QuestionRequest("mc", "label", "zero-shot",
                                              read_templates("mc", None), 0))
    assert [*balance_notes(made)] == []


@pytest.mark.parametrize(("arguments", "said"), [
    (["--format", "timeline"], "no row has a timeline"),
    (["--format", "cue"], "no row shows a cue"),
    (["--condition", "text"], "does not apply to --format mc"),
    (["--size", "512"], "expected WIDTHxHEIGHT"),
    (["--format", "timeline", "--fold", "2"], "does not apply to --format timeline"),
    (["--format", "free", "--difficulty", "near"], "only to mc, 3afc"),
    (["--factor", "inverted"], "--factor does not apply to --format mc, only to factor"),
    (["--probe", "turn"], "only to probe, match"),
    (["--format", "pair", "--prompting", "cot"], "--prompting does not apply to --format pair"),
    (["--format", "probe", "--prompting", "cot"], "which takes zero-shot and open"),
    (["--stamp"], "--stamp requires --frames DIR"),
    (["--json"], "--json requires --audit FILE"),
    (["--sampling", "often"], "expected video"),
    (["--sampling", "window:5:8:8"], "contains no frame of a clip"),
    (["--frames", "there"], "choose them with --sampling"),
    (["--format", "3afc", "--prompting", "few-shot"], "no prompt for"),
])
def test_what_cannot_be_asked_is_refused_in_one_line(tmp_path, arguments, said):
    out = written(tmp_path / "out", library_rows(("base+blank@0",), ("fishing",)))
    done = invoked("questions", out, *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert re.search(said, done.stderr)
    assert [*out.glob("questions*")] == []


def test_only_the_named_variants_and_groups_are_asked_about(tmp_path):
    actions = ("fishing", "boxing", "waving", "bowling")
    out = written(tmp_path / "out", library_rows(
        ("base+blank@0", "base+blank@90", "woman+blank@0"), actions))
    done = invoked("questions", out, "--variants", "angles")
    assert done.returncode == 0, done.stderr
    asked_about = {one.variant for one in read_questions(out / "questions-mc.jsonl")}
    assert asked_about == {"base+blank@0", "base+blank@90"}
    assert "others left out" in done.stdout
    [missing] = invoked("questions", out, "--variants", "base+blank@0,womn+blank@0",
                        "--out", out / "q.jsonl").stderr.splitlines()
    assert "'womn+blank@0'" in missing and "did you mean woman+blank@0" in missing
    assert not (out / "q.jsonl").exists()


def test_an_audit_takes_no_options_of_questions(tmp_path):
    done = invoked("questions", "--audit", tmp_path / "q.jsonl", "--format", "free")
    assert done.returncode == 2 and "--format does not apply to --audit" in done.stderr


def test_a_folder_without_clips_is_refused(tmp_path):
    done = invoked("questions", tmp_path)
    assert done.returncode == 2
    assert "no such file" in done.stderr


@pytest.mark.parametrize(("text", "frames"), [
    ("uniform:4", [1, 3, 6, 8]), ("uniform:99", [*range(10)]), ("fps:5", [0, 2, 4, 6, 8]),
    ("fps:5:2", [0, 5]), ("middle:4", [3, 4, 5, 6]), ("middle:99", [*range(10)]),
    ("window:0.2:0.6:5", [2, 4])])
def test_frames_are_those_that_were_asked_for(text, frames):
    sampling = parse_sampling(text)
    assert sampling is not None and sampling.frames(10, 10) == frames


def test_frames_of_a_clip_are_written_under_a_name_that_says_nothing(tmp_path):
    [row] = library_rows(("base+blank@0",), ("fishing",))
    out = tmp_path / "out"
    (out / "clips").mkdir(parents=True)
    # Ever lighter grey, so that a frame tells its number.
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "color=black:96x54:r=5:d=2,format=gray,geq=lum=20*N", "-pix_fmt", "yuv420p",
                    out / row.file_name], check=True)
    digest = file_hash(out / row.file_name)
    written(out, [row.model_copy(update={"frames": 10, "fps": 5, "sha256": digest})])
    for image, ending in (("png", "png"), ("jpeg", "jpg")):
        done = invoked("questions", out, "--format", "free", "--sampling", "uniform:3", "--frames",
                       tmp_path / image, "--image", image)
        assert done.returncode == 0, done.stderr
        [question] = read_questions(out / "questions-free.jsonl")
        assert question.frames == [1, 5, 8]
        files = sorted((tmp_path / image / Path(question.clip).stem).iterdir())
        assert [file.name for file in files] == [f"{number:05d}.{ending}" for number in (1, 5, 8)]
        greys = [Image.open(file).convert("L").getpixel((48, 27)) for file in files]
        assert greys == pytest.approx([20, 100, 160], abs=25)


def filmed(out: Path, hue: int) -> Path:
    """Write a clip of ten frames and its manifest into a folder; earlier ones are replaced."""
    [row] = library_rows(("base+blank@0",), ("fishing",))
    clip = out / row.file_name
    clip.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-f", "lavfi", "-i",
                    f"testsrc2=96x54:r=5:d=2,hue=h={hue}", "-pix_fmt", "yuv420p", clip], check=True)
    return written(out, [row.model_copy(update={"frames": 10, "fps": 5,
                                                "sha256": file_hash(clip)})])


@pytest.mark.parametrize("changed", [["--size", "64x64"], ["--stamp"], []],
                         ids=["size", "stamp", "clip"])
def test_frames_of_another_size_stamp_or_clip_are_not_taken_for_those_asked_for(
        tmp_path: Path, changed: list[str]) -> None:
    out = filmed(tmp_path / "out", hue=0)
    asked = ["questions", out, "--format", "free", "--sampling", "uniform:3", "--frames",
             tmp_path / "frames"]
    for _ in range(2):
        assert invoked(*asked).returncode == 0
    if not changed:
        filmed(out, hue=90)
    done = invoked(*asked, *changed)
    assert done.returncode == 2 and "contains other frames" in done.stderr


def test_frames_of_questions_and_their_controls_lie_in_one_folder_for_each_clip(
        tmp_path: Path) -> None:
    out, frames = filmed(tmp_path / "out", hue=0), tmp_path / "100 %d frames: %03d"
    done = invoked("questions", out, "--format", "free", "--controls", "frame,shuffled,text",
                   "--sampling", "uniform:4", "--frames", frames)
    assert done.returncode == 0, done.stderr
    asked = read_questions(out / "questions-free.jsonl")
    assert {one.control for one in asked} == {None, "one frame", "shuffled", "no video"}
    [folder] = frames.iterdir()
    assert sorted(int(file.stem) for file in folder.iterdir()) == sorted(
        {number for one in asked for number in one.frames or ()})


# The audit


def plain_file(path: Path, questions: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in questions))
    return path


def restarted_sampler(labels: list[str]) -> list[dict[str, Any]]:
    """Questions as MIME's were made: a sampler that starts anew at each call."""
    questions = []
    for number, label in enumerate(labels):
        pool = [other for other in labels if other != label][: len(labels) - 11]
        options = [label, *random.Random(0).sample(pool, 3)]
        random.Random(number).shuffle(options)
        questions.append({"options": options, "answer": label})
    return questions


def fair_questions(labels: list[str], rng: random.Random) -> list[dict[str, Any]]:
    """Blocks of four, shuffled."""
    pool = rng.sample(labels, len(labels) // 4 * 4)
    blocks = [pool[at:at + 4] for at in range(0, len(pool), 4)]
    return [{"options": rng.sample(block, 4), "answer": label} for block in blocks
            for label in block]


LABELS = [action.labels[0] for action in known_actions().values()]


def test_the_published_pattern_is_found(tmp_path):
    file = plain_file(tmp_path / "published.jsonl", restarted_sampler(LABELS))
    wrong = {option for one in restarted_sampler(LABELS) for option in one["options"]
             if option != one["answer"]}
    assert len(wrong) <= 14
    done = invoked("questions", "--audit", file, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert {"rarity", "rare option", "classifier"} <= {*found["leaks"]}
    rarity = next(one for one in found["rules"] if one["rule"] == "rarity")
    assert rarity["accuracy"] > 0.85


@pytest.mark.parametrize(("rule", "change"), [
    ("position", lambda one, options: [one["answer"], *options]),
    ("longest", lambda one, options: [one["answer"] + " with great care", *options])])
def test_other_leaks_are_found_by_their_rule(tmp_path, rule, change):
    questions = []
    for one in fair_questions(LABELS, random.Random(2)):
        options = change(one, [text for text in one["options"] if text != one["answer"]])
        questions.append({"options": options, "answer": options[0]})
    if rule != "position":
        for number, one in enumerate(questions):
            random.Random(number).shuffle(one["options"])
    tested, _ = audit(read_items(plain_file(tmp_path / "leaky.jsonl", questions)))
    assert rule in {one.rule for one in tested if one.leaks}


def test_names_of_files_that_tell_are_found(tmp_path):
    questions = [one | {"clip": one["answer"].replace(" ", "_") + "_01.mp4"}
                 for one in fair_questions(LABELS, random.Random(3))]
    tested, _ = audit(read_items(plain_file(tmp_path / "named.jsonl", questions)))
    assert [one.rule for one in tested if one.leaks] == ["file name"]


def test_repeating_questions_makes_no_evidence(tmp_path):
    lucky = [{"options": ["a b", "c d"], "answer": "a b", "action": "x"},
             {"options": ["e f", "g h"], "answer": "e f", "action": "y"}]
    tested, _ = audit(read_items(plain_file(tmp_path / "lucky.jsonl", lucky * 500)))
    assert [one.rule for one in tested if one.leaks] == []
    assert {one.effective for one in tested if one.accuracy == 1.0} == {2.0}


def test_few_questions_are_not_said_to_be_at_chance(tmp_path):
    always_first = [{"options": [f"right {number}", "b", "c", "d"], "answer": f"right {number}"}
                    for number in range(6)]
    for kept, said, status in ((5, "too few questions to judge", 0),
                               (6, "be answered without video by: posi", 1)):
        file = plain_file(tmp_path / f"{kept}.jsonl", always_first[:kept] * 40)
        done = invoked("questions", "--audit", file)
        assert said in done.stdout and done.returncode == status, done.stdout
        # Shares of too few questions would suggest that position leaks.
        assert ("position" in done.stdout and "%" in done.stdout) == (kept == 6)
        told = json.loads(invoked("questions", "--audit", file, "--json").stdout)
        assert told["too_few_questions"] == (kept == 5)
        assert told["verdict"] == ("too_few_questions" if kept == 5 else "leaks")
        assert bool(told["leaks"]) == bool(status)


def test_too_few_questions_are_said_with_the_number_that_is_enough(tmp_path):
    def asked(*numbers, options=4):
        wrong = list("bcdef")[:options - 1]
        return [{"options": [f"right {action}", *wrong], "answer": f"right {action}"}
                for action, number in enumerate(numbers) for _ in range(number)]

    def told(name, questions):
        file = plain_file(tmp_path / f"{name}.jsonl", questions)
        return (invoked("questions", "--audit", file).stdout,
                json.loads(invoked("questions", "--audit", file, "--json").stdout))

    # A file of questions as a stranger had it: one action with 10 clips, seven with 3.
    text, content = told("unequal", asked(10, *[3] * 7))
    assert content["evidence"] == {"actions": 8, "counts_for": 5, "enough": 6}
    assert "it has 8 actions, which count for 5 because they have unequal numbers" in text
    assert "6 actions with equal numbers of questions would be enough" in " ".join(text.split())
    assert "95 %" not in text and "p after Holm" not in text
    # Kish's effective number is 5.95 here, which counts for 5 and not for 6.
    nearly = told("nearly", asked(*[4] * 5, 5))[1]
    assert nearly["evidence"] == {"actions": 6, "counts_for": 5, "enough": 6}
    for options in (2, 3, 4, 5):
        enough = told(f"one-{options}", asked(3, options=options))[1]["evidence"]["enough"]
        # The number said is enough, and one less is not.
        assert told(f"less-{options}", asked(*[3] * (enough - 1), options=options)
                    )[1]["too_few_questions"]
        text, content = told(f"enough-{options}", asked(*[3] * enough, options=options))
        assert not content["too_few_questions"] and content["evidence"] is None
        assert "95 %" in text and "p after Holm" in text


def test_own_labels_count_once_there_are_enough_questions(tmp_path):
    rng = random.Random(0)
    questions = [{"format": "mc", "answer": f"label {number:02}", "options": rng.sample(
        [f"label {number:02}", *(f"wrong {number}{end}" for end in "xyz")], 4)}
        for number in range(8)]
    items = read_items(plain_file(tmp_path / "own.jsonl", questions))
    found = verdict(items, audit(items)[0], own_labels(items))
    assert found.name == LEAKS and "own labels" in found.leaks
    assert "can be answered without video by: " in found.sentence


def test_fair_sets_are_seldom_accused(tmp_path):
    accused = 0
    for seed in range(6):
        file = plain_file(tmp_path / "fair.jsonl", fair_questions(LABELS, random.Random(seed)))
        tested, _ = audit(read_items(file))
        accused += any(one.leaks for one in tested)
    assert accused == 0


def test_aligned_backgrounds_tell_and_are_no_fault(tmp_path, all_questions):
    file = tmp_path / "questions.jsonl"
    write_questions(file, all_questions)
    done = invoked("questions", "--audit", file)
    assert done.returncode == 0, done.stdout
    _, shown = audit(read_items(file))
    right = {one.rule: one.accuracy for one in shown}
    assert right["background (aligned)"] > 0.5
    assert abs(right["background (blank)"] - 0.25) < 0.1


@pytest.mark.parametrize(("line", "said"), [
    ('{"options": ["a", "b"], "answer": "c"}', "answer: expected one of the options"),
    ('{"options": ["a", "a"], "answer": "a"}', "occurs twice"),
    ('{"options": "ab", "answer": "a"}', "expected a list"),
    ('{"question_id": "q", "options": ["a", "b"], "answer": "a"}\n' * 2,
     "line 2: question_id: q already occurs in line 1"),
    ('["a"]', "is not a JSON object"), ("{", "is not valid JSON"), ("", "is empty"),
    ('{"answer": "a"}', "no question has options")])
def test_what_is_no_question_is_named_in_one_line(tmp_path, line, said):
    file = tmp_path / "bad.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(RequestError, match=said):
        read_items(file)


@pytest.mark.parametrize("answer", ["green tea", "B", "b)", 1])
def test_answers_may_be_texts_letters_or_numbers(tmp_path, answer):
    file = plain_file(tmp_path / "one.jsonl", [{"options": ["water", "green tea"],
                                                "answer": answer}])
    assert read_items(file)[0].answer == "green tea"


def test_distractors_within_a_set_are_its_own_actions_alone():
    members = {name for name, one in known_actions().items() if "actpld" in one.sets}
    rows = library_rows(("base+blank@0",), tuple(sorted(members)[:6]))
    made = questions_of(rows, QuestionRequest("3afc", "label", "zero-shot",
                                      read_templates("3afc", None), of_set="actpld"))
    wrong = {distractor["action"] for one in made for distractor in one.distractors}
    assert len(made) == len(rows) and wrong <= members
    with pytest.raises(RequestError, match="shows archery, which is not in that set; leave --set"):
        questions_of(library_rows(("base+blank@0",), ("archery",)), QuestionRequest(
            "3afc", "label", "zero-shot", read_templates("3afc", None), of_set="actpld"))
    with pytest.raises(RequestError, match=r"no action is in such a set \(did you mean actpld"):
        questions_of(rows, QuestionRequest("3afc", "label", "zero-shot",
                                           read_templates("3afc", None), of_set="actpl"))


def test_ambiguous_actions_lend_no_distractor(tmp_path, monkeypatch):
    place = tmp_path / "mocap" / "wobbling"
    place.mkdir(parents=True)
    (place / "action.yaml").write_text(
        "id: wobbling\nlabels: [wobbling]\nambiguous: true\nviewers: all saw a nod\n")
    monkeypatch.setenv("MIMEGEN_LIBRARY", str(tmp_path))
    assert known_actions()["wobbling"].ambiguous
    rows = library_rows(("base+blank@0",), ("boxing",))
    for seed in range(12):
        made = questions_of(rows, QuestionRequest("3afc", "label", "zero-shot",
                                          read_templates("3afc", None), seed=seed))
        assert "wobbling" not in {wrong["action"] for one in made for wrong in one.distractors}
