"""Tasks for jobs of a cluster and what they say of them, in a folder that all machines see.

    waiting/TASK.json      a task that nobody has
    taken/TASK.JOB.json    a task that a job is at
    said/JOB.jsonl         what a job says, a line each
    complete               nothing more will come

Taking a task and taking it back are renamings, of which one wins, on any machine.
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
    """What a job said: which of its workers, of which task."""

    job: str
    worker: str
    task: str | None
    message: Message


@dataclass
class Spool:
    """The folder; names of tasks tell their order."""

    folder: Path
    _put: int = 0
    _read: dict[Path, int] = field(default_factory=dict)

    def make(self) -> None:
        """Make the folder; jobs never do: where it is gone, its disk is, and comes back."""
        for part in ("waiting", "taken", "said"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    @property
    def is_there(self) -> bool:
        """Whether its disk is there."""
        return (self.folder / "said").is_dir()

    def put(self, content: dict[str, Any], plain: bool = False) -> str:
        """Add a task, as JSON holds it, a ``plain`` one that needs no engine; return its name."""
        self._put += 1
        name = f"{time.time_ns():020d}-{self._put:06d}{PLAIN if plain else ''}"
        publish(self._waiting(name), json.dumps(content))
        return name

    def waiting(self) -> list[str]:
        """Return the tasks that nobody has, first come first."""
        return sorted(path.stem for path in (self.folder / "waiting").glob("[0-9]*.json"))

    def taken(self) -> dict[str, str]:
        """Return the job of each task that is taken."""
        return dict(_task_and_job(path) for path in (self.folder / "taken").glob("[0-9]*.json"))

    def content(self, name: str) -> dict[str, Any] | None:
        """Return a task, or None where it is done or its file is damaged."""
        for path in chain([self._waiting(name)], (self.folder / "taken").glob(f"{name}.*.json")):
            with suppress(FileNotFoundError):
                return next(json_lines(path.read_bytes()), None)
        return None

    def take(self, job: str, plain: bool = False) -> str | None:
        """Give a job the first task that nobody has, of those that are ``plain`` or of others."""
        for name in self.waiting():
            suits = name.endswith(PLAIN) == plain
            if suits and _moved(self._waiting(name), self._taken(name, job)):
                return name
        return None

    def give_back(self, job: str, only: str | None = None) -> None:
        """Let other jobs take what a job has, or ``only`` one of its tasks."""
        for name, holder in self.taken().items():
            if holder == job and only in (None, name):
                _moved(self._taken(name, job), self._waiting(name))

    def done(self, name: str, job: str) -> bool:
        """Remove a task of a job; False where the job does not have it any more."""
        return _removed(self._taken(name, job))

    def withdraw(self, name: str) -> bool:
        """Remove a task that nobody has; False where that is not so."""
        return _removed(self._waiting(name))

    def tell(self, line: JobMessage) -> None:
        """Add a line to what a job says. Raises RequestError where it cannot be written."""
        content = {"worker": line.worker, "task": line.task,
                   "kind": type(line.message).__name__, **asdict(line.message)}
        path = self.folder / "said" / f"{line.job}.jsonl"
        try:
            append_line(path, json.dumps(content))
        except OSError as problem:
            raise RequestError(f"{path}: cannot be written ({problem.strerror})") from problem

    def hear(self) -> Iterator[JobMessage]:
        """Yield what was said since this was asked last; what is no message is passed over."""
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
        """Whether a job ever said anything."""
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
