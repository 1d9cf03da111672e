"""Differences between models: one minus another, on the questions that both answered."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from mimegen.evaluation.answers import PEOPLE, SIMULATED_PEOPLE
from mimegen.evaluation.differences import AnswerPair, difference, with_holm
from mimegen.evaluation.pairs import action_clusters
from mimegen.evaluation.scoring import ScoredAnswer, share_right


@dataclass
class _Asked:
    """A question's action and its answers by model."""

    action: str = ""
    answers: dict[str, list[ScoredAnswer]] = field(default_factory=lambda: defaultdict(list))


def models_compared(scored: Sequence[ScoredAnswer]) -> list[dict[str, Any]]:
    """Return the differences between each two models, separately for each kind of question.

    ``difference`` is ``second`` minus ``first`` over the questions that both answered; the other
    fields are those of ``differences.difference``. ``p_holm`` is corrected for the number of pairs
    of models within a kind of question. People are left out: many of them answer a question.
    """
    kinds: dict[tuple[str, str, str], dict[str, _Asked]] = defaultdict(lambda: defaultdict(_Asked))
    for one, action in zip(scored, action_clusters(scored), strict=True):
        if one.model not in (PEOPLE, SIMULATED_PEOPLE):
            asked = kinds[one.question.question_type][one.question.question_id]
            asked.action = action
            asked.answers[one.model].append(one)
    return [row for kind in sorted(kinds) for row in _compared(kind, [*kinds[kind].values()])]


def _compared(kind: tuple[str, str, str], questions: Sequence[_Asked]) -> list[dict[str, Any]]:
    """Return the differences between each two models that answered questions of one kind."""
    format_, asks, prompting = kind
    models = sorted({model for one in questions for model in one.answers})
    return with_holm([
        {"format": format_, "asks": asks, "prompting": prompting, "first": first, "second": second,
         **difference(pairs, *kind, first, second)}
        for first, second in combinations(models, 2)
        if (pairs := _pairs(questions, first, second))])


def _pairs(questions: Sequence[_Asked], first: str, second: str) -> list[AnswerPair]:
    """Return both models' shares of right answers to each question that both answered."""
    return [AnswerPair(one.action, share_right(one.answers[first]),
                       share_right(one.answers[second]))
            for one in questions if first in one.answers and second in one.answers]
