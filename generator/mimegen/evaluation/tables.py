"""Tables of scored answers by variant, category, action and group, with intervals."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from scipy import stats

from mimegen.base.seeds import generator
from mimegen.base.spelling import value_order
from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.conditions import FACTOR, condition_key, factors, is_grid_trial
from mimegen.evaluation.contrasts import contrasts
from mimegen.evaluation.controls import FRAME
from mimegen.evaluation.differences import LEAST_ACTIONS
from mimegen.evaluation.expected import human_share
from mimegen.evaluation.pairs import action_clusters, both_right
from mimegen.evaluation.performances import of_known_performances, unknown_performances
from mimegen.evaluation.question import Question
from mimegen.evaluation.reading import RULES, STRICT
from mimegen.evaluation.reliance import reliance
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.statistics import (
    cluster_bootstrap,
    clustered_share,
    crossed_share,
    wilson,
)
from mimegen.evaluation.versus import models_compared
from mimegen.manifest.pair import ONE, SEVERAL

Table = dict[str, Any]
# An action, whether an answer about it is right, and the rater for answers of people.
Verdict = tuple[str, bool, str | None]
LEVEL = 0.95
# ActPLD's rank correlation needs at least this many models and types.
LEAST_RANKED = 4
# Number of random permutations for the p of ActPLD's rank correlation.
PERMUTATIONS = 9999


def report(scored: Sequence[ScoredAnswer], questions: Sequence[Question]) -> Table:
    """Return all tables as JSON content, one for each model and kind of question."""
    questions = [one for one in questions if one.counts]
    kinds = sorted({one.kind for one in scored})
    models = [_kind_report(kind, [one for one in scored if one.kind == kind], questions,
                           [one for one in scored if one.kind == (PEOPLE, *kind[1:])])
              for kind in kinds]
    return {"models": models, "needs": by_needs(scored), "compared": models_compared(scored),
            "actpld": actpld(scored), "reliance": reliance(scored, questions)}


def _kind_report(kind: tuple[str, str, str, str], scored: list[ScoredAnswer],
                 questions: Sequence[Question], by_people: list[ScoredAnswer]) -> Table:
    """Return all tables of one model and kind of question."""
    model, format_, asks, prompting = kind
    same = [one for one in questions if one.question_type == kind[1:]]
    whole_clips = [one for one in scored if _is_of_variant(one.question)]
    found = {
        "model": model, "format": format_, "asks": asks, "prompting": prompting,
        "asked": len(same), "human": human_share(same, by_people), **share(scored, *kind),
        "variants": _by_variant(kind, scored, by_people),
        "other_script": sum(one.in_other_script for one in scored),
        "of_two": sum((one.question.people or 1) == 2 for one in scored),
        "contrasts": contrasts(of_known_performances(scored)),
        "unknown_performances": unknown_performances(whole_clips),
        "groups": parted(scored, lambda one: str(one.question.semantic_group), *kind),
        "actions": parted(scored, lambda one: one.question.action, *kind),
        "confusions": _confusions(scored),
    }
    if any(one.question.split for one in scored):
        found["splits"] = parted(scored, lambda one: str(one.question.split), *kind)
    performed = _performed(scored)
    # Permuted clips may each have their own performer; a table by performer would then be useless.
    if 1 < len({_performer(one) for one in performed}) <= len(performed) / 2:
        found["performers"] = parted(performed, _performer, *kind)
    if any(one.question.options for one in scored):
        found["read_by"] = _rules(scored)
    if any(one.question.category for one in scored):
        found["categories"] = parted(scored, lambda one: str(one.question.category), *kind)
        found["aspects"] = parted(scored, lambda one: str(one.question.aspect), *kind)
    if format_ == FACTOR:
        found["factors"] = _by_factor(kind, scored)
    if asks == "validity":
        found["validity"] = validity(scored)
    if pairs := paired(scored, *kind):
        found["pairs"] = pairs
    elif whole := whole_groups(of_known_performances(whole_clips), *kind):
        found["whole"] = whole
    return found


def _by_factor(kind: tuple[str, str, str, str], scored: Sequence[ScoredAnswer]
               ) -> dict[str, dict[str, Table]]:
    """Return for each factor that varies the table of its values, over all other factors."""
    found = {}
    for factor in dict.fromkeys(name for one in scored for name, _ in factors(one.question)):
        own = [one for one in scored if factor in dict(factors(one.question))]
        values = parted(own, partial(_value, factor), *kind, factor)
        if len(values) > 1:
            found[factor] = {value: values[value] for value in sorted(values, key=_as_number)}
    return found


def _is_of_variant(question: Question) -> bool:
    """Return whether a clip is a variant of its performance.

    A single frame is none, and no cell of a grid is: another walker, mask or direction.
    """
    return question.control != FRAME and not is_grid_trial(question)


def _value(factor: str, one: ScoredAnswer) -> str:
    return dict(factors(one.question))[factor]


def _as_number(text: str) -> tuple[bool, float, str]:
    """Return a sort key for values of factors: numbers in ascending order before words."""
    try:
        return value_order(float(text))
    except ValueError:
        return value_order(text)


def _by_variant(kind: tuple[str, str, str, str], scored: list[ScoredAnswer],
                by_people: list[ScoredAnswer]) -> dict[str, Table]:
    """Return the table of each variant, with the accuracy of people."""
    variant_of = _variant_of(scored)
    found = parted(scored, variant_of, *kind)
    for variant, table in found.items():
        table["human"] = human_share(
            [one.question for one in scored if variant_of(one) == variant],
            [one for one in by_people if variant_of(one) == variant])
    return found


def _variant_of(scored: Sequence[ScoredAnswer]) -> Callable[[ScoredAnswer], str]:
    """Return the key that groups answers by the condition of their question."""
    condition = condition_key([one.question for one in scored])
    return lambda one: condition(one.question)


def _performed(scored: Iterable[ScoredAnswer]) -> list[ScoredAnswer]:
    """Return the answers about variants that name their performer."""
    return [one for one in scored if "+" in str(one.question.variant)]


def _performer(one: ScoredAnswer) -> str:
    return str(one.question.variant).partition("+")[0]


def _chance(scored: Sequence[ScoredAnswer]) -> float | None:
    """Return the accuracy of guessing; None if there are no options."""
    options = [len(one.question.options) for one in scored]
    return float(np.mean([1 / count for count in options])) if all(options) else None


def parted(scored: Iterable[ScoredAnswer], by: Callable[[ScoredAnswer], str],
           *name: str) -> dict[str, Table]:
    """Return the table of each part."""
    parts: dict[str, list[ScoredAnswer]] = defaultdict(list)
    for one in scored:
        parts[by(one)].append(one)
    return {part: share(parts[part], *name, part) for part in sorted(parts)}


def share(scored: Sequence[ScoredAnswer], *name: str) -> Table:
    """Return accuracy with three intervals: Wilson's, and two that allow for clusters by action.

    ``by_action`` is Wilson's interval with the clustered error; for people, the clusters are
    actions and raters. ``bootstrap`` resamples actions (BCa; None if all are alike, and for
    people). ``name`` seeds the resampling.
    """
    clusters = action_clusters(scored)
    return {**_clustered([(cluster, one.right, one.rater) for cluster, one in
                          zip(clusters, scored, strict=True)], *name),
            "unparsed": sum(one.chosen is None for one in scored) / len(scored),
            "chance": _chance(scored)}


def _clustered(verdicts: Sequence[Verdict], *name: str) -> Table:
    """Return the share of right verdicts, with its intervals."""
    right = sum(verdict for _, verdict, _ in verdicts)
    resampled = None
    if all(rater is None for *_, rater in verdicts):
        clusters: dict[str, list[bool]] = defaultdict(list)
        for action, verdict, _ in verdicts:
            clusters[action].append(verdict)
        sums = np.array([sum(clusters[action]) for action in sorted(clusters)], dtype=float)
        counts = np.array([len(clusters[action]) for action in sorted(clusters)], dtype=float)
        interval = clustered_share(sums, counts)
        if len(sums) >= LEAST_ACTIONS:
            resampled = cluster_bootstrap(sums / counts, counts, LEVEL, *name)
    else:
        # Resampling actions would ignore the differences between people.
        actions, rights, raters = zip(*verdicts, strict=True)
        interval = crossed_share(np.array(rights, dtype=float), actions, list(map(str, raters)))
    return {"answered": len(verdicts), "right": right, "accuracy": right / len(verdicts),
            "wilson": list(wilson(right / len(verdicts), len(verdicts))),
            "by_action": list(interval),
            "bootstrap": None if resampled is None else [*resampled]}


def paired(scored: Sequence[ScoredAnswer], *name: str) -> Table | None:
    """Return how many minimal pairs have both halves right, with the intervals of ``share``.

    ``chance`` is the rate for guessing. If the halves differ in what is asked about, a model that
    gives both the same answer gets none right. None without pairs.
    """
    pairs = both_right(scored)
    if not pairs:
        return None
    return {**_clustered([(action, right, rater) for action, right, _, rater in pairs],
                         *name, "pairs"),
            "chance": float(np.mean([chance for _, _, chance, _ in pairs]))}


def by_needs(scored: Sequence[ScoredAnswer]) -> list[Table]:
    """Return accuracy where one frame can tell the answer, and where several are needed.

    One row for each model, format, prompting and need, over all factors or probes. ``pairs`` are
    those with both halves right.
    """
    found = []
    asked = [one for one in scored if one.question.needs is not None]
    for model, format_, prompting in sorted({_asker(one) for one in asked}):
        for needs in (ONE, SEVERAL):
            own = [one for one in asked if one.question.needs == needs
                   and _asker(one) == (model, format_, prompting)]
            if own:
                name = (model, format_, prompting, needs)
                found.append({"model": model, "format": format_, "prompting": prompting,
                              "needs": needs, **share(own, *name), "pairs": paired(own, *name)})
    return found


def _asker(one: ScoredAnswer) -> tuple[str, str, str]:
    format_, _, prompting = one.question.question_type
    return one.model, format_, prompting


def whole_groups(scored: Sequence[ScoredAnswer], *name: str) -> Table | None:
    """Return how many performances are right in all their variants (group accuracy), by rater.

    Only performances with answers to at least two variants count; None without any. ``chance`` is
    the rate for guessing each answer by itself; None if answers have no options.
    """
    groups: dict[tuple[str, str], list[ScoredAnswer]] = defaultdict(list)
    for one in scored:
        groups[one.question.performance_id, one.rater or ""].append(one)
    # A performance seen in one variant only would add plain accuracy to group accuracy.
    several = [groups[performed] for performed in sorted(groups)
               if len({one.question.sample_id for one in groups[performed]}) > 1]
    if not several:
        return None
    whole = [(group[0].question.action, all(one.right for one in group), group[0].rater)
             for group in several]
    return {**_clustered(whole, *name, "groups"), "chance": _chance_of_all(several)}


def _chance_of_all(groups: Sequence[Sequence[ScoredAnswer]]) -> float | None:
    """Return how often independent guesses get all of a group right; None without options."""
    options = [[len(one.question.options) for one in group] for group in groups]
    if not all(map(all, options)):
        return None
    return float(np.mean([1 / prod(counts) for counts in options]))


def _rules(scored: Sequence[ScoredAnswer]) -> dict[str, int]:
    """Return how many choices each reading rule found; ``unparsed`` counts those without a rule."""
    counts = Counter(one.rule or "unparsed" for one in scored if one.question.options)
    return {rule: counts[rule] for rule in (*RULES, STRICT, "unparsed") if counts[rule]}


def _confusions(scored: Sequence[ScoredAnswer]) -> list[Table]:
    """Return which wrong options were chosen for which answers, the most frequent first."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in scored:
        if one.question.options and one.chosen is not None and not one.right:
            counts[one.question.answer, one.chosen] += 1
    return [{"answer": answer, "said": given, "times": times} for (answer, given), times
            in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))]


def validity(scored: Sequence[ScoredAnswer]) -> Table:
    """Return precision, recall and F1 of judging an explanation valid, as in ObservableToM.

    The first option means valid. An answer that could not be read counts as not valid. A ratio with
    denominator 0 is None.
    """
    valid = [one.question.answer == one.question.options[0] for one in scored]
    firsts = [one.chosen == one.question.options[0] for one in scored]
    # The first option was chosen and is the answer.
    both = sum(a and b for a, b in zip(valid, firsts, strict=True))
    return {"precision": both / sum(firsts) if any(firsts) else None,
            "recall": both / sum(valid) if any(valid) else None,
            "f1": 2 * both / (sum(firsts) + sum(valid)) if any(firsts) or any(valid) else None}


def actpld(scored: Sequence[ScoredAnswer]) -> Table | None:
    """Return ActPLD's tables: 3AFC and description matching by model, for label and intention.

    One person and two people are separate. ``spearman`` is the rank correlation of the two tasks
    over models and types, if there are enough. None if neither task was asked.
    """
    own = [one for one in scored if one.question.format in ("3afc", "description")
           and one.question.control is None]
    if not own:
        return None
    by_people = {name: [one for one in own if (one.question.people or 1) == count]
                 for name, count in (("one person", 1), ("two people", 2))}
    return {name: _actpld(found, name) for name, found in by_people.items() if found}


def _actpld(scored: Sequence[ScoredAnswer], name: str) -> Table:
    """Return the rows of ActPLD's table, and the rank correlation of its two tasks."""
    rows = []
    for model, asks in sorted({(one.model, one.question.asks) for one in scored}):
        own = [one for one in scored if (one.model, one.question.asks) == (model, asks)]
        tasks = {}
        for task in ("3afc", "description"):
            found = [one for one in own if one.question.format == task]
            if found:
                tasks[task] = share(found, name, model, asks, task)
        rows.append({"model": model, "type": asks, **tasks})
    return {"rows": rows, "spearman": _spearman(rows)}


def _spearman(rows: Sequence[Table]) -> Table | None:
    """Return the rank correlation of ActPLD's two tasks; None if it has no meaning."""
    both = np.array([(row["3afc"]["accuracy"], row["description"]["accuracy"]) for row in rows
                     if "3afc" in row and "description" in row])
    # Ranks of two or three models agree by chance; equal accuracies have no order.
    if len(both) < LEAST_RANKED or np.ptp(both, axis=0).min() == 0:
        return None
    first, second = (stats.rankdata(one) for one in both.T)
    # By permutation, which is exact up to seven rows: scipy's own p for four rows in the same order
    # is 0 instead of 2 in 24.
    found = stats.permutation_test(
        (first,), lambda ranks: np.corrcoef(ranks, second)[0, 1], permutation_type="pairings",
        n_resamples=PERMUTATIONS, rng=generator("spearman"))
    return {"rho": float(found.statistic), "p": float(found.pvalue), "n": len(both)}
