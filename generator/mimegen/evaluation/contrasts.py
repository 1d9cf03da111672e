"""What the benchmark is about: one variant minus another, all else equal."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.evaluation.contamination.fall import ExposureArms, Fall
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.statistics import (
    ALIKE,
    Estimate,
    Interval,
    McNemar,
    cluster_bootstrap,
    holm,
    weighted_mean,
)

# MIME's comparisons: the second variant minus the first.
CONTRASTS = {
    "aligned background": ("base+blank@0", "base+aligned@0"),
    "misaligned background": ("base+blank@0", "base+misaligned@0"),
    "woman": ("base+blank@0", "woman+blank@0"),
    "spacesuit": ("base+blank@0", "adversarial+blank@0"),
    "aligned background, spacesuit": ("adversarial+blank@0", "adversarial+aligned@0"),
    "misaligned background, spacesuit": ("adversarial+blank@0", "adversarial+misaligned@0"),
    "from 90 degrees": ("base+blank@0", "base+blank@90"),
    "from 180 degrees": ("base+blank@0", "base+blank@180"),
    "from 270 degrees": ("base+blank@0", "base+blank@270"),
}
# What each comparison changes, and how people read it.
READ_AS = {
    "aligned background": "background: aligned instead of blank, behind base",
    "misaligned background": "background: misaligned instead of blank, behind base",
    "woman": "character: woman instead of base",
    "spacesuit": "character: spacesuit (adversarial) instead of base",
    "aligned background, spacesuit": "background: aligned instead of blank, behind the spacesuit",
    "misaligned background, spacesuit":
        "background: misaligned instead of blank, behind the spacesuit",
    "from 90 degrees": "view: 90 degrees instead of 0",
    "from 180 degrees": "view: 180 degrees instead of 0",
    "from 270 degrees": "view: 270 degrees instead of 0",
}
LEVEL = 0.95


@dataclass(frozen=True)
class VariantPair:
    """One performance in both variants: the shares of answers that are right."""

    action: str
    first: float
    second: float

    @property
    def single(self) -> bool:
        """Whether each share is of one answer, or all agree."""
        return {self.first, self.second} <= {0.0, 1.0}


def contrasts(scored: Sequence[ScoredAnswer]) -> list[dict[str, Any]]:
    """Return the contrasts that the answers hold, of performances that both variants show.

    ``accuracies`` are of the first variant and of the second, ``difference`` is of these shares,
    ``interval`` is t's over actions (of independent answers where actions tell no spread) and
    ``bootstrap`` the BCa one.
    ``p`` is McNemar's exact test where each clip has one answer, as a model's; of people it is
    that of t over actions. ``p_holm`` allows for the number of contrasts.
    """
    shares = _shares(scored)
    found = [_contrast(name, minus, variant, pairs) for name, (minus, variant) in
             CONTRASTS.items() if (pairs := _pairs(shares, minus, variant))]
    adjusted = holm([one["p"] for one in found])
    return [one | {"p_holm": p} for one, p in zip(found, adjusted, strict=True)]


def _shares(scored: Sequence[ScoredAnswer]) -> dict[tuple[str | None, str], tuple[str, float]]:
    """Return the action and the share that is right by variant and performance."""
    right: dict[tuple[str | None, str], list[ScoredAnswer]] = defaultdict(list)
    for one in scored:
        question = one.question
        right[_mimes(question.variant), question.performed].append(one)
    return {name: (found[0].question.action, float(np.mean([one.right for one in found])))
            for name, found in right.items()}


def _mimes(variant: str | None) -> str | None:
    """Return a variant in MIME's words, in which a clip of the spacesuit may have another name."""
    return variant and re.sub(r"^spacesuit\+", "adversarial+", variant)


def _pairs(shares: dict[tuple[str | None, str], tuple[str, float]], minus: str, variant: str
           ) -> list[VariantPair]:
    return [VariantPair(action, share, shares[variant, performance][1])
            for (own, performance), (action, share) in shares.items()
            if own == minus and (variant, performance) in shares]


def _contrast(name: str, minus: str, variant: str, pairs: Sequence[VariantPair]) -> dict[str, Any]:
    lost = sum(one.first > one.second for one in pairs)
    gained = sum(one.second > one.first for one in pairs)
    means, counts = _by_action(pairs)
    estimate = weighted_mean(means, counts) if len(means) > 1 else None
    # McNemar counts pairs, so each half must be right or wrong; of people it can be a share.
    exact = McNemar(len(pairs), lost, gained).p if all(one.single for one in pairs) else None
    return {"contrast": name, "minus": minus, "variant": variant, "pairs": len(pairs),
            "accuracies": [float(np.mean([getattr(one, half) for one in pairs]))
                           for half in ("first", "second")],
            "lost": lost, "gained": gained,
            "difference": float(np.mean([one.second - one.first for one in pairs])),
            "interval": list(_interval(pairs, estimate)) if estimate else None,
            "bootstrap": _bootstrap(means, counts, minus, variant),
            "test": "McNemar" if exact is not None else "t over actions",
            "p": exact if exact is not None else _p(estimate)}


def _interval(pairs: Sequence[VariantPair], estimate: Estimate) -> Interval:
    """Return the difference's interval: t's; where all actions say the same, which tells no spread,
    that of independent answers, as the verdict on contamination has it.
    """
    # Rounding leaves errors of 1e-17 where all actions say the same.
    if estimate.se > ALIKE:
        return estimate.interval()
    shares = [float(np.mean([getattr(one, name) for one in pairs])) for name in ("second", "first")]
    return Fall(ExposureArms((shares[0], shares[1]), (len(pairs), len(pairs))), 1.0, 0.0,
                np.inf).interval()


def _by_action(pairs: Sequence[VariantPair]) -> tuple[Any, Any]:
    """Return each action's mean difference and its number of pairs."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in pairs:
        found[one.action].append(one.second - one.first)
    return (np.array([np.mean(own) for own in found.values()]),
            np.array([len(own) for own in found.values()], dtype=float))


def _bootstrap(means: Any, counts: Any, *name: str) -> list[float] | None:
    found = cluster_bootstrap(means, counts, LEVEL, *name) if len(means) > 1 else None
    return None if found is None else [*found]


def _p(estimate: Estimate | None) -> float:
    return 1.0 if estimate is None else estimate.p()
