"""Human accuracy at a kind of question: measured, expected from published work, or unknown."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Literal

from mimegen.base.counted import counted
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.templates import FOLDER

UNKNOWN = "unknown: ask people with mimegen study"


# Variants that show dots without a manipulation.
UPRIGHT_DOTS = re.compile(r"(pointlight|upright)(@|,|$)")


class ExpectedShare(Strict):
    """The share of ``answers`` or of ``pairs`` that people got right in published work.

    ``shown`` is what they saw: a figure on any background, a figure on a blank one, or upright
    dots.
    """

    format: str
    shown: Literal["figure", "blank", "dots"] = "figure"
    asks: str | None = None
    people: int | None = None
    of: Literal["answers", "pairs"] = "answers"
    accuracy: float
    source: str

    def fits(self, question: Question) -> bool:
        """Return whether the share applies to a question: a whole clip with people, same options.
        """
        return (question.format == self.format and self._shows(question)
                and self.asks in (None, question.asks)
                and self.people in (None, question.people or 1)
                and question.control is None and question.condition in (None, "video")
                and (question.prompting != "open" or question.format == "timeline"))


    def _shows(self, question: Question) -> bool:
        if self.shown == "dots":
            return UPRIGHT_DOTS.match(question.variant or "") is not None
        is_figure = question.variant is None or "+" in question.variant
        return is_figure and (self.shown == "figure" or question.background_config == "blank")


class ExpectedShares(Strict):
    """All published shares."""

    about: str
    expected: list[ExpectedShare]


@cache
def _expected() -> tuple[ExpectedShare, ...]:
    return tuple(read_yaml(FOLDER / "people.yaml", ExpectedShares).expected)


def with_expectation(questions: Iterable[Question]) -> list[Question]:
    """Return questions with the expected human accuracy and its source filled in."""
    return [one.model_copy(update={"human": human_share([one])}) for one in questions]


def human_share(questions: Sequence[Question], scored: Sequence[ScoredAnswer] = ()
                ) -> dict[str, Any]:
    """Return human accuracy at questions of one kind: ``accuracy``, ``of`` and ``source``.

    ``scored`` are answers to such questions; only those of people count. Without them the accuracy
    is the published one, or None.
    """
    own = [one for one in scored if one.model == PEOPLE]
    if own:
        raters = len({one.rater for one in own})
        return {"accuracy": sum(one.right for one in own) / len(own), "of": "answers",
                "source": f"measured: {counted(len(own), 'answer')} of"
                          f" {counted(raters, 'person', 'people')}"}
    found = {one.source: one for one in _expected() if all(map(one.fits, questions))}
    if len(found) != 1 or not questions:
        return {"accuracy": None, "of": "answers", "source": UNKNOWN}
    one, = found.values()
    return {"accuracy": one.accuracy, "of": one.of,
            "source": f"expected from other clips: {one.source}"}
