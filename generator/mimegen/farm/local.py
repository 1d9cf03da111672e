"""This machine's workers: kept warm, kept busy, replaced when they crash or wear out."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing.connection import wait
from pathlib import Path
from typing import TypeVar

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.farm.task import Task
from mimegen.stage.jobs import FrameDone, JobDone, JobFailed, Ready
from mimegen.stage.worker import StageWorker

ATTEMPTS = 2


@dataclass(frozen=True)
class TaskBegun:
    """A task that was handed to a worker."""

    task: Task


@dataclass(frozen=True)
class TaskDone:
    """A task whose files are all published."""

    task: Task


@dataclass(frozen=True)
class TaskFailed:
    """A task that failed on two workers."""

    task: Task
    why: str


Event = Ready | FrameDone | TaskBegun | TaskDone | TaskFailed
# What stands between the tasks and is handed on as it comes.
Notice = TypeVar("Notice")


@dataclass(eq=False)
class _Seat:
    """A worker, what it renders on, whether its Blender has started, and the task it is at."""

    device: str
    worker: StageWorker
    ready: bool = False
    task: Task | None = None
    attempt: int = 0


def run_tasks(tasks: Iterable[Task | Notice], devices: Sequence[str],
              threads: int, scratch: Path | None = None
              ) -> Generator[Event | Notice | None, None, None]:
    """Do the tasks, a Blender process on each device, and yield what happens; None when idle.

    ``threads`` and ``scratch`` are each worker's.

    A task that fails, or takes its worker down, is tried once more on what is left of it. Blender
    starts with the first task or notice, and is up by the time that a task is prepared; without
    any it does not start. No worker is left when the iterator ends or is closed. Raises
    RequestError where Blender cannot start, DiskFullError where no space is left.
    """
    pending = iter(tasks)
    first = next(pending, None)
    if first is None:
        return
    pending = chain([first], pending)
    again: list[tuple[Task, int]] = []
    start = partial(StageWorker, threads=threads, scratch=scratch)
    seats = [_Seat(device, start(device)) for device in devices]
    exhausted = False
    try:
        while True:
            while not exhausted and not again and _wants_work(seats, devices):
                task = next(pending, None)
                if task is None:
                    exhausted = True
                elif isinstance(task, Task):
                    again.append((task, 1))
                else:
                    yield task
            while again and (seat := _free_seat(seats, devices, start)):
                seat.task, seat.attempt = again.pop(0)
                seat.worker.submit(seat.task.job)
                yield TaskBegun(seat.task)
            if exhausted and not again and not any(seat.task for seat in seats):
                return
            yield from _listen(seats, again)
    finally:
        for seat in seats:
            seat.worker.kill()


def _wants_work(seats: list[_Seat], devices: Sequence[str]) -> bool:
    return len(seats) < len(devices) or any(seat.task is None for seat in seats)


def _free_seat(seats: list[_Seat], devices: Sequence[str], start: Callable[[str], StageWorker]
               ) -> _Seat | None:
    for seat in seats:
        if seat.task is None:
            if seat.worker.worn:
                seat.worker.close()
                seat.worker, seat.ready = start(seat.device), False
            return seat
    if len(seats) < len(devices):
        free = Counter(devices) - Counter(seat.device for seat in seats)
        device = next(free.elements())
        seats.append(_Seat(device, start(device)))
        return seats[-1]
    return None


def _listen(seats: list[_Seat], again: list[tuple[Task, int]]) -> Iterator[Event | None]:
    """Yield what the workers said within a tenth of a second; put failed tasks back."""
    heard = wait([seat.worker.connection for seat in seats], timeout=0.1)
    if not heard:
        yield None
    for seat in [seat for seat in seats if seat.worker.connection in heard]:
        try:
            message = seat.worker.connection.recv()
        except (EOFError, OSError):
            seat.worker.kill()
            seats.remove(seat)
            if seat.task is not None:
                yield from _retry(seat, "the Blender process died", again)
            elif not seats:
                raise RequestError(
                    "Blender does not start; see the README for the system libraries it needs"
                ) from None
            continue
        if isinstance(message, JobDone):
            assert seat.task is not None
            yield TaskDone(seat.task)
            seat.task = None
        elif isinstance(message, JobFailed) and not seat.ready:
            raise RequestError(message.message)
        elif isinstance(message, JobFailed):
            assert seat.task is not None
            if message.disk_full:
                raise DiskFullError(
                    f"no space left on the disk while rendering {seat.task.title}; free some or"
                    " name another place with --store or --out, and run again")
            yield from _retry(seat, message.message, again)
            seat.task = None
        else:
            seat.ready = seat.ready or isinstance(message, Ready)
            yield message


def _retry(seat: _Seat, why: str, again: list[tuple[Task, int]]) -> Iterator[Event]:
    assert seat.task is not None
    rest = seat.task.remaining()
    if rest is None:
        yield TaskDone(seat.task)
    elif seat.attempt < ATTEMPTS:
        again.append((rest, seat.attempt + 1))
    else:
        yield TaskFailed(rest, f"{seat.task.title}: {why}")
