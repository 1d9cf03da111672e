"""Functions that plots share."""

import io
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Height of a row in inches, and most letters of a name.
_ROW_INCHES = 0.42
_NAME_LETTERS = 40


def png(figure: Figure) -> bytes:
    """Return a plot as PNG; the same plot gives the same bytes."""
    packed = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(packed, format="png", metadata={"Software": None})
    return packed.getvalue()


def rows_of(names: Sequence[str]) -> tuple[Figure, Axes]:
    """Return an empty plot with one row for each name, the first on top."""
    figure = Figure(figsize=(8, 1.3 + _ROW_INCHES * len(names)), dpi=130, layout="constrained")
    axes: Axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    return figure, axes


def short(name: str) -> str:
    """Return a name shortened to fit beside a plot."""
    # Matplotlib would read a dollar sign as the start of a formula.
    shown = name if len(name) <= _NAME_LETTERS else name[:_NAME_LETTERS - 1] + "…"
    return shown.replace("$", r"\$")
