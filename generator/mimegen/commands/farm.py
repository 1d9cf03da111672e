"""Where to render: the options of farms, and the farm that they stand for."""

import os
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, get_args

import click

from mimegen.farm.executor import Farm
from mimegen.farm.local import LocalExecutor
from mimegen.farm.ray import RayExecutor
from mimegen.farm.settings import FarmSettings, Kind, read_settings
from mimegen.stage.devices import Device
from mimegen.stage.plain import NONE
from mimegen.store.store import Store

# Each takes about half a gigabyte.
MOST_CPU_WORKERS = 8
# They compose clips while GPUs render; each keeps about two cores busy.
MOST_BESIDE = 4
# How long a task shall last: here it costs nothing to begin one.
TASK_S, CLUSTER_TASK_S = 30.0, 120.0


def farm_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of farms, given to the command as ``settings``.

    Raises RequestError, when the command is called, for a settings file that is wrong.
    """

    @wraps(command)
    def wrapped(*args: Any, farm_config: Path | None, **given: Any) -> int:
        said = {name: value for name in _NAMES if (value := given.pop(name)) is not None}
        kept = read_settings(farm_config) if farm_config else FarmSettings()
        settings = FarmSettings.model_validate(kept.model_dump() | said)
        return command(*args, **given, settings=settings)

    options: Callable[..., int] = wrapped
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


_OPTIONS = (
    click.option("--farm", type=click.Choice(get_args(Kind)),
                 help="Where to render: this machine (local), or a Ray cluster.  [default: local]"),
    click.option("--farm-config", type=click.Path(path_type=Path), metavar="FILE",
                 help="A cluster's settings (YAML); options on the command line go before it."),
    click.option("--workers", type=click.IntRange(min=1), metavar="N",
                 help="Blender processes.  [default: one per core, at most 8; on GPUs one each; on"
                      " a cluster as many as there is place for]"),
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
)
_NAMES = ("farm", "workers", "workers_per_gpu", "address", "cpus_per_task", "gpus_per_task",
          "shared_store")


def farm_of(settings: FarmSettings, device: Device, store: Store) -> Farm:
    """Return the farm that settings stand for, with workers on a kind of device."""
    if settings.farm == "ray":
        return Farm(f"Ray ({settings.address}), {device.kind}",
                    partial(RayExecutor, store.root, settings, device.kind), settings.silence_s,
                    settings.task_s or CLUSTER_TASK_S, elsewhere=True)
    return _this_machine(settings, device, store)


def _this_machine(settings: FarmSettings, device: Device, store: Store) -> Farm:
    """Return one worker on each GPU, and on a CPU one per core, which keeps every core busy."""
    cores, count = os.cpu_count() or 1, settings.workers
    if not device.by_core:
        devices, threads = device.seats(count or device.count * settings.workers_per_gpu), 0
        beside = min(MOST_BESIDE, max(1, cores - len(devices)))
        devices += (NONE,) * beside
    else:
        count = count or min(cores, MOST_CPU_WORKERS)
        devices, threads = device.seats(count), max(1, cores // count)
    return Farm(", ".join(sorted({*devices} - {NONE})),
                partial(LocalExecutor, devices, threads, store.scratch), settings.silence_s,
                settings.task_s or TASK_S, sum(each != NONE for each in devices))
