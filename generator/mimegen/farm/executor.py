"""What carries tasks out: workers of this machine, of a Ray cluster, or jobs of Slurm."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mimegen.farm.task import Task
from mimegen.farm.timeouts import FIRST_S
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready


@dataclass(frozen=True)
class Begun:
    """A worker has begun with its task."""


@dataclass(frozen=True)
class Lost:
    """The worker of a task is gone before its end.

    ``blameless`` says that the task has nothing to do with it: its machine was lost or taken
    back, or its time was over.
    """

    why: str
    blameless: bool = False


@dataclass(frozen=True)
class Unfit:
    """A device or machine cannot render; it is not used any more, others go on without it."""

    why: str


Message = Begun | Ready | FrameDone | JobDone | JobFailed | Lost | Unfit


@dataclass(frozen=True)
class Heard:
    """What a worker said, and of which task it spoke.

    Of each task that was submitted exactly one of JobDone, JobFailed, Lost and Unfit is heard.
    """

    worker: str
    message: Message
    task: Task | None = None


class Executor(Protocol):
    """Does tasks; knows nothing of retries and limits. Whatever it started ends with it."""

    @property
    def slots(self) -> int:
        """How many more tasks that need an engine it takes now."""

    @property
    def plain_slots(self) -> int:
        """How many more plain tasks it takes now; where any worker does them, as many."""

    @property
    def adopted(self) -> Sequence[Task]:
        """Tasks that an earlier executor left running, whose events this one tells."""

    def submit(self, task: Task) -> None:
        """Take a task; there must be a slot for its kind."""

    def events(self, timeout: float) -> Iterator[Heard]:
        """Yield what is heard, nothing if that takes longer than ``timeout`` seconds.

        Raises RequestError where no worker is left that can render.
        """

    def abandon(self, task: Task, why: str) -> None:
        """End the work at a task at once; ``Lost`` will be heard of it."""

    def close(self) -> None:
        """End all work at once."""


@dataclass(frozen=True)
class Farm:
    """Where to do tasks: how a person calls it, what starts it.

    ``silence_s`` is how long its workers may say nothing of work that was not timed yet,
    ``task_s`` how long a task shall last, ``workers`` how many there are from the start. Workers
    of a farm ``elsewhere`` say their machines' names themselves. ``start_cold`` starts it without
    engines, which come with the first task that needs one; without it, ``start`` is the same.
    """

    name: str
    start: Callable[[], Executor]
    silence_s: float = FIRST_S
    task_s: float = 60.0
    workers: int = 1
    elsewhere: bool = False
    start_cold: Callable[[], Executor] | None = None
