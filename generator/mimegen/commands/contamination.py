"""``mimegen contamination``: test a model's scores for training-set contamination."""

import json
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly

_FILE = click.Path(path_type=Path)


@click.command("contamination")
@click.argument("arms", nargs=-1, type=_FILE, metavar="[SEEN UNSEEN]")
@click.option("--manifest", "manifests", multiple=True, type=_FILE, metavar="DIR",
              help="Manifest of the clips, or its folder; supplies actions and variants and checks"
              " that both sets are balanced. Repeat for more manifests.")
@click.option("--placebo", type=_FILE, metavar="UNSEEN2",
              help="Answers to a second unseen set; a fall from UNSEEN to it shows unequal"
              " difficulty.")
@click.option("--by", default="model", show_default=True, metavar="FIELD",
              help="Field of the rows that identifies the model.")
@click.option("--margin", default=5.0, show_default=True, metavar="POINTS",
              type=click.FloatRange(0, 100, min_open=True, max_open=True),
              help="Equivalence margin: the verdict 'no fall' means a fall shown to be smaller than"
              " this, in percentage points.")
@click.option("--json", "as_text", is_flag=True, help="Print the full results as JSON.")
@click.option("--report", "folder", type=_FILE, metavar="DIR",
              help="Write an HTML page, plots and report.json to this folder.")
@click.option("--power", "fall", type=click.FloatRange(0.5, 100), metavar="POINTS",
              help="Instead of a test: compute how many pairs of answers detect a fall of this many"
              " points with 80 % power.")
@click.option("--discordance", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
              help="With --power: share of pairs with one answer right and one wrong."
              "  [default: .2, .3 and .4]")
@click.option("--pilot", nargs=2, type=_FILE, metavar="SEEN UNSEEN",
              help="With --power: estimate the discordance from these answers.")
@click.option("--actions", type=click.IntRange(2), metavar="K",
              help="With --power: number of actions among the pairs.  [default: many]")
@exits_cleanly
def contamination_command(arms: tuple[Path, ...], manifests: tuple[Path, ...],
                          placebo: Path | None, by: str, margin: float, as_text: bool,
                          folder: Path | None, fall: float | None, discordance: float | None,
                          pilot: tuple[Path, Path] | None, actions: int | None) -> int:
    """Test a model's scores for training-set contamination.

    Compares its answers to published clips (SEEN) with those to held-out clips (UNSEEN).

    Both files hold one JSON object a line: sample_id, model, correct (0 to 1), action and variant.
    With --manifest, action and variant may be left out.
    """
    if fall is not None:
        if arms:
            raise RequestError("--power takes no files SEEN UNSEEN; pass existing answers with"
                               " --pilot SEEN UNSEEN")
        return _plan(fall / 100, discordance, pilot, actions, manifests, as_text)
    if len(arms) != 2:
        raise RequestError("expected two files of answers, SEEN and UNSEEN, or --power POINTS")
    if discordance is not None or pilot or actions:
        raise RequestError("--discordance, --pilot and --actions require --power")
    return _judge(arms, manifests, placebo, by, margin / 100, as_text, folder)


# Imported here because statistics and plots take seconds to import.
def _judge(arms: tuple[Path, ...], manifests: tuple[Path, ...], placebo: Path | None, by: str,
           margin: float, as_text: bool, folder: Path | None) -> int:
    from mimegen.evaluation.contamination.page import write_report
    from mimegen.evaluation.contamination.rows import read_arm, read_clips
    from mimegen.evaluation.contamination.verdict import judge
    from mimegen.evaluation.contamination.words import as_json, paragraph

    clips = read_clips(manifests)
    read = [read_arm(name, path, clips) for name, path in
            zip(("seen", "unseen"), arms, strict=True)]
    fresh = read_arm("placebo", placebo, clips) if placebo else None
    report = judge(read[0], read[1], margin, by, fresh)
    if folder is not None:
        click.echo(write_report(report, folder), err=as_text)
    if as_text:
        click.echo(json.dumps(as_json(report), indent=2, allow_nan=False, ensure_ascii=False))
        return DONE
    for judged in report.judged:
        click.echo(f"{judged.name}: {judged.verdict}\n  {paragraph(judged, report)}")
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
    return DONE


def _plan(fall: float, discordance: float | None, pilot: tuple[Path, Path] | None,
          actions: int | None, manifests: tuple[Path, ...], as_text: bool) -> int:
    from mimegen.evaluation.contamination.pilot import read_pilot
    from mimegen.evaluation.contamination.power import PowerDesign, pairs_needed

    if pilot and discordance is not None:
        raise RequestError("--discordance and --pilot are mutually exclusive")
    known = read_pilot(*pilot, manifests) if pilot else None
    shares = [known.discordance] if known else [discordance] if discordance else [0.2, 0.3, 0.4]
    designs = [PowerDesign(fall, share, actions=actions) for share in shares if share >= fall]
    if not designs:
        PowerDesign(fall, shares[-1]).check()
    plans = [{"points": 100 * fall, "discordance": design.discordance, "alpha": design.alpha,
              "power": design.power, "actions": actions, "pairs": pairs_needed(design)}
             for design in designs]
    if as_text:
        click.echo(json.dumps({"designs": plans, "pilot": known and known.as_json(actions)},
                              indent=2))
        return DONE
    for plan in plans:
        click.echo(f"{plan['pairs']} pairs detect a fall of {plan['points']:g} points with"
                   f" {100 * float(plan['power'] or 0):g} % power if"
                   f" {100 * float(plan['discordance'] or 0):.3g} % of pairs disagree")
    if known:
        click.echo(known.words(actions))
    return DONE
