"""Report which questions and checks a study leaves out, and why."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mimegen.base.counted import counted
from mimegen.evaluation.question import Question
from mimegen.study.folder import Study
from mimegen.study.golden import too_few
from mimegen.study.trials import WORDED

KEPT = "of actions that are kept for practice and attention checks; set practice and golden to 0" \
       " in --settings to ask about them too"
ODD = "of actions that make no three of different groups with others; render more actions"
MORE = "more than the action with fewest clips has; render the same variants of all actions"


def known_left_out(study: Study, questions: Sequence[Question]) -> str | None:
    """Return a line if practice or attention checks are left out because actions are few."""
    actions = len({one.action for one in questions})
    settings = study.settings
    missing = [what for what, set_to in (("practice", settings.practice),
                                         ("attention checks", settings.golden)) if set_to is None]
    if questions[0].format in WORDED or not too_few(actions) or not missing:
        return None
    return (f"no {' or '.join(missing)}, because there are only {counted(actions, 'action')}; set"
            " practice and golden in --settings to take some of them for that")


def divided(study: Study, questions: Sequence[Question]) -> str | None:
    """Return a line if people see only some actions, so that nobody sees the same options twice."""
    asked = _clips(study, (name for names in study.lists for name in names))
    actions = len({one.action for one in questions if one.file_name in asked})
    most = max(map(len, study.lists))
    settings, first = study.settings, study.trials[study.lists[0][0]]
    if "choice" not in first.tasks or settings.repeat_options or settings.trials \
            or most >= actions:
        return None
    return (f"each person sees at most {most} of {counted(actions, 'action')}, so that nobody sees"
            " the same options twice; set repeat_options: true in --settings to show all")


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
