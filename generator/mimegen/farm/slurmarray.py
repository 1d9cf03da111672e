"""Resources and command of the jobs in a Slurm array, for submission or for display."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.farm.handed import SLURM, queue_name
from mimegen.farm.pilot import Orders
from mimegen.farm.remote import version
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurmqueue import SlurmQueue
from mimegen.rendering.plain import NONE
from mimegen.shots.devices import Device

# Without --workers; each job stays as long as there are tasks.
MAX_JOBS = 100
MAX_ARRAY = 1000  # jobs in one array at most


@dataclass(frozen=True)
class SlurmArray:
    """The jobs that make a request of ``out``, with frames in the store at ``store``.

    ``folder`` is the spool of the jobs' tasks, ``logs`` the folder of their output.
    """

    folder: Path
    logs: Path
    orders: Orders
    settings: FarmSettings

    @classmethod
    def of(cls, out: Path, store: Path, settings: FarmSettings, device: str) -> Self:
        """Return the array for a kind of device.

        Raises RequestError for a fractional number of GPUs.
        """
        store, out = store.resolve(), out.resolve()
        folder = out / SLURM / content_key(str(store), device, version())[:12]
        orders = Orders(str(folder), str(store), device, _gpus(settings, device),
                        settings.cpus_per_task or 1)
        return cls(folder, out / "logs", orders, settings)

    @property
    def queue(self) -> SlurmQueue:
        """Slurm's queue, restricted to the jobs of this array."""
        return SlurmQueue(queue_name(self.folder), self.settings)

    @property
    def seats(self) -> int:
        """How many tasks a job does at the same time."""
        return sum(seat != NONE for seat in self.orders.seats()[0])

    @property
    def most_jobs(self) -> int:
        """The largest number of jobs at the same time."""
        return self.settings.workers or MAX_JOBS

    @property
    def command(self) -> Sequence[str]:
        """The command that each job runs."""
        return sys.executable, "-m", "mimegen.farm.pilot", self.orders.text()

    def options(self, size: int, exclude: Iterable[str] = ()) -> list[str]:
        """Return the options of sbatch for ``size`` jobs on any machine except ``exclude``."""
        options = [f"--array=0-{size - 1}", f"--cpus-per-task={self.orders.cpus}",
                   f"--output={self.logs}/slurm-%A_%a.txt", "--open-mode=append", "--requeue"]
        if self.orders.gpus:
            options.append(f"--gres=gpu:{self.orders.gpus}")
        if machines := sorted(exclude):
            options.append(f"--exclude={','.join(machines)}")
        return options

    def batch_script(self, tasks: int | None) -> str:
        """Return the batch script for ``tasks`` tasks; None for as many jobs as allowed."""
        size = self.most_jobs if tasks is None else min(-(-tasks // self.seats), self.most_jobs)
        options = self.queue.options(self.options(max(1, min(size, MAX_ARRAY))))
        first, *rest = self.queue.script(self.command).splitlines()
        return "\n".join([first, *(f"#SBATCH {option}" for option in options), *rest])


def _gpus(settings: FarmSettings, device: str) -> int:
    """Return the GPUs of a job. Raises RequestError for a fractional number."""
    asked = settings.gpus_per_task
    if asked is None:
        return int(not Device(device, 1).by_core)
    if asked != int(asked):
        raise RequestError(f"--gpus-per-task {asked}: Slurm assigns whole GPUs; give a whole"
                           " number")
    return int(asked)
