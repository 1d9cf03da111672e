"""``mimegen permute``: sample held-out clips, commit to them, and verify a commitment."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly, library_option, warn
from mimegen.commands.grouped import Grouped
from mimegen.evaluation.commitment import (
    check_free,
    holds_proof,
    proof_of,
    verify_all,
    verify_item,
    write_commitment,
)
from mimegen.farm.settings import FarmSettings
from mimegen.library.catalogue import Catalogue
from mimegen.plan.permute.ahead import look_ahead
from mimegen.plan.permute.axes import Freedom, axes
from mimegen.plan.permute.declaration import Declaration
from mimegen.plan.permute.designs import (
    DESIGNS,
    FULL,
    PAIRWISE,
    Design,
    check_count,
    design_of,
    pairs_covered,
)
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.graded import expected_orders
from mimegen.plan.permute.ready import read_ready
from mimegen.plan.permute.seen import SeenRows, seen_in
from mimegen.plan.permute.space import Space
from mimegen.plan.plan import Plan
from mimegen.production.frame_check import FrameCheck
from mimegen.production.progress import Reporter
from mimegen.production.render import render
from mimegen.production.ticking import ticking
from mimegen.request.farms import farm_of
from mimegen.request.sources import entries_of
from mimegen.shots.config import read_config
from mimegen.shots.devices import OPENGL, Device
from mimegen.store.store import Store

HEADINGS = {
    "What to sample": ("ready", "actions", "names", "fixes", "design_name", "count", "seed",
                      "libraries"),
    "Distance from published clips": ("unseen", "given", "frame_distance"),
    "Output": ("out",),
    "Verifying a commitment": ("verify", "item"),
}
_FILE = click.Path(path_type=Path)
# A larger specification is usually a mistake.
MOST_CLIPS = 1_000_000


def _take_ready(context: click.Context, option: click.Parameter, name: str | None) -> None:
    """Use the values of a ready request as defaults of the other options."""
    if name is None:
        return
    try:
        ready = read_ready(name)
    except RequestError as problem:
        raise click.BadParameter(str(problem)) from problem
    context.default_map = {"actions": ",".join(ready.actions), "names": ",".join(ready.axes),
                           "fixes": ready.fix, "design_name": ready.design}


@click.command("permute", cls=Grouped, headings=HEADINGS)
@click.option("--ready", metavar="NAME|FILE", is_eager=True, expose_value=False,
              callback=_take_ready, help="Read actions, axes, fix and design from a YAML request: a"
              " file, or one that comes with mimegen (graded_faults). Other options override it.")
@click.option("--count", type=click.IntRange(1, MOST_CLIPS), metavar="N",
              help="Number of clips to sample.  [default with pairwise and full: the whole design]")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
              help="Random seed. The first clips of a seed do not depend on --count.")
@click.option("--actions", default="all", show_default=True, metavar="A[,B]|all|set:NAME",
              help="Actions to sample, by id, label or alias. All their takes are used.")
@click.option("--axes", "names", metavar="A[,B]",
              help=f"Axes to vary: {', '.join(axes().all)}.  [default: all but display, config"
              " and faults]")
@click.option("--fix", "fixes", multiple=True, metavar="AXIS=VALUE",
              help="Keep an axis at one value, as in lens=85; repeat for more axes.")
@click.option("--design", "design_name", type=click.Choice(DESIGNS), default="random",
              show_default=True, help="How to combine levels. random: sample every axis from its"
              " range; pairwise: cover every pair of levels in few clips; full: every combination;"
              " latin: every level equally often in each action.")
@click.option("--unseen", multiple=True, type=_FILE, metavar="MANIFEST",
              help="Make clips that differ from those in this manifest (or its folder) in seed,"
              " person, angle and background; repeat for more manifests.")
@click.option("--check-frames", "given", multiple=True, type=_FILE, metavar="DIR",
              help="Render drafts, compare their frames with the clips in this folder, and resample"
              " clips that look too similar; repeat for more folders.")
@click.option("--frame-distance", type=click.FloatRange(0, 0.5), metavar="D",
              help="With --check-frames: reject clips closer than this distance.  [default: the"
              " distance within which 5 % of the given clips have a clip of another action]")
@click.option("--verify", nargs=2, type=_FILE, metavar="COMMITMENT.json SPEC.jsonl",
              help="Check a specification, or the proof of one item, against its commitment.")
@click.option("--item", type=click.IntRange(0), metavar="K",
              help="With --verify: write a proof of item K (from 0) that reveals no other item.")
@click.option("--out", type=_FILE, metavar="SPEC.jsonl",
              help="File to write the declarations to; the commitment goes into the same folder."
              " With --item, file to write the proof to.  [default with --item: item-K.json beside"
              " SPEC]")
@library_option
@exits_cleanly
def permute_command(
    count: int | None, seed: int, actions: str, names: str | None, fixes: tuple[str, ...],
    design_name: str, unseen: tuple[Path, ...], given: tuple[Path, ...],
    frame_distance: float | None, verify: tuple[Path, Path] | None, item: int | None,
    out: Path | None, libraries: tuple[Path, ...],
) -> int:
    """Sample held-out clips and publish a commitment to them.

    With --verify: check clips against the commitment that you published before.
    """
    if verify is not None:
        return _verify(*verify, item, out)
    if out is None or item is not None:
        raise RequestError("expected --out SPEC.jsonl to sample clips, or --verify COMMITMENT.json"
                           " SPEC.jsonl to check them (--item requires --verify)")
    if out.is_dir():
        raise RequestError(f"--out {out}: is a folder; expected a file, such as"
                           f" {out / 'SPEC.jsonl'}")
    check_free(out)
    if frame_distance is not None and not given:
        raise RequestError("--frame-distance requires --check-frames DIR")
    drawing_of = partial(_drawing, libraries, unseen, actions, (names, fixes), design_name, seed)
    drawing = drawing_of(GoodTakes.of_user())
    _print_size(drawing.space, drawing.space.seen)
    drawn_count = _count(drawing.design, drawing.space, count)
    click.echo(f"sampling {counted(drawn_count, 'clip')}; checking a take for the first time takes"
               " a few seconds")
    look_ahead(drawing, drawing_of, drawn_count,
               partial(ticking, what="checked the takes of {} clips"))
    drawn = list(ticking(drawing.declarations(drawn_count), drawn_count, "sampled {} clips"))
    if given:
        drawn = _apart(drawing, drawn, given, frame_distance, out.with_name("frames"))
    target = write_commitment([one.content() for one in drawn], out)
    redrawn = sum(one.sub_seed > 0 for one in drawn)
    nonce = target.with_suffix(".nonce")
    click.echo(f"resampled {redrawn} of {drawn_count} takes, because checks found faults in them\n"
               f"specification  {out} (keep it secret until you show the clips)\n"
               f"commitment     {target} (publish it now; to verify it later, others need"
               f" {out.name} and {nonce.name}, which stay secret until then)\n"
               f"secret nonce   {nonce} (keep it with {out.name})")
    if views := sum(one.view_redraws is not None for one in drawn):
        click.echo(f"resampled the view of {views} of {drawn_count} clips, because the first hardly"
                   " showed its background")
    _write_orders(drawn, out.with_suffix(".order.jsonl"))
    return DONE


def _drawing(libraries: tuple[Path, ...], unseen: tuple[Path, ...], actions: str,
             freedom: tuple[str | None, tuple[str, ...]], design: str, seed: int, good: GoodTakes
             ) -> Drawing:
    """Return the sampler of clips with these settings."""
    catalogue = Catalogue.with_libraries(libraries)
    space = Space.of(catalogue, entries_of(catalogue, actions), Freedom.of(*freedom),
                     seen_in(catalogue, unseen))
    return Drawing(space, design_of(design, space, seed), seed, good)


def _write_orders(drawn: Sequence[Declaration], out: Path) -> None:
    """Write the expected order of clips that differ only in the amount of a fault."""
    orders = [json.dumps(order) for order in expected_orders(drawn)]
    if orders:
        publish(out, "".join(f"{order}\n" for order in orders).encode())
        click.echo(f"orders         {out} (expected order in"
                   f" {counted(len(orders), 'series', 'series')} of graded faults)")


def _apart(drawing: Drawing, drawn: list[Declaration], given: tuple[Path, ...],
           frame_distance: float | None, out: Path) -> list[Declaration]:
    """Return the declarations, resampled where a clip looks too similar to a given one."""
    from mimegen.evaluation.likeness.keyframes import looks_of
    from mimegen.evaluation.likeness.nearness import nearness_of
    from mimegen.evaluation.likeness.page import write_page

    nearness = nearness_of([look for folder in given for look in looks_of(folder)], frame_distance)
    draft = read_config(drawing.space.catalogue.file("config", "draft"))
    check = FrameCheck(drawing, nearness, draft, out, _draw_drafts)
    try:
        return check.redraw_similar(drawn)
    finally:
        if check.pairs:
            pairs = [check.pairs[number] for number in sorted(check.pairs)]
            page = write_page(pairs, check.redrawn, nearness, out / "nearest.html")
            click.echo(f"{counted(len(check.redrawn), 'draft')} came closer than"
                       f" {nearness.threshold:.3f} to a given clip\nnearest pairs  {page}")


def _draw_drafts(plan: Plan, out: Path) -> dict[str, str]:
    store = Store(out / "store")
    with Reporter(len(plan), quiet=True) as reporter:
        farm = farm_of(FarmSettings(), Device(OPENGL, 1), store, out, warn)
        return render(plan, store, out, farm, reporter)


def _print_size(space: Space, seen: SeenRows) -> None:
    """Print the number of possible clips, and of those that differ from published ones."""
    whole = space if not seen.rows else Space.of(
        space.catalogue, [space.catalogue.action(action) for action in space.actions],
        space.freedom, SeenRows(space.catalogue))
    click.echo(f"possible clips: {_number(whole.size)}, from"
               f" {counted(len(space.parts), 'take')} of {counted(len(space.actions), 'action')}"
               + (f"; about {_number(space.size)} keep their distance from all"
                  f" {counted(seen.rows, 'published clip')}" if seen.rows else ""))
    held = sorted({"azimuth", "background", "seed", "character"} - space.freedom.drawn)
    if seen.rows and held:
        click.echo(f"not varied, so their distance is not checked: {', '.join(held)}")


def _number(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.2e}"


def _count(design: Design, space: Space, count: int | None) -> int:
    """Return how many clips to sample. Raises RequestError if unknown or more than there are."""
    if count is None and design.size is None:
        raise RequestError(f"--count N is required: only --design {PAIRWISE} and --design {FULL}"
                           " determine the number of clips")
    wanted = count or design.size or 0
    if design.size is not None:
        click.echo(f"the {design.name} design has {design.size:,} clips" + (
            "" if wanted == design.size else f"; sampling the first {wanted:,}"
            if wanted < design.size else f"; repeating it {wanted / design.size:.3g} times"))
    if wanted > MOST_CLIPS:
        raise RequestError(f"--design {design.name}: {wanted:,} clips, but at most {MOST_CLIPS:,}"
                           " can be declared; vary fewer axes (--axes) or set --count")
    check_count(design, space, wanted)
    if design.name == PAIRWISE:
        share = pairs_covered(space, [design.cell(number, 0) for number in range(wanted)])
        click.echo(f"pairs of levels covered: {share:.1%}")
    return wanted


def _verify(commitment: Path, spec: Path, item: int | None, out: Path | None) -> int:
    if item is not None:
        return _prove(commitment, spec, item, out)
    if holds_proof(spec):
        click.echo(f"item {verify_item(commitment, spec)} matches the commitment")
    else:
        click.echo(f"all {verify_all(commitment, spec)} declarations match the commitment")
    return DONE


def _prove(commitment: Path, spec: Path, item: int, out: Path | None) -> int:
    target = out or spec.with_name(f"item-{item}.json")
    publish(target, proof_of(commitment, spec, item))
    verify_item(commitment, target)
    click.echo(f"item {item} matches the commitment; anyone with the commitment can check {target}"
               f" with: mimegen permute --verify {commitment.name} {target.name}")
    return DONE
