"""How long a worker may say nothing of its task before it counts as hanging."""

from dataclasses import dataclass, field

from mimegen.farm.task import Task
from mimegen.stage.jobs import ShotJob
from mimegen.stage.scenery.job import SetJob

# Kernels are compiled and scenes are built before the first frame.
FIRST_S = 1800.0
LEAST_S = 300.0
TIMES_THE_SLOWEST = 20.0


@dataclass
class Patience:
    """Measured seconds of each kind of work, and what silence they allow.

    Of work that was not measured yet, up to ``first_s`` of silence are allowed; then 20 times the
    slowest that was seen, at least ``least_s`` or, if that is less, ``first_s``.
    """

    first_s: float = FIRST_S
    least_s: float = LEAST_S
    slowest: dict[str, float] = field(default_factory=dict)

    def measured(self, task: Task, seconds: float) -> None:
        """Take in how long a frame of a task took, or a still."""
        kind = _kind(task)
        self.slowest[kind] = max(seconds, self.slowest.get(kind, 0.0))

    def of(self, task: Task) -> float:
        """Return the seconds without a sign of life after which a task is taken back."""
        slowest = self.slowest.get(_kind(task))
        if slowest is None:
            return self.first_s
        return max(min(self.least_s, self.first_s), TIMES_THE_SLOWEST * slowest)


def _kind(task: Task) -> str:
    if not isinstance(task.job, ShotJob | SetJob):
        return type(task.job).__name__
    what = "still" if isinstance(task.job, SetJob) else "frame"
    return f"{what} of {task.job.config.name}"
