"""``mimegen permute``: clips that nobody has seen, and the proof that they were announced."""

from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.evaluation.commitment import holds_proof, proof_of, verify_all, verify_item

_FILE = click.Path(path_type=Path)


@click.command("permute")
@click.option("--verify", nargs=2, type=_FILE, metavar="ANNOUNCEMENT.json SPEC.jsonl",
              help="Check that a specification, or the proof of one item, is what was announced.")
@click.option("--item", type=click.IntRange(0), metavar="K",
              help="With --verify: prove item K alone (from 0), without showing the others.")
@click.option("--out", type=_FILE, metavar="PROOF.json",
              help="With --item: where to write the proof.  [default: item-K.json beside SPEC]")
@exits_cleanly
def permute_command(verify: tuple[Path, Path] | None, item: int | None, out: Path | None) -> int:
    """Prove that clips were announced before anybody saw them."""
    if verify is None:
        raise RequestError("say what to check: --verify ANNOUNCEMENT.json SPEC.jsonl")
    announcement, spec = verify
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
