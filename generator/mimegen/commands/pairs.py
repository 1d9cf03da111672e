"""``mimegen pairs``: minimal pairs, clips that differ in exactly one factor."""

from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly, library_option
from mimegen.evaluation.commitment import check_free, write_commitment
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.plan.permute.declaration import Declaration
from mimegen.plan.permute.factors import FACTORS, Factor, parse_factors
from mimegen.plan.permute.pairs import pairs_of
from mimegen.production.ticking import ticking
from mimegen.request.sources import entries_of

# Most pairs of each factor.
MOST_PAIRS = 100_000
# The actions that ``all`` stands for with factors that suit no action of mocap/.
ALL_OF = {"repetitions": "cues", "target": "directed"}


@click.command("pairs")
@click.option("--factors", default="all", show_default=True, metavar="A[,B]|all",
              help="Factors that the two clips of a pair differ in: "
                   f"{', '.join(FACTORS)}. Each pair differs in one of them (mimegen list"
                   " factors).")
@click.option("--count", default=10, show_default=True, metavar="N",
              type=click.IntRange(1, MOST_PAIRS),
              help="Number of pairs of each factor; a pair is two clips.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
              help="Random seed. The first pairs of a seed do not depend on --count.")
@click.option("--actions", default="all", show_default=True, metavar="A[,B]|cues|directed|all",
              help="Actions to sample, by id, label or alias. With 'all', the factor"
                   " repetitions samples cues, and target samples directed gestures.")
@click.option("--fix", "fixes", multiple=True, metavar="AXIS=VALUE",
              help="Keep an axis of mimegen permute at one value, as in config=draft; repeat for"
                   " more axes.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="SPEC.jsonl",
              help="File to write the declarations to; a commitment goes into the same folder.")
@library_option
@exits_cleanly
def pairs_command(factors: str, count: int, seed: int, actions: str, fixes: tuple[str, ...],
                  out: Path, libraries: tuple[Path, ...]) -> int:
    """Sample minimal pairs of clips.

    The two clips of a pair differ in exactly one factor.

    Render them with mimegen render --permutations SPEC.jsonl, and ask about them with mimegen
    questions OUT --format pair.
    """
    if out.is_dir():
        raise RequestError(f"--out {out}: is a folder; expected a file, such as"
                           f" {out / 'SPEC.jsonl'}")
    check_free(out)
    catalogue = Catalogue.with_libraries(libraries)
    made: list[Declaration] = []
    chosen = parse_factors(factors)
    click.echo(f"sampling {counted(count, 'pair')} for each of {counted(len(chosen), 'factor')};"
               " checking a take for the first time takes a few seconds", err=True)
    for factor in chosen:
        drawn = pairs_of(catalogue, _entries(catalogue, actions, factor), factor, fixes, count,
                         seed)
        pairs = list(ticking(drawn, count, f"{factor.name}: sampled {{}} pairs"))
        click.echo(f"{factor.name}: {counted(len(pairs), 'pair')} ({factor.about})")
        made += [half for pair in pairs for half in pair]
    target = write_commitment([one.content() for one in made], out)
    click.echo(f"specification  {out}\ncommitment     {target}\nnext           mimegen render"
               f" --permutations {out} --out DIR")
    return DONE


def _entries(catalogue: Catalogue, actions: str, factor: Factor) -> list[Entry]:
    if actions.strip() == "all":
        return entries_of(catalogue, ALL_OF.get(factor.name, "all"))
    return entries_of(catalogue, actions)
