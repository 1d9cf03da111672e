"""Contrasts, MIME's main comparisons: one variant minus another, all else equal."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from mimegen.base.counted import counted
from mimegen.evaluation.differences import (
    LEAST_ACTIONS,
    LEVEL,
    MCNEMAR,
    AnswerPair,
    difference,
    with_holm,
)
from mimegen.evaluation.scoring import ScoredAnswer, share_right
from mimegen.evaluation.statistics import McNemar
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
    return with_holm([
        {"contrast": name, "minus": minus, "variant": variant,
         **difference(pairs, minus, variant)}
        for name, (minus, variant) in compared.items()
        if (pairs := _pairs(scored, minus, variant))])


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


def _pairs(scored: Sequence[ScoredAnswer], minus: str, variant: str) -> list[AnswerPair]:
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
    return [AnswerPair(first[0].question.action, share_right(first), share_right(second))
            for cell in cells.values() if (first := cell[minus]) and (second := cell[variant])
            and _clips(first) == _clips(second)]


def _clips(answers: Sequence[ScoredAnswer]) -> int:
    return len({one.question.sample_id for one in answers})


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
