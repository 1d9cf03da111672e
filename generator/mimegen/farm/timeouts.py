"""Timeouts: how long a worker may send no message about its task before it counts as hanging."""

from dataclasses import dataclass, field

from mimegen.farm.task import Task
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob

# Seconds. Blender compiles kernels and builds scenes before the first frame.
FIRST_S = 1800.0
MIN_TIMEOUT_S = 300.0
TIMES_THE_SLOWEST = 20.0


@dataclass
class Timeouts:
    """Timeouts by kind of work, derived from the times measured so far.

    Before a kind of work has been measured, its timeout is ``first_s`` seconds. Afterwards it is
    20 times the slowest measured time, but at least ``least_s`` or, if smaller, ``first_s``.
    """

    first_s: float = FIRST_S
    least_s: float = MIN_TIMEOUT_S
    slowest: dict[str, float] = field(default_factory=dict)

    def measured(self, task: Task, seconds: float) -> None:
        """Record how many seconds a frame or a still of a task took."""
        kind = _kind(task)
        self.slowest[kind] = max(seconds, self.slowest.get(kind, 0.0))

    def of(self, task: Task) -> float:
        """Return the seconds without a message after which a task is given to another worker."""
        slowest = self.slowest.get(_kind(task))
        if slowest is None:
            return self.first_s
        return max(min(self.least_s, self.first_s), TIMES_THE_SLOWEST * slowest)


def _kind(task: Task) -> str:
    if not isinstance(task.job, ShotJob | SetJob):
        return type(task.job).__name__
    what = "still" if isinstance(task.job, SetJob) else "frame"
    return f"{what} of {task.job.config.name}"
