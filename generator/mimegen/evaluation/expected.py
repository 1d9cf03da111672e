"""Human accuracy at a kind of question: measured, expected from published work, or unknown."""

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import mean
from typing import Any

from mimegen.base.counted import counted
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.supplied_distractors import GIVEN
from mimegen.evaluation.templates import FOLDER

UNKNOWN = "unknown: ask people with mimegen study"
# The character that was measured where a variant calls it ``base``.
BASE, MEASURED_BASE = "base+", "man"


class ExpectedShares(Strict):
    """The shares of answers that people got right in published work, by the variant they saw."""

    format: str
    asks: str
    people: int
    variants: dict[str, float]
    source: str

    def of(self, question: Question) -> float | None:
        """Return the share of a question; None if it is not what was measured."""
        variant = question.variant or ""
        same = ((question.format, question.asks, question.people or 1)
                == (self.format, self.asks, self.people))
        return self.variants.get(variant) if same and _is_as_measured(question) else None


def _is_as_measured(question: Question) -> bool:
    """Whether people would see the clip whole, its usual performer, and usual distractors."""
    drawn = question.difficulty is None and _is_by_mimegen(question)
    is_base = not (question.variant or "").startswith(BASE) \
        or question.avatar in (None, MEASURED_BASE)
    return (drawn and is_base and question.control is None
            and question.condition in (None, "video") and question.pair is None)


def _is_by_mimegen(question: Question) -> bool:
    """Whether the question was made by mimegen, with wrong answers that it drew itself.

    Other programs write no version of mimegen and no origin of each wrong answer.
    """
    drawn = [one.get("text") for one in question.distractors
             if one.get("origin") not in (None, GIVEN)]
    wrong = [option for option in question.options if option != question.answer]
    return "mimegen" in question.versions and sorted(map(str, drawn)) == sorted(wrong)


class PublishedShares(Strict):
    """All published shares, and names of the formats that have none."""

    about: str
    expected: list[ExpectedShares]
    unmeasured: dict[str, str]


@cache
def _published() -> PublishedShares:
    return read_yaml(FOLDER / "people.yaml", PublishedShares)


def with_expectation(questions: Iterable[Question]) -> list[Question]:
    """Return questions with the expected human accuracy and its source filled in."""
    return [one.model_copy(update={"human": human_share([one])}) for one in questions]


def human_share(questions: Sequence[Question], scored: Sequence[ScoredAnswer] = ()
                ) -> dict[str, Any]:
    """Return human accuracy at questions of one kind: ``accuracy`` and ``source``.

    ``scored`` are answers to such questions; only those of people count. Without them the accuracy
    is the mean of the published ones, or None unless all questions have one of the same source.
    """
    own = [one for one in scored if one.model == PEOPLE]
    if own:
        raters = len({one.rater for one in own})
        return {"accuracy": sum(one.right for one in own) / len(own),
                "source": f"measured: {counted(len(own), 'answer')} of"
                          f" {counted(raters, 'person', 'people')}"}
    found = [_published_share(one) for one in questions]
    known = [one for one in found if one is not None]
    sources = {source for _, source in known}
    if len(sources) != 1 or len(known) < len(found):
        return {"accuracy": None, "source": _unknown(questions)}
    return {"accuracy": mean(share for share, _ in known),
            "source": f"expected from other clips: {sources.pop()}"}


def _published_share(question: Question) -> tuple[float, str] | None:
    """Return the published accuracy and its source; None if there is none."""
    return next(((share, one.source) for one in _published().expected
                 if (share := one.of(question)) is not None), None)


def _unknown(questions: Sequence[Question]) -> str:
    """Return that nothing is known; of formats that nobody has measured, that no figure exists."""
    names = {_published().unmeasured.get(one.format) for one in questions}
    name = names.pop() if len(names) == 1 else None
    return f"no published figure for {name}; ask people" if name else UNKNOWN
