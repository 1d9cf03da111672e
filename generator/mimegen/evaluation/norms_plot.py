"""A plot of norms ready for print: PDF, safe for color blindness."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from mimegen.evaluation.norms import WANTED_RELIABILITY

# Okabe and Ito's (2008) blue and vermilion.
BLUE = "#0072B2"
VERMILION = "#D55E00"
# Width of two journal columns and height in inches; font size in points.
WIDTH = 7.0
HEIGHT = 2.6
LETTERS = 8
NO_DATES: dict[str, None] = {"CreationDate": None, "ModDate": None, "Producer": None,
                             "Creator": None}


def norms_plot(rows: Sequence[Mapping[str, Any]], reliabilities: Mapping[int, float]) -> bytes:
    """Return a PDF of naming agreement by clip, and of reliability by number of raters."""
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    FigureCanvasPdf(figure)
    agreement, raters = figure.subplots(1, 2)
    _agreement(agreement, [row for row in rows if row["names"]])
    _reliability(raters, reliabilities)
    for axes in (agreement, raters):
        axes.tick_params(labelsize=LETTERS)
        axes.spines[["top", "right"]].set_visible(False)
    packed = io.BytesIO()
    figure.savefig(packed, format="pdf", metadata=NO_DATES)
    return packed.getvalue()


def _agreement(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ordered = sorted(rows, key=lambda row: (-row["naming_agreement"], row["sample_id"]))
    places, shares = range(len(ordered)), [row["naming_agreement"] for row in ordered]
    reach = [[row["naming_agreement"] - row["naming_agreement_low"] for row in ordered],
             [row["naming_agreement_high"] - row["naming_agreement"] for row in ordered]]
    axes.errorbar(places, shares, yerr=reach, fmt="o", color=BLUE, markersize=3, linewidth=0.7,
                  label="same name")
    axes.plot(places, [row["named"] for row in ordered], "x", color=VERMILION, markersize=4,
              label="right name")
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel("clip, by agreement", fontsize=LETTERS)
    axes.set_ylabel("share of answers", fontsize=LETTERS)
    axes.legend(fontsize=LETTERS, frameon=False)


def _reliability(axes: Axes, reliabilities: Mapping[int, float]) -> None:
    axes.plot(list(reliabilities), list(reliabilities.values()), "o-", color=BLUE, markersize=3)
    axes.axhline(WANTED_RELIABILITY, color=VERMILION, linestyle="--", linewidth=0.8)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("raters of each clip", fontsize=LETTERS)
    axes.set_ylabel("reliability", fontsize=LETTERS)
