"""``mimegen plan``: show what a request would make and cost, without making it."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml

from mimegen.base.asked import Heading
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly, kernels_option
from mimegen.commands.farm import farm_options
from mimegen.commands.grouped import Grouped
from mimegen.commands.options import headings_of, under
from mimegen.commands.selection import HEADINGS, selection_options
from mimegen.farm.ray import worker_needs
from mimegen.farm.raywaits import amounts
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurmarray import SlurmArray
from mimegen.production.estimate import estimate
from mimegen.production.paces import RenderPace, calibrate, known_pace
from mimegen.production.passtasks import planned_passes
from mimegen.production.progress import roughly
from mimegen.request.farms import CLUSTER_TASK_S
from mimegen.request.openjd import job_template
from mimegen.request.planfile import PlanFile
from mimegen.request.planned import Planned
from mimegen.shots.devices import CPU, OPENGL
from mimegen.store.store import Store

# File endings of an Open Job Description template.
TEMPLATES = (".json", ".yaml", ".yml")
# In seconds. Longer times are printed in hours.
LONG_S = 6000.0
# Paces of the last jobs are shown if they differ by more than this factor.
MUCH = 2.0
# What a background plate of a set takes one worker, from draft to large pictures, in seconds.
PLATE_S = (3.0, 60.0)


@click.command("plan", cls=Grouped, headings=under(under(
    HEADINGS, Heading.OUTPUT, "out", "names", "store_folder", "as_json", "export"),
    Heading.RENDERING, *headings_of(FarmSettings)[Heading.RENDERING], "farm_config", "blender",
    "kernels", "detach", "calibrates"))
@exits_cleanly
@farm_options
@partial(selection_options, dry_run=True)
@kernels_option("--kernels")
@click.option("--out", default="out", show_default=True, type=click.Path(path_type=Path),
              metavar="DIR", help="Output directory; existing clips and frames are counted.")
@click.option("--names", type=click.Choice(["plain", "opaque"]), default="plain",
              help="For --export: names of the clips, as in mimegen render.")
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Folder of finished frames.  [default: OUT/store]")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as one JSON object.")
@click.option("--calibrate", "calibrates", is_flag=True,
              help="Measure this machine's speed with a few frames of the first shot, which takes a"
                   " minute or two, and store it.")
# So that the command to plan can be the command to run.
@click.option("--detach", is_flag=True, expose_value=False,
              help="Has no effect, as a plan submits nothing; accepted because mimegen render has"
                   " it.")
@click.option("--export", nargs=2, type=(click.Choice(["openjd"]), click.Path(path_type=Path)),
              metavar="openjd FILE",
              help="Export the plan as an Open Job Description FILE, with its plan file next to"
                   " it.")
def plan_command(planned: Planned, out: Path, names: str, store_folder: Path | None,
                 settings: FarmSettings, as_json: bool, calibrates: bool,
                 export: tuple[str, Path] | None) -> int:
    """Dry run: show clip count, render time and disk space.

    Takes the options of mimegen render, and renders nothing. With --farm slurm it also shows the
    batch script that mimegen render would submit, with --farm ray the resources that it would ask
    for.
    """
    if export is not None and export[1].suffix.lower() not in TEMPLATES:
        raise RequestError(f"--export {export[1]}: expected a file that ends in"
                           f" {' or '.join(TEMPLATES)}")
    store = Store((store_folder or out / "store").resolve())
    device = planned.device.kind
    pace = calibrate(planned.plan, planned.config, planned.device,
                     partial(click.echo, err=True)) if calibrates \
        else known_pace(planned.config, device)
    cost = estimate(planned.plan, planned.config, device, store, out, pace)
    if planned.passes is not None:
        cost["passes"] = planned_passes(planned.plan, planned.passes, store,
                                        cost["frames"] / max(1, cost["shots"]))
    if settings.workers is not None:
        cost["workers"] = settings.workers
    if settings.farm == "slurm":
        array = SlurmArray.of(out, store.root, settings, device)
        cost["slurm"] = array.batch_script(_tasks(cost, settings))
        cost["slurm_jobs"] = array.most_jobs
    if settings.farm == "ray":
        cost["ray"] = {"address": settings.address, "workers": settings.workers,
                       **worker_needs(settings, device)}
    if export is not None:
        plan_file = PlanFile.of(planned, out, store, names == "opaque")
        cost["exported"] = _export(plan_file, export[1], pace)
    click.echo(json.dumps(cost, indent=1, ensure_ascii=False) if as_json else _text(cost))
    return DONE


def _tasks(cost: Mapping[str, Any], settings: FarmSettings) -> int | None:
    """Return the approximate number of a cluster's tasks; None if the speed was not measured."""
    if cost["hours"] is None:
        return None
    seconds = float(cost["hours"]) * 3600
    return math.ceil(seconds / (settings.task_s or CLUSTER_TASK_S))


def _export(plan: PlanFile, path: Path, pace: RenderPace | None) -> list[str]:
    """Write the template and, beside it, the plan file; return their paths."""
    path = path.resolve()
    beside = path.with_name(f"{path.stem}.plan.json")
    command = Path(sys.executable).with_name("mimegen")
    template = job_template(beside, plan, f"mimegen {path.stem}",
                            str(command) if command.exists() else "mimegen",
                            None if pace is None else pace.seconds_per_frame)
    plan.write(beside)
    publish(path, json.dumps(template, indent=1) if path.suffix.lower() == ".json"
            else yaml.safe_dump(template, sort_keys=False))
    return [str(path), str(beside)]


def _text(cost: dict[str, Any]) -> str:
    """Return the plan as text for people."""
    about = "" if cost["frames_are_exact"] else "about "
    lines = [
        f"config   {cost['config']} on {cost['device']}",
        f"clips    {cost['clips']}, {cost['clips_there']} of them done",
        f"shots    {cost['shots']}, {cost['shots_there']} of them rendered",
        f"frames   {about}{cost['frames']:,}, {cost['frames_there']:,} of them in {cost['store']}",
    ]
    if cost["hours"] is None:
        lines += _unmeasured(cost)
    elif not cost["frames_left"]:
        lines.append("time     none: all frames are rendered")
    else:
        worker = {"OpenGL": "worker"}.get(cost["hours_of"], cost["hours_of"])
        lines.append(f"time     {about}{_span(cost['hours'])} of one {worker} to render"
                     f"{_on(cost)} ({_three(cost['seconds_per_frame'])} s a frame, as timed on"
                     f" this machine{_spread(cost['seconds_per_frame_of_jobs'])}), and"
                     f" {_span(cost['encoding_cpu_core_hours'])} of a CPU core"
                     f" to encode; {_divided(cost)}")
    if cost["plates"]:
        least, most = (roughly(cost["plates"] * each) for each in PLATE_S)
        lines.append(f"plates   up to {cost['plates']} background plates of sets, not in that time:"
                     f" {least} to {most} of one worker for all of them")
    guess = "" if cost["storage_is_measured"] or not cost["storage_gb"] else (
        ", a guess from other configs; --calibrate measures it")
    lines.append(f"storage  about {_three(cost['storage_gb'])} GB more{guess}")
    if "passes" in cost:
        lines.append("passes   " + "; ".join(
            f"{kind} of {count['shots']} shots, {count['there']} of them done, about"
            f" {_three(count['storage_gb'])} GB more"
            for kind, count in cost["passes"].items()))
    lines += [f"left out: {reason}" for reason in cost["left_out"]]
    lines += [f"warning: {reason}" for reason in cost["hardly_shown"]]
    lines += [f"wrote    {path}" for path in cost.get("exported", ())]
    if "ray" in cost:
        lines.append(_on_ray(cost["ray"]))
    if "slurm" in cost:
        lines += [f"slurm    up to {counted(cost['slurm_jobs'], 'job')} at the same time"
                  " (--workers sets the limit)", "", "batch script for Slurm:", "", cost["slurm"]]
    return "\n".join(lines)


def _on_ray(asked: Mapping[str, Any]) -> str:
    """Return what a render would ask a Ray cluster for; nothing is asked by a plan."""
    most = "as many as fit" if asked["workers"] is None else f"at most {asked['workers']}"
    where = {"auto": "the running cluster, or one that it starts on this machine",
             "none": "a cluster that it starts on this machine"}
    return (f"ray      workers of {amounts(asked)} each, {most}, on"
            f" {where.get(asked['address'], asked['address'])}")


def _unmeasured(cost: dict[str, Any]) -> Iterator[str]:
    """Yield how to measure an unmeasured device's speed, and the CPU's hours if known."""
    machine = "" if cost["device"] in (CPU, OPENGL) else f" on a machine with {cost['device']}"
    yield (f"time     unknown: {cost['config']} has never been timed on {cost['device']}. Run the"
           f" same command with --calibrate{machine} (a minute or two); later plans use the result")
    if (each := cost["elsewhere_seconds_per_frame"]) is not None:
        yield (f"         On the machine of docs/guide/farm.md, which is not this one, a frame took"
               f" {_three(each)} s: {_span(cost['frames_left'] * each / 3600)} of one core for all")
    else:
        yield "         docs/guide/farm.md has the times of another machine, for other configs"
    if cost["cpu_core_hours"] is not None:
        yield (f"         This machine's CPU would take {_three(cost['cpu_core_hours'])} core"
               f" hours, which says little about {cost['device']}")


def _divided(cost: dict[str, Any]) -> str:
    if "workers" not in cost:
        return "divide by the number of workers for the time it takes"
    hours = (cost["hours"] + cost["encoding_cpu_core_hours"]) / cost["workers"]
    return f"about {_span(hours)} with {cost['workers']} workers"


def _spread(seconds: Sequence[float]) -> str:
    """Return the range of the last jobs' seconds a frame if they differ much."""
    if not seconds or max(seconds) <= MUCH * min(seconds):
        return ""
    return (f"; {min(seconds):.1g} to {max(seconds):.1g} s a frame in the last {len(seconds)} runs:"
            " a busy machine is slower")


def _span(hours: float) -> str:
    """Return a time as text, in seconds or minutes if it is short."""
    seconds = 3600 * hours
    return roughly(seconds) if seconds < LONG_S else f"{_three(hours)} hours"


def _on(cost: dict[str, Any]) -> str:
    return "" if cost["device"] == OPENGL else f" on {cost['device']}"


def _three(value: float) -> str:
    """Return a number with three significant digits, such as 12,300 or 0.0412."""
    if 0 < value < 0.001:
        return "less than 0.001"
    return f"{Decimal(f'{value:.3g}'):,f}"
