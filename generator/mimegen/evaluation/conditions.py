"""The condition of a question: its variant, or its background where each clip is of its own."""

import re
from collections.abc import Callable, Sequence

from mimegen.evaluation.question import Question

# The format of questions about a factor of a grid, and the condition of all its cells if they are
# many: tables by factor have them apart.
FACTOR = "factor"
ALL_CELLS = "all cells of the grid"
# The factor of sets that are seen from several sides.
SIDE = "azimuth"
# MIME has ten variants. More are tabulated separately only if each has several clips.
MOST_ALONE = 12
# One factor of a grid, and its value, in a variant such as "direction=-90, inverted=no".
_CELL = re.compile(r"(?:^|, )([a-z_]+)=([^,]*)")


def condition_key(questions: Sequence[Question]) -> Callable[[Question], str]:
    """Return the key that groups questions by variant, or by background for permuted clips."""
    asked = {one.question_id for one in questions}
    variants = {one.variant for one in questions}
    # Permuted clips each have their own variant, so variants outnumber half the questions. So do
    # pairs.
    if all(one.pair for one in questions) \
            or (len(variants) > MOST_ALONE and 2 * len(variants) > len(asked)):
        return lambda one: ALL_CELLS if one.format == FACTOR else (
            f"{one.background_config or 'no'} background")
    return lambda one: str(one.variant)


def factors(question: Question) -> list[tuple[str, str]]:
    """Return the factors of a grid's display and their values."""
    return _CELL.findall(question.variant or "")


def is_grid_trial(question: Question) -> bool:
    """Return whether a question is about a cell of a grid, which is a stimulus of its own.

    Conditions and sides of one motion are variants of it. In questions that do not ask about
    factors, a display's variant begins with its condition.
    """
    if question.format == FACTOR:
        return True
    _, _, varied = (question.variant or "").partition(", ")
    return any(name != SIDE for name, _ in _CELL.findall(varied))
