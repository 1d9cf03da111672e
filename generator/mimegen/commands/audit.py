"""What ``mimegen questions --audit`` prints."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from mimegen.base.counted import counted
from mimegen.commands.common import DONE, SOME_FAILED
from mimegen.commands.tables import wide_console
from mimegen.commands.terms import AUDIT, HINT, explain
from mimegen.evaluation.audit import (
    LEAKS,
    TOO_FEW,
    OwnLabels,
    RuleFinding,
    audit,
    own_labels,
    read_items,
    verdict,
)
from mimegen.evaluation.question import well_formed


def show_audit(file: Path, explains: bool, as_json: bool) -> int:
    """Print an audit; return exit status 1 if its verdict is that the file leaks."""
    items = read_items(file)
    tested, shown = audit(items)
    own = own_labels(items)
    found = verdict(items, tested, own)
    if as_json:
        click.echo(json.dumps({
            "file": well_formed(str(file)), "questions": tested[0].questions,
            "chance": tested[0].chance, "verdict": found.name,
            "leaks": list(found.leaks), "too_few_questions": found.name == TOO_FEW,
            "evidence": found.evidence and asdict(found.evidence),
            "own_labels": own and asdict(own) | {"leaks": own.leaks},
            "rules": [asdict(one) | {"leaks": one.leaks} for one in tested],
            "shown": [asdict(one) for one in shown]}, indent=1, ensure_ascii=False))
        return SOME_FAILED if found.name == LEAKS else DONE
    console = wide_console()
    # Shares of too few questions would look like leaks, or like their absence.
    judged = found.name != TOO_FEW
    if judged:
        _show_shares(console, tested, shown)
    if own:
        console.print(_own_labels(own, judged), markup=False)
    console.print(f"{file}: {counted(tested[0].questions, 'question')}, {found.sentence}",
                  markup=False)
    explain(AUDIT) if explains else click.echo(HINT)
    return SOME_FAILED if found.name == LEAKS else DONE


def _show_shares(console: Console, tested: Sequence[RuleFinding], shown: Sequence[RuleFinding]
                 ) -> None:
    """Print how often the rules are right."""
    console.print(_table("without video", tested))
    if shown:
        console.print(_table("from the background's name (intended by the experiment, not a"
                             " fault)", shown))


def _own_labels(own: OwnLabels, judged: bool) -> str:
    """Return how many options are the set's own labels and, if judged, how well that allows
    guessing.
    """
    counts = sorted(Counter(own.counts.values()).items())
    listed = ", ".join(f"{counted(options, 'option')} in each of {counted(number, 'question')}"
                       for options, number in counts)
    return f"options that are the data set's own labels: {listed}" + (
        f"; a reader who knows the labels is right in {own.guessed:.1%}, by chance in"
        f" {own.chance:.1%}" if judged else "")


def _table(title: str, findings: Sequence[RuleFinding]) -> Table:
    """Return a table of rules: how often they are right, by chance, and the test of that."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for heading in ("right", "95 %", "chance", "p after Holm"):
        table.add_column(heading, justify="right")
    for one in findings:
        p = "" if one.p_holm is None else "< 0.001" if one.p_holm < 0.001 else f"{one.p_holm:.3f}"
        table.add_row(one.rule, f"{one.accuracy:.1%}", f"{one.low:.1%} to {one.high:.1%}",
                      f"{one.chance:.1%}", p)
    return table
