"""How many pictures a task has, so that it lasts as long as suits the farm."""

from dataclasses import dataclass, field

from mimegen.farm.executor import Heard
from mimegen.rendering.plain import NONE
from mimegen.shots.jobs import FrameDone, Ready, ShotJob


@dataclass(frozen=True)
class TaskSizing:
    """How many pictures tasks have. Chosen so that a job's workers end together, and starting a
    task costs little of it (``docs/research/farm.md``).
    """

    # Of a config that nobody measured: soon done, so that it is measured.
    first_pictures: int = 12
    # So many pictures are a measurement.
    enough: int = 8
    # A task has no more pictures than this, however fast they are.
    most_pictures: int = 5000
    # What is left is dealt out so that each worker still gets so many tasks, none shorter (s) than
    # this: otherwise all would wait for the last one in the end.
    tasks_to_the_end: int = 3
    least_s: float = 4.0


SIZING = TaskSizing()


@dataclass
class Sum:
    """Seconds and bytes of so many pictures."""

    pictures: int = 0
    seconds: float = 0.0
    bytes: int = 0

    def add(self, pictures: int, seconds: float, size: int = 0) -> None:
        """Add some."""
        self.pictures += pictures
        self.seconds += seconds
        self.bytes += size

    @property
    def mean_seconds(self) -> float:
        """Seconds of a picture; 0 of none."""
        return self.seconds / max(1, self.pictures)

    @property
    def mean_bytes(self) -> float:
        """Bytes of a picture; 0 of none."""
        return self.bytes / max(1, self.pictures)


@dataclass
class Sizes:
    """Sizes of tasks from the seconds that pictures take, as known before and as heard now.

    ``known`` are the seconds of configs, by name, that were measured earlier; ``left`` is how many
    pictures are to be made, as far as is known, and ``done`` how many were.
    """

    task_s: float
    workers: int = 1
    known: dict[str, float] = field(default_factory=dict)
    left: int = 0
    done: int = 0
    measured: dict[str, Sum] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)

    def hear(self, heard: Heard) -> None:
        """Take in what a worker says."""
        if isinstance(heard.message, Ready) and heard.message.device != NONE:
            self.ready.add(heard.worker)
        if isinstance(heard.message, FrameDone) and heard.task is not None:
            job = heard.task.job
            assert isinstance(job, ShotJob), "only shots have frames"
            self.measured.setdefault(job.config.name, Sum()).add(1, heard.message.seconds)
            self.left -= 1
            self.done += 1

    def pictures(self, config: str) -> int:
        """Return how many pictures of a config the next task shall have."""
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
