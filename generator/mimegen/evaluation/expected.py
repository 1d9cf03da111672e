"""What people reach at a kind of question: measured, expected from published work, or not known."""

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


class ExpectedShare(Strict):
    """A share that people got right in published work, of ``answers`` or of ``pairs``."""

    format: str
    asks: str | None = None
    people: int | None = None
    of: Literal["answers", "pairs"] = "answers"
    accuracy: float
    source: str

    def fits(self, question: Question) -> bool:
        """Return whether it is about such a question: whole clips with a person, options as there.
        """
        return (question.format == self.format and self.asks in (None, question.asks)
                and self.people in (None, question.people or 1)
                and question.control is None and question.condition in (None, "video")
                and (question.prompting != "open" or question.format == "timeline"))


class ExpectedShares(Strict):
    """All that is known of published work."""

    about: str
    expected: list[ExpectedShare]


@cache
def _expected() -> tuple[ExpectedShare, ...]:
    return tuple(read_yaml(FOLDER / "people.yaml", ExpectedShares).expected)


def with_expectation(questions: Iterable[Question]) -> list[Question]:
    """Return questions that say what people are expected to reach, and from where that is."""
    return [one.model_copy(update={"human": human_share([one])}) for one in questions]


def human_share(questions: Sequence[Question], scored: Sequence[ScoredAnswer] = ()
                ) -> dict[str, Any]:
    """Return what people reach at questions of one kind: ``accuracy``, ``of`` and ``source``.

    ``scored`` are answers to such questions, of which those of people count. What is published is
    an expectation; without it the accuracy is None.
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
    return {"accuracy": one.accuracy, "of": one.of, "source": f"expected: {one.source}"}
