"""Differences between models: one minus another, on the questions that both answered."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.differences import AnswerPair, difference, with_holm
from mimegen.evaluation.scoring import ScoredAnswer, share_right

# A question's answers by model.
_ByModel = dict[str, list[ScoredAnswer]]


def models_compared(scored: Sequence[ScoredAnswer]) -> list[dict[str, Any]]:
    """Return the differences between each two models, separately for each kind of question.

    ``difference`` is ``second`` minus ``first`` over the questions that both answered; the other
    fields are those of ``differences.difference``. ``p_holm`` is corrected for the number of pairs
    of models within a kind of question. People are left out: many of them answer a question.
    """
    kinds: dict[tuple[str, str, str], dict[str, _ByModel]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list)))
    for one in scored:
        if one.model != PEOPLE:
            question = one.question
            kinds[question.question_type][question.question_id][one.model].append(one)
    return [row for kind in sorted(kinds) for row in _compared(kind, [*kinds[kind].values()])]


def _compared(kind: tuple[str, str, str], questions: Sequence[_ByModel]) -> list[dict[str, Any]]:
    """Return the differences between each two models that answered questions of one kind."""
    format_, asks, prompting = kind
    models = sorted({model for one in questions for model in one})
    return with_holm([
        {"format": format_, "asks": asks, "prompting": prompting, "first": first, "second": second,
         **difference(pairs, *kind, first, second)}
        for first, second in combinations(models, 2)
        if (pairs := _pairs(questions, first, second))])


def _pairs(questions: Sequence[_ByModel], first: str, second: str) -> list[AnswerPair]:
    """Return both models' shares of right answers to each question that both answered."""
    return [AnswerPair(one[first][0].question.action, share_right(one[first]),
                       share_right(one[second]))
            for one in questions if first in one and second in one]
