"""Which clips show the same performance, as far as questions state it.

mimegen's own questions name the performance. Questions of other programs may leave it out, and then
nothing tells whether two clips of an action are variants of one performance or two performances.
"""

from collections import Counter
from collections.abc import Sequence

from mimegen.base.counted import counted
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer

# The performance that a question's take suggests, and the clip's variant and person.
_Cell = tuple[str, str | None, str | None]


def of_known_performances(scored: Sequence[ScoredAnswer]) -> list[ScoredAnswer]:
    """Return the answers about clips whose performance is known.

    It is known if the question has ``performance``, or a ``take`` of which every variant is one
    clip. A take with two clips in one variant was performed more than once, as with two seeds.
    """
    clips = {(_cell(one.question), one.question.sample_id) for one in scored
             if one.question.performance is None}
    repeated = {performed for (performed, *_), count in
                Counter(cell for cell, _ in clips).items() if count > 1}
    return [one for one in scored if one.question.performance is not None or (
        one.question.take and one.question.performance_id not in repeated)]


def _cell(question: Question) -> _Cell:
    return question.performance_id, question.variant, question.avatar


def unknown_performances(scored: Sequence[ScoredAnswer]) -> int:
    """Return the number of clips of unknown performances, of actions shown in several variants."""
    known = {one.question.sample_id for one in of_known_performances(scored)}
    left = [one.question for one in scored if one.question.sample_id not in known]
    variants = Counter(action for action, _ in {(one.action, one.variant) for one in left})
    return len({one.sample_id for one in left if variants[one.action] > 1})


def performances_sentence(unknown: int) -> str:
    """Return that clips are left out of comparisons; empty if none are."""
    if not unknown:
        return ""
    return (f"{counted(unknown, 'clip')} left out of comparisons of variants and of 'right in all"
            " variants', because the questions do not state which clips show the same performance;"
            " give them the field performance, the same for all variants of one performance")
