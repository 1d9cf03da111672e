"""The program of a cluster job: it runs tasks from a spool on all devices it was given."""

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.base.kernel_folder import kernel_folder, using_kernels
from mimegen.farm.executor import Lost, Unfit, WorkerReport
from mimegen.farm.local import LocalExecutor, seats_on
from mimegen.farm.remote import makes_the_same, version
from mimegen.farm.spool import JobMessage, Spool
from mimegen.farm.task import Task, task_from_json
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobDone, JobFailed
from mimegen.store.disk import Disk

POLL_S = 0.5  # seconds to wait for messages at a time
# Seconds without a task after which the job ends, leaving its resources to others.
IDLE_S = 20.0


@dataclass(frozen=True)
class Orders:
    """A cluster job's instructions: its folders, resources, and the required version.

    ``spool`` is the folder of tasks, ``store`` that of their files, ``kernels`` that of prepared
    GPU kernels.
    """

    spool: str
    store: str
    device: str
    gpus: int
    cpus: int
    version: str = field(default_factory=version)
    kernels: str = field(default_factory=lambda: str(kernel_folder()))

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the orders in a text written by ``text``."""
        return cls(**json.loads(text))

    def text(self) -> str:
        """Return the orders as one word of a command line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def seats(self) -> tuple[tuple[str, ...], int]:
        """Return the device of each worker of a job, and its number of threads (0 for all)."""
        return seats_on(Device(self.device, max(1, self.gpus)), self.cpus)


def pilot(orders: Orders, job: str) -> int:
    """Run tasks of a spool until none is left; return an exit status."""
    spool, host = Spool(Path(orders.spool)), socket.gethostname()
    pilot = _Pilot(spool, orders, job, f"{host} job {job}")
    # If Slurm requeued this job, return its earlier tasks, to this job or to others.
    spool.give_back(job)
    try:
        if not makes_the_same(version(), orders.version):
            raise RequestError(f"has mimegen {version()}, needs {orders.version}")
        with using_kernels(Path(orders.kernels)):
            pilot.work()
    except RequestError as problem:
        print(f"mimegen: {problem}", file=sys.stderr)
        with suppress(RequestError):
            pilot.send(JobMessage(job, pilot.name, None, Unfit(f"{host} is left out: {problem}")))
        return 1
    finally:
        spool.give_back(job)
    return 0


@dataclass
class _Pilot:
    """A job that takes tasks and reports on them; ``taken`` are its tasks and their names."""

    spool: Spool
    orders: Orders
    job: str
    name: str
    taken: dict[Task, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Watch the disk of the folder, which may be unavailable for a while."""
        self.disk = Disk(lambda: self.spool.is_available)

    def work(self) -> None:
        """Run tasks. Raises RequestError if no device of this job can render."""
        first = self._next(plain=True) or self._next(plain=False)
        if first is None:
            return
        devices, threads = self.orders.seats()
        with (tempfile.TemporaryDirectory(prefix="mimegen-") as scratch,
              closing(LocalExecutor(devices, threads, Path(scratch))) as executor):
            executor.submit(first)
            self._carry_on(executor)

    def _carry_on(self, executor: LocalExecutor) -> None:
        """Hand out tasks and report on them until the spool is complete or has been idle."""
        heard_at = time.monotonic()
        while True:
            self.disk.wait()
            self._fill(executor)
            idle = time.monotonic() - heard_at
            if not self.taken and (self.spool.complete or idle > IDLE_S):
                return
            for report in executor.events(POLL_S):
                self.disk.wait()
                for line in self._lines(report):
                    self.send(line)
                heard_at = time.monotonic()

    def _fill(self, executor: LocalExecutor) -> None:
        """Give each worker a task; plain tasks come first, because users wait for their clips."""
        while executor.plain_slots and (task := self._next(plain=True)) is not None:
            executor.submit(task)
        while executor.slots and (task := self._next(plain=False)) is not None:
            executor.submit(task)

    def _next(self, plain: bool) -> Task | None:
        """Take the next task that has an unfinished part."""
        while (name := self.spool.take(self.job, plain)) is not None:
            content = self.spool.content(name)
            if content is None:
                # The driver notices that no job has the task and submits it again.
                self.spool.done(name, self.job)
                continue
            task = task_from_json(content, Path(self.orders.store)).remaining()
            if task is not None:
                self.taken[task] = name
                return task
            if self.spool.done(name, self.job):
                self.send(JobMessage(self.job, self.name, name, JobDone()))
        return None

    def send(self, line: JobMessage) -> None:
        """Send a message once the folder is available."""
        self.disk.wait()
        self.spool.send(line)

    def _lines(self, report: WorkerReport) -> Iterator[JobMessage]:
        """Yield the messages to send; none about a task that was taken back from this job."""
        worker, message = f"{self.name} {report.worker}", report.message
        if report.task is None:
            yield JobMessage(self.job, worker, None, message)
            return
        name = self.taken[report.task]
        match message:
            case Unfit():
                del self.taken[report.task]
                self.spool.give_back(self.job, name)
                yield JobMessage(self.job, worker, None, message)
            case JobDone() | JobFailed() | Lost():
                del self.taken[report.task]
                if self.spool.done(name, self.job):
                    yield JobMessage(self.job, worker, name, _message_from_here(message))
            case _:
                yield JobMessage(self.job, worker, name, message)


def _message_from_here(message: JobDone | JobFailed | Lost) -> JobDone | JobFailed | Lost:
    if isinstance(message, JobFailed):
        return replace(message, message=f"{socket.gethostname()}: {message.message}")
    return message


if __name__ == "__main__":
    element = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
    sys.exit(pilot(Orders.read(sys.argv[1]), element))
