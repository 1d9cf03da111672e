"""Workers of this machine: one warm process per device, replaced when it ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from mimegen.base.blender import DOES_NOT_START
from mimegen.base.errors import RequestError
from mimegen.farm.executor import Begun, Lost, Unfit, WorkerReport
from mimegen.farm.task import Task
from mimegen.rendering.plain import NONE
from mimegen.rendering.receiving import JobReceived
from mimegen.rendering.worker import StageWorker
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobDone, JobFailed, Ready

# Each needs about half a gigabyte of memory.
MAX_CPU_WORKERS = 8
# Workers that compose clips while GPUs render; each keeps about two cores busy.
MAX_BESIDE = 4


def seats_on(device: Device, cores: int, workers: int | None = None
             ) -> tuple[tuple[str, ...], int]:
    """Return the device of each worker of a machine, and its number of threads (0 for all).

    GPUs get one worker each, or ``workers`` in all; some more without a GPU compose clips.
    """
    if device.by_core:
        count = workers or min(cores, MAX_CPU_WORKERS)
        return device.seats(count), max(1, cores // count)
    seats = device.seats(workers or device.count)
    return seats + (NONE,) * min(MAX_BESIDE, max(1, cores - len(seats))), 0


@dataclass(eq=False)
class _WorkerSeat:
    """A device and the state of its worker.

    ``holds`` is the device whose engine the worker has started with, ``ready`` whether the engine
    has started, ``task`` the task given to the worker, ``taken`` whether it has accepted the task.
    """

    name: str
    device: str
    worker: StageWorker | None = None
    holds: str = NONE
    ready: bool = False
    task: Task | None = None
    taken: bool = False

    def suits(self, task: Task) -> bool:
        """Return whether the running worker can do a task."""
        return self.worker is not None and (task.needs_no_engine or self.holds == self.device)


class LocalExecutor:
    """Worker processes of this machine, one on each of ``devices``; see ``Executor``.

    If some devices are ``none``, only they get plain tasks, so that GPUs are free for rendering.
    ``threads`` and ``scratch`` apply to each worker. Unless ``warm``, engines start with the first
    tasks that need them, and plain tasks run without an engine.
    """

    adopted: Sequence[Task] = ()

    def __init__(self, devices: Sequence[str], threads: int, scratch: Path | None = None,
                 warm: bool = True) -> None:
        """Start the engines, if warm; tasks may be submitted at once."""
        self._threads, self._scratch = threads, scratch
        self._seats = [_WorkerSeat(f"{device} worker {number}", device)
                       for number, device in enumerate(devices, 1)]
        self._pending: list[WorkerReport] = []
        try:
            for seat in self._seats:
                if warm and seat.device != NONE:
                    self._start(seat, seat.device)
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """The number of idle workers for tasks that need an engine."""
        return len(self._free(plain=False))

    @property
    def plain_slots(self) -> int:
        """The number of idle workers for plain tasks."""
        return len(self._free(plain=True))

    def submit(self, task: Task) -> None:
        """Give a task to an idle worker, preferably a warm one."""
        seat = min(self._free(task.needs_no_engine), key=lambda seat: not seat.suits(task))
        if seat.worker is not None and not (seat.suits(task) and seat.worker.is_fit):
            seat.worker.close()
            seat.worker = None
        worker = seat.worker or self._start(seat, NONE if task.needs_no_engine else seat.device)
        seat.task, seat.taken = task, False
        worker.submit(task.job)
        self._pending.append(WorkerReport(seat.name, Begun(), task))

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        """Yield the messages that arrive within ``timeout`` seconds.

        Raises RequestError if Blender cannot start at all.
        """
        pending, self._pending = self._pending, []
        yield from pending
        working = [seat for seat in self._seats if seat.worker]
        readable = wait([seat.worker.connection for seat in working if seat.worker],
                        0 if pending else timeout)
        for seat in working:
            if seat.worker is not None and seat.worker.connection in readable:
                yield from self._receive(seat, seat.worker)

    def abandon(self, task: Task, why: str) -> None:
        """Kill the worker that has a task."""
        for seat in self._seats:
            if seat.task is task:
                self._vacate(seat)
                self._pending.append(WorkerReport(seat.name, Lost(why), task))

    def close(self) -> None:
        """Kill all workers."""
        for seat in self._seats:
            self._vacate(seat)

    def _free(self, plain: bool) -> list[_WorkerSeat]:
        apart = plain and any(seat.device == NONE for seat in self._seats)
        return [seat for seat in self._seats
                if seat.task is None and (seat.device == NONE) == apart]

    def _receive(self, seat: _WorkerSeat, worker: StageWorker) -> Iterator[WorkerReport]:
        """Yield a worker's message; detect a worker that ended or a device that does not start."""
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._ended(seat)
            return
        if isinstance(message, JobReceived):
            seat.taken = True
            return
        if isinstance(message, JobFailed) and not seat.ready:
            yield self._unfit(seat, message)
            return
        seat.ready = seat.ready or isinstance(message, Ready)
        yield WorkerReport(seat.name, message, seat.task)
        if isinstance(message, JobDone | JobFailed):
            seat.task = None

    def _start(self, seat: _WorkerSeat, device: str) -> StageWorker:
        seat.worker = StageWorker(device, self._threads, self._scratch)
        seat.holds, seat.ready = device, False
        return seat.worker

    def _vacate(self, seat: _WorkerSeat) -> None:
        if seat.worker is not None:
            seat.worker.kill()
        seat.worker = seat.task = None

    def _ended(self, seat: _WorkerSeat) -> Iterator[WorkerReport]:
        """Report the task of a worker whose process ended as lost.

        Raises RequestError if the worker was idle, had never become ready, and is the only one.
        """
        task, ready = seat.task, seat.ready
        # If it had not accepted the task, it may already have been dying, as when someone kills all
        # workers at once.
        lost = Lost("its process died", blameless=not seat.taken)
        self._vacate(seat)
        if task is not None:
            yield WorkerReport(seat.name, lost, task)
        elif not ready and not any(other.worker for other in self._seats):
            raise RequestError(DOES_NOT_START)

    def _unfit(self, seat: _WorkerSeat, failure: JobFailed) -> WorkerReport:
        """Exclude a device that does not start; raise RequestError if no other device is left."""
        task = seat.task
        self._vacate(seat)
        self._seats.remove(seat)
        if all(other.device == NONE for other in self._seats):
            raise RequestError(failure.message)
        return WorkerReport(seat.name, Unfit(f"{seat.name} is left out: {failure.message}"), task)
