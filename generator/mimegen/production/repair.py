"""Make again what verify found to be wrong, using only what the rows record."""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, product
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish
from mimegen.base.owners import unfinished_name
from mimegen.groundtruth.kinds import ENGINES, KINDS
from mimegen.manifest.file import (
    DAMAGED,
    add_rows,
    clip_path,
    content_of,
    move_damaged_rows,
    move_duplicate_rows,
    read_manifest,
    rows_of,
    typed_row,
)
from mimegen.manifest.record import FACTS, NO_FACTS, false_facts
from mimegen.manifest.row import Row
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.remaking import (
    Configs,
    Sources,
    believed_of,
    configs_of,
    edited,
    grouped,
    is_own_display,
    plan_again,
)
from mimegen.production.remaking_displays import remake_displays
from mimegen.production.verify import BrokenFile
from mimegen.store.store import SHOT_FACTS, WHOLE, Store

_NAME = re.compile(rb'"sample_id":\s*"([^"]+)"')
# Carries out a plan on a kind of device, with opaque names or plain ones; returns the error message
# of each clip that failed.
Carry = Callable[[Plan, str, bool], dict[str, str]]
CarryPasses = Callable[[Plan, WantedPasses, str], dict[str, str]]


def repair(out: Path, store: Store, faults: Sequence[BrokenFile], sources: Sources, carry_out: Carry
           ) -> dict[str, str]:
    """Make again what the faults affect, and nothing else; return what could not be made, and why.

    Clips whose row is missing or damaged get the row that the store recorded, and clips with
    several rows keep one; damaged lines are kept in a separate file. The row of a missing clip that
    cannot be made again stays.
    """
    damaged = move_damaged_rows(out)
    doubles = move_duplicate_rows(out)
    rows = read_manifest(out)
    recovered, refused = _recovered(out, store, damaged)
    refused |= _adopt(out, store, [fault.file for fault in faults if not fault.rows])
    restored = _restored(out, store, [fault for fault in faults if fault.false])
    add_rows(out, restored.values())
    spoiled = {row.sample_id: row for fault in faults if not _is_mended(fault, restored)
               for row in fault.rows if row not in doubles}
    spoiled |= {row.sample_id: row for row in recovered if not clip_path(out, row).is_file()}
    unknown = _unknown(sources, [fault for fault in faults if fault.rows
                                 and fault.rows[0].sample_id in spoiled])
    known = [row for name, row in spoiled.items() if name not in unknown]
    remade, unmade = remake_displays(sources, out, [row for row in known if is_own_display(row)])
    planned, unplanned = _planned(sources, [row for row in known if not is_own_display(row)],
                                  configs_of([*rows, *recovered]))
    refused |= unknown | unmade | unplanned
    records = [fault.file for fault in faults if fault.file.name == SHOT_FACTS
               and not any(row.sample_id in refused for row in fault.rows)]
    _doubt_frames(faults)
    for (device, opaque), plans in planned.items():
        with _moved_away(records):
            refused |= _remake(store, _together(plans), device, opaque, carry_out)
    add_rows(out, [*remade, *(row for row in spoiled.values()
                              if {row.sample_id, row.plain_id} & refused.keys())])
    return refused


def _is_mended(fault: BrokenFile, restored: dict[str, Row]) -> bool:
    """Return whether a fault lay only in rows that have been restored."""
    return bool(fault.false) and all(row.sample_id in restored for row in fault.rows)


def _restored(out: Path, store: Store, faults: Sequence[BrokenFile]) -> dict[str, Row]:
    """Return the rows with false facts, corrected from the store's record of the same file."""
    of_files: dict[tuple[str | None, str], Row] = {
        (row.sha256, row.file_name): row for row in _recorded(out, store)} if faults else {}
    restored = {}
    for fault in faults:
        row = fault.rows[0]
        recorded = of_files.get((_hash(fault.file), row.file_name))
        if recorded is not None and not false_facts(fault.file, recorded):
            restored[row.sample_id] = _with_facts(row, recorded)
    return restored


def _hash(path: Path) -> str | None:
    return file_hash(path) if path.is_file() else None


def _with_facts(row: Row, recorded: Row) -> Row:
    """Return a row with the facts of ``recorded``; its name and all else that is no fact stay."""
    content, facts = content_of(row), content_of(recorded)
    return typed_row({name: value for name, value in content.items() if name in NO_FACTS
                      or name not in Row.model_fields}
                     | {name: value for name, value in facts.items() if name in FACTS}
                     | {"sha256": recorded.sha256})


def _unknown(sources: Sources, faults: Iterable[BrokenFile]) -> dict[str, str]:
    """Return, by clip, why it cannot be made again: fields needed for that are false in its row."""
    return {row.sample_id: f"the store has no record of it, and its row's {', '.join(false)} is"
                           " needed to make it again; run its request again"
            for fault in faults for row in fault.rows[:1]
            if (false := [name for name in fault.false if name in believed_of(sources, row)])}


def _planned(sources: Sources, rows: Sequence[Row], configs: Configs
             ) -> tuple[dict[tuple[str, bool], list[Plan]], dict[str, str]]:
    """Return the plans that make rows' clips again, by device and whether names are opaque.

    The second value holds the reasons of the rows for which no plan could be made, by clip.
    """
    planned: dict[tuple[str, bool], list[Plan]] = defaultdict(list)
    refused = edited(sources, rows)
    for declared, group in grouped(row for row in rows if row.sample_id not in refused).items():
        try:
            plan = plan_again(sources, declared, group, configs)
        except RequestError as problem:
            refused |= {row.sample_id: str(problem) for row in group}
        else:
            planned[declared.device, declared.opaque].append(plan)
    return planned, refused


def _remake(store: Store, plan: Plan, device: str, opaque: bool, carry_out: Carry
            ) -> dict[str, str]:
    """Carry out a plan as if none of its clips existed; return what failed, and why."""
    with _moved_away([store.clip_record(clip.key) for clip in plan]):
        try:
            return carry_out(plan, device, opaque)
        except RequestError as problem:
            return {clip.sample_id: str(problem) for clip in plan}


@contextmanager
def _moved_away(files: Iterable[Path]) -> Iterator[None]:
    """Remove files during a block; afterwards restore those that the block did not make again."""
    kept = {file: (file.read_bytes(), file.stat()) for file in files if file.is_file()}
    for file in kept:
        file.unlink()
    try:
        yield
    finally:
        for file, (content, status) in kept.items():
            if not file.exists():
                publish(file, content)
                os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def _recovered(out: Path, store: Store, damaged: Sequence[bytes]
               ) -> tuple[list[Row], dict[str, str]]:
    """Return the store's rows of clips whose manifest lines are damaged, and the unknown lines.

    Rows whose clip files exist are added to the manifest.
    """
    names = [found[1].decode(errors="replace") if (found := _NAME.search(line)) else None
             for line in damaged]
    known = {row.sample_id: row for row in _recorded(out, store)} if any(names) else {}
    rows = [known[name] for name in names if name in known]
    add_rows(out, [row for row in rows if clip_path(out, row).is_file()])
    lost = {f"line {number} of what was damaged": "the store knows of no clip of that name"
            f" ({name}); the line is kept in {out / DAMAGED}"
            for number, name in enumerate(names, 1) if name is not None and name not in known}
    return rows, lost


def _recorded(out: Path, store: Store) -> Iterator[Row]:
    """Yield the store's recorded rows of all clips, under each name that they can have."""
    folders = [ClipFolder.of(out, opaque=False)]
    if folders[0].salt is not None:
        folders.append(ClipFolder(out, True, folders[0].salt))
    for content in store.clip_rows():
        with suppress(ValueError):
            row = typed_row(content)
            yield from (folder.named(row) for folder in folders)


def _adopt(out: Path, store: Store, paths: Sequence[Path]) -> dict[str, str]:
    """Give clips without a row the row that the store recorded; return clips it does not know."""
    with_row = {clip_path(out, row) for row in rows_of(out)}
    left = {path for path in paths if path.suffix == ".mp4" and path.is_file()} - with_row
    rows = []
    for row in _recorded(out, store) if left else ():
        path = clip_path(out, row)
        if path in left and file_hash(path) == row.sha256:
            rows.append(row)
            left.remove(path)
    add_rows(out, rows)
    return {str(path): "the store knows of no such clip; run its request again, or remove it"
            for path in left}


def _doubt_frames(faults: Iterable[BrokenFile]) -> None:
    """Mark the shots with faulty frames to be read in full before they are used again.

    The store then removes damaged frames and has them made again.
    """
    for folder in {fault.file.parent for fault in faults if fault.file.suffix == ".npz"}:
        (folder / WHOLE).unlink(missing_ok=True)


def _together(plans: Sequence[Plan]) -> Plan:
    def castings() -> Iterator[CastingPlan]:
        return chain.from_iterable(plan.castings() for plan in plans)

    return Plan(castings, sum(plan.clips for plan in plans), sum(plan.shots for plan in plans),
                sum(plan.displays for plan in plans))


def repair_passes(out: Path, faults: Sequence[BrokenFile], sources: Sources, carry_out: CarryPasses
                  ) -> dict[str, str]:
    """Make faulty folders of ground truth again; return what could not be made, and why."""
    refused: dict[str, str] = {}
    configs = configs_of(read_manifest(out)) if faults else {}
    for fault in faults:
        refused |= edited(sources, fault.rows)
        same = [row for row in fault.rows if row.sample_id not in refused]
        for (declared, group), wanted in product(grouped(same).items(), _wanted(out, fault)):
            try:
                plan = plan_again(sources, declared, group, configs)
                with _folder_moved_away(fault.file):
                    refused |= carry_out(plan, wanted, declared.device)
            except RequestError as problem:
                refused |= {row.sample_id: str(problem) for row in group}
    return refused


@contextmanager
def _folder_moved_away(folder: Path) -> Iterator[None]:
    """Move a folder away during a block; restore it if the block makes no new one."""
    aside = folder.with_name(unfinished_name(folder.name))
    with suppress(FileNotFoundError):
        folder.rename(aside)
    try:
        yield
    finally:
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        elif aside.exists():
            aside.rename(folder)


def _wanted(out: Path, fault: BrokenFile) -> set[WantedPasses]:
    """Return the request for each pass whose folder is faulty."""
    wanted = set()
    for row in fault.rows:
        for name, facts in (row.passes or {}).items():
            if out / facts.folder == fault.file:
                kinds = tuple(kind for kind in KINDS if kind == name)
                coding = "flo" if ".flo" in str(facts.files) else "exr"
                wanted |= {WantedPasses(kinds, engine, coding) for engine in ENGINES
                           if engine == (facts.engine or ENGINES[0])}
    return wanted
