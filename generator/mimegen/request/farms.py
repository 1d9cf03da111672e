"""Turn farm settings into a farm that renders a request."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mimegen.farm.executor import Farm
from mimegen.farm.local import LocalExecutor, seats_on
from mimegen.farm.ray import RayExecutor
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurm import SlurmExecutor
from mimegen.rendering.plain import NONE
from mimegen.shots.devices import Device
from mimegen.store.store import Store

# Target duration of a task in seconds: short on this machine, where starting one costs nothing.
TASK_S = 30.0
CLUSTER_TASK_S = 120.0
Say = Callable[[str], None]


def farm_of(settings: FarmSettings, device: Device, store: Store, out: Path, say: Say) -> Farm:
    """Return the farm that settings describe, with workers on a kind of device."""
    if settings.farm == "slurm":
        return Farm(f"Slurm, {device.kind}",
                    partial(slurm_jobs, settings, device, store, out, say),
                    settings.silence_s, settings.task_s or CLUSTER_TASK_S, elsewhere=True)
    if settings.farm == "ray":
        # Refused here, before a folder is made.
        RayExecutor.require()
        return Farm(f"Ray ({settings.address}), {device.kind}",
                    partial(RayExecutor, store.root, settings, device.kind, say),
                    settings.silence_s, settings.task_s or CLUSTER_TASK_S, elsewhere=True)
    return _this_machine(settings, device, store)


def slurm_jobs(settings: FarmSettings, device: Device, store: Store, out: Path, say: Say
               ) -> SlurmExecutor:
    """Return an executor of Slurm jobs with these settings; see ``SlurmExecutor``."""
    return SlurmExecutor(out, store.root, settings, device.kind, say)


def _this_machine(settings: FarmSettings, device: Device, store: Store) -> Farm:
    """Return a farm on this machine with a worker per GPU or, on a CPU, workers for all cores."""
    count = settings.workers
    if not device.by_core:
        count = count or device.count * settings.workers_per_gpu
    devices, threads = seats_on(device, os.cpu_count() or 1, count)
    start = partial(LocalExecutor, devices, threads, store.scratch)
    return Farm(", ".join(sorted({*devices} - {NONE})), start, settings.silence_s,
                settings.task_s or TASK_S, sum(each != NONE for each in devices),
                start_cold=partial(start, warm=False))
