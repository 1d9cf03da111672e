"""``mimegen permute``: clips that nobody has seen, and the proof that they were announced."""

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
    holds_proof,
    proof_of,
    verify_all,
    verify_item,
    write_announcement,
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
from mimegen.plan.permute.seen import Seen, seen_in
from mimegen.plan.permute.space import Space
from mimegen.plan.plan import Plan
from mimegen.production.frame_check import FrameCheck
from mimegen.production.progress import Reporter
from mimegen.production.render import render
from mimegen.request.farms import farm_of
from mimegen.request.sources import entries_of
from mimegen.stage.config import read_config
from mimegen.stage.devices import OPENGL, Device
from mimegen.store.store import Store

HEADINGS = {
    "What is drawn": ("ready", "actions", "names", "fixes", "design_name", "count", "seed",
                      "libraries"),
    "Far from what was seen": ("unseen", "given", "frame_distance"),
    "What comes out": ("out",),
    "The proof that it was announced": ("verify", "item"),
}
_FILE = click.Path(path_type=Path)
# A specification of more is a mistake more often than not.
MOST_CLIPS = 1_000_000


def _take_ready(context: click.Context, option: click.Parameter, name: str | None) -> None:
    """Let what a ready request says be the defaults of the other options."""
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
              callback=_take_ready, help="A request in YAML: its actions, axes, fix and design,"
              " unless they are said here (graded_faults).")
@click.option("--count", type=click.IntRange(1, MOST_CLIPS), metavar="N",
              help="How many clips to draw; by default all of a design.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
              help="The same seed draws the same clips; more of them begin with the same.")
@click.option("--actions", default="all", show_default=True, metavar="A[,B]|all",
              help="Actions by id, label or alias, in all their takes.")
@click.option("--axes", "names", metavar="A[,B]",
              help=f"What is drawn: {', '.join(axes().all)}.  [default: all but display, config"
              " and faults]")
@click.option("--fix", "fixes", multiple=True, metavar="AXIS=VALUE",
              help="What is not drawn; may be repeated.")
@click.option("--design", "design_name", type=click.Choice(DESIGNS), default="random",
              show_default=True, help="pairwise: every pair of levels in few clips; full: every"
              " combination of levels; latin: levels equally often in every action.")
@click.option("--unseen", multiple=True, type=_FILE, metavar="MANIFEST",
              help="A manifest, or its folder, that clips are to be far from; may be repeated.")
@click.option("--check-frames", "given", multiple=True, type=_FILE, metavar="DIR",
              help="Draw drafts of the clips, compare their pictures with the clips of this folder,"
              " and draw anew what is too near; may be repeated.")
@click.option("--frame-distance", type=click.FloatRange(0, 0.5), metavar="D",
              help="With --check-frames: what is nearer is too near.  [default: as near as one in"
              " 20 of the given clips comes to another action]")
@click.option("--verify", nargs=2, type=_FILE, metavar="ANNOUNCEMENT.json SPEC.jsonl",
              help="Check that a specification, or the proof of one item, is what was announced.")
@click.option("--item", type=click.IntRange(0), metavar="K",
              help="With --verify: prove item K alone (from 0), without showing the others.")
@click.option("--out", type=_FILE, metavar="SPEC.jsonl",
              help="Where to write declarations, with the announcement beside; with --item, the"
              " proof.  [default for proofs: item-K.json beside SPEC]")
@library_option
@exits_cleanly
def permute_command(
    count: int | None, seed: int, actions: str, names: str | None, fixes: tuple[str, ...],
    design_name: str, unseen: tuple[Path, ...], given: tuple[Path, ...],
    frame_distance: float | None, verify: tuple[Path, Path] | None, item: int | None,
    out: Path | None, libraries: tuple[Path, ...],
) -> int:
    """Draw clips that nobody has seen, and announce them.

    With --verify: prove that they were announced.
    """
    if verify is not None:
        return _verify(*verify, item, out)
    if out is None or item is not None:
        raise RequestError("say where to write what is drawn, --out SPEC.jsonl; or what to check,"
                           " --verify ANNOUNCEMENT.json SPEC.jsonl")
    if out.is_dir():
        raise RequestError(f"{out}: is a folder; --out wants a file, as {out / 'SPEC.jsonl'}")
    if frame_distance is not None and not given:
        raise RequestError("--frame-distance says what --check-frames DIR finds too near; say both")
    drawing_of = partial(_drawing, libraries, unseen, actions, (names, fixes), design_name, seed)
    drawing = drawing_of(GoodTakes.of_user())
    _tell_size(drawing.space, drawing.space.seen)
    drawn_count = _count(drawing.design, drawing.space, count)
    look_ahead(drawing, drawing_of, drawn_count)
    drawn = list(drawing.declarations(drawn_count))
    if given:
        drawn = _apart(drawing, drawn, given, frame_distance, out.with_name("frames"))
    target = write_announcement([one.content() for one in drawn], out)
    redrawn = sum(one.sub_seed > 0 for one in drawn)
    click.echo(f"{redrawn} of {drawn_count} takes were drawn again, for what was found in them\n"
               f"declared   {out}\nannounced  {target}\n"
               f"secret     {target.with_suffix('.nonce')} (keep it with {out.name})")
    _write_orders(drawn, out.with_suffix(".order.jsonl"))
    return DONE


def _drawing(libraries: tuple[Path, ...], unseen: tuple[Path, ...], actions: str,
             freedom: tuple[str | None, tuple[str, ...]], design: str, seed: int, good: GoodTakes
             ) -> Drawing:
    catalogue = Catalogue.with_libraries(libraries)
    space = Space.of(catalogue, entries_of(catalogue, actions), Freedom.of(*freedom),
                     seen_in(catalogue, unseen))
    return Drawing(space, design_of(design, space, seed), seed, good)


def _write_orders(drawn: Sequence[Declaration], out: Path) -> None:
    """Write the order that is expected of clips that differ in the amount of a fault alone."""
    orders = [json.dumps(order) for order in expected_orders(drawn)]
    if orders:
        publish(out, "".join(f"{order}\n" for order in orders).encode())
        click.echo(f"orders     {out} ({len(orders)} series of graded faults)")


def _apart(drawing: Drawing, drawn: list[Declaration], given: tuple[Path, ...],
           frame_distance: float | None, out: Path) -> list[Declaration]:
    """Return the declarations, those whose pictures are too near to given ones drawn anew."""
    from mimegen.evaluation.likeness.keyframes import looks_of
    from mimegen.evaluation.likeness.nearness import nearness_of
    from mimegen.evaluation.likeness.page import write_page

    nearness = nearness_of([look for folder in given for look in looks_of(folder)], frame_distance)
    draft = read_config(drawing.space.catalogue.file("config", "draft"))
    check = FrameCheck(drawing, nearness, draft, out, _draw_drafts)
    try:
        return check.apart(drawn)
    finally:
        if check.pairs:
            pairs = [check.pairs[number] for number in sorted(check.pairs)]
            page = write_page(pairs, check.redrawn, nearness, out / "nearest.html")
            click.echo(f"{len(check.redrawn)} drafts were nearer than {nearness.threshold:.3f} to a"
                       f" given clip\nnearest    {page}")


def _draw_drafts(plan: Plan, out: Path) -> dict[str, str]:
    store = Store(out / "store")
    with Reporter(len(plan), quiet=True) as reporter:
        farm = farm_of(FarmSettings(), Device(OPENGL, 1), store, out, warn)
        return render(plan, store, out, farm, reporter)


def _tell_size(space: Space, seen: Seen) -> None:
    whole = space if not seen.rows else Space.of(
        space.catalogue, [space.catalogue.action(action) for action in space.actions],
        space.freedom, Seen(space.catalogue))
    click.echo(f"the space: {_number(whole.size)} clips of"
               f" {counted(len(space.parts), 'take')} of {counted(len(space.actions), 'action')}"
               + (f"; about {_number(space.size)} of them far from all {seen.rows} rows"
                  if seen.rows else ""))
    held = sorted({"azimuth", "background", "seed", "character"} - space.freedom.drawn)
    if seen.rows and held:
        click.echo(f"not drawn, so held to no distance: {', '.join(held)}")


def _number(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.2e}"


def _count(design: Design, space: Space, count: int | None) -> int:
    """Return how many to draw. Raises RequestError where nobody said, or there are not so many."""
    if count is None and design.size is None:
        raise RequestError(f"--count N: say how many clips to draw; only --design {PAIRWISE} and"
                           f" {FULL} have a number of their own")
    wanted = count or design.size or 0
    if design.size is not None:
        click.echo(f"the {design.name} design: {design.size:,} clips" + (
            "" if wanted == design.size else f", of which {wanted:,} are drawn"
            if wanted < design.size else f", {wanted / design.size:.3g} times over"))
    if wanted > MOST_CLIPS:
        raise RequestError(f"--design {design.name}: that is more than {MOST_CLIPS:,}; draw fewer"
                           " axes with --axes, or say --count")
    check_count(design, space, wanted)
    if design.name == PAIRWISE:
        share = pairs_covered(space, [design.cell(number, 0) for number in range(wanted)])
        click.echo(f"pairs of levels covered: {share:.1%}")
    return wanted


def _verify(announcement: Path, spec: Path, item: int | None, out: Path | None) -> int:
    if item is not None:
        return _prove(announcement, spec, item, out)
    if holds_proof(spec):
        click.echo(f"item {verify_item(announcement, spec)} is what was announced")
    else:
        click.echo(f"all {verify_all(announcement, spec)} declarations are what was announced")
    return DONE


def _prove(announcement: Path, spec: Path, item: int, out: Path | None) -> int:
    target = out or spec.with_name(f"item-{item}.json")
    publish(target, proof_of(announcement, spec, item))
    verify_item(announcement, target)
    click.echo(f"item {item} is what was announced; whoever has the announcement can check {target}"
               f" with: mimegen permute --verify {announcement.name} {target.name}")
    return DONE
