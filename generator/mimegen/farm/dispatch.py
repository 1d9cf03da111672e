"""Tasks handed to an executor: what fails or hangs is tried again, on what is left of it."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from mimegen.base.errors import DiskFullError
from mimegen.farm.executor import Begun, Executor, Heard, Lost, Unfit
from mimegen.farm.patience import Patience
from mimegen.farm.task import Task
from mimegen.stage.jobs import FrameDone, JobDone, JobFailed, Ready
from mimegen.stage.scenery.job import SetJob

ATTEMPTS = 2
# Machines that go are no fault of a task, unless they always go while they are at it.
LOSSES = 5
POLL_S = 0.1


@dataclass(frozen=True)
class TaskBegun:
    """A task that a worker has begun."""

    task: Task
    worker: str = ""


@dataclass(frozen=True)
class TaskDone:
    """A task whose files are all published."""

    task: Task


@dataclass(frozen=True)
class TaskFailed:
    """A task that failed on two workers."""

    task: Task
    why: str


Event = Ready | FrameDone | TaskBegun | TaskDone | TaskFailed | Unfit
# What stands between the tasks and is handed on as it comes.
Notice = TypeVar("Notice")


@dataclass(eq=False)
class _Try:
    """A task at a worker: which attempt it is, and the last sign of life of it."""

    task: Task
    attempt: int = 1
    losses: int = 0
    begun: bool = False
    heard_at: float = 0.0
    frames: int = 0


def run_tasks(tasks: Iterable[Task | Notice], start: Callable[[], Executor],
              patience: Patience | None = None, hear: Callable[[Heard], None] | None = None,
              ) -> Generator[Event | Notice | None, None, None]:
    """Do the tasks on the executor that ``start`` gives; yield what happens, None when idle.

    A task that fails, takes its worker down or says nothing for too long (``patience``) is tried
    once more on what is left of it. The executor is started with the first task or notice, and
    not without any; it is closed when the iterator ends or is closed. ``hear`` is called with all
    that workers say. Raises RequestError where no worker can start, DiskFullError where no space
    is left.
    """
    pending = iter(tasks)
    first = next(pending, None)
    if first is None:
        return
    with closing(start()) as executor:
        yield from _Dispatch(chain([first], pending), executor, patience or Patience(),
                             hear or (lambda heard: None)).run()


class _Dispatch(Generic[Notice]):
    """Tasks on their way: not drawn yet, to be tried, at a worker."""

    def __init__(self, pending: Iterator[Task | Notice], executor: Executor, patience: Patience,
                 hear: Callable[[Heard], None]) -> None:
        self._pending, self._executor = pending, executor
        self._patience, self._hear = patience, hear
        self._exhausted = False
        self._waiting: list[_Try] = []
        self._out = {task: _Try(task) for task in executor.adopted}

    def run(self) -> Iterator[Event | Notice | None]:
        """Yield what happens until all tasks are done or have failed."""
        while True:
            yield from self._hand_out()
            if self._exhausted and not self._waiting and not self._out:
                return
            yield from self._listen()

    def _hand_out(self) -> Iterator[Event | Notice]:
        while self._executor.slots and not (self._exhausted and not self._waiting):
            if not self._waiting:
                yield from self._draw()
                continue
            attempt = self._waiting.pop(0)
            self._out[attempt.task] = attempt
            attempt.begun, attempt.heard_at = False, time.monotonic()
            self._executor.submit(attempt.task)

    def _draw(self) -> Iterator[Event | Notice]:
        drawn = next(self._pending, None)
        if drawn is None:
            self._exhausted = True
        elif isinstance(drawn, Task):
            rest = drawn.without(task for task in self._executor.adopted if task in self._out)
            if rest is not None:
                self._waiting.append(_Try(rest))
        else:
            yield drawn

    def _listen(self) -> Iterator[Event | None]:
        idle = True
        for heard in self._executor.events(POLL_S):
            idle = False
            self._hear(heard)
            yield from self._understand(heard)
        if idle:
            yield None
        self._give_up_waiting()

    def _understand(self, heard: Heard) -> Iterator[Event]:
        """Yield what a message means."""
        if isinstance(heard.message, Ready | Unfit):
            yield heard.message
        if heard.task is not None and heard.task in self._out:
            attempt = self._out[heard.task]
            yield from self._of_task(attempt, heard)
            attempt.heard_at = time.monotonic()

    def _of_task(self, attempt: _Try, heard: Heard) -> Iterator[Event]:
        """Yield what is said of a task; one that ended badly waits to be tried again."""
        match heard.message:
            case Begun():
                attempt.begun = True
                yield TaskBegun(attempt.task, heard.worker)
            case FrameDone():
                attempt.frames += 1
                self._patience.measured(attempt.task, heard.message.seconds)
                yield heard.message
            case JobDone():
                if isinstance(attempt.task.job, SetJob):
                    self._patience.measured(attempt.task, time.monotonic() - attempt.heard_at)
                yield TaskDone(self._taken_back(attempt).task)
            case JobFailed():
                yield from self._failed(self._taken_back(attempt), heard.message)
            case Lost():
                yield from self._lost(self._taken_back(attempt), heard.message)
            case Unfit():
                self._waiting.append(self._taken_back(attempt))

    def _taken_back(self, attempt: _Try) -> _Try:
        del self._out[attempt.task]
        return attempt

    def _failed(self, attempt: _Try, failure: JobFailed) -> Iterator[Event]:
        if failure.disk_full:
            raise DiskFullError(
                f"no space left on the disk while rendering {attempt.task.title}; free some or"
                " name another place with --store or --out, and run again")
        yield from self._again(attempt, failure.message)

    def _lost(self, attempt: _Try, loss: Lost) -> Iterator[Event]:
        """Try again; a task that is not to blame for it, or that came on, has not failed."""
        if not loss.blameless:
            yield from self._again(attempt, loss.why)
            return
        attempt.attempt -= 1
        attempt.losses = 0 if attempt.frames else attempt.losses + 1
        if attempt.losses >= LOSSES:
            attempt.attempt = ATTEMPTS
        yield from self._again(attempt, loss.why)

    def _again(self, attempt: _Try, why: str) -> Iterator[Event]:
        rest = attempt.task.remaining()
        if rest is None:
            yield TaskDone(attempt.task)
        elif attempt.attempt < ATTEMPTS:
            self._waiting.append(_Try(rest, attempt.attempt + 1, attempt.losses))
        else:
            yield TaskFailed(rest, f"{attempt.task.title}: {why}")

    def _give_up_waiting(self) -> None:
        """Take back the tasks of workers that have said nothing for too long."""
        now = time.monotonic()
        for attempt in list(self._out.values()):
            silence = now - attempt.heard_at
            if attempt.begun and silence > self._patience.of(attempt.task):
                attempt.heard_at = now
                self._executor.abandon(
                    attempt.task, f"nothing was heard of it for {silence:.0f} s")
