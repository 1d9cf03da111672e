"""What a cluster's job does: tasks of a spool, one after the other, on all that it was given."""

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
from mimegen.farm.executor import Heard, Lost, Unfit
from mimegen.farm.local import LocalExecutor, seats_on
from mimegen.farm.remote import version
from mimegen.farm.spool import JobMessage, Spool
from mimegen.farm.task import Task, task_from_json
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobDone, JobFailed
from mimegen.store.disk import Disk

POLL_S = 0.5
# How long to wait for more before the place is left to others.
IDLE_S = 20.0


@dataclass(frozen=True)
class Orders:
    """Where a job finds its tasks, their store and prepared kernels, what it was given, and by
    which version.
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
        """Return what ``text`` says of them."""
        return cls(**json.loads(text))

    def text(self) -> str:
        """Return them as one word of a command."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def seats(self) -> tuple[tuple[str, ...], int]:
        """Return what each worker of a job renders on, and its threads; 0 for all there are."""
        return seats_on(Device(self.device, max(1, self.gpus)), self.cpus)


def pilot(orders: Orders, job: str) -> int:
    """Do tasks of a spool until there is none left; return an exit status."""
    spool, host = Spool(Path(orders.spool)), socket.gethostname()
    pilot = _Pilot(spool, orders, job, f"{host} job {job}")
    # A job that was begun again goes on with what it was at, or others do.
    spool.give_back(job)
    try:
        if orders.version != version():
            raise RequestError(f"has mimegen {version()}, needs {orders.version}")
        with using_kernels(Path(orders.kernels)):
            pilot.work()
    except RequestError as problem:
        print(f"mimegen: {problem}", file=sys.stderr)
        with suppress(RequestError):
            pilot.tell(JobMessage(job, pilot.name, None, Unfit(f"{host} is left out: {problem}")))
        return 1
    finally:
        spool.give_back(job)
    return 0


@dataclass
class _Pilot:
    """A job that takes tasks, ``taken`` with their names, and says what becomes of them."""

    spool: Spool
    orders: Orders
    job: str
    name: str
    taken: dict[Task, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Watch the folder's disk, which may be away for a while."""
        self.disk = Disk(lambda: self.spool.is_there)

    def work(self) -> None:
        """Do tasks; raises RequestError where nothing here can render."""
        first = self._next(plain=True) or self._next(plain=False)
        if first is None:
            return
        devices, threads = self.orders.seats()
        with (tempfile.TemporaryDirectory(prefix="mimegen-") as scratch,
              closing(LocalExecutor(devices, threads, Path(scratch))) as executor):
            executor.submit(first)
            self._carry_on(executor)

    def _carry_on(self, executor: LocalExecutor) -> None:
        heard_at = time.monotonic()
        while True:
            self.disk.wait()
            self._fill(executor)
            idle = time.monotonic() - heard_at
            if not self.taken and (self.spool.complete or idle > IDLE_S):
                return
            for heard in executor.events(POLL_S):
                self.disk.wait()
                for line in self._lines(heard):
                    self.tell(line)
                heard_at = time.monotonic()

    def _fill(self, executor: LocalExecutor) -> None:
        """Give each worker something to do; clips come first, for somebody waits for them."""
        while executor.plain_slots and (task := self._next(plain=True)) is not None:
            executor.submit(task)
        while executor.slots and (task := self._next(plain=False)) is not None:
            executor.submit(task)

    def _next(self, plain: bool) -> Task | None:
        """Take the next task of which something is left."""
        while (name := self.spool.take(self.job, plain)) is not None:
            content = self.spool.content(name)
            if content is None:
                # The driver notices that nobody has it, and lays it out anew.
                self.spool.done(name, self.job)
                continue
            task = task_from_json(content, Path(self.orders.store)).remaining()
            if task is not None:
                self.taken[task] = name
                return task
            if self.spool.done(name, self.job):
                self.tell(JobMessage(self.job, self.name, name, JobDone()))
        return None

    def tell(self, line: JobMessage) -> None:
        """Say something, once the folder is there."""
        self.disk.wait()
        self.spool.tell(line)

    def _lines(self, heard: Heard) -> Iterator[JobMessage]:
        """Yield what is to be said; nothing of a task that was taken from this job."""
        worker, message = f"{self.name} {heard.worker}", heard.message
        if heard.task is None:
            yield JobMessage(self.job, worker, None, message)
            return
        name = self.taken[heard.task]
        match message:
            case Unfit():
                del self.taken[heard.task]
                self.spool.give_back(self.job, name)
                yield JobMessage(self.job, worker, None, message)
            case JobDone() | JobFailed() | Lost():
                del self.taken[heard.task]
                if self.spool.done(name, self.job):
                    yield JobMessage(self.job, worker, name, _from_here(message))
            case _:
                yield JobMessage(self.job, worker, name, message)


def _from_here(message: JobDone | JobFailed | Lost) -> JobDone | JobFailed | Lost:
    if isinstance(message, JobFailed):
        return replace(message, message=f"{socket.gethostname()}: {message.message}")
    return message


if __name__ == "__main__":
    element = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
    sys.exit(pilot(Orders.read(sys.argv[1]), element))
