"""Tasks: the units of work of a worker, and their form as JSON for other machines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.farm.declarations import Job, Relative, declaration_of, parsed_declaration
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob


@dataclass(frozen=True, eq=False)
class Task:
    """A job that one worker does in one go, and its name in messages."""

    job: Job
    title: str

    @property
    def needs_no_engine(self) -> bool:
        """Whether it needs no render engine."""
        return not isinstance(self.job, ShotJob | SetJob)

    def remaining(self) -> "Task | None":
        """Return the part that is not published yet; None if there is none."""
        if not isinstance(self.job, ShotJob):
            return None if self.job.target.exists() else self
        missing = self.job.missing.copy()
        for frame, camera in np.argwhere(missing):
            missing[frame, camera] = not self.job.frame_file(frame, camera).exists()
        return Task(self.job.only(missing), self.title) if missing.any() else None

    def without(self, others: Iterable["Task"]) -> "Task | None":
        """Return the part that none of the other tasks makes; None if there is none."""
        job = self.job
        if not isinstance(job, ShotJob):
            targets = [other.job.target for other in others
                       if not isinstance(other.job, ShotJob)]
            return None if job.target in targets else self
        missing = job.missing.copy()
        for other in others:
            if isinstance(other.job, ShotJob):
                _take_away(missing, job.folders, other.job)
        return Task(job.only(missing), self.title) if missing.any() else None


def _take_away(missing: NDArray[np.bool_], folders: Sequence[Path], other: ShotJob) -> None:
    for camera, folder in enumerate(folders):
        if folder in other.folders and len(missing) == len(other.missing):
            missing[:, camera] &= ~other.missing[:, other.folders.index(folder)]


def task_to_json(task: Task, root: Path) -> dict[str, Any]:
    """Return a task as JSON content, with paths relative to ``root``, the store's folder."""
    return declaration_of(task.job, task.title, Relative(root)).model_dump(mode="json")


def task_from_json(content: Any, root: Path) -> Task:
    """Return the task in content from ``task_to_json``, for the store at ``root`` here.

    Raises RequestError if it is not a task of this version.
    """
    try:
        declaration = parsed_declaration(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise RequestError(f"not a task that this version of mimegen knows: {where}:"
                           f" {first['msg'].removeprefix('Value error, ')}") from problem
    return Task(declaration.job(root), declaration.title)
