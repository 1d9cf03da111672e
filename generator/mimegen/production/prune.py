"""Find the pieces of a store that no manifest names, and remove them while the store is unused."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.locks import locked
from mimegen.farm.handed import left_to_slurm
from mimegen.manifest.file import MANIFEST, rows_of
from mimegen.manifest.row import Row
from mimegen.production.passpieces import stray_passes
from mimegen.production.status import is_written_to
from mimegen.store.contents import StoredPiece, pieces
from mimegen.store.store import RUNNING, Store
from mimegen.store.users import running_jobs

# Kinds of pieces that the rows of clips name.
_PER_ROW = ("shots", "clips", "characters", "passes")
# Kinds of pieces that a job makes again quickly if it needs them.
_PASSING = ("performances", "pictures", "encoded")


@dataclass(frozen=True)
class StoreHolding:
    """The number and size of a store's pieces of one kind, action and config."""

    kind: str
    action: str
    config: str
    pieces: int
    bytes: int


def holdings(found: Iterable[StoredPiece], store: Store) -> list[StoreHolding]:
    """Return the holdings by kind, action and render config, largest first.

    A shot counts under the config of its clips.
    """
    configs = {row.get("shot_key"): row.get("render_config_name") for row in store.clip_rows()}
    count: Counter[tuple[str, str, str]] = Counter()
    size: Counter[tuple[str, str, str]] = Counter()
    for piece in found:
        facts = piece.facts() if piece.kind in ("shots", "clips", "passes") else {}
        config = facts.get("render_config_name") or configs.get(piece.key)
        group = (piece.kind, str(facts.get("action") or "-"), str(config or "-"))
        count[group] += 1
        size[group] += piece.size
    return [StoreHolding(*group, count[group], size[group])
            for group in sorted(count, key=lambda group: (-size[group], group))]


def unnamed(store: Store, outs: Sequence[Path]) -> list[StoredPiece]:
    """Return the pieces that no row of these folders' manifests names.

    Performances are only needed while frames are made, so no row names them. Rows name stills by
    ``still_key``; if the row of any rendered clip lacks that field, all stills are kept. Folders of
    ground truth in ``outs`` that no row names are included. Raises RequestError if a folder's
    manifest is missing or damaged.
    """
    named: set[str] = set()
    stray: list[StoredPiece] = []
    all_stills = False
    for out in outs:
        if not (out / MANIFEST).is_file():
            raise RequestError(f"{out}: has no {MANIFEST}; name folders that render wrote to")
        stray += [StoredPiece("pass files", folder) for folder in stray_passes(out, rows_of(out))]
        for row in rows_of(out):
            keys = (row.shot_key, row.clip_key, row.still_key, row.character_key,
                    row.partner_character_key, _world_key(row))
            named.update(key for key in (*keys, *_pass_keys(row)) if key is not None)
            all_stills |= row.shot_key is not None and "still_key" not in row.model_fields_set
    kinds = (*_PER_ROW, *_PASSING, *(() if all_stills else ("stills",)))
    return [*(piece for piece in pieces(store, kinds) if piece.key not in named), *stray]


def _world_key(row: Row) -> str | None:
    """Return the key of the picture that lights a row's figures; None if there is none."""
    world = (row.render_config or {}).get("world")
    digest = world.get("sha256") if isinstance(world, dict) else None
    return digest if isinstance(digest, str) else None


def _pass_keys(row: Row) -> Iterator[str | None]:
    """Yield the keys of a row's passes and of their geometry."""
    for facts in (row.passes or {}).values():
        yield from (facts.key, facts.geometry_key)


def prune(store: Store, outs: Sequence[Path]) -> list[StoredPiece]:
    """Remove what ``unnamed`` returns and what killed processes left behind; return the former.

    No job can begin in the meantime. Raises RequestError as ``unnamed`` does, and if a job uses the
    store or writes to one of the folders.
    """
    with locked(store.root / RUNNING):
        jobs = running_jobs(store)
        if jobs:
            listed = ", ".join(f"{job['out']} by process {job['pid']} on {job['host']}"
                             for job in jobs)
            raise RequestError(f"{store.root}: is in use ({listed}); nothing was removed, prune it"
                               " when they have ended (--dry-run works at any time)")
        for out in outs:
            if is_written_to(out):
                raise RequestError(f"{out}: a job writes there; nothing was removed, prune it when"
                                   " it has ended (--dry-run works at any time)")
            for left in left_to_slurm(out):
                raise RequestError(f"{out}: jobs of Slurm write there; nothing was removed. If"
                                   f" squeue --name={left.name} lists none, run the command of"
                                   f" these jobs again, or delete {out / 'slurm'}")
        found = unnamed(store, outs)
        for piece in found:
            piece.remove()
        store.sweep_all()
    return found
