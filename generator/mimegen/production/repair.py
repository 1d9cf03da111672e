"""What verify found to be wrong, made again from what the rows themselves say."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import Take
from mimegen.library.takes import library_take
from mimegen.manifest.file import add_rows, typed_row
from mimegen.manifest.row import Row
from mimegen.plan.plan import CastingPlan, Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.verify import Fault
from mimegen.stage.config import RenderConfig, read_config
from mimegen.store.store import Store

# Carries out a plan on a kind of device, with opaque names or plain ones; says what failed and why.
Carry = Callable[[Plan, str, bool], dict[str, str]]


@dataclass(frozen=True)
class _Declared:
    """What several rows of one casting have in common, as text; sorted, it is told apart."""

    action: str
    take: str
    seed: int
    style: str | None
    config: str
    performer: str | None
    partner: str | None
    device: str
    opaque: bool


def repair(out: Path, store: Store, faults: Sequence[Fault], rows: Iterable[Row],
           catalogue: Catalogue, carry_out: Carry) -> dict[str, str]:
    """Make again what the faults spoil, and nothing else; return what could not be, and why.

    ``rows`` are all of the manifest's. Clips without a row get the one that the store recorded.
    """
    refused = _adopt(out, store, [fault.file for fault in faults if not fault.rows])
    spoiled = {row.sample_id: row for fault in faults for row in fault.rows}
    planned: dict[_Declared, list[Plan]] = defaultdict(list)
    configs = _configs(rows)
    for declared, group in _grouped(spoiled.values()).items():
        try:
            planned[declared].append(_plan(catalogue, declared, group, configs))
        except RequestError as problem:
            refused |= {row.sample_id: str(problem) for row in group}
    _clear(faults, refused)
    for (device, opaque), plans in _by_device(planned).items():
        plan = _together(plans)
        for clip in plan:
            store.forget_clip(clip.key)
        try:
            refused |= carry_out(plan, device, opaque)
        except RequestError as problem:
            refused |= {clip.sample_id: str(problem) for clip in plan}
    return refused


def _adopt(out: Path, store: Store, paths: Sequence[Path]) -> dict[str, str]:
    """Give clips the rows that the store recorded of them; say of which it knows none."""
    left = {path for path in paths if path.suffix == ".mp4" and path.is_file()}
    rows = []
    folders = [ClipFolder.of(out, opaque=False)]
    if folders[0].salt is not None:
        folders.append(ClipFolder(out, True, folders[0].salt))
    for content in store.clip_rows() if left else ():
        try:
            row = typed_row(content)
        except ValueError:
            continue
        for folder in folders:
            path = folder.place(row)
            if path in left and file_hash(path) == row.sha256:
                rows.append(folder.named(row))
                left.remove(path)
    add_rows(out, rows)
    return {str(path): "the store knows of no such clip; run its request again, or remove it"
            for path in left}


def _grouped(rows: Iterable[Row]) -> dict[_Declared, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[_declared(row)].append(row)
    return dict(groups)


def _declared(row: Row) -> _Declared:
    variant = row.config_name or ""
    base = variant.startswith(("base+", "pointlight"))
    return _Declared(
        row.action, row.take, row.seed, row.style, row.render_config_name or "",
        _cast_word(row.avatar) if base else None, _cast_word(row.partner_avatar),
        row.device or "cpu", row.plain_id is not None)


def _cast_word(name: str | None) -> str | None:
    """Return what a user says for a character of this name."""
    if name is None:
        return None
    if name.endswith("_lights"):
        return f"lights:{_cast_word(name.removesuffix('_lights'))}"
    return re.sub(r"^random_(\d+)$", r"random:\1", name)


def _configs(rows: Iterable[Row]) -> dict[str, RenderConfig]:
    """Return the render configs that rows hold, by name; those of displays hold none."""
    found = {}
    for row in rows:
        if row.shot_key is not None and row.render_config_name not in found:
            try:
                config = RenderConfig.model_validate_json(json.dumps(row.render_config))
            except ValidationError:
                continue
            found[config.name] = config
    return found


def _plan(catalogue: Catalogue, declared: _Declared, rows: Sequence[Row],
          configs: dict[str, RenderConfig]) -> Plan:
    """Return the plan of these rows' clips. Raises RequestError where it would be another's."""
    take = _take(catalogue, declared, rows[0])
    names = ",".join(row.config_name or "" for row in rows)
    variants = parse_variants(names, set(catalogue.characters), set(catalogue.backgrounds))
    config = configs.get(declared.config) or read_config(
        catalogue.file("config", declared.config))
    plan = make_plan(catalogue, [take], variants, config, declared.device, declared.performer,
                     declared.partner)
    wanted = {row.plain_id or row.sample_id for row in rows}
    others = {clip.sample_id for clip in plan} ^ wanted
    if others:
        raise RequestError(f"what the row says now makes {', '.join(sorted(others - wanted))};"
                           " run its request again")
    return plan


def _take(catalogue: Catalogue, declared: _Declared, row: Row) -> Take:
    if row.config_name is None or row.render_config_name is None:
        raise RequestError("was not made by render; run the command that made it again")
    entry = catalogue.actions.get(declared.action)
    if entry is None:
        raise RequestError(f"its take {row.motion_file} of {declared.action} is in no library that"
                           " is known; import it or say --library, or render it with --motion")
    take = library_take(entry, declared.take, declared.seed, declared.style)
    if file_hash(take.file) != row.motion_sha256:
        raise RequestError(f"{take.file}: is not the file that it was (its SHA-256 is another);"
                           " bring that back, or render the clip anew")
    return take


def _clear(faults: Iterable[Fault], refused: dict[str, str]) -> None:
    """Remove damaged frames, which might otherwise be trusted; what cannot be remade stays."""
    for fault in faults:
        frame = fault.file.suffix in (".npz", ".json")
        if frame and fault.rows and not any(row.sample_id in refused for row in fault.rows):
            fault.file.unlink(missing_ok=True)


def _by_device(planned: dict[_Declared, list[Plan]]) -> dict[tuple[str, bool], list[Plan]]:
    found = defaultdict(list)
    for declared, plans in planned.items():
        found[declared.device, declared.opaque].extend(plans)
    return dict(found)


def _together(plans: Sequence[Plan]) -> Plan:
    def castings() -> Iterator[CastingPlan]:
        return chain.from_iterable(plan.castings() for plan in plans)

    return Plan(castings, sum(plan.clips for plan in plans), sum(plan.shots for plan in plans),
                sum(plan.displays for plan in plans))
