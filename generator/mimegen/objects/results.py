"""Scored answers as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mimegen.base.counted import counted
from mimegen.evaluation.answers import Answer, checked_answers, read_answers
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer, score
from mimegen.evaluation.tables import report
from mimegen.objects.records import data_frame, html_table

if TYPE_CHECKING:
    import pandas


class Results:
    """Every answer with its verdict, and the tables of ``mimegen evaluate --json``."""

    def __init__(self, scored: Sequence[ScoredAnswer], report: dict[str, Any]) -> None:
        self.scored, self.report = list(scored), report

    @classmethod
    def of(cls, questions: Sequence[Question],
           answers: Sequence[Mapping[str, Any]] | str | Path | Sequence[str | Path],
           similarity: str) -> Self:
        """Score answers. Raises RequestError for an answer to no question, or a wrong file."""
        scored = score(_answers(questions, answers), similarity)
        return cls(scored, report(scored, questions))

    def frame(self) -> "pandas.DataFrame":
        """Return a DataFrame with one row per answer."""
        return data_frame(
            {"model": one.model, "question_id": one.question.question_id,
             "sample_id": one.question.sample_id, "action": one.question.action,
             "variant": one.question.variant, "format": one.question.format,
             "said": one.chosen, "answer": one.question.answer, "correct": one.right}
            for one in self.scored)

    def summary(self) -> "pandas.DataFrame":
        """Return a DataFrame of accuracies with 95 % intervals, one row per model and variant."""
        return data_frame(
            {"model": one["model"], "format": one["format"], "variant": variant,
             "right": share["right"], "answered": share["answered"],
             "accuracy": share["accuracy"], "low": share["by_action"][0],
             "high": share["by_action"][1]}
            for one in self.report["models"]
            for variant, share in [*one["variants"].items(), ("all", one)])

    def __repr__(self) -> str:
        shares = ", ".join(f"{one['model']} {one['accuracy']:.1%} of {one['format']}"
                           for one in self.report["models"])
        return (f"<Results: {counted(len(self.scored), 'answer')}; right: {shares or 'none'};"
                " .summary() has the intervals>")

    def _repr_html_(self) -> str:
        return html_table(self.summary())


def _answers(questions: Sequence[Question], answers: Any) -> list[Answer]:
    if isinstance(answers, str | Path):
        return read_answers([Path(answers)], questions)
    if all(isinstance(one, str | Path) for one in answers):
        return read_answers([Path(one) for one in answers], questions)
    return checked_answers([(f"answer {number}", dict(one))
                            for number, one in enumerate(answers)], questions)
