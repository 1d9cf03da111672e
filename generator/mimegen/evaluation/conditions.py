"""The condition of a question: its variant, or its background where each clip is of its own."""

from collections.abc import Callable, Sequence

from mimegen.evaluation.question import Question

# MIME has ten variants. More are tabulated separately only if each has several clips.
MOST_ALONE = 12


def condition_key(questions: Sequence[Question]) -> Callable[[Question], str]:
    """Return the key that groups questions by variant, or by background for permuted clips."""
    asked = {one.question_id for one in questions}
    variants = {one.variant for one in questions}
    # Permuted clips each have their own variant, so variants outnumber half the questions. So do
    # pairs.
    if all(one.pair for one in questions) \
            or (len(variants) > MOST_ALONE and 2 * len(variants) > len(asked)):
        return lambda one: f"{one.background_config or 'no'} background"
    return lambda one: str(one.variant)
