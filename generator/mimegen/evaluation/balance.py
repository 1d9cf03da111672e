"""Report which questions could not be balanced, and why."""

from collections.abc import Iterable, Iterator, Sequence

from mimegen.base.counted import counted
from mimegen.evaluation.distractors import excluded_pairs
from mimegen.evaluation.question import Question
from mimegen.evaluation.subjects import Subject, known_actions, subject_of_action, unique
from mimegen.evaluation.supplied_distractors import GIVEN

# Origins of distractors that keep a question balanced: a block, a pair, or the user.
BALANCED = ("block", "pair", GIVEN)
_SHOWN = {1: "one person", 2: "two people"}
# Most labels that a message names.
MAX_NAMED = 6


def balance_notes(made: Sequence[Question]) -> Iterator[str]:
    """Yield a sentence for each reason why questions could not be balanced."""
    asked = [one for one in made if one.distractors and one.control is None]
    # Blocks are made of the questions without the user's own wrong answers.
    drawn = [one for one in asked if GIVEN not in _origins(one)]
    alone = drawn == asked and len({one.action for one in drawn}) == 1
    yield from _of_one_action(drawn) if alone else _unbalanced(drawn)
    yield from _mixed(drawn)
    if not alone:
        yield from _lent(asked)


def _of_one_action(drawn: Sequence[Question]) -> Iterator[str]:
    yield (f"OUT shows one action, {_named(one.answer for one in drawn)}, so the wrong answers are"
           " labels of the library, which are never correct, and the questions are not balanced;"
           " render clips of three or more other actions into OUT")


def _unbalanced(drawn: Sequence[Question]) -> Iterator[str]:
    """Yield which questions stand in no block; blocks are of clips of one person or of two."""
    for people in sorted({one.people or 1 for one in drawn}):
        alike = [one for one in drawn if (one.people or 1) == people]
        odd = [one for one in alike if _origins(one).isdisjoint(BALANCED)]
        if odd:
            about = "" if len(alike) == len(drawn) else f" about {_SHOWN[people]}"
            yield (f"{counted(len(odd), 'question')}{about} could not be balanced, with the answers"
                   f" {_named(one.answer for one in odd)}: {_unbalanced_reasons(alike, odd)};"
                   " their distractors are chosen one by one")


def _mixed(drawn: Sequence[Question]) -> Iterator[str]:
    """Yield which questions can be answered in part by counting people."""
    people_in = {name: action.people for name, action in known_actions().items()}
    people_in |= {one.action: one.people or 1 for one in drawn}
    mixed = [one for one in drawn if {people_in.get(wrong["action"], one.people or 1)
                                      for wrong in one.distractors} - {one.people or 1}]
    if mixed:
        yield (f"{counted(len(mixed), 'question')} with actions of one person and of two among the"
               f" options, with the answers {_named(one.answer for one in mixed)}: counting people"
               " rules options out; render more actions of as many people")


def _lent(asked: Sequence[Question]) -> Iterator[str]:
    """Yield which questions have wrong answers that no question has as its answer."""
    lent = [one for one in asked if "library" in _origins(one)]
    if lent:
        yield (f"{counted(len(lent), 'question')} with distractors that are never a correct answer,"
               f" with the answers {_named(one.answer for one in lent)}: OUT shows too few other"
               " actions that may be wrong answers to these, so labels of the library fill up;"
               " render more actions of other semantic groups")


def _origins(question: Question) -> set[str]:
    return {str(wrong["origin"]) for wrong in question.distractors}


def _unbalanced_reasons(asked: Sequence[Question], odd: Sequence[Question]) -> str:
    """Return why performances are in no block: too few, left over, or too similar."""
    size = len(asked[0].options)
    performances = _performances(asked)
    if performances < size:
        return (f"a block needs {size} performances of different actions, and OUT shows"
                f" {performances}")
    if (left := performances % size) == _performances(odd):
        return (f"{counted(performances, 'performance')} make blocks of {size} and leave {left}"
                " over")
    if crowded := _crowded_group(asked, size):
        return crowded
    apart = [f"{one.text} and {other.text} {why}" for one, other, why in _excluded_pairs(odd)]
    if not apart:
        return f"no block of {size} has a place for them besides the performances in other blocks"
    more = f", and {len(apart) - MAX_NAMED} more pairs" if len(apart) > MAX_NAMED else ""
    return (f"no block of {size} was found for them, because some may not stand in one question"
            f" ({'; '.join(apart[:MAX_NAMED])}{more})")


def _crowded_group(asked: Sequence[Question], size: int) -> str | None:
    """Return that a semantic group has more performances than there are blocks; None if none has.
    """
    performances = _performances(asked)
    members = {group: [one for one in asked if one.semantic_group == group]
               for group in sorted({one.semantic_group for one in asked if one.semantic_group})}
    group, count = max(((name, _performances(found)) for name, found in members.items()),
                       key=lambda one: one[1], default=("", 0))
    if count <= performances // size:
        return None
    more = counted(size * count - performances, "action")
    return (f"a block of {size} has room for one performance of a semantic group, and"
            f" '{group}' has {count} ({_named(one.answer for one in members[group])}) for"
            f" {counted(performances // size, 'block')}; add {more} of other groups (mimegen list"
            " groups)")


def _excluded_pairs(odd: Sequence[Question]) -> Iterator[tuple[Subject, Subject, str]]:
    subjects = unique(Subject(one.action, f"{one.action}/{one.performance_id}", one.answer,
                              frozenset(one.labels), one.semantic_group) for one in odd)
    library = [found for action in known_actions().values() if not action.ambiguous
               and (found := subject_of_action(action, odd[0].asks))]
    return excluded_pairs(subjects, library, bar_nearest=odd[0].format == "mc")


def _performances(questions: Sequence[Question]) -> int:
    return len({(one.action, one.performance_id) for one in questions})


def _named(labels: Iterable[str]) -> str:
    """Return distinct labels as text; of many, only the first ones."""
    names = sorted(set(labels))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
