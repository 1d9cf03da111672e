"""Make questions from manifest rows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import mimegen
from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.evaluation.distractors import Distractor, Rules, chosen_distractors
from mimegen.evaluation.embedding import embedding_version
from mimegen.evaluation.folds import split_of_actions
from mimegen.evaluation.opaque import opaque_name
from mimegen.evaluation.question import Example, Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import (
    KnownAction,
    Subject,
    known_actions,
    people_count,
    subject_of_action,
    subject_of_row,
    unique,
)
from mimegen.evaluation.supplied_distractors import GIVEN, given_distractors, read_given
from mimegen.evaluation.templates import LETTERS, OPTIONS, Templates, filled
from mimegen.manifest.row import Row

# Number of examples in a few-shot question, and the variant that they show.
SHOTS = 3
EXAMPLE_VARIANT = "base+blank@0"
# What a question may ask for, styles of prompts, and how near wrong answers are in meaning.
ASKS = ("label", "intention")
PROMPTINGS = ("zero-shot", "cot", "few-shot", "open")
DIFFICULTIES = ("near", "far")


@dataclass(frozen=True)
class QuestionRequest:
    """What questions to make: see ``mimegen questions --help``. ``fold`` is 1 to 5, or None.

    ``given`` is a file of the user's own wrong answers. With ``of_set``, all other wrong answers
    are actions of that published set.
    """

    format: str
    asks: str
    prompting: str
    templates: Templates
    seed: int = 0
    difficulty: str | None = None
    fold: int | None = None
    sampling: FrameSampling | None = None
    sampling_text: str = "video"
    given: Path | None = None
    of_set: str | None = None

    @property
    def options(self) -> int:
        """Number of options in a question; 0 if it is open."""
        return OPTIONS[self.format]


@dataclass(frozen=True)
class PosedPerformance:
    """A performance, its split, and its distractors."""

    subject: Subject
    split: str | None
    distractors: tuple[Distractor, ...]


def questions_of(rows: Sequence[Row], request: QuestionRequest) -> list[Question]:
    """Return one question for each row, in an order that reveals nothing.

    All variants of a performance get the same options, so that only the clip differs. Raises
    RequestError if there are too few wrong answers or examples.
    """
    template = request.templates.wording(request.format, request.asks, request.prompting)
    posed = _posed(rows, request)
    orders = _orders(rows, posed, request)
    made = [_question(row, posed[row.sample_id], orders[row.sample_id], template, request)
            for row in rows]
    if request.prompting == "few-shot":
        made = [_with_examples(question, made, request) for question in made]
    return named_by_content(made)


def _posed(rows: Sequence[Row], request: QuestionRequest) -> dict[str, PosedPerformance]:
    """Return by sample_id what is asked about; options come only from actions of the same split."""
    known = known_actions()
    subject_of = {row.sample_id: subject_of_row(row, known, request.asks) for row in rows}
    subjects = unique(subject_of.values())
    if request.of_set is not None:
        _refuse_outside(request.of_set, rows, known)
    library = [found for action in known.values() if _may_supply_distractors(action, request.of_set)
               and (found := subject_of_action(action, request.asks))]
    actions = {subject.action for subject in subjects}
    splits: dict[str, str | None] = dict.fromkeys(actions)
    if request.fold is not None:
        splits |= split_of_actions(actions, request.fold, request.seed)
    chosen: dict[str, tuple[Distractor, ...]] = {}
    given = _given(subjects, request)
    rules = Rules(request.options, request.difficulty, bar_nearest=request.format == "mc")
    for split in sorted({*splits.values()}, key=str) if request.options else []:
        part = [subject for subject in subjects
                if splits[subject.action] == split and subject.name not in given]
        elsewhere = {action for action, other in splits.items() if other != split}
        chosen |= chosen_distractors(part, library, rules, request.seed, elsewhere)
    return {sample: PosedPerformance(subject, splits[subject.action], 
                           given.get(subject.name) or chosen.get(subject.name, ()))
            for sample, subject in subject_of.items()}


def _may_supply_distractors(action: KnownAction, of_set: str | None) -> bool:
    """Whether an action may supply wrong answers: it is not ambiguous, and belongs to the set."""
    return not action.ambiguous and (of_set is None or of_set in action.sets)


def _refuse_outside(of_set: str, rows: Sequence[Row], known: Mapping[str, KnownAction]) -> None:
    """Raise RequestError for an unknown set, or a row whose action is not in the set."""
    sets = sorted({name for action in known.values() for name in action.sets})
    if of_set not in sets:
        raise RequestError(f"--set {of_set}: no action is in such a set{near_misses(of_set, sets)}")
    for row in rows:
        if row.action not in known or of_set not in known[row.action].sets:
            raise RequestError(f"--set {of_set}: {row.sample_id} shows {row.action}, which is not"
                               f" in that set; leave --set out, or render --action set:{of_set}")


def _given(subjects: Sequence[Subject], request: QuestionRequest
          ) -> Mapping[str, tuple[Distractor, ...]]:
    """Return the user's own wrong answers by subject's name, if any."""
    if request.given is None:
        return {}
    return given_distractors(subjects, read_given(request.given, subjects, request.options),
                             request.options, request.seed)


def _orders(rows: Sequence[Row], posed: dict[str, PosedPerformance], request: QuestionRequest
            ) -> dict[str, list[int]]:
    """Return the order of options by sample_id; the answer is in each position equally often.

    Multiple choice has one order for all variants of a performance. Three-alternative questions are
    shuffled anew for every trial, as in ActPLD.
    """
    if not request.options:
        return {row.sample_id: [] for row in rows}
    trial = {row.sample_id: (str(row.variant), row.sample_id) if request.format == "3afc" else
             (str(posed[row.sample_id].split), posed[row.sample_id].subject.name) for row in rows}
    balanced: dict[tuple[str, str], list[int]] = {}
    sets = defaultdict(list)
    for name in sorted({*trial.values()}):
        sets[name[0]].append(name)
    for shuffled, members in sets.items():
        balanced |= zip(members, _balanced(len(members), request, shuffled), strict=True)
    return {sample: balanced[name] for sample, name in trial.items()}


def _balanced(count: int, request: QuestionRequest, name: str) -> list[list[int]]:
    """Return orders of options in which 0, the answer, takes each position equally often."""
    draw = generator(request.seed, request.format, "orders", name)
    places = draw.permutation(count) % request.options
    orders = []
    for place in places:
        order = [int(one) for one in 1 + draw.permutation(request.options - 1)]
        order.insert(int(place), 0)
        orders.append(order)
    return orders


def _question(row: Row, posed: PosedPerformance, order: list[int], template: str,
              request: QuestionRequest
              ) -> Question:
    subject, sampling = posed.subject, request.sampling
    texts = [subject.text, *(distractor.text for distractor in posed.distractors)]
    options = [texts[place] for place in order]
    identity = (request.format, request.asks, request.prompting, request.difficulty, request.fold,
                request.seed, row.sample_id,
                *(one.text for one in posed.distractors if one.origin == GIVEN))
    template = request.templates.worded(template, people_count(row))
    right = row.labels if request.asks == "label" else [subject.text]
    return Question(
        **clip_fields(row, request.seed), question_id=content_key(*identity)[:16],
        format=request.format, prompt=filled(template, options),
        options=options, answer=subject.text, labels=right, semantic_group=subject.group,
        asks=request.asks, prompting=request.prompting, difficulty=request.difficulty,
        distractors=[vars(distractor) for distractor in posed.distractors], order=order,
        performance=subject.name,
        window=sampling.window(row.frames, row.fps) if sampling else [0, row.frames / row.fps],
        sampling=request.sampling_text,
        frames=sampling.frames(row.frames, row.fps) if sampling else None,
        fold=request.fold, split=posed.split, versions=versions(request.templates.about))


def clip_fields(row: Row, seed: int) -> dict[str, Any]:
    """Return the fields of a question that describe its clip."""
    return {
        "sample_id": row.sample_id, "action": row.action, "variant": variant_of(row),
        "clip": opaque_name(row, seed), "file_name": row.file_name, "take": row.take,
        "background_config": row.background_config, "background_name": row.background_name,
        "avatar": row.avatar, "angle": row.angle, "seed": seed,
        "people": people_count(row)}


def variant_of(row: Row) -> str | None:
    """Return a clip's variant.

    For a display of ``mimegen pointlight`` it is its condition and what else its set varies, or
    the display's name and manipulations. None for other rows without a variant.
    """
    if row.variant is not None or row.display is None:
        return row.variant
    if row.condition is None:
        return " ".join([row.display, *(str(one["name"]) for one in row.manipulations or ())])
    varied = {name: value for name, value in (row.grid or {}).items() if name != "condition"}
    return ", ".join([row.condition, *(f"{name}={one}" for name, one in varied.items())])


def versions(templates: str) -> dict[str, str]:
    """Return the versions with which questions are made, and the source of their wording."""
    return {"mimegen": mimegen.__version__, "templates": templates,
            "embedding": embedding_version()}


def _with_examples(question: Question, made: Sequence[Question], request: QuestionRequest
                  ) -> Question:
    """Return a question with examples before it: base clips of unrelated actions.

    Their right letters differ and are drawn anew for each performance. If they were those of the
    examples' own questions, which are balanced over all questions, the letter that no example has
    would be right too often. Raises RequestError if the rows have too few.
    """
    found = list(_examples(question, made, request))[:SHOTS]
    if len(found) < SHOTS:
        raise RequestError(f"{question.sample_id}: few-shot needs {SHOTS} clips {EXAMPLE_VARIANT}"
                           f" of other actions, but only {len(found)} are left; render more")
    places = generator(request.seed, "example letters", question.performance_id
                       ).permutation(max(request.options, 1))
    return question.model_copy(update={"examples": [
        _example(one, int(place), request)
        for one, place in zip(found, cycle(places), strict=False)]})


def _example(one: Question, place: int, request: QuestionRequest) -> Example:
    """Return a question as an example, with its answer moved to a place among the options."""
    answer, prompt = one.answer, one.prompt
    if one.options:
        options = [option for option in one.options if option != one.answer]
        options.insert(place, one.answer)
        template = request.templates.wording(request.format, request.asks, request.prompting)
        prompt = filled(request.templates.worded(template, one.people or 1), options)
        answer = LETTERS[place]
    return Example(sample_id=one.sample_id, clip=one.clip, file_name=one.file_name, prompt=prompt,
                   answer=request.templates.example.replace("{answer}", answer))


def _examples(question: Question, made: Sequence[Question], request: QuestionRequest
              ) -> Iterator[Question]:
    """Yield base clips of other groups that are no option, the templates' preferred ones first."""
    base = {one.action: one for one in made if one.variant == EXAMPLE_VARIANT
            and one.split in (None, "train")}
    wished = [action for action in request.templates.examples if action in base]
    rest = sorted(set(base) - set(wished))
    drawn = generator(request.seed, "examples", question.action).permutation(len(rest))
    options = {*question.options, *question.labels}
    groups = {question.semantic_group}
    for action in [*wished, *(rest[place] for place in drawn)]:
        one = base[action]
        group = one.semantic_group
        if action != question.action and not options & {*one.labels, one.answer} \
                and (group is None or group not in groups):
            groups.add(group)
            yield one
