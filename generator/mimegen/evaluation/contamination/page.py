"""Write the verdict as a self-contained page, with plots beside it."""

import json
from pathlib import Path
from string import Template

from mimegen.base.files import publish
from mimegen.evaluation.contamination.plots import plots_of
from mimegen.evaluation.contamination.verdict import (
    FALL,
    NO_FALL,
    RISE,
    SMALL_FALL,
    UNDECIDED,
    Accuracy,
    Comparison,
    Judged,
    Report,
)
from mimegen.evaluation.contamination.words import METHOD, as_json, paragraph
from mimegen.evaluation.markup import escape, figure, style, table
from mimegen.evaluation.statistics import Interval

_HEADLINES = {FALL: "Falls on unseen clips", SMALL_FALL: "Falls, but by less than the margin",
              NO_FALL: "No fall that matters", RISE: "Unseen clips are easier",
              UNDECIDED: "Undecided"}
_TITLES = {"accuracy": "Accuracy on seen and unseen clips, with 95 % intervals",
           "fall": "The fall from seen to unseen clips, with 95 % intervals",
           "variants": "The fall in each variant, with 95 % intervals (not corrected for their"
                       " number)"}


def write_report(report: Report, folder: Path) -> Path:
    """Write index.html, PNG plots and report.json into ``folder``; return the page's path.

    Raises RequestError if they cannot be written.
    """
    plots = plots_of(report)
    for name, picture in plots.items():
        publish(folder / f"{name}.png", picture)
    publish(folder / "report.json",
            json.dumps(as_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    publish(folder / "index.html", _page(report, plots))
    return folder / "index.html"


def _page(report: Report, plots: dict[str, bytes]) -> str:
    template = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        style=style(),
        method=escape(METHOD), margin=f"{100 * report.margin:g}",
        models="".join(_model(judged, report) for judged in report.judged),
        warnings=_warnings(report), numbers=_numbers(report), balance=_balance(report),
        plots="".join(figure(_TITLES[name], picture) for name, picture in plots.items()))


def _model(judged: Judged, report: Report) -> str:
    kind = judged.verdict.replace(" ", "-")
    return (f'<article class="{kind}"><h2>{escape(judged.name)}</h2>'
            f'<p class="verdict">{_HEADLINES[judged.verdict]}</p>'
            f"<blockquote>{escape(paragraph(judged, report))}</blockquote></article>\n")


def _warnings(report: Report) -> str:
    if not report.warnings:
        return ""
    items = "".join(f"<li>{escape(warning)}</li>" for warning in report.warnings)
    return f'<section class="warnings"><h2>Warnings</h2><ul>{items}</ul></section>'


def _numbers(report: Report) -> str:
    heads = ("Model", "Seen", "Unseen", "Fall, points", "Bootstrap (BCa)", "p", "p (Holm)",
             "McNemar: seen only / unseen only, p", "Mixed logistic: odds ratio", "Placebo, points")
    return table(heads, [_number_cells(judged) for judged in report.judged])


def _number_cells(judged: Judged) -> list[str]:
    whole, pairs, mixed = judged.whole, judged.pairs, judged.mixed
    return [
        judged.name, _accuracy(whole.seen), _accuracy(whole.unseen), _fall(whole),
        _bootstrap(whole),
        f"{whole.fall.p():.3g}", f"{judged.p:.3g}",
        f"{pairs.first_only} / {pairs.second_only}, {pairs.p:.3g}" if pairs else "no pairs",
        f"{mixed.odds_ratio:.2f} {_interval(mixed.interval, 1)}" if mixed else "none",
        _fall(judged.placebo) if judged.placebo else "not given"]


def _accuracy(arm: Accuracy) -> str:
    return f"{100 * arm.value:.1f} % {_interval(arm.interval, 100)}, n = {arm.n}"


def _fall(found: Comparison) -> str:
    return f"{100 * found.fall.value:.1f} {_interval(found.fall.interval(), 100)}"


def _bootstrap(found: Comparison) -> str:
    if found.bootstrap is None:
        return "none"
    return _interval(found.bootstrap, 100) + "*" * found.near_certainty


def _interval(ends: Interval, scale: float) -> str:
    digits = 1 if scale == 100 else 2
    return f"[{scale * ends[0]:.{digits}f}, {scale * ends[1]:.{digits}f}]"


def _balance(report: Report) -> str:
    if not report.balance:
        return "<p>No manifest was given, so that nothing else is known of the clips.</p>"
    return table(("Factor", "Seen", "Unseen", "Difference", ""), [
        [factor.factor, factor.seen, factor.unseen, f"{factor.difference:.2f}",
         "" if factor.balanced else "differs"] for factor in report.balance])
