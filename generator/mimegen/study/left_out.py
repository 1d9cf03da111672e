"""Report which questions a study does not ask, and why."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mimegen.base.counted import counted
from mimegen.evaluation.question import Question
from mimegen.study.folder import Study

KEPT = "of actions that are kept for practice and attention checks; set practice and golden to 0" \
       " in --settings to ask about them too"
ODD = "of actions that make no three of different groups with others; render more actions"
MORE = "more than the action with fewest clips has; render the same variants of all actions"


def left_out(study: Study, questions: Sequence[Question]) -> list[str]:
    """Return a line for each reason why questions are in no list."""
    asked = _clips(study, (name for names in study.lists for name in names))
    actions = {one.action for one in questions if one.file_name in asked}
    apart = _clips(study, [*study.practice, *study.golden])
    kept = {one.action for one in questions if one.file_name in apart}
    why: dict[str, list[str]] = defaultdict(list)
    for one in questions:
        if one.file_name not in asked:
            reason = KEPT if one.action in kept else MORE if one.action in actions else ODD
            why[reason].append(one.action)
    return [f"not asked: {len(found)} of {counted(len(questions), 'question')}"
            f" ({', '.join(sorted({*found}))}), {reason}" for reason, found in why.items()]


def _clips(study: Study, names: Iterable[str]) -> set[str]:
    return {source for name in names for source in study.trials[name].sources}
