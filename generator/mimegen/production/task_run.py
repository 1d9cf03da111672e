"""The scheduler shared by rendering and ground truth: it runs the tasks drawn from a plan.

Work that another job on the same store is doing is postponed and checked again at the end: by then
it is finished, or free to be claimed.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from mimegen.farm.dispatch import Event, TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Executor, Farm, Unfit, WorkerReport
from mimegen.farm.logs import Logs
from mimegen.farm.task import Task
from mimegen.farm.timeouts import Timeouts
from mimegen.plan.plan import CastingPlan
from mimegen.production.journal import Journal
from mimegen.production.progress import Reporter
from mimegen.production.sizes import Sizes
from mimegen.production.tasks import Notice, Work
from mimegen.production.waiting import poll
from mimegen.rendering.plain import NONE
from mimegen.shots.devices import OPENGL
from mimegen.shots.jobs import FrameDone, Ready
from mimegen.store.disk import Disk
from mimegen.store.store import Store

Postponed = TypeVar("Postponed")


@dataclass(eq=False)
class TaskRun(ABC, Generic[Postponed]):
    """A run of tasks into ``out``; ``further`` are tasks that follow from finished ones.

    ``postponed`` and ``others_shared`` are being made by another job. The latter are tasks whose
    result several clips share, such as a still; they are claimed one by one.
    """

    store: Store
    out: Path
    reporter: Reporter
    journal: Journal
    logs: Logs
    sizes: Sizes
    farm: Farm
    further: deque[Task] = field(default_factory=deque, kw_only=True)
    postponed: list[Postponed] = field(default_factory=list, kw_only=True)
    others_shared: list[Task] = field(default_factory=list, kw_only=True)

    does: ClassVar[str]
    """The verb for what a worker does, used in the message about its program and device."""

    def carry_out(self, works: Iterator[Work | None], start: Callable[[], Executor]) -> None:
        """Run all works, and tasks that follow from them, on the executor that ``start`` returns.

        Raises RequestError if nothing can go on.
        """
        disk = Disk(self.journal.registration.store_is_there, self.reporter.say)
        events: Generator[Event | Notice | None, None, None] = run_tasks(
            works, start, Timeouts(self.farm.silence_s), self.receive, self.further, disk)
        with closing(events):
            for event in events:
                self.handle(event)

    def draw(self, castings: Iterable[CastingPlan],
             begin: Callable[[CastingPlan], Iterator[Work]],
             resume: Callable[[list[Postponed]], Iterator[Work]]) -> Iterator[Work | None]:
        """Draw castings as workers become free, and yield the work that ``begin`` returns for each.

        Afterwards, ``resume`` is called every second with what was postponed, until nothing is.
        """
        for part in castings:
            yield from begin(part)
        yield from poll(lambda: bool(self.postponed or self.others_shared),
                        partial(self._retry_postponed, resume))

    def without_claimed(self, works: Iterable[Work]) -> Iterator[Work]:
        """Yield works, except tasks with a shared result that another job is making."""
        for work in works:
            key = self.shared_key(work) if isinstance(work, Task) else None
            if isinstance(work, Task) and key is not None \
                    and not self.journal.registration.claim([key]):
                self.others_shared.append(work)
            else:
                yield work

    def _retry_postponed(self,
                         resume: Callable[[list[Postponed]], Iterator[Work]]) -> Iterator[Work]:
        """Yield the postponed work that another job has given up; use what it has finished."""
        postponed, self.postponed = self.postponed, []
        yield from resume(postponed)
        shared, self.others_shared = self.others_shared, []
        for task in shared:
            if task.remaining() is None:
                self.resume_waiting(task)
            else:
                yield from self.without_claimed([task])

    def receive(self, report: WorkerReport) -> None:
        """Log a worker's message and pass it to the task sizes."""
        self.logs.receive(report)
        self.sizes.receive(report)

    def handle(self, event: Event | Notice | None) -> None:
        """Handle an event or notice: report it and pass it to the run's own methods."""
        match event:
            case Ready(device, _, program):
                if device != NONE:
                    where = "" if device == OPENGL else f" on {device}"
                    self.reporter.say_once(f"a worker {self.does} with {program}{where}")
            case Unfit():
                self.reporter.say(event.why)
            case TaskBegun():
                self.journal.task(event.task.title, event.worker)
                self.reporter.begin(event.task.title, self.is_long(event.task))
            case FrameDone():
                self.journal.frame()
                self.reporter.frame()
            case TaskDone():
                self._over(event.task)
                self.done(event.task, event.seconds)
            case TaskFailed():
                self._over(event.task, event.why)
                self.failed(event)
            case None:
                pass
            case _:
                self.notice(event)

    def _over(self, task: Task, why: str | None = None) -> None:
        self.journal.task_over(task.title, *([] if why is None else [why]))
        key = self.shared_key(task)
        if key is not None:
            self.journal.registration.release(key)

    @abstractmethod
    def shared_key(self, task: Task) -> str | None:
        """Return the key of a task's result if several clips share it, else None."""

    @abstractmethod
    def is_long(self, task: Task) -> bool:
        """Return whether a task is announced on a line of its own."""

    @abstractmethod
    def resume_waiting(self, task: Task) -> None:
        """Continue with the clips that waited for a shared result."""

    @abstractmethod
    def done(self, task: Task, seconds: float | None) -> None:
        """Handle a finished task; ``seconds`` is how long it took, if measured."""

    @abstractmethod
    def failed(self, event: TaskFailed) -> None:
        """Handle a failed task."""

    def notice(self, event: Notice | Event) -> None:
        """Handle a notice about a casting that precedes its tasks."""
