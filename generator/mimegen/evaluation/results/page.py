"""Write the report of an evaluation as one self-contained page, with plots beside it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from mimegen.base.counted import counted
from mimegen.base.files import publish
from mimegen.base.names import path_name
from mimegen.evaluation.answers import PEOPLE, SIMULATED_PEOPLE
from mimegen.evaluation.contrasts import read_as, too_few
from mimegen.evaluation.differences import (
    LEVEL,
    NO_INTERVAL,
    NOT_CORRECTED,
    ONE_ACTION,
    power_sentence,
)
from mimegen.evaluation.markup import escape, figure, style, table
from mimegen.evaluation.performances import performances_sentence
from mimegen.evaluation.results.clips import Failure, data_address
from mimegen.evaluation.results.plots import contrasts_plot, in_order, shares_plot
from mimegen.evaluation.scoring import OTHER_SCRIPT, THRESHOLDS
from mimegen.evaluation.statistics import FEW_RARE, LEAST_SHOWN

Table = dict[str, Any]
METHOD = (
    "Intervals are of 95 %. The first is Wilson's with the error and t of clusters by action"
    " (Korn and Graubard 1998; near logit's where actions differ much), of people by action and"
    " person, which is the one to quote; the second resamples actions of models (BCa, 4999 times,"
    " widened for few actions; Hesterberg 2015). It would be too narrow, and is left out, with"
    f" fewer than {FEW_RARE} wrong (or right) answers, or pairs that differ. Contrasts are paired"
    " by performance: McNemar's exact test, or for people and for several performances of an action"
    " t over actions, with Holm's correction over the contrasts of a model; their interval is t's"
    " over actions (CR2). Differences between models are tested in the same way, by question, with"
    f" Holm's correction over the pairs of models. {NOT_CORRECTED} A choice is read by the first"
    " rule that finds one: an answer's field, tags or box; the last clear statement of a letter; a"
    " letter at the beginning or in brackets; the words of exactly one option. What is denied or"
    " doubted does not count; everything else is unparsed, and wrong."
)
PERFORMERS_NOTE = ("Each performer over all their variants. Their backgrounds and views may differ;"
                   " the comparisons have all else equal.")
# A warning is shown if a larger share of outputs could not be read.
UNPARSED_SHARE = 0.05
PEOPLE_HEAD = "People"
# Most confusions and hardest actions that are listed.
CONFUSIONS = 12
ACTIONS = 10
TITLES = {"mc": "Multiple choice (MIME)", "free": "Free form (MIME)",
          "3afc": "Three alternatives (ActPLD)", "description": "Description matching (ActPLD)",
          "timeline": "What happens when (MimeQA)", "cue": "Nonverbal cues (ObservableToM)",
          "same": "Same or different", "rating": "Ratings"}


@dataclass(frozen=True)
class PageSection:
    """A section of the page, and its plots by file name."""

    html: str
    plots: dict[str, bytes]


def write_page(content: Table, failed: Sequence[Failure], folder: Path) -> Path:
    """Write index.html and PNG plots of a report's content into ``folder``; return the page.

    Raises RequestError if they cannot be written.
    """
    sections = [*_kinds(content), _needs(content), _compared(content),
                _reliance(content), _actpld(content), _clips(failed), _people(content)]
    for section in sections:
        for name, picture in section.plots.items():
            publish(folder / f"{name}.png", picture)
    template = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    publish(folder / "index.html", template.substitute(
        style=style(), method=escape(f"{METHOD} {_free_method(content)}"),
        summary=_summary(content), warnings=_warnings(content),
        sections="".join(section.html for section in sections)))
    return folder / "index.html"


def _free_method(content: Table) -> str:
    measure = content["similarity"]
    if measure.startswith("judge"):
        return f"Free answers were judged by the {measure}."
    return (f"Free answers are right from a similarity to any label of {THRESHOLDS[measure]:g}"
            f" ({measure}).")


def _summary(content: Table) -> str:
    names = sorted({kind["model"] for kind in content["models"]})
    answers = sum(kind["answered"] for kind in content["models"])
    people = counted(len(names), "model")
    return f"<p>{counted(answers, 'answer')} of {people}: {escape(', '.join(names))}.</p>"


def _warnings(content: Table) -> str:
    """Return the section that warns of unreadable outputs and missing answers."""
    found = []
    for kind in content["models"]:
        name = f"{kind['model']}, {TITLES.get(kind['format'], kind['format'])}"
        if kind["unparsed"] > UNPARSED_SHARE:
            found.append(f"{name}: {kind['unparsed']:.1%} of outputs could not be read, and count"
                         " as wrong.")
        if kind["answered"] < kind["asked"] and kind["model"] not in (
                PEOPLE, SIMULATED_PEOPLE):
            found.append(f"{name}: {kind['asked'] - kind['answered']} of {kind['asked']} questions"
                         " have no answer, and do not count.")
        if kind["other_script"]:
            found.append(f"{name}: {counted(kind['other_script'], 'answer')} {OTHER_SCRIPT}.")
        if len(kind["actions"]) == 1:
            found.append(f"{name}: {ONE_ACTION}.")
        if unknown := performances_sentence(kind["unknown_performances"]):
            found.append(f"{name}: {unknown}.")
    items = "".join(f"<li>{escape(one)}</li>" for one in found)
    return f'<section class="warnings"><h2>Warnings</h2><ul>{items}</ul></section>' if found else ""


def _kinds(content: Table) -> Iterator[PageSection]:
    """Yield a section for each kind of question, with all models."""
    groups: dict[tuple[str, str, str], list[Table]] = defaultdict(list)
    for kind in content["models"]:
        groups[kind["format"], kind["asks"], kind["prompting"]].append(kind)
    for (format_, asks, prompting), kinds in groups.items():
        words = [TITLES.get(format_, format_), asks, prompting]
        name = path_name("-".join((format_, asks, prompting)))
        yield _kind(", ".join(dict.fromkeys(words)), name, kinds)


def _kind(title: str, name: str, kinds: Sequence[Table]) -> PageSection:
    """Return the section of one kind of question: tables and plots of all models."""
    parts = [f"<h2>{escape(title)}</h2><p>Each cell has the share of right answers, its 95 %"
             " interval over actions by t (quote this one), its interval by the bootstrap if there"
             " are enough right and wrong answers, and the number of answers. In variants, base is"
             " the man, or --character, and adversarial the spacesuit.</p>"]
    plots: dict[str, bytes] = {}
    variants = in_order([*{one: None for kind in kinds for one in kind["variants"]}])
    parts += [_whole(title, name, kinds) for name, title in GROUP_TITLES.items()
              if any(name in kind for kind in kinds)]
    parts += ["<h3>By variant</h3>", _shares("Variant", "variants", variants, kinds),
              _human_source(kinds)]
    plots[f"{name}-variants"] = shares_plot(kinds, "variants", variants)
    parts.append(figure("Accuracy by variant", plots[f"{name}-variants"]))
    if any(kind["contrasts"] for kind in kinds):
        plots[f"{name}-contrasts"] = contrasts_plot(kinds)
        parts += [_contrasts(kinds), figure("Contrasts, all else equal",
                                            plots[f"{name}-contrasts"])]
    if any("splits" in kind for kind in kinds):
        parts += ["<h3>By split</h3>", _parts("Split", "splits", kinds)]
    if any("performers" in kind for kind in kinds):
        parts += [f"<h3>By performer</h3><p>{PERFORMERS_NOTE}</p>",
                  _parts("Performer", "performers", kinds)]
    if any("categories" in kind for kind in kinds):
        parts += ["<h3>By category</h3>", _parts("Category", "categories", kinds),
                  "<h3>By what is asked for</h3>", _parts("Asked for", "aspects", kinds)]
        names = sorted({one for kind in kinds for one in kind.get("categories", {})})
        plots[f"{name}-categories"] = shares_plot(kinds, "categories", names)
        parts.append(figure("Accuracy by category", plots[f"{name}-categories"]))
    parts += _by_factor(kinds)
    if any("validity" in kind for kind in kinds):
        parts.append(_validity(kinds))
    parts.append(_read_by(kinds))
    parts += ["<h3>By semantic group</h3>", _folded(_parts("Group", "groups", kinds)),
              "<h3>Hardest actions</h3>", _hardest(kinds), _confusions(kinds)]
    return PageSection("\n".join(parts), plots)


GROUP_TITLES = {"pairs": "Minimal pairs with both halves right",
                "whole": "Right in all variants"}


def _whole(title: str, name: str, kinds: Sequence[Table]) -> str:
    """Return the table of paired or group accuracy, by model."""
    rows = [[kind["model"], _share(kind[name]), _percent(kind[name].get("chance"))]
            for kind in kinds if name in kind]
    return f"<h3>{title}</h3>" + _filled(["Model", "All right", "Chance"], rows)


def _filled(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table without the columns that are empty in all rows."""
    shown = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    return table([heads[column] for column in shown],
                 [[row[column] for column in shown] for row in rows])


def _reliance(content: Table) -> PageSection:
    """Return the section on what answers rely on: a sentence for each finding."""
    found = [(one, sentence) for one in content["reliance"] for sentence in one["sentences"]]
    if not found:
        return PageSection("", {})
    rows = [[one["model"], TITLES.get(one["format"], one["format"]), sentence]
            for one, sentence in found]
    return PageSection("<h2>What the answers rest on</h2>"
                       + table(["Model", "Questions", "Finding"], rows), {})


def _parts(head: str, part: str, kinds: Sequence[Table]) -> str:
    names = sorted({one for kind in kinds for one in kind.get(part, {})})
    return _shares(head, part, names, kinds)


def _by_factor(kinds: Sequence[Table]) -> list[str]:
    """Return the tables of the factors of a grid, each over all values of the others."""
    parts = []
    for factor in dict.fromkeys(name for kind in kinds for name in kind.get("factors", {})):
        own = [kind | {"values": kind.get("factors", {}).get(factor, {})} for kind in kinds]
        names = list(dict.fromkeys(value for kind in own for value in kind["values"]))
        title = escape(factor.replace("_", " "))
        parts += [f"<h3>By {title}</h3>", _shares(title, "values", names, own)]
    return parts


def _folded(body: str) -> str:
    return f"<details><summary>Show the table</summary>{body}</details>"


def _shares(head: str, part: str, names: Sequence[str], kinds: Sequence[Table]) -> str:
    """Return a table of accuracies: rows are parts and the total, columns are models."""
    rows = [[name, *(_share(kind.get(part, {}).get(name)) for kind in kinds),
             _part_chance(name, part, kinds),
             _human([kind[part][name] for kind in kinds if name in kind.get(part, {})])]
            for name in names]
    rows.append(["all", *(_share(kind) for kind in kinds), _percent(kinds[0]["chance"]),
                 _human(kinds)])
    rows.append(["unparsed", *(_percent(kind["unparsed"]) for kind in kinds), "", ""])
    return _filled([head, *(kind["model"] for kind in kinds), "Chance", PEOPLE_HEAD], rows)


def _human(kinds: Sequence[Table]) -> str:
    """Return human accuracy, marked if only expected; empty if unknown."""
    human = kinds[0].get("human")
    if human is None or human["accuracy"] is None:
        return ""
    about = "" if human["source"].startswith("measured") else "expected "
    return f"{about}{_percent(human['accuracy'])}"


def _human_source(kinds: Sequence[Table]) -> str:
    known = [one["human"] for one in (kinds[0], *kinds[0]["variants"].values()) if "human" in one]
    sources = dict.fromkeys(one["source"] for one in known if one["accuracy"] is not None)
    return f"<p>Accuracy of people: {escape('; '.join(sources) or known[0]['source'])}.</p>"


def _part_chance(name: str, part: str, kinds: Sequence[Table]) -> str:
    found = [kind[part][name]["chance"] for kind in kinds if name in kind.get(part, {})]
    return _percent(found[0])


def _share(share: Table | None) -> str:
    if share is None:
        return ""
    few = min(share["right"], share["answered"] - share["right"]) < FEW_RARE
    cells = (_percent(share["accuracy"]), _span(share["by_action"]),
             "" if few else _span(share["bootstrap"]))
    return f"{' '.join(filter(None, cells))}, n = {share['answered']}"


def _percent(value: float | None) -> str:
    if value is not None and 0 < value < LEAST_SHOWN:
        return "below 0.1 %"
    return "" if value is None else f"{100 * value:.1f} %"


def _span(interval: Sequence[float] | None) -> str:
    if interval is None:
        return ""
    return f"[{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _contrasts(kinds: Sequence[Table]) -> str:
    names = dict.fromkeys(one["contrast"] for kind in kinds for one in kind["contrasts"])
    rows = [[read_as(one["contrast"]), kind["model"], *_difference(one),
             f"{one['variant']} minus {one['minus']}"]
            for name in names for kind in kinds for one in kind["contrasts"]
            if one["contrast"] == name]
    few = dict.fromkeys(f"<p>{escape(kind['model'])}: {escape(sentence)}</p>" for kind in kinds
                        if (sentence := too_few(kind["contrasts"])))
    return "<h3>Comparisons (contrasts), all else equal</h3>" + _filled(
        ("Comparison", "Model", *DIFFERENCE_HEADS, "Variants"), rows) + _NOTE + "".join(few)


_NOTE = f"<p>{escape(NOT_CORRECTED)}</p>"
DIFFERENCE_HEADS = ("Points, t over actions", "Bootstrap", "Pairs", "Lost / gained", "Test", "p",
                    "p (Holm)")


def _difference(one: Table) -> list[str]:
    """Return the cells of a difference between two accuracies, under DIFFERENCE_HEADS."""
    return [f"{100 * one['difference']:+.1f} {_span(one['interval']) or f'({NO_INTERVAL})'}",
            "" if one["lost"] + one["gained"] < FEW_RARE else _span(one["bootstrap"]),
            str(one["pairs"]), f"{one['lost']} / {one['gained']}", one["test"],
            f"{one['p']:.3g}", f"{one['p_holm']:.3g}"]


def _needs(content: Table) -> PageSection:
    """Return the section of what one frame can tell, and what needs several."""
    rows = [[TITLES.get(one["format"], one["format"]), one["prompting"], one["model"],
             one["needs"], _share(one), _percent(one["chance"]),
             _share(one["pairs"])] for one in content["needs"]]
    if not rows:
        return PageSection("", {})
    return PageSection(
        "<h2>One frame or several</h2><p>Whether a single frame can tell the two clips of a pair"
        " (or the answers to a probe) apart, or several frames are needed.</p>"
        + _filled(("Questions", "Prompting", "Model", "Needs", "Right", "Chance",
                   "Pairs with both halves right"), rows), {})


def _compared(content: Table) -> PageSection:
    """Return the section of differences between models."""
    rows = [[TITLES.get(one["format"], one["format"]), one["asks"], one["prompting"],
             f"{one['second']} minus {one['first']}", *_difference(one)]
            for one in content["compared"]]
    if not rows:
        return PageSection("", {})
    few = [sentence.rstrip(".") for sentence in [too_few(content["compared"])] if sentence]
    few += [f"{one['second']} minus {one['first']}: {power}" for one in content["compared"]
            if one["p_holm"] >= 1 - LEVEL and (power := power_sentence(one))]
    return PageSection(
        "<h2>Models on the same questions</h2><p>Each row is one model's accuracy minus another's,"
        " over the questions that both answered. Lost: only the model that is subtracted is right."
        " Gained: only the other model is right.</p>"
        + _filled(("Questions", "Asks", "Prompting", "Models", *DIFFERENCE_HEADS), rows) + _NOTE
        + "".join(f"<p>{escape(sentence)}.</p>" for sentence in few), {})


def _validity(kinds: Sequence[Table]) -> str:
    rows = [[kind["model"], *(_percent(kind["validity"][name])
                              for name in ("precision", "recall", "f1"))]
            for kind in kinds if "validity" in kind]
    return "<h3>Saying that an explanation is valid</h3>" + table(
        ("Model", "Precision", "Recall", "F1"), rows)


def _read_by(kinds: Sequence[Table]) -> str:
    """Return how many choices each reading rule found."""
    rules = list(dict.fromkeys(rule for kind in kinds for rule in kind.get("read_by", {})))
    if not rules:
        return ""
    rows = [[kind["model"], *(str(kind.get("read_by", {}).get(rule, 0)) for rule in rules)]
            for kind in kinds]
    return "<h3>How answers were read</h3>" + table(("Model", *rules), rows)


def _hardest(kinds: Sequence[Table]) -> str:
    """Return the actions with the lowest mean accuracy over models."""
    names = sorted({one for kind in kinds for one in kind["actions"]})

    def mean(name: str) -> float:
        found = [kind["actions"][name]["accuracy"] for kind in kinds if name in kind["actions"]]
        return float(sum(found) / len(found))

    worst = sorted((name for name in names if mean(name) < 1),
                   key=lambda name: (mean(name), name))[:ACTIONS]
    if not worst:
        return "<p>None: every answer is right.</p>"
    rows = [[name, *(_right(kind["actions"].get(name)) for kind in kinds)] for name in worst]
    return table(["Action", *(kind["model"] for kind in kinds)], rows)


def _right(share: Table | None) -> str:
    return "" if share is None else f"{share['right']} of {share['answered']}"


def _confusions(kinds: Sequence[Table]) -> str:
    rows = [[kind["model"], one["answer"], one["said"], str(one["times"])]
            for kind in kinds for one in kind["confusions"][:CONFUSIONS]]
    if not rows:
        return ""
    return "<h3>Confusions</h3>" + _folded(table(("Model", "Shown", "Chosen", "Times"), rows))


def _actpld(content: Table) -> PageSection:
    """Return ActPLD's tables 2 and 3: types and tasks by model, separately for one and two people.
    """
    parts = []
    for people, found in (content.get("actpld") or {}).items():
        rows = [[row["model"], row["type"], _share(row.get("3afc")),
                 _share(row.get("description"))] for row in found["rows"]]
        parts += [f"<h3>{people.capitalize()}</h3>",
                  table(("Model", "Type", "3AFC", "Description matching"), rows)]
        if found["spearman"]:
            one = found["spearman"]
            parts.append(f"<p>Over models and types the two tasks go together with Spearman's"
                         f" &rho; = {one['rho']:.3f}, p = {one['p']:.3g}, n = {one['n']}.</p>")
    head = "<h2>Both tasks of ActPLD</h2>" if parts else ""
    return PageSection(head + "\n".join(parts), {})


def _clips(failed: Sequence[Failure]) -> PageSection:
    if not failed:
        return PageSection("", {})
    shown = "".join(_clip(one) for one in failed)
    missing = sum(one.video is None for one in failed)
    note = f" {missing} of the clips were not found, or are too long to lie in a page." \
        if missing else ""
    return PageSection("<h2>Clips that models fail on</h2><p>The worst question of each of the"
                       " hardest actions. The clips lie in this page, made small, at 10 frames"
                       f" a second.{note}</p><div>{shown}</div>", {})


def _clip(one: Failure) -> str:
    question = one.question
    wrong_answers = "; ".join(f"{model}: {text}" for model, text in one.wrong)
    words = (f"{question.action}, {question.variant}. {question.question or ''} Right:"
             f" {question.answer}. Wrong, {len(one.wrong)} of {one.answered}: {wrong_answers}.")
    video = f'<video src="{data_address(one.video)}" controls loop muted playsinline></video>' \
        if one.video else f"<p>{escape(question.file_name)}</p>"
    return f'<figure class="clip">{video}<figcaption>{escape(words)}</figcaption></figure>\n'


def _people(content: Table) -> PageSection:
    people = content.get("people")
    if not people or not people["raters"]:
        return PageSection("", {})
    head = "Simulated people" if people["simulated"] else "People"
    parts = [f"<h2>{head}</h2>", _agreement(people)]
    flagged = [one for one in people["raters"] if one["flags"]]
    if flagged:
        parts += ["<h3>Flagged</h3>", table(("Rater", "Why"), [
            [one["rater"], "; ".join(one["flags"])] for one in flagged])]
    for scale, found in people["scales"].items():
        rows = [[one["action"], str(one["variant"]), f"{one['mos']:.1f}",
                 "" if one["interval"] is None else
                 f"[{one['interval'][0]:.1f}, {one['interval'][1]:.1f}]",
                 _number(one["z"], "+.2f"), str(one["raters"])] for one in found["clips"]]
        parts += [f"<h3>Mean opinion: {escape(scale)}</h3>", _folded(table(
            ("Action", "Variant", "Mean", "95 %", "z", "Raters"), rows))]
    return PageSection("\n".join(parts), {})


def _agreement(people: Table) -> str:
    rows = [[scale, _number(found["alpha"]), _number(found["alpha_without_flagged"]),
             _correlation(found.get("against_scores"), "srcc"),
             _correlation(found.get("against_scores"), "plcc")]
            for scale, found in people["scales"].items()]
    if people["choices"]["answers"]:
        rows.append(["choices", _number(people["choices"]["alpha"]), "", "", ""])
    who = SIMULATED_PEOPLE if people["simulated"] else PEOPLE
    summary = f"<p>{len(people['raters'])} {who}, {people['flagged']} flagged; mean opinions" \
        " leave these out.</p>"
    return summary + table(("Scale", "Krippendorff's alpha", "without flagged",
                            "SRCC to given scores", "PLCC to given scores"), rows)


def _number(value: float | None, form: str = ".3f") -> str:
    return "" if value is None else format(value, form)


def _correlation(found: Table | None, name: str) -> str:
    if not found or found[name] is None:
        return ""
    interval = found[f"{name}_interval"]
    span = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
    return f"{found[name]:.3f}{span}, n = {found['clips']}"
