"""Clips of actions reserved for practice and as golden clips, whose answers are known.

Golden clips, used as attention checks, are named by the researcher or drawn: an action with wrong
answers from other groups; for ratings, a clip that is described as another action and so must not
look complete; for pairs, a clip beside itself, which shows the same action.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.evaluation.question import Question
from mimegen.study.design import Takes
from mimegen.study.settings import Golden, Settings, Task
from mimegen.study.trials import Trial, pair_trial, trial_of

# Variants by ease of recognition, the easiest first.
EASIEST = ("base+aligned@0", "base+blank@0")
# Highest plausible completeness rating of a clip that is described as another action.
MAX_COMPLETE = 50.0
# Numbers of practice trials and of golden clips where the settings leave them open.
PRACTICE_TRIALS = 1
GOLDEN_CLIPS = 2
# Fields that mark the questions of attention checks and of practice.
GOLDEN = "golden"
PRACTICE = "practice"
Asked = tuple[Trial, list[Question]]


@dataclass(frozen=True)
class KnownQuestions:
    """Questions about actions that no other question is about."""

    practice: tuple[Question, ...]
    golden: tuple[tuple[Question, Golden | None], ...]

    @property
    def actions(self) -> set[str]:
        """The reserved actions."""
        return {one.action for one in [*self.practice, *(one for one, _ in self.golden)]}


def reserve_questions(actions: Mapping[str, Takes], settings: Settings,
                      seed: int) -> KnownQuestions:
    """Return the questions for practice and golden clips, those named in settings or drawn ones.

    Raises RequestError if a named clip has no question, or no action is left for other questions.
    """
    drawn = generator(seed, "study", "kept").permutation(len(actions))
    names = [sorted(actions)[place] for place in drawn]
    named = settings.golden if isinstance(settings.golden, tuple) else ()
    golden = [(_named(one, actions), one) for one in named]
    taken = {question.action for question, _ in golden}
    left = iter(_easiest(actions[name]) for name in names if name not in taken)
    trials, count = _counts(settings, len(actions))
    needed = len(taken) + count + trials
    if needed >= len(actions):
        raise RequestError(f"{counted(len(actions), 'action')} are too few: {trials} for"
                           f" practice, {len(taken) + count} for attention checks, and at least one"
                           " for questions; render more, or set practice and golden to 0 in"
                           " --settings")
    practice = tuple(next(left) for _ in range(trials))
    return KnownQuestions(practice, (*golden, *((next(left), None) for _ in range(count))))


def too_few(actions: int) -> bool:
    """Whether practice trials and golden clips would take half of the actions or more."""
    return actions <= 2 * (PRACTICE_TRIALS + GOLDEN_CLIPS)


def _counts(settings: Settings, actions: int) -> tuple[int, int]:
    """Return the numbers of practice trials and of golden clips to draw from so many actions."""
    practice, golden = (0, 0) if too_few(actions) else (PRACTICE_TRIALS, GOLDEN_CLIPS)
    drawn = 0 if isinstance(settings.golden, tuple) else settings.golden
    return (practice if settings.practice is None else settings.practice,
            golden if drawn is None else drawn)


def _named(golden: Golden, actions: Mapping[str, Takes]) -> Question:
    known = {one.sample_id: one for takes in actions.values() for take in takes for one in take}
    if golden.sample_id not in known:
        raise RequestError(f"golden {golden.sample_id}: there is no question about"
                           f" it{near_misses(golden.sample_id, known)}")
    return known[golden.sample_id]


def _easiest(takes: Takes) -> Question:
    ranks = {variant: rank for rank, variant in enumerate(EASIEST)}
    return min(takes[0], key=lambda one: ranks.get(str(one.variant), len(EASIEST)))


def practice_trial(question: Question, tasks: tuple[Task, ...], questions: Sequence[Question],
                   settings: Settings, seed: int) -> Asked:
    """Return a practice trial, with question ids of its own.

    Its options are those of an attention check if there are enough: its own ones are asked about
    again later, and then the answer of the practice could be ruled out.
    """
    if "same" in tasks:
        return _own(pair_trial(question, question, settings), PRACTICE)
    if "choice" in tasks and not settings.repeat_options:
        with suppress(RequestError):
            question = _easy(question, questions, seed)
    return _own(trial_of(question, tasks, settings), PRACTICE)


def golden_trial(question: Question, golden: Golden | None, tasks: tuple[Task, ...],
                 questions: Sequence[Question], settings: Settings, seed: int) -> Asked:
    """Return a trial with a known answer, with question ids of its own."""
    if "same" in tasks:
        return _own(pair_trial(question, question, settings))
    if "choice" in tasks:
        asked = _easy(question, questions, seed)
        trial, found = trial_of(asked, tasks, settings)
        return _own((trial.model_copy(update={"right": asked.options.index(asked.answer)}), found))
    if "ratings" in tasks:
        return _own(_golden_ratings(question, golden, questions, settings, seed))
    return _own(trial_of(question, tasks, settings))


def _easy(question: Question, questions: Sequence[Question], seed: int) -> Question:
    """Return a question with wrong answers from other groups, preferably not its present options.
    """
    others = _other_answers(question, questions, seed)
    fresh = [text for text in others if text not in question.options]
    count = len(question.options)
    wrong = [*fresh, *(text for text in others if text not in fresh)][:count - 1]
    if len(wrong) < count - 1:
        raise RequestError(f"{question.sample_id}: as an attention check it needs {count - 1}"
                           " actions of other groups; render more, or set golden to 0 in"
                           " --settings")
    options = [question.answer, *wrong]
    order = [int(place) for place in
             generator(seed, "study", "options", question.sample_id).permutation(count)]
    return question.model_copy(update={
        "options": [options[place] for place in order], "order": order,
        "distractors": [{"text": text, "origin": GOLDEN} for text in wrong]})


def _golden_ratings(question: Question, golden: Golden | None, questions: Sequence[Question],
                    settings: Settings, seed: int) -> Asked:
    """Return a golden trial of ratings: a named clip with expected ratings, or a misdescribed one.

    A drawn clip is described as another action, so its completeness must be rated low.
    """
    if golden is not None:
        reach = settings.tolerance
        expected = {name: (max(value - reach, 0.0), min(value + reach, 100.0))
                    for name, value in golden.expected.items()}
        trial, found = trial_of(question, ("ratings",), settings)
        return trial.model_copy(update={"expected": expected}), found
    others = _other_answers(question, questions, seed)
    names = {slider.name for slider in settings.ratings.sliders}
    if not others or "completeness" not in names:
        raise RequestError("golden: a number of rated clips needs a slider named completeness and"
                           " actions of two groups; name golden clips and what is expected of"
                           " them, or set golden to 0 in --settings")
    trial, found = trial_of(question.model_copy(update={"answer": others[0]}), ("ratings",),
                            settings)
    return trial.model_copy(update={"expected": {"completeness": (0.0, MAX_COMPLETE)}}), found


def _other_answers(question: Question, questions: Sequence[Question], seed: int) -> list[str]:
    """Return answers to questions about actions of other groups, in random order."""
    texts = sorted({one.answer for one in questions if one.action != question.action
                    and (one.semantic_group is None
                         or one.semantic_group != question.semantic_group)}
                   - {*question.labels, question.answer})
    draw = generator(seed, "study", "others", question.sample_id).permutation(len(texts))
    return [texts[place] for place in draw]


def _own(asked: Asked, kind: str = GOLDEN) -> Asked:
    """Return a golden or practice trial with its questions under new ids."""
    trial, questions = asked
    renamed = {one.question_id: content_key(kind, one.question_id)[:16] for one in questions}
    return (trial.model_copy(update={
        "questions": {task: renamed[name] for task, name in trial.questions.items()}}),
        [one.model_copy(update={"question_id": renamed[one.question_id], kind: True})
         for one in questions])
