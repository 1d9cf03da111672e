"""``mimegen contamination``: is a model's score remembered or real?"""

import json
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly

_FILE = click.Path(path_type=Path)


@click.command("contamination")
@click.argument("arms", nargs=-1, type=_FILE, metavar="[SEEN UNSEEN]")
@click.option("--manifest", "manifests", multiple=True, type=_FILE, metavar="DIR",
              help="A manifest of the clips, or its folder: actions, variants, balance of arms.")
@click.option("--placebo", type=_FILE, metavar="UNSEEN2",
              help="Answers to a second unseen set, compared with the first.")
@click.option("--by", default="model", show_default=True, metavar="FIELD",
              help="The rows' field that tells models apart.")
@click.option("--margin", default=5.0, show_default=True, metavar="POINTS",
              type=click.FloatRange(0, 100, min_open=True, max_open=True),
              help="A fall below this does not matter: what 'no fall' is measured by.")
@click.option("--json", "as_text", is_flag=True, help="Print all numbers as JSON.")
@click.option("--report", "folder", type=_FILE, metavar="DIR",
              help="Write an HTML page, plots and report.json there.")
@click.option("--power", "fall", type=click.FloatRange(0.5, 100), metavar="POINTS",
              help="Instead: how many pairs see a fall of so many points with 80 % power.")
@click.option("--discordance", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
              help="With --power: the share of pairs that disagree.  [default: .2, .3 and .4]")
@click.option("--pilot", nargs=2, type=_FILE, metavar="SEEN UNSEEN",
              help="With --power: take it, and the number of actions, from answers that are there.")
@click.option("--actions", type=click.IntRange(2), metavar="K",
              help="With --power: over how many actions the pairs are spread.  [default: many]")
@exits_cleanly
def contamination_command(arms: tuple[Path, ...], manifests: tuple[Path, ...],
                          placebo: Path | None, by: str, margin: float, as_text: bool,
                          folder: Path | None, fall: float | None, discordance: float | None,
                          pilot: tuple[Path, Path] | None, actions: int | None) -> int:
    """Tell whether a model remembers or understands.

    Its answers to published clips (SEEN) are compared with those to unseen ones (UNSEEN).

    Both are files of JSON lines: sample_id, model, correct (0, 1 or graded between), action and
    variant, where the last two may come from the clips' manifests.
    """
    if fall is not None:
        if arms:
            raise RequestError("--power plans and compares nothing; answers that are there go with"
                               " --pilot SEEN UNSEEN")
        return _plan(fall / 100, discordance, pilot, actions, manifests, as_text)
    if len(arms) != 2:
        raise RequestError("expected two files of answers, SEEN and UNSEEN, or --power POINTS")
    if discordance is not None or pilot or actions:
        raise RequestError("--discordance, --pilot and --actions go with --power")
    return _judge(arms, manifests, placebo, by, margin / 100, as_text, folder)


# Statistics and plots take seconds to import, which no other command should wait for.
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
    from mimegen.evaluation.contamination.power import Design, pairs_needed

    if pilot and discordance is not None:
        raise RequestError("--discordance and --pilot say the same; give one of them")
    known = read_pilot(*pilot, manifests) if pilot else None
    shares = [known.discordance] if known else [discordance] if discordance else [0.2, 0.3, 0.4]
    designs = [Design(fall, share, actions=actions) for share in shares if share >= fall]
    if not designs:
        Design(fall, shares[-1]).check()
    plans = [{"points": 100 * fall, "discordance": design.discordance, "alpha": design.alpha,
              "power": design.power, "actions": actions, "pairs": pairs_needed(design)}
             for design in designs]
    if as_text:
        click.echo(json.dumps({"designs": plans, "pilot": known and known.as_json(actions)},
                              indent=2))
        return DONE
    for plan in plans:
        click.echo(f"{plan['pairs']} pairs see a fall of {plan['points']:g} points with"
                   f" {100 * float(plan['power'] or 0):g} % power where"
                   f" {100 * float(plan['discordance'] or 0):.3g} % of pairs disagree")
    if known:
        click.echo(known.words(actions))
    return DONE
