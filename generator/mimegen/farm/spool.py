"""A spool: tasks for cluster jobs and the jobs' messages, in a folder that all machines see.

    waiting/TASK.json      a task that no job has
    taken/TASK.JOB.json    a task that a job has
    said/JOB.jsonl         the messages of a job, one per line
    complete               no more tasks will come

Tasks are taken and returned by renaming files, so that only one process can succeed, on any
machine.
"""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.lines import append_line, json_lines
from mimegen.farm.executor import Begun, Lost, Message, Unfit
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready

PLAIN = "-plain"
_MESSAGES: dict[str, type[Message]] = {
    kind.__name__: kind for kind in (Begun, Ready, FrameDone, JobDone, JobFailed, Lost, Unfit)}


@dataclass(frozen=True)
class JobMessage:
    """A message of a job: from which of its workers, and about which task."""

    job: str
    worker: str
    task: str | None
    message: Message


@dataclass
class Spool:
    """The folder; task names sort in order of submission."""

    folder: Path
    _put: int = 0
    _read: dict[Path, int] = field(default_factory=dict)

    def make(self) -> None:
        """Make the folder; jobs never do, because a missing folder means that its disk is away."""
        for part in ("waiting", "taken", "said"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    @property
    def is_available(self) -> bool:
        """Whether the folder's disk is available."""
        return (self.folder / "said").is_dir()

    def put(self, content: dict[str, Any], plain: bool = False) -> str:
        """Add a task as JSON content and return its name; ``plain`` means it needs no engine."""
        self._put += 1
        name = f"{time.time_ns():020d}-{self._put:06d}{PLAIN if plain else ''}"
        publish(self._waiting(name), json.dumps(content))
        return name

    def waiting(self) -> list[str]:
        """Return the tasks that no job has, in order of submission."""
        return sorted(path.stem for path in (self.folder / "waiting").glob("[0-9]*.json"))

    def taken(self) -> dict[str, str]:
        """Return the job of each task that is taken."""
        return dict(_task_and_job(path) for path in (self.folder / "taken").glob("[0-9]*.json"))

    def content(self, name: str) -> dict[str, Any] | None:
        """Return a task's JSON content; None if it is done or its file is damaged."""
        for path in chain([self._waiting(name)], (self.folder / "taken").glob(f"{name}.*.json")):
            with suppress(FileNotFoundError):
                return next(json_lines(path.read_bytes()), None)
        return None

    def take(self, job: str, plain: bool = False) -> str | None:
        """Give a job the first waiting task that is ``plain``, or not; None if there is none."""
        for name in self.waiting():
            suits = name.endswith(PLAIN) == plain
            if suits and _moved(self._waiting(name), self._taken(name, job)):
                return name
        return None

    def give_back(self, job: str, only: str | None = None) -> None:
        """Return a job's tasks to the waiting ones, or ``only`` one of them."""
        for name, holder in self.taken().items():
            if holder == job and only in (None, name):
                _moved(self._taken(name, job), self._waiting(name))

    def done(self, name: str, job: str) -> bool:
        """Remove a task of a job; False if the job does not have it any more."""
        return _removed(self._taken(name, job))

    def withdraw(self, name: str) -> bool:
        """Remove a waiting task; False if it is not waiting."""
        return _removed(self._waiting(name))

    def send(self, line: JobMessage) -> None:
        """Append a message to those of its job. Raises RequestError if it cannot be written."""
        content = {"worker": line.worker, "task": line.task,
                   "kind": type(line.message).__name__, **asdict(line.message)}
        path = self.folder / "said" / f"{line.job}.jsonl"
        try:
            append_line(path, json.dumps(content))
        except OSError as problem:
            raise RequestError(f"{path}: cannot be written ({problem.strerror})") from problem

    def receive(self) -> Iterator[JobMessage]:
        """Yield the messages since the last call; skip invalid lines."""
        for path in sorted((self.folder / "said").glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                whole = file.read().rpartition(b"\n")[0]
            if whole:
                self._read[path] = self._read.get(path, 0) + len(whole) + 1
            for content in json_lines(whole):
                with suppress(KeyError, TypeError):
                    yield _line(path.stem, content)

    def has_messages(self, job: str) -> bool:
        """Return whether a job has ever sent a message."""
        return (self.folder / "said" / f"{job}.jsonl").exists()

    @property
    def complete(self) -> bool:
        """Whether nothing more will come."""
        return (self.folder / "complete").exists()

    @complete.setter
    def complete(self, is_so: bool) -> None:
        if is_so:
            publish(self.folder / "complete", "")
        else:
            (self.folder / "complete").unlink(missing_ok=True)

    def _waiting(self, name: str) -> Path:
        return self.folder / "waiting" / f"{name}.json"

    def _taken(self, name: str, job: str) -> Path:
        return self.folder / "taken" / f"{name}.{job}.json"


def _task_and_job(path: Path) -> tuple[str, str]:
    task, _, job = path.stem.partition(".")
    return task, job


def _line(job: str, content: dict[str, Any]) -> JobMessage:
    kind = _MESSAGES[content.pop("kind")]
    return JobMessage(job, content.pop("worker"), content.pop("task"), kind(**content))


def _moved(path: Path, target: Path) -> bool:
    try:
        path.rename(target)
    except FileNotFoundError:
        return False
    return True


def _removed(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
