"""The interface of executors: workers of this machine, of a Ray cluster, or jobs of Slurm."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mimegen.farm.task import Task
from mimegen.farm.timeouts import FIRST_S
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready


@dataclass(frozen=True)
class Begun:
    """Message: a worker has begun its task."""


@dataclass(frozen=True)
class Lost:
    """Message: the worker of a task is gone before the task ended.

    ``blameless`` means that the task did not cause it: the machine was lost or reclaimed, or the
    worker's time was up.
    """

    why: str
    blameless: bool = False


@dataclass(frozen=True)
class Unfit:
    """Message: a device or machine cannot render; it is not used again, the others continue."""

    why: str


Message = Begun | Ready | FrameDone | JobDone | JobFailed | Lost | Unfit


@dataclass(frozen=True)
class WorkerReport:
    """A worker's message and the task that it is about, if any.

    For each submitted task, exactly one of JobDone, JobFailed, Lost and Unfit is received.
    """

    worker: str
    message: Message
    task: Task | None = None


class Executor(Protocol):
    """Runs tasks, without retries and timeouts. Everything it started ends with it."""

    @property
    def slots(self) -> int:
        """How many more tasks that need a render engine can be submitted now."""

    @property
    def plain_slots(self) -> int:
        """How many more tasks without an engine fit now; equals ``slots`` if workers do both."""

    @property
    def adopted(self) -> Sequence[Task]:
        """Tasks that an earlier executor left running; this one reports their events."""

    def submit(self, task: Task) -> None:
        """Submit a task; there must be a slot for its kind."""

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        """Yield the messages received, none if nothing comes within ``timeout`` seconds.

        Raises RequestError if no worker is left that can render.
        """

    def abandon(self, task: Task, why: str) -> None:
        """Stop a task at once; a ``Lost`` message will follow."""

    def close(self) -> None:
        """Stop all work at once."""


@dataclass(frozen=True)
class Farm:
    """A place to run tasks: its name for users, and the function that starts it.

    ``silence_s`` is the timeout, in seconds, for kinds of work that have not been timed; ``task_s``
    the desired length of a task in seconds; ``workers`` the number of workers at the start. If
    ``elsewhere``, workers' names already contain their machines' names. ``start_cold`` starts the
    farm without render engines, which then start with the first task that needs one; if None,
    ``start`` does the same.
    """

    name: str
    start: Callable[[], Executor]
    silence_s: float = FIRST_S
    task_s: float = 60.0
    workers: int = 1
    elsewhere: bool = False
    start_cold: Callable[[], Executor] | None = None
