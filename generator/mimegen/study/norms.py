"""Write the files of norms: a table, reliability figures and a plot."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mimegen.base.cells import csv_text, plain_cell
from mimegen.base.counted import counted
from mimegen.base.files import publish
from mimegen.evaluation.norms import (
    WANTED_RELIABILITY,
    by_raters,
    norm,
    raters_needed,
    read_clips,
    reliability,
)
from mimegen.evaluation.norms_plot import norms_plot
from mimegen.evaluation.question import read_questions
from mimegen.evaluation.raters import read_people

TABLE = "norms.csv"
FACTS = "norms.json"
PLOT = "norms.pdf"


def write_norms(questions: Path, answers: Sequence[Path], similarity: str, out: Path) -> str:
    """Write norms of the clips from people's answers; return a summary.

    Raises RequestError if files cannot be read or contain no answers of people.
    """
    asked = read_questions(questions)
    clips = list(read_clips(answers, asked, similarity).values())
    rows, sizes, whole = [norm(clip) for clip in clips], by_raters(clips), reliability(clips)
    needed = raters_needed(sizes)
    is_simulated = read_people(answers, asked).is_simulated
    facts = {"clips": len(rows), "simulated": is_simulated,
             "similarity": similarity, "split_half_reliability": whole,
             "reliability_by_raters": sizes, "wanted_reliability": WANTED_RELIABILITY,
             "raters_needed": needed}
    publish(out / TABLE, _table(rows))
    publish(out / FACTS, json.dumps(facts, indent=1) + "\n")
    publish(out / PLOT, norms_plot(rows, sizes))
    by = ", by simulated participants" if is_simulated else ""
    return "\n".join([f"{out / TABLE}: {counted(len(rows), 'clip')}{by}", _said(whole, needed)])


def _table(rows: Sequence[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(columns, ([_cell(row.get(name)) for name in columns] for row in rows))


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain_cell(value)


def _said(whole: float | None, needed: int | None) -> str:
    if whole is None:
        return ("the split-half reliability is unknown: it needs three clips that differ, each"
                " named by people in both halves")
    wanted = (f"{needed} raters of each clip" if needed else "more than 100 raters of each clip, or"
              " clips that differ more")
    return (f"split-half reliability {whole:.2f}; a reliability of {WANTED_RELIABILITY} takes"
            f" {wanted}")
