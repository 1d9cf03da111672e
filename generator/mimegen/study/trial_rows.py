"""A row for each answer of a study, with everything about its question and its person."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mimegen.evaluation.answers import SIMULATED, Answer
from mimegen.evaluation.conditions import factors
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import score
from mimegen.study.conditions import study_conditions
from mimegen.study.export import SHOWN_SIZE, TIMES, Person, answer_lines, practice_lines
from mimegen.study.folder import Study

Row = dict[str, Any]
# Kinds of trials.
MAIN, PRACTICE, CHECK = "main", "practice", "check"
# Columns of every trial in order, before those of sliders and of factors.
COLUMNS = (
    "participant", "simulated", "complete", "trial", "kind", "task", "question_id", "sample_id",
    "second_sample_id", "action", "semantic_group", "format", "asks", "condition", "variant",
    "avatar", "background_config", "background_name", "angle", "people", "pair", "needs",
    "options", "answer", "right_answer", "correct", *TIMES, "replays", "left", "timed_out",
    "broken", *SHOWN_SIZE, "excluded")
FACTOR, RATING = "factor_", "rating_"
# A factor and its value in the variant of a display: ``name=value``.
# Reasons why a row does not count, in the order in which they are given.
NO_CLIP, FAST, SLOW = "broken", "fast", "slow"
UNFINISHED, INATTENTIVE = "unfinished", "failed_check"
PERSON_RULES = (UNFINISHED, INATTENTIVE)


@dataclass(frozen=True)
class Exclusion:
    """Which answers do not count: outside limits in ms, and those of persons by PERSON_RULES."""

    min_rt_ms: float = 0.0
    max_rt_ms: float | None = None
    persons: tuple[str, ...] = ()

    def of_answer(self, row: Mapping[str, Any]) -> str:
        """Return why an answer does not count by itself; empty if it does."""
        if row["broken"]:
            return NO_CLIP
        if row["rt_ms"] < self.min_rt_ms:
            return FAST
        return SLOW if self.max_rt_ms is not None and row["rt_ms"] > self.max_rt_ms else ""


def trial_rows(study: Study, people: Sequence[Person], questions: Sequence[Question],
               exclusion: Exclusion, similarity: str = "wordllama") -> list[Row]:
    """Return a row for each answer, practice included, in the order of people and trials.

    ``correct`` is 1, 0, or None for ratings, clips that could not be played, and attention checks
    whose result is unknown. What was not answered in time is wrong, as in ``mimegen evaluate``.
    """
    known = {one.question_id: one for one in questions}
    lines = [(known[line["question_id"]], line) for person in people
             for line in (*practice_lines(study, person), *answer_lines(study, person))]
    right = iter(_scored([pair for pair in lines if _is_judged(pair[1])], similarity))
    condition = study_conditions(questions)
    rows = [_row(question, line, condition(question),
                 next(right) if _is_judged(line) else None) for question, line in lines]
    excluded = dict(_excluded_persons(rows, exclusion))
    return [row | {"excluded": excluded.get(row["participant"]) or exclusion.of_answer(row)}
            for row in rows]


def _is_judged(line: Mapping[str, Any]) -> bool:
    return not line["broken"] and line["task"] != "ratings"


def _scored(pairs: Sequence[tuple[Question, Mapping[str, Any]]], similarity: str) -> list[bool]:
    """Return whether each answer is right, by the rules of ``mimegen evaluate``."""
    return [one.right for one in score(
        [Answer(question, line["model"], line["output"] or "", line["rater"])
         for question, line in pairs], similarity)]


def _row(question: Question, line: Mapping[str, Any], condition: str, right: bool | None) -> Row:
    extra = question.model_extra or {}
    kind = PRACTICE if extra.get("practice") else CHECK if line["golden"] else MAIN
    correct = line["passed"] if kind == CHECK else right
    row = {
        "participant": line["rater"], "simulated": bool(line.get(SIMULATED)),
        "complete": line["complete"], "trial": line["place"], "kind": kind, "task": line["task"],
        "question_id": question.question_id, "sample_id": question.sample_id,
        "second_sample_id": (extra.get("second") or {}).get("sample_id"),
        "action": question.action, "semantic_group": question.semantic_group,
        "format": question.format, "asks": question.asks, "condition": condition,
        "variant": question.variant, "avatar": question.avatar,
        "background_config": question.background_config,
        "background_name": question.background_name, "angle": question.angle,
        "people": question.people, "pair": question.pair, "needs": question.needs,
        "options": len(question.options),
        "answer": _answer(question, line), "right_answer": question.answer,
        "correct": None if correct is None else int(correct),
        **{name: line[name] for name in (*TIMES, *SHOWN_SIZE)},
        "replays": line["replays"], "left": line["left"],
        "timed_out": line["timed_out"], "broken": line["broken"]}
    row |= {f"{RATING}{name}": value for name, value in (line.get("ratings") or {}).items()}
    return row | {f"{FACTOR}{name}": value for name, value in factors(question)}


def _answer(question: Question, line: Mapping[str, Any]) -> str | None:
    """Return what was answered: the text of the option without its letter, or the free text."""
    output: str | None = line["output"]
    return output.partition(". ")[2] if output and question.options else output


def _excluded_persons(rows: Sequence[Row], exclusion: Exclusion) -> Iterator[tuple[str, str]]:
    """Yield the participants whose answers do not count, and why."""
    for row in rows:
        if UNFINISHED in exclusion.persons and not row["complete"]:
            yield row["participant"], UNFINISHED
        elif INATTENTIVE in exclusion.persons and row["kind"] == CHECK and row["correct"] == 0:
            yield row["participant"], INATTENTIVE
