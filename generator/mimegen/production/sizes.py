"""Choose how many pictures a task has, so that it lasts as long as suits the farm."""

from dataclasses import dataclass, field

from mimegen.farm.executor import WorkerReport
from mimegen.rendering.plain import NONE
from mimegen.shots.jobs import FrameDone, Ready, ShotJob


@dataclass(frozen=True)
class TaskSizing:
    """Limits on the number of pictures in a task.

    Chosen so that all workers of a job finish at about the same time and starting a task adds
    little (``docs/research/farm.md``).
    """

    # For a config that was never measured: few, so that it is measured soon.
    first_pictures: int = 12
    # Pictures that make a measurement.
    enough: int = 8
    # Upper limit, however fast the pictures are.
    most_pictures: int = 5000
    # Towards the end, tasks become shorter, so that workers do not all wait for the last one: each
    # worker still gets this many tasks, none shorter than this many seconds.
    tasks_to_the_end: int = 3
    least_s: float = 4.0


SIZING = TaskSizing()


@dataclass
class Sum:
    """Total seconds and bytes of a number of pictures."""

    pictures: int = 0
    seconds: float = 0.0
    bytes: int = 0

    def add(self, pictures: int, seconds: float, size: int = 0) -> None:
        """Add the seconds and bytes of some pictures."""
        self.pictures += pictures
        self.seconds += seconds
        self.bytes += size

    @property
    def mean_seconds(self) -> float:
        """Mean seconds per picture; 0 if there are none."""
        return self.seconds / max(1, self.pictures)

    @property
    def mean_bytes(self) -> float:
        """Mean bytes per picture; 0 if there are none."""
        return self.bytes / max(1, self.pictures)


@dataclass
class Sizes:
    """Chooses task sizes from the seconds per picture, measured earlier or during this job.

    ``known`` holds seconds per picture measured earlier, by config name; ``left`` is the estimated
    number of pictures still to be made, and ``done`` the number made.
    """

    task_s: float
    workers: int = 1
    known: dict[str, float] = field(default_factory=dict)
    left: int = 0
    done: int = 0
    measured: dict[str, Sum] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)

    def receive(self, report: WorkerReport) -> None:
        """Update the counts and measurements from a worker's message."""
        if isinstance(report.message, Ready) and report.message.device != NONE:
            self.ready.add(report.worker)
        if isinstance(report.message, FrameDone) and report.task is not None:
            job = report.task.job
            assert isinstance(job, ShotJob), "only shots have frames"
            self.measured.setdefault(job.config.name, Sum()).add(1, report.message.seconds)
            self.left -= 1
            self.done += 1

    def pictures(self, config: str) -> int:
        """Return how many pictures of a config the next task should have."""
        pace = self._pace(config)
        if not pace:
            return SIZING.first_pictures
        fair = pace * self.left / (SIZING.tasks_to_the_end * max(self.workers, len(self.ready)))
        seconds = min(self.task_s, max(SIZING.least_s, fair))
        return max(1, min(SIZING.most_pictures, round(seconds / pace)))

    def _pace(self, config: str) -> float | None:
        so_far = self.measured.get(config)
        if so_far is not None and so_far.pictures >= SIZING.enough:
            return so_far.mean_seconds
        return self.known.get(config)
