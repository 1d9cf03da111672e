"""Evaluate people's answers: agreement, careless raters, and mean opinions."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.evaluation.agreement import alpha
from mimegen.evaluation.answers import SIMULATED, lines_in
from mimegen.evaluation.question import Question, json_lines

# GAIA's threshold for careless raters: the share of ratings with the same value.
EQUAL_SHARE = 0.4
# Raters with fewer ratings are not checked for equal ones.
MIN_RATINGS = 5
# Correlations above this count as 1, allowing for rounding.
PERFECT = 1 - 1e-9


@dataclass(frozen=True)
class Rating:
    """One person's rating of a question's clip on a scale from 0 to 100."""

    rater: str
    question: Question
    scale: str
    value: float


@dataclass(frozen=True)
class PeopleAnswers:
    """People's answers except free ones: ratings, choices, and attention checks by rater."""

    ratings: tuple[Rating, ...]
    choices: tuple[tuple[str, str, str], ...]
    checks: dict[str, list[bool]]
    raters: tuple[str, ...]
    is_simulated: bool = False


def read_people(paths: Sequence[Path], questions: Sequence[Question]) -> PeopleAnswers:
    """Read the answers of people in files that may also hold those of models.

    Raises RequestError as ``read_answers`` does, and for ratings that are not numbers from 0 to
    100.
    """
    known = {question.question_id: question for question in questions}
    ratings: list[Rating] = []
    choices: list[tuple[str, str, str]] = []
    checks: dict[str, list[bool]] = defaultdict(list)
    raters: dict[str, None] = {}
    is_simulated = False
    for where, content in lines_in(paths, known):
        rater, question = content.get("rater"), known[content["question_id"]]
        if rater is None:
            continue
        raters[rater] = None
        is_simulated |= bool(content.get(SIMULATED))
        if content.get("golden"):
            if isinstance(content.get("passed"), bool):
                checks[rater].append(content["passed"])
        elif content.get("ratings"):
            ratings += _ratings(where, rater, question, content["ratings"])
        elif question.options and content["output"]:
            choices.append((rater, question.question_id, content["output"]))
    return PeopleAnswers(tuple(ratings), tuple(choices), dict(checks), tuple(sorted(raters)),
                         is_simulated)


def _ratings(where: str, rater: str, question: Question, values: object) -> list[Rating]:
    if not isinstance(values, dict):
        raise RequestError(f"{where}: ratings: expected a number from 0 to 100 for each scale")
    found = []
    for scale, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
            raise RequestError(f"{where}: ratings: {scale}: expected a number from 0 to 100"
                               f" (got {value!r})")
        found.append(Rating(rater, question, scale, float(value)))
    return found


def read_scores(path: Path) -> dict[str, float]:
    """Read JSON lines ``{"question_id" or "sample_id", "score"}``, the output of a metric.

    Raises RequestError naming an invalid line.
    """
    scores = {}
    for number, content in json_lines(path):
        name = content.get("question_id") or content.get("sample_id")
        score = content.get("score")
        if not isinstance(name, str) or isinstance(score, bool) or \
                not isinstance(score, (int, float)):
            raise RequestError(f"{path}: line {number}: expected question_id or sample_id, and"
                               " score, a number")
        scores[name] = float(score)
    return scores


def people_report(answers: PeopleAnswers, scores: dict[str, float] | None = None) -> dict[str, Any]:
    """Return JSON content: raters with reasons to doubt them, agreement, and mean opinions."""
    raters = [_rater(name, answers) for name in answers.raters]
    flagged = {one["rater"] for one in raters if one["flags"]}
    scales = sorted({one.scale for one in answers.ratings})
    return {
        "simulated": answers.is_simulated, "raters": raters, "flagged": len(flagged),
        "choices": {"answers": len(answers.choices), "alpha": _choices_alpha(answers.choices)},
        "scales": {scale: _scale([one for one in answers.ratings if one.scale == scale], flagged,
                                 scores) for scale in scales}}


def _rater(name: str, answers: PeopleAnswers) -> dict[str, Any]:
    """Return a rater's counts of ratings and checks, and the reasons to flag the rater."""
    values = [one.value for one in answers.ratings if one.rater == name]
    checks = answers.checks.get(name, [])
    equal = equal_share(values)
    flags = []
    if len(values) >= MIN_RATINGS and equal > EQUAL_SHARE:
        flags.append(f"{equal:.0%} of ratings are equal")
    if not all(checks):
        flags.append(f"failed {checks.count(False)} of {len(checks)} attention checks")
    return {"rater": name, "ratings": len(values), "equal_share": equal, "checks": len(checks),
            "failed": checks.count(False), "flags": flags}


def equal_share(values: Sequence[float]) -> float:
    """Return the share of values that equal the commonest one."""
    return max(Counter(values).values()) / len(values) if values else 0.0


def _scale(ratings: Sequence[Rating], flagged: set[str], scores: dict[str, float] | None
           ) -> dict[str, Any]:
    """Return a scale's alpha and mean opinions, and any correlation with given scores."""
    # Alpha is given with and without flagged raters; mean opinions only without them.
    kept = [one for one in ratings if one.rater not in flagged]
    found: dict[str, Any] = {
        "ratings": len(ratings), "alpha": _ratings_alpha(ratings),
        "alpha_without_flagged": _ratings_alpha(kept), "clips": mean_opinions(kept)}
    if scores is not None:
        found["against_scores"] = against_scores(found["clips"], scores)
    return found


def _table(ratings: Sequence[Rating]) -> tuple[FloatArray, list[str], list[Question]]:
    """Return ratings (raters, questions), NaN if missing, with the raters and the questions."""
    raters = sorted({one.rater for one in ratings})
    questions = {one.question.question_id: one.question for one in ratings}
    names = sorted(questions)
    table = np.full((len(raters), len(names)), np.nan)
    for one in ratings:
        table[raters.index(one.rater), names.index(one.question.question_id)] = one.value
    return table, raters, [questions[name] for name in names]


def _ratings_alpha(ratings: Sequence[Rating]) -> float | None:
    return alpha(_table(ratings)[0], "interval") if ratings else None


def _choices_alpha(choices: Sequence[tuple[str, str, str]]) -> float | None:
    """Return nominal alpha of people's choices."""
    raters, names, chosen = (sorted({one[part] for one in choices}) for part in range(3))
    # The numbers only identify choices: nominal alpha does not compare their sizes.
    table = np.full((len(raters), len(names)), np.nan)
    for rater, name, output in choices:
        table[raters.index(rater), names.index(name)] = chosen.index(output)
    return alpha(table, "nominal") if choices else None


def z_scores(table: FloatArray) -> FloatArray:
    """Return each rater's ratings (raters, items) as z scores of their own mean and deviation.

    NaN for raters whose ratings are all equal, or who gave only one.
    """
    counts = (~np.isnan(table)).sum(1)
    filled = np.where(np.isnan(table), 0.0, table)
    mean = filled.sum(1) / np.maximum(counts, 1)
    off = np.where(np.isnan(table), 0.0, table - mean[:, None])
    spread = np.sqrt((off**2).sum(1) / np.maximum(counts - 1, 1))
    usable = (counts > 1) & (spread > 0)
    return np.where(usable[:, None], (table - mean[:, None]) / np.where(usable, spread, 1.0)[
        :, None], np.nan)


def mean_opinions(ratings: Sequence[Rating], level: float = 0.95) -> list[dict[str, Any]]:
    """Return each clip's mean opinion with Student's interval, and its mean z score."""
    if not ratings:
        return []
    table, _, questions = _table(ratings)
    z = z_scores(table)
    found = []
    for place, question in enumerate(questions):
        values = table[~np.isnan(table[:, place]), place]
        own = z[~np.isnan(z[:, place]), place]
        found.append({
            "question_id": question.question_id, "sample_id": question.sample_id,
            "action": question.action, "variant": question.variant, "raters": len(values),
            "mos": float(values.mean()), "interval": _interval(values, level),
            "z": float(own.mean()) if len(own) else None})
    return found


def _interval(values: FloatArray, level: float) -> list[float] | None:
    # Two people who agree exactly do not make the mean certain.
    if len(values) < 2 or np.ptp(values) == 0:
        return None
    reach = float(stats.t.ppf((1 + level) / 2, len(values) - 1) * stats.sem(values))
    return [float(values.mean()) - reach, float(values.mean()) + reach]


def against_scores(clips: Sequence[dict[str, Any]], scores: dict[str, float]) -> dict[str, Any]:
    """Return how scores correlate with mean opinions: SRCC and PLCC with 95 % intervals.

    The interval of SRCC is Bonett and Wright's (2000); a perfect correlation has no interval. All
    values are None with fewer than four clips, or if opinions or scores are all equal.
    """
    pairs = [(one["mos"], scores.get(one["question_id"], scores.get(one["sample_id"])))
             for one in clips]
    known = np.array([pair for pair in pairs if pair[1] is not None], dtype=float)
    found: dict[str, Any] = {"clips": len(known), "srcc": None, "plcc": None}
    if len(known) < 4 or np.ptp(known[:, 0]) == 0 or np.ptp(known[:, 1]) == 0:
        return found
    # Fisher's transformation makes the error of a correlation independent of its size; that of
    # ranks is larger.
    rank = float(stats.spearmanr(known[:, 0], known[:, 1]).statistic)
    linear = stats.pearsonr(known[:, 0], known[:, 1])
    span = linear.confidence_interval(0.95)
    reach = float(stats.norm.ppf(0.975)) * np.sqrt((1 + rank**2 / 2) / (len(known) - 3))
    # Four clips are in a given order by chance in one of 24 cases, so an interval from 1 to 1 would
    # be wrong.
    ends = [float(np.tanh(np.arctanh(rank) + side)) for side in (-reach, reach)
            ] if abs(rank) < PERFECT else None
    return found | {
        "srcc": rank, "srcc_interval": ends, "plcc": float(linear.statistic),
        "plcc_interval": [span.low, span.high] if abs(linear.statistic) < PERFECT else None}
