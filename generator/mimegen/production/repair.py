"""What verify found to be wrong, made again from what the rows themselves say."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.choreography.manner import Manner
from mimegen.faults.fault import parse_faults
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import SCENE, scene_take
from mimegen.library.take import Take
from mimegen.library.takes import altered, library_take, user_take
from mimegen.manifest.file import (
    DAMAGED,
    add_rows,
    clip_path,
    read_manifest,
    rows_of,
    set_damaged_aside,
    typed_row,
)
from mimegen.manifest.row import Row
from mimegen.plan.passes import WantedPasses
from mimegen.plan.permute.declaration import Declaration, Permutation
from mimegen.plan.permute.planned import config_of, permuted_plan
from mimegen.plan.plan import CastingPlan, Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.verify import Fault
from mimegen.readers.options import ReadOptions, parse_trim
from mimegen.stage.config import RenderConfig, read_config
from mimegen.stage.passes.kinds import ENGINES, KINDS
from mimegen.store.store import Store

_NAME = re.compile(rb'"sample_id":\s*"([^"]+)"')
# Carries out a plan on a kind of device, with opaque names or plain ones; says what failed and why.
Carry = Callable[[Plan, str, bool], dict[str, str]]
CarryPasses = Callable[[Plan, WantedPasses, str], dict[str, str]]


@dataclass(frozen=True)
class Sources:
    """Where takes come from: a library, and a user's own ``files`` by their SHA-256."""

    catalogue: Catalogue
    files: dict[str, Path]

    @classmethod
    def of(cls, catalogue: Catalogue, files: Iterable[Path]) -> Self:
        """Return them. Raises RequestError for a file that cannot be read."""
        try:
            return cls(catalogue, {file_hash(file): file for file in files})
        except OSError as problem:
            raise RequestError(f"{problem.filename}: {problem.strerror}") from problem

    def file(self, sha256: str | None, what: str) -> Path | None:
        """Return the file of a hash; None of none. Raises RequestError where it is not there."""
        if sha256 is not None and sha256 not in self.files:
            raise RequestError(f"{what} is needed; say --motion FILE for it too")
        return None if sha256 is None else self.files[sha256]


@dataclass(frozen=True)
class _Declared:
    """What several rows of one casting have in common, as text; sorted, it is told apart."""

    action: str
    take: str
    seed: int
    style: str | None
    manner: Manner
    config: str
    look: str
    performer: str | None
    partner: str | None
    device: str
    opaque: bool
    tempo: float
    mirror: bool
    faults: tuple[str, ...]
    permutation: str | None


def repair(out: Path, store: Store, faults: Sequence[Fault], sources: Sources, carry_out: Carry
           ) -> dict[str, str]:
    """Make again what the faults spoil, and nothing else; return what could not be, and why.

    Clips without a row, or with a damaged one, get the one that the store recorded; damaged lines
    are kept aside. The row of a clip that is gone and cannot be made again stays.
    """
    damaged = set_damaged_aside(out)
    rows = read_manifest(out)
    recovered, refused = _recovered(out, store, damaged)
    refused |= _adopt(out, store, [fault.file for fault in faults if not fault.rows])
    spoiled = {row.sample_id: row for fault in faults for row in fault.rows}
    spoiled |= {row.sample_id: row for row in recovered if not clip_path(out, row).is_file()}
    planned: dict[_Declared, list[Plan]] = defaultdict(list)
    configs = _configs([*rows, *recovered])
    for declared, group in _grouped(spoiled.values()).items():
        try:
            planned[declared].append(_plan(sources, declared, group, configs))
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
    add_rows(out, [row for row in spoiled.values()
                   if {row.sample_id, row.plain_id} & refused.keys()])
    return refused


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
    lost = {f"line {number} of what was damaged": "the store knows of no clip of that name"
            f" ({name}); the line is kept in {out / DAMAGED}" if name else
            f"does not say of which clip it is; it is kept in {out / DAMAGED}"
            for number, name in enumerate(names, 1) if name not in known}
    return rows, lost


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


def _grouped(rows: Iterable[Row]) -> dict[_Declared, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[_declared(row)].append(row)
    return dict(groups)


def _declared(row: Row) -> _Declared:
    variant = row.config_name or ""
    base = variant.startswith(("base+", "pointlight"))
    return _Declared(
        row.action, row.take, row.seed, row.style,
        Manner(row.stance, row.intensity, row.frequency), row.render_config_name or "",
        # A config's name is one thing, what it said when the clip was made another. A display's
        # row holds no config, but the key that one gave it.
        json.dumps(row.render_config if row.shot_key else row.clip_key, sort_keys=True),
        _cast_word(row.avatar) if base else None, _cast_word(row.partner_avatar),
        row.device or "cpu", row.plain_id is not None, float(row.tempo or 1), bool(row.mirrored),
        tuple(f"{fault['name']}={fault['amount']}" for fault in row.faults or ()),
        json.dumps(row.permutation, sort_keys=True) if row.permutation else None)


def _cast_word(name: str | None) -> str | None:
    """Return what a user says for a character of this name."""
    if name is None:
        return None
    if name.endswith("_lights"):
        return f"lights:{_cast_word(name.removesuffix('_lights'))}"
    return re.sub(r"^random_(\d+)$", r"random:\1", name)


def _own_config(row: Row) -> RenderConfig | None:
    """Return the render config that a row holds; None of a display's, or where it is none now."""
    if row.shot_key is not None:
        with suppress(ValidationError):
            return RenderConfig.model_validate_json(json.dumps(row.render_config))
    return None


def _configs(rows: Iterable[Row]) -> dict[str, list[RenderConfig]]:
    """Return the render configs that rows hold, by name, for displays: their rows hold none."""
    found: dict[str, dict[str, RenderConfig]] = defaultdict(dict)
    for row in rows:
        said = json.dumps(row.render_config, sort_keys=True)
        if said not in found[row.render_config_name or ""] and (config := _own_config(row)):
            found[config.name][said] = config
    return {name: [*configs.values()] for name, configs in found.items()}


def _plan(sources: Sources, declared: _Declared, rows: Sequence[Row],
          configs: dict[str, list[RenderConfig]]) -> Plan:
    """Return the plan of these rows' clips. Raises RequestError where it would be another's."""
    plan = _declared_plan(sources.catalogue, declared, rows[0]) if declared.permutation else (
        _named_plan(sources, declared, rows, configs))
    wanted = {row.plain_id or row.sample_id for row in rows}
    others = {clip.sample_id for clip in plan} ^ wanted
    if others:
        raise RequestError(f"what the row says now makes {', '.join(sorted(others - wanted))};"
                           " run its request again")
    return plan


def _declared_plan(catalogue: Catalogue, declared: _Declared, row: Row) -> Plan:
    """Return the plan of a permutation, in the config that it was rendered in."""
    content = json.loads(declared.permutation or "")
    number = content.pop("number")
    declaration = Declaration.model_validate(content)
    config = _config_before(catalogue, declaration, row) if row.shot_key else read_config(
        catalogue.file("config", declared.config))
    return permuted_plan(catalogue, [Permutation(number, declaration)], declared.device, config)


def _config_before(catalogue: Catalogue, declaration: Declaration, row: Row) -> RenderConfig:
    """Return the config that became the row's by what is declared of camera and light.

    Raises RequestError where there is none such any more.
    """
    known = []
    for name in (declaration.config, row.render_config_name or ""):
        with suppress(RequestError):
            known.append(read_config(catalogue.file("config", name)))
    for config in (*known, *filter(None, [_own_config(row)])):
        if config_of(config, declaration).model_dump(mode="json") == row.render_config:
            return config
    raise RequestError(f"its render config {row.render_config_name} is not what it was; run its"
                       " request again")


def _named_plan(sources: Sources, declared: _Declared, rows: Sequence[Row],
                configs: dict[str, list[RenderConfig]]) -> Plan:
    """Return the plan of the cells that rows name."""
    catalogue = sources.catalogue
    take = _take(sources, declared, rows)
    names = ",".join(row.config_name or "" for row in rows)
    variants = parse_variants(names, set(catalogue.characters), set(catalogue.backgrounds))
    plans = [make_plan(catalogue, [altered(take, declared.tempo, declared.mirror)], variants,
                       config, declared.device, declared.performer, declared.partner,
                       parse_faults(declared.faults))
             for config in _candidates(catalogue, rows[0], configs)]
    # Of a display that code has changed since, no config makes the key again.
    return next((plan for plan in plans if rows[0].clip_key in {clip.key for clip in plan}),
                plans[0]) if len(plans) > 1 else plans[0]


def _candidates(catalogue: Catalogue, row: Row, configs: dict[str, list[RenderConfig]]
                ) -> list[RenderConfig]:
    """Return a row's own config; of a display's, which holds none, all known of that name."""
    if (own := _own_config(row)) is not None:
        return [own]
    name = row.render_config_name or ""
    known = configs.get(name, [])
    with suppress(RequestError):
        return [*known, read_config(catalogue.file("config", name))]
    return known or [read_config(catalogue.file("config", name))]


def _take(sources: Sources, declared: _Declared, rows: Sequence[Row]) -> Take:
    row = rows[0]
    if row.config_name is None or row.render_config_name is None:
        raise RequestError("was not made by render; run the command that made it again")
    if row.motion_sha256 in sources.files:
        return _own_take(sources, rows)
    if row.motion_kind == SCENE:
        return _unchanged(scene_take(sources.catalogue, declared.take, declared.seed,
                                     declared.style), row)
    entry = (sources.catalogue.cues | sources.catalogue.actions).get(declared.action)
    if entry is None or declared.take not in entry.takes:
        raise RequestError(f"its take {row.motion_file} of {declared.action} is in no library that"
                           f" is known; say --library, or --motion {row.motion_file}")
    return _unchanged(library_take(entry, declared.take, declared.seed, declared.style,
                                   declared.manner), row)


def _unchanged(take: Take, row: Row) -> Take:
    if file_hash(take.file) != row.motion_sha256:
        raise RequestError(f"{take.file}: is not the file that it was (its SHA-256 is another);"
                           " bring that back, or render the clip anew")
    return take


def _own_take(sources: Sources, rows: Sequence[Row]) -> Take:
    """Return the take of a file that was rendered with --motion, read as these rows say."""
    row = rows[0]
    behind = {each.background_config: each.background_name for each in rows}
    options = ReadOptions(
        stack=row.motion_stack, subject=row.motion_subject,
        mapping=sources.file(row.motion_mapping_sha256, "its bone mapping"),
        trim=parse_trim(row.motion_trim or "none"))
    file = sources.file(row.motion_sha256, str(row.motion_file))
    assert file is not None, "it was looked up"
    return user_take(
        sources.catalogue, file, tuple(row.labels), behind.get("aligned"),
        behind.get("misaligned"), row.licence or "not stated",
        sources.file(row.partner_motion_sha256, str(row.partner_motion_file)), options)


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


def repair_passes(out: Path, faults: Sequence[Fault], sources: Sources, carry_out: CarryPasses
                  ) -> dict[str, str]:
    """Make again what faults of ground truth spoil; return what could not be, and why."""
    refused: dict[str, str] = {}
    configs = _configs(read_manifest(out)) if faults else {}
    for fault in faults:
        for (declared, group), wanted in product(_grouped(fault.rows).items(), _wanted(out, fault)):
            try:
                plan = _plan(sources, declared, group, configs)
                shutil.rmtree(fault.file, ignore_errors=True)
                refused |= carry_out(plan, wanted, declared.device)
            except RequestError as problem:
                refused |= {row.sample_id: str(problem) for row in group}
    return refused


def _wanted(out: Path, fault: Fault) -> set[WantedPasses]:
    """Return the passes whose folder is faulty, as they were asked for."""
    return {
        WantedPasses(kind, engine, "flo" if ".flo" in str(told.files) else "exr")
        for row in fault.rows for name, told in (row.passes or {}).items()
        if out / told.folder == fault.file
        for kind in [tuple(known for known in KINDS if known == name)]
        for engine in ENGINES if engine == (told.engine or ENGINES[0])}
