"""Where to render: the options of farms, and the farm that they stand for."""

import os
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, get_args

import click

from mimegen.commands.common import warn
from mimegen.farm.executor import Farm
from mimegen.farm.local import LocalExecutor, seats_on
from mimegen.farm.ray import RayExecutor
from mimegen.farm.settings import FarmSettings, Kind, read_settings
from mimegen.farm.slurm import SlurmExecutor
from mimegen.stage.devices import Device
from mimegen.stage.plain import NONE
from mimegen.store.store import Store

# How long a task shall last: here it costs nothing to begin one.
TASK_S, CLUSTER_TASK_S = 30.0, 120.0


def farm_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of farms, given to the command as ``settings``.

    Raises RequestError, when the command is called, for a settings file that is wrong.
    """

    @wraps(command)
    def wrapped(*args: Any, farm_config: Path | None, **given: Any) -> int:
        said = {name: value for name in _NAMES if (value := given.pop(name)) not in (None, ())}
        kept = read_settings(farm_config) if farm_config else FarmSettings()
        settings = FarmSettings.model_validate(kept.model_dump() | said)
        return command(*args, **given, settings=settings)

    options: Callable[..., int] = wrapped
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


_OPTIONS = (
    click.option("--farm", type=click.Choice(get_args(Kind)),
                 help="Where to render: this machine (local), a Ray cluster, or jobs of Slurm."
                      "  [default: local]"),
    click.option("--farm-config", type=click.Path(path_type=Path), metavar="FILE",
                 help="A cluster's settings (YAML); options on the command line go before it."),
    click.option("--workers", type=click.IntRange(min=1), metavar="N",
                 help="Blender processes; with Slurm, jobs.  [default: one per core, at most 8; on"
                      " GPUs one each; on a cluster as many as there is place for]"),
    click.option("--workers-per-gpu", type=click.IntRange(min=1),
                 help="On this machine.  [default: 1]"),
    click.option("--address", metavar="auto|ray://...|none",
                 help="The Ray cluster; auto takes the one that runs, none starts one here."
                      "  [default: auto]"),
    click.option("--cpus-per-task", type=click.IntRange(min=1), metavar="N",
                 help="Processors of a worker on a cluster."),
    click.option("--gpus-per-task", type=click.FloatRange(min=0), metavar="N",
                 help="GPUs of a worker on a cluster.  [default: 1, with --device cpu 0]"),
    click.option("--shared-store/--no-shared-store", default=None,
                 help="Whether all machines see the store's folder.  [default: they look]"),
    click.option("--slurm-partition", metavar="NAME", help="Where Slurm's jobs run."),
    click.option("--slurm-account", metavar="NAME", help="Who pays for them."),
    click.option("--slurm-time", metavar="TIME",
                 help="The time limit of a job, as in 4:00:00; the next one goes on from there."),
    click.option("--slurm-setup", multiple=True, metavar="COMMAND",
                 help='What a job does first, as in "module load cuda"; may be repeated.'),
)
_NAMES = ("farm", "workers", "workers_per_gpu", "address", "cpus_per_task", "gpus_per_task",
          "shared_store", "slurm_partition", "slurm_account", "slurm_time", "slurm_setup")
FARM_NAMES = ("farm_config", *_NAMES)


def farm_of(settings: FarmSettings, device: Device, store: Store, out: Path) -> Farm:
    """Return the farm that settings stand for, with workers on a kind of device."""
    if settings.farm == "slurm":
        return Farm(f"Slurm, {device.kind}", partial(slurm_jobs, settings, device, store, out),
                    settings.silence_s, settings.task_s or CLUSTER_TASK_S, elsewhere=True)
    if settings.farm == "ray":
        return Farm(f"Ray ({settings.address}), {device.kind}",
                    partial(RayExecutor, store.root, settings, device.kind, warn),
                    settings.silence_s, settings.task_s or CLUSTER_TASK_S, elsewhere=True)
    return _this_machine(settings, device, store)


def slurm_jobs(settings: FarmSettings, device: Device, store: Store, out: Path) -> SlurmExecutor:
    """Return the jobs of Slurm that settings stand for; see ``SlurmExecutor``."""
    return SlurmExecutor(out, store.root, settings, device.kind, partial(click.echo, err=True))


def _this_machine(settings: FarmSettings, device: Device, store: Store) -> Farm:
    """Return one worker on each GPU, and on a CPU one per core, which keeps every core busy."""
    count = settings.workers
    if not device.by_core:
        count = count or device.count * settings.workers_per_gpu
    devices, threads = seats_on(device, os.cpu_count() or 1, count)
    start = partial(LocalExecutor, devices, threads, store.scratch)
    return Farm(", ".join(sorted({*devices} - {NONE})), start, settings.silence_s,
                settings.task_s or TASK_S, sum(each != NONE for each in devices),
                start_cold=partial(start, warm=False))
