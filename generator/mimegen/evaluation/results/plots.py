"""Plots of an evaluation, as PNG."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from mimegen.evaluation.charts import png, rows_of, short

Table = dict[str, Any]
# Distinguishable in gray, with color blindness (Okabe & Ito's colors), and by marker.
LOOKS = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#56b4e9", "v"),
         ("#e69f00", "P"), ("#5b5b5b", "X"), ("#8b6f00", "*"))
MAX_MODELS = len(LOOKS)
# MIME's order, the easiest to recognise first; other variants follow.
VARIANTS = ("base+blank@0", "base+aligned@0", "base+misaligned@0", "woman+blank@0",
            "adversarial+blank@0", "adversarial+aligned@0", "adversarial+misaligned@0",
            "base+blank@90", "base+blank@180", "base+blank@270")


def in_order(names: Sequence[str]) -> list[str]:
    """Return variants in MIME's order, then others by name."""
    return sorted(names, key=lambda name: (VARIANTS.index(name) if name in VARIANTS else
                                           len(VARIANTS), name))


def shares_plot(kinds: Sequence[Table], part: str, names: Sequence[str]) -> bytes:
    """Return a PNG of accuracies with intervals over actions: rows are parts, marks are models."""
    shown = kinds[:MAX_MODELS]
    figure, axes = rows_of(names)
    drawn = False
    step = 0.6 / len(shown)
    for number, (kind, (color, mark)) in enumerate(zip(shown, LOOKS, strict=False)):
        label: str | None = short(kind["model"])
        for row, name in enumerate(names):
            share = kind[part].get(name)
            if share is None:
                continue
            place = row - 0.3 + step * (number + 0.5)
            low, high = share["by_action"]
            axes.plot([100 * low, 100 * high], [place, place], color=color, linewidth=1.6)
            axes.plot([100 * share["accuracy"]], [place], mark, color=color, markersize=6,
                      label=label, clip_on=False)
            label = None
    for row, name in enumerate(names):
        # Parts may have different numbers of options.
        chance = next((kind[part][name]["chance"] for kind in shown if name in kind[part]), None)
        if chance is not None:
            axes.plot([100 * chance] * 2, [row - 0.45, row + 0.45], "--", color="#777777",
                      linewidth=1, label=None if drawn else "chance")
            drawn = True
    axes.set_xlim(0, 100)
    axes.set_xlabel("right answers, %, with 95 % intervals over actions")
    return _finished(figure, len(shown) + 1)


def contrasts_plot(kinds: Sequence[Table]) -> bytes:
    """Return a PNG of differences with intervals: rows are contrasts, marks are models."""
    shown = kinds[:MAX_MODELS]
    names = list(dict.fromkeys(one["contrast"] for kind in shown for one in kind["contrasts"]))
    figure, axes = rows_of(names)
    axes.axvline(0, color="#555555", linewidth=1)
    step = 0.6 / len(shown)
    for number, (kind, (color, mark)) in enumerate(zip(shown, LOOKS, strict=False)):
        label: str | None = short(kind["model"])
        for one in kind["contrasts"]:
            place = names.index(one["contrast"]) - 0.3 + step * (number + 0.5)
            if one["interval"]:
                low, high = one["interval"]
                axes.plot([100 * low, 100 * high], [place, place], color=color, linewidth=1.6)
            axes.plot([100 * one["difference"]], [place], mark, color=color, markersize=6,
                      label=label, markerfacecolor=color if one["interval"] else "white")
            label = None
    axes.set_xlabel(_contrasts_label([bool(one["interval"]) for kind in shown
                                      for one in kind["contrasts"]]))
    return _finished(figure, len(shown))


def _contrasts_label(have_intervals: Sequence[bool]) -> str:
    """Return the label of the axis, which says what hollow marks are."""
    if not any(have_intervals):
        return "points of accuracy; hollow: too few actions for intervals"
    hollow = "" if all(have_intervals) else "; hollow: too few actions for one"
    return f"points of accuracy, with 95 % intervals over actions{hollow}"


def _finished(figure: Figure, labels: int) -> bytes:
    figure.legend(loc="outside upper center", ncols=min(labels, 3), frameon=False)
    # Room for the legend's lines.
    figure.set_figheight(figure.get_figheight() + 0.25 * ((labels - 1) // 3))
    return png(figure)
