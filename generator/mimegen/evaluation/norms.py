"""Norms of a stimulus set: how well people name each clip, and how many raters that takes."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.evaluation.answers import Answer, lines_in, read_answers
from mimegen.evaluation.question import Question
from mimegen.evaluation.raters import read_people
from mimegen.evaluation.reading import final_phrase
from mimegen.evaluation.scoring import score
from mimegen.evaluation.statistics import wilson

# Number of random splits into halves, and of simulated experiments of each size.
SPLITS = 500
# The split-half reliability expected of norms (Nunnally 1978).
WANTED_RELIABILITY = 0.9
# Numbers of raters that are simulated, and the fewest clips for a correlation.
SIZES = (4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100)
MIN_CLIPS = 3

# Words around a name: "the man is playing the violin" and "playing violin" count as one.
_SUBJECT = re.compile(r"^(?:(?:a|the|this|some)?\s*(?:person|man|woman|guy|astronaut|figure|someone"
                      r"|somebody|he|she|they|it)\s+(?:is|are|was|were|seems to be)\s+)", re.I)
_ARTICLE = re.compile(r"\b(?:a|an|the|some|his|her|their|my)\s+", re.I)


@dataclass
class ClipNorms:
    """People's answers about one clip.

    ``names`` are free answers as ``plain_name`` returns them, ``named`` whether each was right,
    ``raters`` who gave them, ``chosen`` whether each choice was right, ``times_ms`` the response
    times by task, and ``ratings`` the values by scale.
    """

    question: Question
    names: list[str] = field(default_factory=list)
    named: list[bool] = field(default_factory=list)
    raters: list[str] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)
    times_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ratings: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def plain_name(output: str) -> str:
    """Return the name in a free answer, without subject, articles, capitals and punctuation."""
    phrase = re.sub(r"[^\w\s'-]", " ", final_phrase(output).lower())
    return " ".join(_ARTICLE.sub("", _SUBJECT.sub("", " ".join(phrase.split()))).split())


def h_statistic(names: Iterable[str]) -> float:
    """Return the entropy of names in bits: 0 if all agree (Snodgrass & Vanderwart 1980)."""
    counts = np.array(list(Counter(names).values()), float)
    shares = counts / counts.sum()
    return float((shares * np.log2(1 / shares)).sum())


def read_clips(paths: Sequence[Path], questions: Sequence[Question], similarity: str
               ) -> dict[str, ClipNorms]:
    """Return people's answers about each clip, by ``sample_id``, in the order of the questions.

    Only lines with a ``rater`` count, and not attention checks. Raises RequestError as
    ``read_answers`` does, and if there are no answers.
    """
    clips = {one.sample_id: ClipNorms(one) for one in questions}
    answers = [one for one in read_answers(paths, questions) if one.rater is not None]
    for answer, scored in zip(answers, score(answers, similarity), strict=True):
        _add_answer(clips[answer.question.sample_id], answer, scored.right)
    for rating in read_people(paths, questions).ratings:
        clips[rating.question.sample_id].ratings[rating.scale].append(rating.value)
    _add_times(clips, paths, questions)
    answered = {name: clip for name, clip in clips.items()
                if clip.names or clip.chosen or clip.ratings}
    if not answered:
        raise RequestError(f"{', '.join(map(str, paths))}: contains no answers by people; expected"
                           " lines with a rater, as mimegen study export writes them")
    return answered


def _add_answer(clip: ClipNorms, answer: Answer, right: bool) -> None:
    if answer.question.options:
        clip.chosen.append(right)
    elif name := plain_name(answer.output):
        clip.names.append(name)
        clip.named.append(right)
        clip.raters.append(answer.rater or "")


def _add_times(clips: Mapping[str, ClipNorms], paths: Sequence[Path], questions: Sequence[Question]
               ) -> None:
    known = {question.question_id: question for question in questions}
    for _, content in lines_in(paths, known):
        time = content.get("rt_ms")
        if isinstance(time, int | float) and content.get("rater") and not content.get("golden"):
            question = known[content["question_id"]]
            # Typing a name takes longer than choosing one, so a median of both would be of neither.
            task = content.get("task") or ("choice" if question.options else "free")
            clips[question.sample_id].times_ms[str(task)].append(float(time))


def norm(clip: ClipNorms) -> dict[str, Any]:
    """Return the norms of one clip; values are None if nobody answered.

    ``naming_agreement`` is the share of names that equal the commonest one, with Wilson's 95 %
    interval; ``named`` is the share of names that are right.
    """
    n, counts = len(clip.names), Counter(clip.names)
    modal = max(counts, key=lambda name: counts[name], default=None)
    most = counts[modal] if modal is not None else 0
    low, high = wilson(most / n, n) if n else (None, None)
    row: dict[str, Any] = {
        "sample_id": clip.question.sample_id, "action": clip.question.action,
        "variant": clip.question.variant, "label": clip.question.labels[0], "names": n,
        "modal_name": modal, "naming_agreement": most / n if n else None,
        "naming_agreement_low": low, "naming_agreement_high": high,
        "h_statistic": h_statistic(clip.names) if n else None,
        "different_names": len(set(clip.names)) if n else None,
        "named": mean(clip.named) if n else None,
        "choices": len(clip.chosen), "chosen": mean(clip.chosen) if clip.chosen else None}
    row |= {f"{task}_median_rt_ms": median(times) for task, times in sorted(clip.times_ms.items())}
    for scale, values in sorted(clip.ratings.items()):
        row |= {f"{scale}_n": len(values), f"{scale}_mean": mean(values),
                f"{scale}_sd": stdev(values) if len(values) > 1 else None}
    return row


def reliability(clips: Iterable[ClipNorms]) -> float | None:
    """Return the split-half reliability of how often clips are named correctly.

    Raters are split into random halves ``SPLITS`` times. The mean correlation over clips is stepped
    up to all raters (Spearman 1910; Brown 1910). Returns None if fewer than three clips have
    answers in both halves, or clips do not differ.
    """
    table, raters = _table([clip for clip in clips if len(clip.named) > 1])
    found = []
    for number in range(SPLITS if len(table) >= MIN_CLIPS else 0):
        # Exactly half of the raters, not a coin toss for each: the formula assumes halves of equal
        # size.
        first = generator("split half", number).permutation(raters) < raters // 2
        halves = [_shares(table[:, side]) for side in (first, ~first)]
        both = ~np.isnan(halves[0]) & ~np.isnan(halves[1])
        value = _correlation(halves[0][both], halves[1][both])
        if value is not None:
            found.append(value)
    return stepped_up(mean(found), 2) if found else None


def stepped_up(value: float, times: float) -> float:
    """Return the reliability with ``times`` as many raters, by the Spearman-Brown formula."""
    # Needed because the correlation of halves understates the reliability of all raters.
    return times * value / (1 + (times - 1) * value)


def _table(clips: Sequence[ClipNorms]) -> tuple[FloatArray, int]:
    """Return whether each rater named each clip correctly (clips, raters), NaN if not asked."""
    raters = {name: at for at, name in enumerate(sorted({one for clip in clips
                                                         for one in clip.raters}))}
    table = np.full((len(clips), len(raters)), np.nan)
    for row, clip in enumerate(clips):
        table[row, [raters[name] for name in clip.raters]] = clip.named
    return table, len(raters)


def _shares(table: FloatArray) -> FloatArray:
    asked = (~np.isnan(table)).sum(axis=1)
    return np.where(asked > 0, np.nansum(table, axis=1) / np.maximum(asked, 1), np.nan)


def _correlation(first: FloatArray, second: FloatArray) -> float | None:
    if len(first) < MIN_CLIPS or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def by_raters(clips: Iterable[ClipNorms]) -> dict[int, float]:
    """Return the simulated reliability by number of raters of each clip.

    The true shares of clips are drawn from a beta distribution fitted to the observed shares by
    moments, after subtracting the sampling variance. Each simulated experiment correlates the
    shares of two groups of raters. Empty if clips do not differ by more than sampling explains.
    """
    asked = np.array([[sum(clip.named), len(clip.named)] for clip in clips if clip.named], float)
    shape = _beta_of(asked) if len(asked) >= MIN_CLIPS else None
    if shape is None:
        return {}
    found = {}
    for size in SIZES:
        chance = generator("raters", size)
        true = chance.beta(*shape, (SPLITS, len(asked)))
        first, second = (chance.binomial(size, true) / size for _ in range(2))
        values = [_correlation(*pair) for pair in zip(first, second, strict=True)]
        known = [value for value in values if value is not None]
        found[size] = mean(known) if known else 0.0
    return found


def _beta_of(asked: FloatArray) -> tuple[float, float] | None:
    """Return a and b of the beta distribution of shares, from right and asked (K, 2)."""
    shares = asked[:, 0] / asked[:, 1]
    middle = float(shares.mean())
    # The sampling variance of the shares if all clips were equally hard.
    binomial = float((middle * (1 - middle) / asked[:, 1]).mean())
    spread = float(shares.var(ddof=1)) - binomial
    if spread <= 0:
        return None
    # a + b, from the variance of a beta distribution: m (1 - m) / (a + b + 1).
    both = middle * (1 - middle) / spread - 1
    return (middle * both, (1 - middle) * both) if both > 0 else None


def raters_needed(reliabilities: Mapping[int, float]) -> int | None:
    """Return the smallest simulated number of raters with the wanted reliability, or None."""
    return next((size for size, value in sorted(reliabilities.items())
                 if value >= WANTED_RELIABILITY), None)
