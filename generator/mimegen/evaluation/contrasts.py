"""Contrasts, MIME's main comparisons: one variant minus another, all else equal."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.base.counted import counted
from mimegen.evaluation.differences import (
    LEAST_ACTIONS,
    SharePair,
    by_action,
    difference_interval,
    difference_p,
    has_interval,
)
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.statistics import (
    McNemar,
    cluster_bootstrap,
    holm,
)
from mimegen.manifest.row import UPRIGHT

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
# What each contrast changes, in words for readers.
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
MCNEMAR = "McNemar"
# Most pairs per action with which McNemar's test keeps its level (at most 4.5 % false alarms in
# 2,000 studies of 12 to 72 actions); MIME's own set has 1.07. With twenty pairs of each of eight
# actions it gives 23 % where the effect differs between actions by 1 logit, 38 % by 2.
MAX_PAIRS = 1.25


@dataclass(frozen=True)
class VariantPair:
    """One performance in both variants: the shares of right answers."""

    action: str
    first: float
    second: float

    @property
    def single(self) -> bool:
        """Whether both shares are 0 or 1, so that the pair suits McNemar's test."""
        return {self.first, self.second} <= {0.0, 1.0}


def contrasts(scored: Sequence[ScoredAnswer]) -> list[dict[str, Any]]:
    """Return the contrasts in the answers, over performances that both variants show.

    ``accuracies`` are those of the first and second variant, and ``difference`` is the second minus
    the first. ``interval`` is from t over actions (from independent answers if actions do not
    vary), and ``bootstrap`` is the BCa interval; both are None with too few actions. ``p`` is from
    McNemar's exact test if each clip has one answer, as for models, and actions rarely have several
    pairs. Otherwise it is from the t test over actions, which matches ``interval``. ``p_holm`` is
    corrected for the number of contrasts.
    """
    compared = CONTRASTS | _conditions({str(one.question.variant) for one in scored})
    found = [_contrast(name, minus, variant, pairs) for name, (minus, variant) in
             compared.items() if (pairs := _pairs(scored, minus, variant))]
    adjusted = holm([one["p"] for one in found])
    return [one | {"p_holm": p} for one, p in zip(found, adjusted, strict=True)]


def _conditions(variants: set[str]) -> dict[str, tuple[str, str]]:
    """Return the contrasts of point-light displays: each condition with the upright display."""
    if UPRIGHT not in variants:
        return {}
    return {f"{condition} instead of upright": (UPRIGHT, condition)
            for condition in sorted(variants - {UPRIGHT}) if "+" not in condition}


def read_as(contrast: str) -> str:
    """Return what a contrast changes, in words for readers."""
    return READ_AS.get(contrast, f"display: {contrast}")


def _mime_name(variant: str | None) -> str | None:
    """Return a variant in MIME's words; other names of the spacesuit become ``adversarial``."""
    return variant and re.sub(r"^spacesuit\+", "adversarial+", variant)


def _pairs(scored: Sequence[ScoredAnswer], minus: str, variant: str) -> list[VariantPair]:
    """Return the performances that both variants show, by the same person unless persons differ.

    Performances with more clips in one variant are skipped: the extra clips have no counterpart.
    """
    same_person = minus.partition("+")[0] == variant.partition("+")[0]
    cells: dict[tuple[str, str], dict[str, list[ScoredAnswer]]] = defaultdict(
        lambda: defaultdict(list))
    for one in scored:
        question = one.question
        if (name := _mime_name(question.variant)) in (minus, variant):
            person = str(question.avatar) if same_person else ""
            cells[question.performance_id, person][str(name)].append(one)
    return [VariantPair(first[0].question.action, _share(first), _share(second))
            for cell in cells.values() if (first := cell[minus]) and (second := cell[variant])
            and _clips(first) == _clips(second)]


def _share(answers: Sequence[ScoredAnswer]) -> float:
    return float(np.mean([one.right for one in answers]))


def _clips(answers: Sequence[ScoredAnswer]) -> int:
    return len({one.question.sample_id for one in answers})


def _contrast(name: str, minus: str, variant: str, pairs: Sequence[VariantPair]) -> dict[str, Any]:
    """Return one contrast as a row of JSON content; see ``contrasts`` for its fields."""
    lost = sum(one.first > one.second for one in pairs)
    gained = sum(one.second > one.first for one in pairs)
    # The second variant minus the first.
    shares: list[SharePair] = [(one.action, one.second, one.first) for one in pairs]
    interval, actions = difference_interval(shares), len({one.action for one in pairs})
    # McNemar counts pairs, so each half must be right or wrong; people's halves can be shares. It
    # also assumes independent pairs, which pairs of the same action are not.
    is_exact = all(one.single for one in pairs) and len(pairs) <= MAX_PAIRS * actions
    return {"contrast": name, "minus": minus, "variant": variant, "pairs": len(pairs),
            "actions": actions,
            "accuracies": [float(np.mean([getattr(one, half) for one in pairs]))
                           for half in ("first", "second")],
            "lost": lost, "gained": gained,
            "difference": float(np.mean([one.second - one.first for one in pairs])),
            "interval": None if interval is None else [*interval],
            "bootstrap": _bootstrap(shares, minus, variant),
            "test": MCNEMAR if is_exact else "t over actions",
            "p": McNemar(len(pairs), lost, gained).p if is_exact else difference_p(shares)}


def _bootstrap(shares: Sequence[SharePair], *name: str) -> list[float] | None:
    if not has_interval(shares):
        return None
    found = cluster_bootstrap(*by_action(shares), LEVEL, *name)
    return None if found is None else [*found]


def too_few(found: Sequence[dict[str, Any]]) -> str | None:
    """Return a sentence if no difference can be significant, whatever the answers; else None."""
    if not found or any(one["test"] != MCNEMAR and one["actions"] >= LEAST_ACTIONS
                        for one in found):
        return None
    most = max(found, key=lambda one: (one["test"] == MCNEMAR, int(one["pairs"])))
    least = McNemar(most["pairs"], most["pairs"], 0).p if most["test"] == MCNEMAR else 1.0
    smallest = min(1.0, len(found) * least)
    if smallest <= 1 - LEVEL:
        return None
    return (f"With {counted(most['pairs'], 'pair')} of {counted(most['actions'], 'action')} no"
            f" difference can be significant (smallest possible p after correction:"
            f" {smallest:.3g}).")
