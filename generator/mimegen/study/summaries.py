"""Tables of a study: by participant, by condition, and by participant and condition."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

from mimegen.study.trial_rows import CHECK, MAIN, PERSON_RULES, PRACTICE, Row

Key = tuple[Any, ...]
LEVEL = 0.95


def participants(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each participant and task, with practice and attention checks."""
    found = []
    for (name, task), own in _parts(rows, lambda row: (row["participant"], row["task"])):
        main = _kind(own, MAIN)
        practice, checks = (_judged(_kind(own, kind)) for kind in (PRACTICE, CHECK))
        found.append({
            "participant": name, "task": task, "simulated": own[0]["simulated"],
            "complete": own[0]["complete"],
            "left_out": own[0]["excluded"] if own[0]["excluded"] in PERSON_RULES else "",
            **_figures(main),
            "practice": len(practice), "practice_correct": _rights(practice),
            "checks": len(checks), "checks_passed": _rights(checks),
            "left": sum(row["left"] for row in main)})
    return found


def cells(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each participant, task and condition."""
    return [dict(zip(("participant", "task", "asks", "condition"), key, strict=True))
            | {"simulated": own[0]["simulated"], **_figures(own)}
            for key, own in _parts(_kind(rows, MAIN), lambda row: (
                row["participant"], row["task"], row["asks"], row["condition"]))]


def conditions(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each task and condition, over all participants.

    ``accuracy`` is of all answers together; ``mean`` is the mean of participants' accuracies, with
    its standard deviation and 95 % interval by t over participants.
    """
    by_person: dict[Key, list[Row]] = defaultdict(list)
    for cell in cells(rows):
        by_person[cell["task"], cell["asks"], cell["condition"]].append(cell)
    return [dict(zip(("task", "asks", "condition"), key, strict=True))
            | {"simulated": own[0]["simulated"], **_over_people(by_person[key]), **_figures(own)}
            for key, own in _parts(_kind(rows, MAIN), lambda row: (
                row["task"], row["asks"], row["condition"]))]


def _over_people(found: Sequence[Row]) -> Row:
    """Return the mean accuracy of participants with its spread; None where it has none."""
    shares = np.array([one["accuracy"] for one in found if one["accuracy"] is not None])
    few = len(shares) < 2
    spread = None if few else float(shares.std(ddof=1))
    middle = float(shares.mean()) if len(shares) else None
    reach = None if few or not spread else float(
        stats.t.ppf((1 + LEVEL) / 2, len(shares) - 1) * stats.sem(shares))
    return {"participants": len(shares), "mean": middle, "sd": spread,
            "low": None if middle is None or reach is None else middle - reach,
            "high": None if middle is None or reach is None else middle + reach}


def _figures(rows: Sequence[Row]) -> Row:
    """Return accuracy, its count, the median time of right answers, lapses and exclusions.

    ``n`` are the answers that count and can be right or wrong. ``lapses`` are those among them
    without an answer in time. ``excluded`` are answers that do not count, whatever the reason.
    """
    counted = [row for row in rows if not row["excluded"]]
    judged = _judged(counted)
    times = [row["rt_ms"] for row in judged if row["correct"]]
    return {"trials": len(rows), "n": len(judged), "correct": _rights(judged),
            "accuracy": _rights(judged) / len(judged) if judged else None,
            "median_rt_ms": median(times) if times else None,
            "lapses": sum(row["timed_out"] and row["answer"] is None for row in judged),
            "excluded": len(rows) - len(counted)}


def _kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _judged(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["correct"] is not None]


def _rights(rows: Sequence[Row]) -> int:
    return sum(row["correct"] for row in rows)


def _parts(rows: Sequence[Row], by: Callable[[Row], Key]) -> Iterator[tuple[Key, list[Row]]]:
    """Yield the rows of each part, in the order in which the parts first occur."""
    parts: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        parts[by(row)].append(row)
    yield from parts.items()
