"""The condition of each question of a study, by which its answers are tabulated."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from mimegen.evaluation.conditions import condition_key
from mimegen.evaluation.question import Question


def study_conditions(questions: Sequence[Question]) -> Callable[[Question], str]:
    """Return the key of conditions: the variant, or the answer of questions of format ``same``."""
    parts: dict[str, list[Question]] = defaultdict(list)
    for one in questions:
        parts[one.format].append(one)
    keys = {format_: condition_key([one for one in own if one.counts] or own)
            for format_, own in parts.items()}
    return lambda one: one.answer if one.format == "same" else keys[one.format](one)
