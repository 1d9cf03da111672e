"""``mimegen evaluate``: answers to scores, with intervals."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.evaluation.answers import read_answers
from mimegen.evaluation.question import read_questions
from mimegen.evaluation.scoring import Scored, report, score


@click.command("evaluate")
@click.argument("questions", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--similarity", type=click.Choice(["wordllama", "minilm"]), default="wordllama",
              show_default=True, help="How free answers are compared with the labels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--report", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Write report.json, and scored.jsonl as mimegen contamination reads it.")
@exits_cleanly
def evaluate_command(questions: Path, answers: tuple[Path, ...], similarity: str, as_json: bool,
                     folder: Path | None) -> int:
    """Score ANSWERS, JSON lines of question_id, model and output, to QUESTIONS."""
    asked = read_questions(questions)
    scored = score(read_answers(answers, asked), similarity)
    content = {"questions": str(questions), "similarity": similarity, **report(scored, asked)}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    if folder is not None:
        publish(folder / "report.json", text + "\n")
        publish(folder / "scored.jsonl", "".join(map(_line, scored)))
    if as_json:
        click.echo(text)
    else:
        _show(content)
    return DONE


def _line(one: Scored) -> str:
    question = one.question
    return json.dumps({
        "question_id": question.question_id, "sample_id": question.sample_id,
        "action": question.action, "variant": question.variant, "format": question.format,
        "prompting": question.prompting, "model": one.model, "correct": one.right,
        "said": one.said, "answer": question.answer, "similarity": one.similarity,
        "clip": question.file_name}, ensure_ascii=False) + "\n"


def _show(content: dict[str, Any]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for one in content["models"]:
        words = [one["model"], one["format"], one["asks"], one["prompting"]]
        left = one["asked"] - one["answered"]
        console.print(" ".join(words) + f": {one['answered']} answers"
                      + (f", {left} questions not answered" if left else ""), markup=False)
        console.print(_variants(one))
        if one["contrasts"]:
            console.print(_contrasts(one))


def _variants(one: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("variant")
    for heading in ("right", "of", "accuracy", "Wilson 95 %", "by action 95 %", "unparsed"):
        table.add_column(heading, justify="right")
    for name, share in [*one["variants"].items(), ("all", one)]:
        table.add_row(name, str(share["right"]), str(share["answered"]), f"{share['accuracy']:.1%}",
                      _span(share["wilson"]), _span(share["by_action"]), f"{share['unparsed']:.1%}")
    return table


def _contrasts(one: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("contrast")
    for heading in ("pairs", "difference", "95 %", "lost", "gained", "p after Holm"):
        table.add_column(heading, justify="right")
    for row in one["contrasts"]:
        span = _span(row["interval"]) if row["interval"] else ""
        table.add_row(row["contrast"], str(row["pairs"]), f"{row['difference']:+.1%}", span,
                      str(row["lost"]), str(row["gained"]), f"{row['p_holm']:.3g}")
    return table


def _span(interval: list[float]) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"
