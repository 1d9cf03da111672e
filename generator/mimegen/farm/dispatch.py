"""Hand tasks to an executor; retry the unfinished part of tasks that fail or hang."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from mimegen.base.errors import disk_full
from mimegen.farm.executor import Begun, Executor, Lost, Unfit, WorkerReport
from mimegen.farm.task import Task
from mimegen.farm.timeouts import Timeouts
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready, ShotJob
from mimegen.store.disk import Disk

ATTEMPTS = 2  # how often a task is tried in all
# Losing a machine is not the task's fault, unless it happens this often in a row while the task
# makes no progress.
LOSSES = 5
POLL_S = 0.1  # seconds to wait for messages at a time


@dataclass(frozen=True)
class TaskBegun:
    """Event: a worker has begun a task."""

    task: Task
    worker: str = ""


@dataclass(frozen=True)
class TaskDone:
    """Event: all files of a task are published, after ``seconds`` of work if it was timed."""

    task: Task
    seconds: float | None = None


@dataclass(frozen=True)
class TaskFailed:
    """Event: a task failed on two workers, the last of them ``worker``."""

    task: Task
    why: str
    worker: str = ""


Event = Ready | FrameDone | TaskBegun | TaskDone | TaskFailed | Unfit
# Items between the tasks, which are passed on as they come.
Notice = TypeVar("Notice")


@dataclass(eq=False)
class _Try:
    """An attempt at a task: its number, its worker and the time of the last message."""

    task: Task
    attempt: int = 1
    losses: int = 0
    worker: str = ""
    begun: bool = False
    begun_at: float = 0.0
    heard_at: float = 0.0
    frames: int = 0


def run_tasks(tasks: Iterable[Task | Notice | None], start: Callable[[], Executor],
              timeouts: Timeouts | None = None,
              receive: Callable[[WorkerReport], None] | None = None,
              further: deque[Task] | None = None, disk: Disk | None = None,
              ) -> Generator[Event | Notice | None, None, None]:
    """Run the tasks on the executor that ``start`` returns; yield events, and None when idle.

    A task that fails, crashes its worker or sends no message for too long (``timeouts``) is retried
    once with the part that is left of it. None among the tasks means that there is nothing to do at
    the moment. Tasks that the caller adds to ``further`` while it handles events run first. While
    the ``disk`` is unavailable, everything waits, and failures caused by it do not count. The
    executor starts with the first task or notice, and not at all without one; it is closed when the
    iterator ends or is closed. ``receive`` is called with every message of a worker. Raises
    RequestError if no worker can start, DiskFullError if no disk space is left.
    """
    pending = iter(tasks)
    for first in pending:
        with closing(start()) as executor:
            yield from _Dispatch(
                chain([first], pending), executor, timeouts or Timeouts(),
                receive or (lambda report: None), deque() if further is None else further,
                disk or Disk()).run()


class _Dispatch(Generic[Notice]):
    """Tasks in all stages: not yet drawn, urgent, waiting, or at a worker."""

    def __init__(self, pending: Iterator[Task | Notice | None], executor: Executor,
                 timeouts: Timeouts, receive: Callable[[WorkerReport], None], further: deque[Task],
                 disk: Disk) -> None:
        self._pending, self._executor = pending, executor
        self._timeouts, self._receive = timeouts, receive
        self._further, self._disk = further, disk
        self._exhausted = False
        self._urgent: list[_Try] = []
        self._waiting: list[_Try] = []
        self._out = {task: _Try(task) for task in executor.adopted}

    def run(self) -> Iterator[Event | Notice | None]:
        """Yield events until all tasks are done or have failed."""
        while True:
            yield from self._hand_out()
            if self._exhausted and not any(
                    (self._further, self._urgent, self._waiting, self._out)):
                return
            yield from self._listen()

    def _hand_out(self) -> Iterator[Event | Notice]:
        """Give waiting tasks to workers, and draw further ones until one has to wait.

        Drawing may take seconds, if a take must be performed; the workers have tasks meanwhile.
        """
        more = True
        while more:
            self._disk.wait()
            attempt = self._next()
            if attempt is not None:
                self._submit(attempt)
            else:
                wanted = self._executor.slots > 0 or not self._waiting
                more = wanted and not self._exhausted
                if more:
                    more = yield from self._draw()

    def _next(self) -> _Try | None:
        """Take the first waiting attempt for which there is a slot; None if there is none."""
        while self._further:
            self._urgent.append(_Try(self._further.popleft()))
        slots = {True: self._executor.plain_slots, False: self._executor.slots}
        for queue in (self._urgent, self._waiting):
            for attempt in queue:
                if slots[attempt.task.needs_no_engine]:
                    queue.remove(attempt)
                    return attempt
        return None

    def _submit(self, attempt: _Try) -> None:
        self._out[attempt.task] = attempt
        attempt.begun, attempt.heard_at = False, time.monotonic()
        self._executor.submit(attempt.task)

    def _draw(self) -> Generator[Event | Notice, None, bool]:
        """Draw once; return whether more may be drawn at the moment."""
        try:
            drawn = next(self._pending)
        except StopIteration:
            self._exhausted = True
            return False
        if isinstance(drawn, Task):
            rest = drawn.without(task for task in self._executor.adopted if task in self._out)
            if rest is not None:
                self._waiting.append(_Try(rest))
        elif drawn is not None:
            yield drawn
        return drawn is not None

    def _listen(self) -> Iterator[Event | None]:
        """Yield the events of new messages, None if there are none; then check the timeouts."""
        idle = True
        for report in self._executor.events(POLL_S):
            idle = False
            self._disk.wait()
            self._receive(report)
            yield from self._understand(report)
        if idle:
            yield None
        self._give_up_waiting()

    def _understand(self, report: WorkerReport) -> Iterator[Event]:
        """Yield the events that a message stands for."""
        if isinstance(report.message, Ready | Unfit):
            yield report.message
        if report.task is not None and report.task in self._out:
            attempt = self._out[report.task]
            yield from self._of_task(attempt, report)
            attempt.heard_at = time.monotonic()

    def _of_task(self, attempt: _Try, report: WorkerReport) -> Iterator[Event]:
        """Yield the events of a message about a task; queue a failed task to be retried."""
        match report.message:
            case Begun():
                attempt.begun, attempt.worker = True, report.worker
                attempt.begun_at = time.monotonic()
                yield TaskBegun(attempt.task, report.worker)
            case FrameDone():
                attempt.frames += 1
                self._timeouts.measured(attempt.task, report.message.seconds)
                yield report.message
            case JobDone():
                seconds = time.monotonic() - attempt.begun_at
                if not isinstance(attempt.task.job, ShotJob):
                    self._timeouts.measured(attempt.task, seconds)
                yield TaskDone(self._taken_back(attempt).task, seconds)
            case JobFailed():
                yield from self._failed(self._taken_back(attempt), report.message)
            case Lost():
                yield from self._lost(self._taken_back(attempt), report.message)
            case Unfit():
                self._waiting.insert(0, self._taken_back(attempt))

    def _taken_back(self, attempt: _Try) -> _Try:
        del self._out[attempt.task]
        return attempt

    def _failed(self, attempt: _Try, failure: JobFailed) -> Iterator[Event]:
        if failure.disk_full:
            raise disk_full(f"rendering {attempt.task.title}")
        if self._disk.was_away:
            yield from self._lost(attempt, Lost(failure.message, blameless=True))
        else:
            yield from self._again(attempt, failure.message)

    def _lost(self, attempt: _Try, loss: Lost) -> Iterator[Event]:
        """Retry a lost task; a blameless loss counts as no attempt, up to ``LOSSES`` in a row."""
        if not loss.blameless:
            yield from self._again(attempt, loss.why, _where)
            return
        attempt.attempt -= 1
        attempt.losses = 0 if attempt.frames else attempt.losses + 1
        if attempt.losses >= LOSSES:
            attempt.attempt = ATTEMPTS
        yield from self._again(attempt, loss.why, _where)

    def _again(self, attempt: _Try, why: str,
               where: Callable[[Task], str] = lambda task: "") -> Iterator[Event]:
        """Retry what is left of a task, or report it as done or as failed."""
        rest = attempt.task.remaining()
        if rest is None:
            yield TaskDone(attempt.task)
        elif attempt.attempt < ATTEMPTS:
            self._waiting.insert(0, _Try(rest, attempt.attempt + 1, attempt.losses))
        else:
            yield TaskFailed(rest, f"{attempt.task.title}: {why}{where(rest)}", attempt.worker)

    def _give_up_waiting(self) -> None:
        """Take back the tasks of workers that have been silent for too long."""
        if self._disk.was_away:
            return
        now = time.monotonic()
        for attempt in list(self._out.values()):
            silence = now - attempt.heard_at
            if attempt.begun and silence > self._timeouts.of(attempt.task):
                attempt.heard_at = now
                self._executor.abandon(
                    attempt.task, f"nothing was heard of it for {silence:.0f} s")


def _where(task: Task) -> str:
    """Return the frame that a lost worker was at; messages of failures contain it already."""
    if not isinstance(task.job, ShotJob):
        return ""
    frame, camera = np.argwhere(task.job.missing)[0]
    return f" at frame {frame} from camera {camera}"
