"""Plots of a contamination report, as PNG."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mimegen.evaluation.charts import png, rows_of
from mimegen.evaluation.contamination.verdict import Accuracy, Comparison, Report

# Distinguishable in gray, with color blindness, and by the shape of their markers.
SEEN = "#b3391f"
UNSEEN = "#2b6ca3"


def plots_of(report: Report) -> dict[str, bytes]:
    """Return PNG pictures by name: accuracy, fall and, if any variant is compared, variants."""
    plots = {"accuracy": png(_accuracy(report)), "fall": png(_falls(report))}
    if any(judged.variants for judged in report.judged):
        plots["variants"] = png(_variants(report))
    return plots


def _accuracy(report: Report) -> Figure:
    figure, axes = rows_of([judged.name for judged in report.judged])
    for row, judged in enumerate(report.judged):
        _arm(axes, row - 0.13, judged.whole.seen, SEEN, "o", "seen" if row == 0 else None)
        _arm(axes, row + 0.13, judged.whole.unseen, UNSEEN, "s", "unseen" if row == 0 else None)
    axes.set_xlim(0, 100)
    axes.set_xlabel("right answers, %")
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    return figure


def _arm(axes: Axes, row: float, arm: Accuracy, color: str, marker: str, label: str | None) -> None:
    low, high = arm.interval
    axes.plot([100 * low, 100 * high], [row, row], color=color, linewidth=2)
    axes.plot([100 * arm.value], [row], marker, color=color, markersize=7, label=label,
              clip_on=False)


def _falls(report: Report) -> Figure:
    found = [(judged.name, judged.whole) for judged in report.judged]
    found += [(f"{judged.name}, placebo", judged.placebo) for judged in report.judged
              if judged.placebo]
    return _forest(found, report.margin)


def _variants(report: Report) -> Figure:
    one = len(report.judged) == 1
    return _forest([(variant if one else f"{judged.name}, {variant}", found)
                    for judged in report.judged for variant, found in judged.variants],
                   report.margin)


def _forest(found: Sequence[tuple[str, Comparison]], margin: float) -> Figure:
    """Return a plot of falls with intervals, one row each, over a band for the margin."""
    figure, axes = rows_of([name for name, _ in found])
    axes.axvspan(-100 * margin, 100 * margin, color="#e9f1ee", zorder=0,
                 label=f"margin of {100 * margin:g} points")
    axes.axvline(0, color="#555555", linewidth=1)
    for row, (_, comparison) in enumerate(found):
        low, high = comparison.fall.interval()
        axes.plot([100 * low, 100 * high], [row, row], color=SEEN, linewidth=2)
        axes.plot([100 * comparison.fall.value], [row], "D", color=SEEN, markersize=6)
    axes.set_xlabel("fall from seen to unseen clips, points (right of 0: better on seen clips)")
    figure.legend(loc="outside upper right", frameon=False)
    return figure
