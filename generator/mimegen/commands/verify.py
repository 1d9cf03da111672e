"""``mimegen verify``: check whether clips, manifest and frames are complete and undamaged."""

import json
import time
from pathlib import Path
from typing import Any

import click

from mimegen.base.counted import counted
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    blender_option,
    exits_cleanly,
    library_option,
    warn,
)
from mimegen.farm.settings import FarmSettings
from mimegen.library.catalogue import Catalogue
from mimegen.manifest.file import DAMAGED, MANIFEST
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import Plan
from mimegen.production.passes import make_passes
from mimegen.production.progress import Reporter, duration
from mimegen.production.remaking import Sources
from mimegen.production.render import render
from mimegen.production.repair import repair, repair_passes
from mimegen.production.verify import Findings, verify
from mimegen.rendering.auto import choose_device
from mimegen.request.farms import farm_of
from mimegen.store.store import Store


@click.command("verify")
@exits_cleanly
@library_option
@blender_option
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Folder of finished frames.  [default: OUT/store]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--repair", "mends", is_flag=True, help="Render again what is missing or damaged, and"
                                                      " only that.")
@click.option("--motion", "motions", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="With --repair: a motion file that was given to pointlight, --motion, --partner"
                   " or --map; may be repeated.")
def verify_command(out: Path, store_folder: Path | None, as_json: bool, mends: bool,
                   libraries: tuple[Path, ...], motions: tuple[Path, ...]) -> int:
    """Check every clip, row, frame and pass of OUT.

    Compares each row with the record in its clip. Exits with status 0 if there are no faults or all
    were repaired, otherwise with 1.
    """
    store, started = Store(store_folder or out / "store"), time.monotonic()
    findings = verify(out, store)
    result: dict[str, Any] = {}
    if mends and findings.faults:
        result = {"found": _summary(findings),
                "not_repaired": _repair(out, store, findings, libraries, motions),
                "lines_set_aside": sum(fault.file == out / MANIFEST for fault in findings.faults)}
        findings = verify(out, Store(store.root))
    whole = not findings.faults and not result.get("not_repaired")
    result = {"whole": whole, "seconds": round(time.monotonic() - started, 1),
            **_summary(findings), **result}
    click.echo(json.dumps(result, indent=1, ensure_ascii=False) if as_json else _text(result))
    return DONE if whole else SOME_FAILED


def _repair(out: Path, store: Store, findings: Findings, libraries: tuple[Path, ...],
            motions: tuple[Path, ...]) -> dict[str, str]:
    """Make again what is missing or damaged; return what could not be repaired, and why."""
    def carry_out(plan: Plan, kind: str, opaque: bool) -> dict[str, str]:
        with Reporter(len(plan), quiet=True) as reporter:
            farm = farm_of(FarmSettings(), choose_device(kind, warn), store, out, warn)
            return render(plan, store, out, farm, reporter, opaque)

    def carry_out_passes(plan: Plan, wanted: WantedPasses, kind: str) -> dict[str, str]:
        with Reporter(0, quiet=True) as reporter:
            farm = farm_of(FarmSettings(), choose_device(kind, warn), store, out, warn)
            return make_passes(plan, wanted, store, out, farm, reporter)

    sources = Sources.of(Catalogue.with_libraries(libraries), motions)
    of_clips = [fault for fault in findings.faults if not fault.of_pass]
    of_passes = [fault for fault in findings.faults if fault.of_pass]
    return (repair(out, store, of_clips, sources, carry_out)
            | repair_passes(out, of_passes, sources, carry_out_passes))


def _summary(findings: Findings) -> dict[str, Any]:
    return {
        "clips": findings.clips, "shots": findings.shots, "frames": findings.frames,
        "passes": findings.passes,
        "faults": [{"file": str(fault.file), "why": fault.why,
                    "sample_ids": [row.sample_id for row in fault.rows]}
                   for fault in findings.faults],
        "notes": list(findings.notes),
    }


def _text(result: dict[str, Any]) -> str:
    lines = [f"{fault['file']}: {fault['why']}" for fault in result["faults"]]
    before = result.get("found", {}).get("faults", [])
    mended = [fault for fault in before if fault not in result["faults"]]
    lines += [f"repaired {fault['file']}: {fault['why']}" for fault in mended]
    lines += [f"not repaired {name}: {why}" for name, why in result.get("not_repaired", {}).items()]
    if result.get("lines_set_aside"):
        lines.append(f"{counted(result['lines_set_aside'], 'damaged line')} of the manifest moved"
                     f" to {DAMAGED}; existing clips have rows again")
    lines += result["notes"]
    bad = len(result["faults"]) or len(result.get("not_repaired", {}))
    whole = "no faults but for the notes above" if result["notes"] else "no faults found"
    state = whole if result["whole"] else counted(bad, "fault")
    passes = f", {counted(result['passes'], 'pass', 'passes')}" if result["passes"] else ""
    lines.append(f"{counted(result['clips'], 'clip')}, {counted(result['frames'], 'frame')} of"
                 f" {counted(result['shots'], 'shot')}{passes} checked in"
                 f" {duration(result['seconds'])}: {state}")
    return "\n".join(lines)
