"""The verdict as text for reviewers and as JSON for programs."""

from typing import Any

import numpy as np

from mimegen.base.counted import counted
from mimegen.evaluation.contamination.balance import Balance
from mimegen.evaluation.contamination.fall import Fall
from mimegen.evaluation.contamination.verdict import (
    ALPHA,
    FALL,
    NO_FALL,
    RISE,
    SMALL_FALL,
    Accuracy,
    Comparison,
    Judged,
    Report,
)
from mimegen.evaluation.question import well_formed
from mimegen.evaluation.statistics import FEW_RARE, Interval, McNemar

METHOD = (
    "The fall is the mean over actions of the difference in accuracy, seen minus unseen, between"
    " answers to the same action in the same variant, weighted as by Mantel and Haenszel. It is"
    " tested by its score (Farrington and Manning); its error is robust to answers of one action"
    " going together (CR2), with t at Satterthwaite's degrees of freedom; Holm's correction is over"
    " all models. No fall is said where two one-sided tests show that the truth lies within the"
    " margin. The bootstrap over actions (BCa), McNemar's exact test (of actions and variants with"
    " one answer in each arm) and the mixed logistic model stand beside it and decide nothing. The"
    " interval of the fall is the one to quote: near certainty, where an arm has fewer than"
    f" {FEW_RARE} wrong (or right) answers, BCa's, marked *, covers less than 95 %. Intervals are"
    " not corrected for the number of models; p after Holm's method is."
)


def paragraph(judged: Judged, report: Report) -> str:
    """Return a quotable paragraph: the test, n, estimate, interval, p and the conclusion."""
    whole = judged.whole
    low, high = whole.fall.interval()
    sentence = (
        f"{judged.name} was right on {_percent(whole.seen)} of {whole.seen.n} answers to seen clips"
        f" and {_percent(whole.unseen)} of {whole.unseen.n} to unseen ones. Between answers to the"
        f" same action, like with like (n = {whole.n[0]} and {whole.n[1]}, {whole.actions}"
        f" actions), accuracy {_moved(whole.fall.value)} (95 % CI of the fall"
        f" {100 * low:.1f} to {100 * high:.1f} points; {_t(whole.fall)}, {_p(whole.fall.p())},"
        f" {_p(judged.p)} after Holm's correction for"
        f" {counted(len(report.judged), report.by)}).")
    return f"{sentence}{_pairs(judged.pairs)} {_conclusion(judged, report.margin)}"


def _percent(accuracy: Accuracy) -> str:
    low, high = accuracy.interval
    return f"{100 * accuracy.value:.1f} % (95 % CI {100 * low:.1f} to {100 * high:.1f})"


def _moved(fall: float) -> str:
    if round(1000 * fall) == 0:
        return "did not change"
    return f"{'fell' if fall > 0 else 'rose'} by {abs(100 * fall):.1f} points"


def _t(fall: Fall) -> str:
    found = "infinite" if np.isinf(fall.score()) else f"{fall.score():.2f}"
    if np.isfinite(fall.df):
        return f"cluster-robust score t({fall.df:.1f}) = {found}"
    return f"score z = {found}, actions spread no more than independent answers"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _pairs(pairs: McNemar | None) -> str:
    if pairs is None:
        return ""
    return (f" Of {counted(pairs.pairs, 'pair')} (an action in a variant with one answer in each"
            f" arm) {pairs.first_only} were right on the seen clip alone and {pairs.second_only} on"
            f" the unseen clip alone (exact McNemar test, {_p(pairs.p)}).")


def _conclusion(judged: Judged, margin: float) -> str:
    points = f"{100 * margin:g} points"
    low, high = judged.whole.fall.interval(1 - 2 * ALPHA)
    within = f"90 % CI {100 * low:.1f} to {100 * high:.1f}, TOST, {_p(judged.p_equal)}"
    return {
        FALL: "This is evidence that part of the score on seen clips is remembered.",
        SMALL_FALL: f"The fall is real but smaller than the stated margin of {points} ({within}).",
        NO_FALL: f"The two are equivalent within the stated margin of {points} ({within}): no"
                 " contamination that matters.",
        RISE: "The unseen clips are easier, so that the arms are not of one difficulty; nothing"
              " follows about contamination.",
    }.get(judged.verdict, f"Neither a fall nor its absence within {points} is shown ({within});"
                          " more pairs are needed.")


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON content; shares are from 0 to 1, null means not available."""
    return {
        "seen": well_formed(str(report.seen.path)),
        "unseen": well_formed(str(report.unseen.path)), "alpha": ALPHA,
        "margin": report.margin, "by": report.by, "method": METHOD,
        "models": [{"model": judged.name, "verdict": judged.verdict, **_comparison(judged.whole),
                    "p_holm": judged.p, "equivalence": _equivalence(judged, report.margin),
                    "mcnemar": _mcnemar(judged.pairs), "mixed_logistic": _mixed(judged),
                    "placebo": judged.placebo and _comparison(judged.placebo),
                    "variants": [{"variant": name, **_comparison(found)}
                                 for name, found in judged.variants],
                    "words": paragraph(judged, report)} for judged in report.judged],
        "balance": [_balance(factor) for factor in report.balance],
        "warnings": list(report.warnings)}


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "accuracy": {name: {"n": arm.n, "value": arm.value, "interval": list(arm.interval)}
                     for name, arm in (("seen", found.seen), ("unseen", found.unseen))},
        "n": {"seen": found.n[0], "unseen": found.n[1]}, "actions": found.actions,
        "difference": {"value": found.fall.value, "se": found.fall.se,
                       "df": _finite(found.fall.df),
                       "interval": list(found.fall.interval()), "p": found.fall.p()},
        "bootstrap": found.bootstrap and list(found.bootstrap),
        "bootstrap_near_certainty": found.near_certainty}


def _equivalence(judged: Judged, margin: float) -> dict[str, Any]:
    fall = judged.whole.fall
    return {"margin": margin, "interval": list(fall.interval(1 - 2 * ALPHA)),
            "p": fall.p_outside(margin), "p_holm": judged.p_equal,
            "equivalent": judged.p_equal < ALPHA}


def _mcnemar(pairs: McNemar | None) -> dict[str, Any] | None:
    return None if pairs is None else {
        "pairs": pairs.pairs, "seen_only": pairs.first_only, "unseen_only": pairs.second_only,
        "discordance": pairs.discordance, "p": pairs.p, "odds_ratio": _finite(pairs.odds_ratio),
        "interval": _ends(pairs.odds_interval())}


def _mixed(judged: Judged) -> dict[str, Any] | None:
    mixed = judged.mixed
    return None if mixed is None else {
        "odds_ratio": mixed.odds_ratio, "interval": list(mixed.interval), "p": mixed.p,
        "action_sd": mixed.action_sd}


def _balance(factor: Balance) -> dict[str, Any]:
    return {"factor": factor.factor, "seen": factor.seen, "unseen": factor.unseen,
            "difference": factor.difference, "balanced": factor.balanced}


def _finite(number: float | None) -> float | None:
    """Return a finite number, or None, because JSON has no infinity."""
    return number if number is not None and np.isfinite(number) else None


def _ends(interval: Interval | None) -> list[float | None] | None:
    return interval and [_finite(end) for end in interval]
