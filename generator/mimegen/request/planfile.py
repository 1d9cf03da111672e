"""A plan as a file: a request and its unfinished work as tasks for ``mimegen work``."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, publish
from mimegen.base.names import content_key_text
from mimegen.farm.remote import makes_the_same, version
from mimegen.farm.task import Task, task_from_json, task_to_json
from mimegen.production.passtasks import planned_pass_tasks
from mimegen.production.tasks import CastingFailed, casting_tasks
from mimegen.request.planned import Planned
from mimegen.request.render_request import RenderRequest
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob
from mimegen.store.store import Store

FORMAT = "mimegen plan 3"
_OLDER = ("mimegen plan 1", "mimegen plan 2")


@dataclass(frozen=True)
class PlanFile:
    """A request, its output folder, and the numbered frames and stills that remain to be made.

    ``request`` has absolute paths and the kind of device that was planned for, so that any machine
    can read it. With ``opaque``, clips get names that reveal nothing.
    """

    request: RenderRequest
    out: Path
    store: Path
    opaque: bool
    shots: tuple[Task, ...]
    stills: tuple[Task, ...]

    @classmethod
    def of(cls, planned: Planned, out: Path, store: Store, opaque: bool = False) -> Self:
        """Return the remaining work of a plan; record shots and publish figures in the store.

        Raises RequestError if a character cannot perform a take.
        """
        tasks, seen = [], set[str]()
        for part in planned.plan.castings():
            for work in casting_tasks(part, store, seen) if part.clips else ():
                if isinstance(work, CastingFailed):
                    raise RequestError(work.why)
                if isinstance(work, Task):
                    tasks.append(work)
            if planned.passes is not None:
                tasks += planned_pass_tasks(part, store, planned.passes, seen)
        return cls(planned.fixed_request, out.resolve(), store.root, opaque,
                   tuple(task for task in tasks if isinstance(task.job, ShotJob)),
                   tuple(task for task in tasks if isinstance(task.job, SetJob)))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a plan file that ``write`` wrote.

        Raises RequestError if the file does not exist, is not a plan file of this version, or was
        edited: its tasks would publish other pictures under the keys of those that were planned.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            _check_format(content["format"])
            _check_origin(content)
            store = Path(content["store"])
            shots, stills = (
                tuple(_with_keys(task_from_json(task, store)) for task in content[kind])
                for kind in ("shots", "stills"))
            return cls(RenderRequest.of(**content["request"]), Path(content["out"]), store,
                       bool(content["opaque"]), shots, stills)
        except FileNotFoundError:
            raise RequestError(f"{path}: no such plan file") from None
        except RequestError as problem:
            raise RequestError(f"{path}: {problem}") from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise RequestError(f"{path}: not a plan file of this version ({problem}); write it"
                               " again with mimegen plan --export") from problem

    def write(self, path: Path) -> None:
        """Publish this plan as JSON. Raises RequestError if ``path`` cannot be written."""
        content = {
            "format": FORMAT, "version": version(),
            "request": self.request.model_dump(mode="json", exclude_unset=True),
            "out": str(self.out), "store": str(self.store), "opaque": self.opaque,
            "shots": [task_to_json(task, self.store) for task in self.shots],
            "stills": [task_to_json(task, self.store) for task in self.stills],
        }
        publish(path, json.dumps(content | {"key": content_key(content)}))

    @property
    def frames(self) -> int:
        """The number of remaining frames; a moment seen by several cameras counts once for each."""
        return sum(int(_job(task).missing.sum()) for task in self.shots)

    def some_frames(self, numbers: Sequence[int]) -> Iterator[Task]:
        """Yield tasks for the frames with these numbers. Raises RequestError if out of range."""
        wanted = _checked(numbers, self.frames, "frames")
        first = 0
        for task in self.shots:
            job = _job(task)
            places = np.argwhere(job.missing)
            chosen = places[wanted[first:first + len(places)]]
            first += len(places)
            missing = np.zeros_like(job.missing)
            missing[chosen[:, 0], chosen[:, 1]] = True
            if len(chosen):
                yield Task(job.only(missing), task.title)

    def some_stills(self, numbers: Sequence[int]) -> Iterator[Task]:
        """Yield the stills with these numbers. Raises RequestError if out of range."""
        wanted = _checked(numbers, len(self.stills), "stills")
        yield from (self.stills[number] for number in np.flatnonzero(wanted))


def _with_keys(task: Task) -> Task:
    """Return a task unchanged if its target files are named by content keys.

    Raises ValueError otherwise.
    """
    job = task.job
    for place in job.folders if isinstance(job, ShotJob) else (job.target,):
        # The geometry of a set is an .npz file in a folder named by the key.
        content_key_text(place.parent.name if place.suffix == ".npz" else place.stem)
    return task


def _check_format(given: Any) -> None:
    """Raise RequestError for a format of an older version, ValueError for an unknown one."""
    if given in _OLDER:
        raise RequestError("an older mimegen wrote this plan file; write it again with mimegen"
                           " plan --export")
    if given != FORMAT:
        raise ValueError(f"its format is {given!r}")


def _check_origin(content: dict[str, Any]) -> None:
    """Raise RequestError if another version planned this, or if it was edited since."""
    planned = str(content["version"])
    if not makes_the_same(version(), planned):
        raise RequestError(f"was written by mimegen {planned}, and this is {version()}; plan and"
                           " work with the same version")
    if content["key"] != content_key({name: content[name] for name in content if name != "key"}):
        raise RequestError("was edited or damaged; write it again with mimegen plan --export")


def numbers_of(text: str) -> list[int]:
    """Return the numbers in a text such as ``3``, ``0-11`` or ``0-3,7,9-20:2``.

    Raises RequestError if the text is not of this form.
    """
    found: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d+)(?:-(\d+)(?::(\d+))?)?\s*", part)
        if span is None or span[3] == "0":
            raise RequestError(f"'{text}': expected numbers as in 3, 0-11 or 0-3,7")
        found += range(int(span[1]), int(span[2] or span[1]) + 1, int(span[3] or 1))
    return found


def _checked(numbers: Sequence[int], count: int, what: str) -> Any:
    if max(numbers) >= count:
        raise RequestError(f"the plan file has {counted(count, what[:-1])}, numbered from 0;"
                           f" {max(numbers)} does not exist")
    wanted = np.zeros(count, dtype=bool)
    wanted[list(numbers)] = True
    return wanted


def _job(task: Task) -> ShotJob:
    assert isinstance(task.job, ShotJob)
    return task.job
