"""``mimegen evaluate``: score answers, with intervals."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly, refuse_given
from mimegen.commands.tables import wide_console
from mimegen.commands.terms import EVALUATION, HINT, explain
from mimegen.evaluation.answers import PEOPLE, SIMULATED_PEOPLE, Answer, read_answers
from mimegen.evaluation.contrasts import CONTRASTS, read_as, too_few
from mimegen.evaluation.differences import (
    LEAST_ACTIONS,
    LEVEL,
    NO_INTERVAL,
    NOT_CORRECTED,
    ONE_ACTION,
    power_sentence,
)
from mimegen.evaluation.judge import Judge, checked_url
from mimegen.evaluation.performances import performances_sentence
from mimegen.evaluation.question import Question, well_formed
from mimegen.evaluation.question_sets import QuestionSets, holds_questions
from mimegen.evaluation.raters import people_report, read_people, read_scores
from mimegen.evaluation.scoring import OTHER_SCRIPT, PARSES, ScoredAnswer, score
from mimegen.evaluation.statistics import LEAST_SHOWN
from mimegen.evaluation.tables import report

_FILE = click.Path(path_type=Path)


@click.command("evaluate")
@click.argument("questions", type=_FILE, metavar="QUESTIONS...")
@click.argument("answers", type=_FILE, nargs=-1, required=True, metavar="ANSWERS...")
@click.option("--similarity", type=click.Choice(["wordllama", "minilm"]), default="wordllama",
              show_default=True, help="Text similarity that compares free-form answers with the"
                                      " labels.")
@click.option("--parse", type=click.Choice([*PARSES]), default="full", show_default=True,
              help="Rules that read a chosen option from an answer: all, or only the strict rule of"
                   " mimegen 0.1. The report counts the answers read by each rule.")
@click.option("--judge", "url", metavar="URL",
              help="OpenAI-compatible address of a model that judges free-form answers instead, as"
                   " in http://localhost:8000/v1. The key is read from OPENAI_API_KEY.")
@click.option("--judge-model", metavar="NAME", help="Name of the judging model.")
@click.option("--judge-cache", type=_FILE, metavar="FILE",
              help="File that stores the judge's verdicts.  [default: judge.jsonl next to"
                   " the first QUESTIONS]")
@click.option("--scores", "given", type=_FILE, metavar="FILE",
              help="Scores of a metric, to compare with people's mean opinions: JSON lines of"
                   " question_id or sample_id, and score.")
@click.option("--clips", type=_FILE, metavar="DIR",
              help="Folder of the clips that the report shows.  [default: the folder of each"
                   " file of QUESTIONS]")
@click.option("--explain", "explains", is_flag=True,
              help="Explain each column of the tables in a sentence.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--report", "folder", type=_FILE, metavar="DIR",
              help="Folder for an HTML report, plots, report.json, and scored.jsonl for mimegen"
                   " contamination.")
@exits_cleanly
def evaluate_command(questions: Path, answers: tuple[Path, ...], similarity: str, parse: str,
                     url: str | None, judge_model: str | None, judge_cache: Path | None,
                     given: Path | None, clips: Path | None, explains: bool, as_json: bool,
                     folder: Path | None) -> int:
    """Score ANSWERS to QUESTIONS.

    QUESTIONS are one file of questions or several, or a folder of clips: then all its files of
    questions that have answers. ANSWERS are JSON lines with question_id, model and output, an
    export of mimegen study, or logs of Inspect (.eval, .json) and lmms-eval (samples, .jsonl).
    """
    asked, answers = _parted(questions, answers)
    if (url is None) != (judge_model is None):
        raise RequestError("--judge and --judge-model require each other: an address and the name"
                           " of a model")
    if url is None:
        refuse_given(("judge_cache",), "requires --judge")
    if folder is None:
        refuse_given(("clips",), "requires --report")
    judge = Judge(checked_url(url), judge_model,
                  judge_cache or next(iter(asked.files)).with_name("judge.jsonl")
                  ) if url and judge_model else None
    people = _people(answers, asked.questions, given)
    given_answers = read_answers(answers, asked.questions)
    asked = _answered(asked, given_answers)
    scored = score(given_answers, similarity, judge, parse)
    content = {"questions": ", ".join(map(str, asked.files)), "similarity": _by(similarity, judge),
               "parse": parse, **report(scored, asked.questions), "people": people}
    if not content["models"] and not content["people"]:
        raise RequestError(f"{', '.join(map(str, answers))}: contains no answer; if it is a"
                           " harness's log, all its samples failed before the model answered, and"
                           " its error field says why")
    content = well_formed(content)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    if folder is not None:
        _write(content, text, scored, folder, asked.folders, clips)
    if as_json:
        click.echo(text)
    else:
        _show(content)
        explain(EVALUATION) if explains else click.echo(HINT)
    return DONE


def _parted(questions: Path, answers: tuple[Path, ...]) -> tuple[QuestionSets, tuple[Path, ...]]:
    """Return the questions, of further files too, and the files of answers.

    Raises RequestError if no file of answers is left.
    """
    further = [path for path in answers if holds_questions(path)]
    left = tuple(path for path in answers if path not in further)
    if not left:
        raise RequestError(f"{', '.join(map(str, further))}: holds questions; expected a file of"
                           " answers after the files of questions")
    return QuestionSets.read([questions, *further]), left


def _answered(asked: QuestionSets, answers: Sequence[Answer]) -> QuestionSets:
    """Return the questions without files of a folder to which there is no answer; name these."""
    left = asked.answered({one.question.question_id for one in answers})
    if out := [file for file in asked.files if file not in left.files]:
        click.echo(f"no answers to the questions of {', '.join(map(str, out))}", err=True)
    return left


def _by(similarity: str, judge: Judge | None) -> str:
    return similarity if judge is None else f"judge {judge.model} at {judge.url}"


def _people(answers: tuple[Path, ...], asked: list[Question], given: Path | None
            ) -> dict[str, Any] | None:
    """Return the report on people's answers; None if there are none."""
    people = read_people(answers, asked)
    scores = read_scores(given) if given else None
    if not people.raters:
        refuse_given(("given",), "requires ratings by people, and the answers have none")
        return None
    return people_report(people, scores)


# Imported here because plots take a second to import.
def _write(content: dict[str, Any], text: str, scored: list[ScoredAnswer], folder: Path,
           folders: Mapping[str, Path], clips: Path | None) -> None:
    from mimegen.evaluation.results.clips import failures
    from mimegen.evaluation.results.page import write_page

    publish(folder / "report.json", text + "\n")
    publish(folder / "scored.jsonl", "".join(map(_line, scored)))
    failed = failures(scored, clips or folder, None if clips else folders)
    click.echo(f"report: {write_page(content, failed, folder)}", err=True)


def _line(one: ScoredAnswer) -> str:
    question = one.question
    return json.dumps({
        "question_id": question.question_id, "sample_id": question.sample_id,
        "action": question.action, "variant": question.variant, "format": question.format,
        "asks": question.asks, "prompting": question.prompting, "sampling": question.sampling,
        "difficulty": question.difficulty,
        "wrong": [text for text in question.options if text != question.answer],
        "model": one.model, "correct": one.right, "said": one.chosen,
        "answer": question.answer, "similarity": one.similarity, "rule": one.rule,
        "category": question.category, "aspect": question.aspect,
        "rater": one.rater, "control": question.control, "clip": question.file_name},
        ensure_ascii=False) + "\n"


# Parts of a report that have a table each if they are there, by the heading of its first column.
PARTS = {"split": "splits", "performer": "performers", "category": "categories"}


def _show(content: dict[str, Any]) -> None:
    """Print the tables of each model and kind of question."""
    console = wide_console()
    for number, one in enumerate(content["models"]):
        if number:
            console.print()
        _show_kind(console, one)
    if content["needs"]:
        console.print(_needs(content["needs"]))
    _show_compared(console, content["compared"])
    _show_reliance(console, content["reliance"])
    _show_people(console, content["people"])


def _show_kind(console: Console, one: dict[str, Any]) -> None:
    """Print the tables of one model and kind of question."""
    words = [one["model"], one["format"], one["asks"], one["prompting"]]
    is_people = one["model"] in (PEOPLE, SIMULATED_PEOPLE)
    left = 0 if is_people else one["asked"] - one["answered"]
    missing = f", {counted(left, 'question')} not answered" if left else ""
    console.print(" ".join(words) + f": {counted(one['answered'], 'answer')}{missing}",
                  markup=False)
    if "read_by" in one:
        read = ", ".join(f"{rule} {count}" for rule, count in one["read_by"].items())
        console.print(f"read by: {read}", markup=False)
    if one["other_script"]:
        console.print(f"{counted(one['other_script'], 'answer')} {OTHER_SCRIPT}; ask the model to"
                      " answer in English, or give --judge", markup=False)
    for line in _human(one):
        console.print(line, markup=False)
    _show_groups(console, one)
    console.print(_shares("variant", one["variants"], one))
    for note in _cast(one):
        console.print(note, markup=False)
    if len(one["actions"]) == 1:
        console.print(f"({ONE_ACTION})", markup=False)
    parts = {heading: one[part] for heading, part in PARTS.items() if part in one}
    for heading, part in (parts | one.get("factors", {})).items():
        console.print(_shares(heading, part, one))
    if one["contrasts"]:
        console.print(_differences("comparison", [(read_as(row["contrast"]), row)
                                                  for row in one["contrasts"]]))
        _show_notes(console, one["contrasts"])
    if lacking := performances_sentence(one["unknown_performances"]) or _not_compared(one):
        console.print(lacking, markup=False)


def _human(one: dict[str, Any]) -> list[str]:
    """Return lines of human accuracy with its source: of all questions, else of single variants."""
    human = one["human"]
    if human["accuracy"] is not None:
        return [f"people: {human['accuracy']:.1%}, {human['source']}"]
    variants: dict[str, list[str]] = defaultdict(list)
    for name, part in one["variants"].items():
        if part["human"]["accuracy"] is not None:
            variants[part["human"]["source"]].append(f"{part['human']['accuracy']:.1%} for {name}")
    return [f"people: {', '.join(found)}; {source}" for source, found in variants.items()] or [
        f"people: {human['source']}"]


def _show_reliance(console: Console, tables: list[dict[str, Any]]) -> None:
    """Print what answers rely on, one sentence per line."""
    for table in tables:
        way = " ".join((table["model"], table["format"], table["asks"], table["prompting"]))
        for sentence in table["sentences"]:
            console.print(f"{way}: {sentence}", markup=False)


def _show_people(console: Console, people: dict[str, Any] | None) -> None:
    """Print how many people answered, who is flagged and why, and their agreement."""
    if people:
        who = SIMULATED_PEOPLE if people["simulated"] else PEOPLE
        console.print(f"{who}: {len(people['raters'])}, {people['flagged']} flagged")
        for rater in people["raters"]:
            if rater["flags"]:
                console.print(f"  {rater['rater']}: {'; '.join(rater['flags'])}", markup=False)
        for scale, found in people["scales"].items():
            console.print(f"  {scale}: {counted(len(found['clips']), 'clip')},"
                          f" alpha {_alpha(found['alpha'])}", markup=False)


def chance_text(chance: float) -> str:
    """Return a chance in per cent; one that would be rounded to 0 is given as an upper limit."""
    return "below 0.1%" if 0 < chance < LEAST_SHOWN else f"{chance:.1%}"


def _needs(rows: list[dict[str, Any]]) -> Table:
    """Return the table of accuracy where one frame can tell the answer, and where it cannot."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("model", "format", "prompting", "the answer needs"):
        table.add_column(heading)
    for heading in ("right", "of", "accuracy", "95 %", "chance", "pairs right", "of pairs"):
        table.add_column(heading, justify="right")
    for row in rows:
        pairs = row["pairs"] or {"right": "", "answered": ""}
        table.add_row(row["model"], row["format"], row["prompting"], row["needs"],
                      str(row["right"]), str(row["answered"]), f"{row['accuracy']:.1%}",
                      _span(row["by_action"]),
                      "none" if row["chance"] is None else chance_text(row["chance"]),
                      str(pairs["right"]), str(pairs["answered"]))
    return table


def _show_groups(console: Console, one: dict[str, Any]) -> None:
    """Print how many pairs have both halves right, or how many performances all variants."""
    for name, words in (("pairs", "pairs with both halves right"),
                        ("whole", "right in all variants")):
        if name in one:
            found = one[name]
            chance = f", by guessing {chance_text(found['chance'])}" if found.get("chance") else ""
            console.print(f"{words}: {found['right']} of {found['answered']},"
                          f" {found['accuracy']:.1%} (95 %: {_span(found['by_action'])}){chance}",
                          markup=False)


def _shares(heading: str, parts: dict[str, Any], one: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading)
    # The first interval allows for similar answers about one action; quote this one.
    for heading in ("right", "of", "accuracy", "95 %", "if independent", "unparsed", "chance"):
        table.add_column(heading, justify="right")
    for name, share in [*parts.items(), ("all", one)]:
        table.add_row(name, str(share["right"]), str(share["answered"]), f"{share['accuracy']:.1%}",
                      _span(share["by_action"]), _span(share["wilson"]), f"{share['unparsed']:.1%}",
                      "none" if share["chance"] is None else chance_text(share["chance"]))
    return table


def _cast(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield which characters MIME's words ``base`` and ``adversarial`` mean, if they occur."""
    names = {name.partition("+")[0] for name in one["variants"]}
    said = [f"{word} is {who}" for word, who in (
        ("base", "the man, or --character"), ("adversarial", "the spacesuit")) if word in names]
    if said:
        yield f"({'; '.join(said)})"
    if one["of_two"] and names & {"woman", "adversarial"}:
        yield (f"({counted(one['of_two'], 'answer')} about two people: there, woman means that the"
               " man and the woman swap roles, and adversarial that both wear the spacesuit)")


def _not_compared(one: dict[str, Any]) -> str:
    """Return which of MIME's comparisons share no performance, though both variants have answers.
    """
    compared = {row["contrast"] for row in one["contrasts"]}
    left = [name for name, halves in CONTRASTS.items()
            if name not in compared and set(halves) <= set(one["variants"])]
    if not left:
        return ""
    return ("not compared, because no performance has answers in both variants:"
            f" {'; '.join(left)}")


def _show_notes(console: Console, contrasts: list[dict[str, Any]]) -> None:
    """Print what intervals are not corrected for, why some are missing, and that no comparison can
    be significant.
    """
    if len(contrasts) > 1 and any(row["interval"] for row in contrasts):
        console.print(NOT_CORRECTED, markup=False)
    if any(row["interval"] is None for row in contrasts):
        console.print(f"({NO_INTERVAL}, fewer than {LEAST_ACTIONS})", markup=False)
    if few := too_few(contrasts):
        console.print(few, markup=False)


def _show_compared(console: Console, compared: list[dict[str, Any]]) -> None:
    """Print the differences between models, a table for each kind of question."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in compared:
        kinds[f"{row['format']} {row['asks']} {row['prompting']}"].append(row)
    for kind, rows in kinds.items():
        console.print(f"\nmodels on the same questions, {kind}:", markup=False)
        console.print(_differences("models", [(f"{row['second']} instead of {row['first']}", row)
                                              for row in rows]))
        _show_notes(console, rows)
        for row in rows:
            if row["p_holm"] >= 1 - LEVEL and (power := power_sentence(row)):
                console.print(f"{row['second']} instead of {row['first']}: {power}", markup=False)


def _differences(heading: str, named: list[tuple[str, dict[str, Any]]]) -> Table:
    """Return a table of differences between two accuracies."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading)
    for heading in ("from", "to", "difference", "95 %", "pairs", "lost", "gained", "test",
                    "p after Holm"):
        table.add_column(heading, justify="right")
    for name, row in named:
        span = _points(row["interval"]) if row["interval"] else "no interval"
        first, second = row["accuracies"]
        table.add_row(name, f"{first:.1%}", f"{second:.1%}",
                      f"{100 * row['difference']:+.1f} points", span, str(row["pairs"]),
                      str(row["lost"]), str(row["gained"]), row["test"], f"{row['p_holm']:.3g}")
    return table


def _span(interval: list[float]) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def _points(interval: list[float]) -> str:
    return f"{100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}"


def _alpha(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
