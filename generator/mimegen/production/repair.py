"""What verify found to be wrong, made again from what the rows themselves say."""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, product
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.manifest.file import (
    DAMAGED,
    add_rows,
    clip_path,
    read_manifest,
    rows_of,
    set_damaged_aside,
    set_doubles_aside,
    typed_row,
)
from mimegen.manifest.row import Row
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.remaking import Configs, Sources, configs_of, grouped, plan_again
from mimegen.production.verify import Fault
from mimegen.stage.passes.kinds import ENGINES, KINDS
from mimegen.store.store import Store

_NAME = re.compile(rb'"sample_id":\s*"([^"]+)"')
# Carries out a plan on a kind of device, with opaque names or plain ones; says what failed and why.
Carry = Callable[[Plan, str, bool], dict[str, str]]
CarryPasses = Callable[[Plan, WantedPasses, str], dict[str, str]]


def repair(out: Path, store: Store, faults: Sequence[Fault], sources: Sources, carry_out: Carry
           ) -> dict[str, str]:
    """Make again what the faults spoil, and nothing else; return what could not be, and why.

    Clips without a row, or with a damaged one, get the one that the store recorded, and those with
    several keep one; damaged lines are kept aside. The row of a clip that is gone and cannot be
    made again stays.
    """
    damaged = set_damaged_aside(out)
    doubles = set_doubles_aside(out)
    rows = read_manifest(out)
    recovered, refused = _recovered(out, store, damaged)
    refused |= _adopt(out, store, [fault.file for fault in faults if not fault.rows])
    spoiled = {row.sample_id: row for fault in faults for row in fault.rows
               if row not in doubles}
    spoiled |= {row.sample_id: row for row in recovered if not clip_path(out, row).is_file()}
    planned, unplanned = _planned(sources, list(spoiled.values()), configs_of([*rows, *recovered]))
    refused |= unplanned
    _clear(faults, refused)
    for (device, opaque), plans in planned.items():
        refused |= _made_anew(store, _together(plans), device, opaque, carry_out)
    add_rows(out, [row for row in spoiled.values()
                   if {row.sample_id, row.plain_id} & refused.keys()])
    return refused


def _planned(sources: Sources, rows: Sequence[Row], configs: Configs
             ) -> tuple[dict[tuple[str, bool], list[Plan]], dict[str, str]]:
    """Return the plans that make rows' clips again, by device and whether names are opaque.

    With them goes why others have none, by clip.
    """
    planned: dict[tuple[str, bool], list[Plan]] = defaultdict(list)
    refused: dict[str, str] = {}
    for declared, group in grouped(rows).items():
        try:
            plan = plan_again(sources, declared, group, configs)
        except RequestError as problem:
            refused |= {row.sample_id: str(problem) for row in group}
        else:
            planned[declared.device, declared.opaque].append(plan)
    return planned, refused


def _made_anew(store: Store, plan: Plan, device: str, opaque: bool, carry_out: Carry
               ) -> dict[str, str]:
    """Carry out a plan as if none of its clips were there; return what failed, and why."""
    for clip in plan:
        store.forget_clip(clip.key)
    try:
        return carry_out(plan, device, opaque)
    except RequestError as problem:
        return {clip.sample_id: str(problem) for clip in plan}


def _recovered(out: Path, store: Store, damaged: Sequence[bytes]
               ) -> tuple[list[Row], dict[str, str]]:
    """Return the rows that the store recorded of clips whose lines are damaged, added to the
    manifest where their clips are whole; and of which lines it knows none.
    """
    names = [found[1].decode(errors="replace") if (found := _NAME.search(line)) else None
             for line in damaged]
    known = {row.sample_id: row for row in _recorded(out, store)} if any(names) else {}
    rows = [known[name] for name in names if name in known]
    add_rows(out, [row for row in rows if clip_path(out, row).is_file()])
    lost = {f"line {number} of what was damaged": _why_lost(out, name)
            for number, name in enumerate(names, 1) if name not in known}
    return rows, lost


def _why_lost(out: Path, name: str | None) -> str:
    if name is None:
        return f"does not say of which clip it is; it is kept in {out / DAMAGED}"
    return f"the store knows of no clip of that name ({name}); the line is kept in {out / DAMAGED}"


def _recorded(out: Path, store: Store) -> Iterator[Row]:
    """Yield the rows of all clips that the store recorded, under each name that they can have."""
    folders = [ClipFolder.of(out, opaque=False)]
    if folders[0].salt is not None:
        folders.append(ClipFolder(out, True, folders[0].salt))
    for content in store.clip_rows():
        with suppress(ValueError):
            row = typed_row(content)
            yield from (folder.named(row) for folder in folders)


def _adopt(out: Path, store: Store, paths: Sequence[Path]) -> dict[str, str]:
    """Give clips the rows that the store recorded of them; say of which it knows none."""
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


def _clear(faults: Iterable[Fault], refused: dict[str, str]) -> None:
    """Remove damaged frames, which might otherwise be trusted; what cannot be remade stays."""
    for fault in faults:
        frame = fault.file.suffix in (".npz", ".json")
        if frame and fault.rows and not any(row.sample_id in refused for row in fault.rows):
            fault.file.unlink(missing_ok=True)


def _together(plans: Sequence[Plan]) -> Plan:
    def castings() -> Iterator[CastingPlan]:
        return chain.from_iterable(plan.castings() for plan in plans)

    return Plan(castings, sum(plan.clips for plan in plans), sum(plan.shots for plan in plans),
                sum(plan.displays for plan in plans))


def repair_passes(out: Path, faults: Sequence[Fault], sources: Sources, carry_out: CarryPasses
                  ) -> dict[str, str]:
    """Make again what faults of ground truth spoil; return what could not be, and why."""
    refused: dict[str, str] = {}
    configs = configs_of(read_manifest(out)) if faults else {}
    for fault in faults:
        for (declared, group), wanted in product(grouped(fault.rows).items(), _wanted(out, fault)):
            try:
                plan = plan_again(sources, declared, group, configs)
                shutil.rmtree(fault.file, ignore_errors=True)
                refused |= carry_out(plan, wanted, declared.device)
            except RequestError as problem:
                refused |= {row.sample_id: str(problem) for row in group}
    return refused


def _wanted(out: Path, fault: Fault) -> set[WantedPasses]:
    """Return the passes whose folder is faulty, as they were asked for."""
    wanted = set()
    for row in fault.rows:
        for name, told in (row.passes or {}).items():
            if out / told.folder == fault.file:
                kinds = tuple(kind for kind in KINDS if kind == name)
                coding = "flo" if ".flo" in str(told.files) else "exr"
                wanted |= {WantedPasses(kinds, engine, coding) for engine in ENGINES
                           if engine == (told.engine or ENGINES[0])}
    return wanted
