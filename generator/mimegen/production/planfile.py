"""A plan as a file: its tasks for ``mimegen work``, and an Open Job Description of the steps."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.names import content_key_text
from mimegen.farm.task import Task, task_from_json, task_to_json
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import Plan
from mimegen.production.passtasks import planned_pass_tasks
from mimegen.production.tasks import CastingFailed, casting_tasks
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob
from mimegen.store.store import Store

FORMAT = "mimegen plan 1"
# How long a chunk of frames shall take, and how many it has where nobody measured.
CHUNK_SECONDS, CHUNK_FRAMES = 180, 24


@dataclass(frozen=True)
class PlanFile:
    """What is left of a plan: frames and stills, numbered through, and the request it is of.

    ``request`` is what to say to ``mimegen render`` for the clips.
    """

    store: Path
    device: str
    request: tuple[str, ...]
    shots: tuple[Task, ...]
    stills: tuple[Task, ...]

    @classmethod
    def of(cls, plan: Plan, store: Store, device: str, request: Sequence[str],
           passes: WantedPasses | None = None) -> Self:
        """Return what is left of a plan; shots are recorded and figures published in the store.

        Raises RequestError where a casting cannot be performed.
        """
        tasks, seen = [], set[str]()
        for part in plan.castings():
            for work in casting_tasks(part, store, seen) if part.clips else ():
                if isinstance(work, CastingFailed):
                    raise RequestError(work.why)
                if isinstance(work, Task):
                    tasks.append(work)
            if passes is not None:
                tasks += planned_pass_tasks(part, store, passes, seen)
        return cls(store.root, device, tuple(request),
                   tuple(task for task in tasks if isinstance(task.job, ShotJob)),
                   tuple(task for task in tasks if isinstance(task.job, SetJob)))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote.

        Raises RequestError where there is no such file, or it is no plan file of this version.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            store = Path(content["store"])
            shots, stills = (
                tuple(_with_keys(task_from_json(task, store)) for task in content[kind])
                for kind in ("shots", "stills"))
            return cls(store, str(content["device"]), tuple(map(str, content["request"])), shots,
                       stills)
        except FileNotFoundError:
            raise RequestError(f"{path}: no such plan file") from None
        except (ValueError, KeyError, TypeError) as problem:
            raise RequestError(f"{path}: not a plan file of this version ({problem}); write it"
                               " again with mimegen plan --export") from problem

    def write(self, path: Path) -> None:
        """Publish it as JSON. Raises RequestError where ``path`` cannot be written."""
        publish(path, json.dumps({
            "format": FORMAT, "store": str(self.store), "device": self.device,
            "request": self.request,
            "shots": [task_to_json(task, self.store) for task in self.shots],
            "stills": [task_to_json(task, self.store) for task in self.stills],
        }))

    @property
    def out(self) -> Path:
        """The folder that the clips are for."""
        return Path(self.request[self.request.index("--out") + 1])

    @property
    def frames(self) -> int:
        """How many frames are left, those of every camera counted."""
        return sum(int(_job(task).missing.sum()) for task in self.shots)

    def some_frames(self, numbers: Sequence[int]) -> Iterator[Task]:
        """Yield the tasks of the frames with these numbers. Raises RequestError for others."""
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
        """Yield the stills with these numbers. Raises RequestError for others."""
        wanted = _checked(numbers, len(self.stills), "stills")
        yield from (self.stills[number] for number in np.flatnonzero(wanted))


def _with_keys(task: Task) -> Task:
    """Return a task whose frames or still go to places of content keys, as they are.

    Raises ValueError for another.
    """
    job = task.job
    for place in job.folders if isinstance(job, ShotJob) else (job.target,):
        # The geometry of a set is a frame in its folder.
        content_key_text(place.parent.name if place.suffix == ".npz" else place.stem)
    return task


def numbers_of(text: str) -> list[int]:
    """Return the numbers that ``3``, ``0-11`` or ``0-3,7,9-20:2`` says.

    Raises RequestError where it says none.
    """
    found: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d+)(?:-(\d+)(?::(\d+))?)?\s*", part)
        if span is None or span[3] == "0":
            raise RequestError(f"'{text}': expected numbers as in 3, 0-11 or 0-3,7")
        found += range(int(span[1]), int(span[2] or span[1]) + 1, int(span[3] or 1))
    return found


def job_template(path: Path, plan_file: PlanFile, name: str, command: str,
                 seconds_per_frame: float | None) -> dict[str, Any]:
    """Return an Open Job Description (2023-09, with TASK_CHUNKING) of a plan file's steps.

    Stills and frames are chunks that any machine with the store can do, by ``command``; the clips
    follow in one step.
    """
    count = max(1, round(CHUNK_SECONDS / seconds_per_frame)) if seconds_per_frame else CHUNK_FRAMES
    steps = [
        *_chunked("Stills", "Still", "--stills", len(plan_file.stills), 1),
        *_chunked("Frames", "Frame", "--frames", plan_file.frames, count),
    ]
    clips: dict[str, Any] = {"name": "Clips", "script": _script("--clips")}
    if steps:
        clips["dependencies"] = [{"dependsOn": step["name"]} for step in steps]
    return {
        "specificationVersion": "jobtemplate-2023-09", "extensions": ["TASK_CHUNKING"],
        "name": name[:128],
        "parameterDefinitions": [
            {"name": "PlanFile", "type": "PATH", "objectType": "FILE", "dataFlow": "IN",
             "default": path.name, "description": "What mimegen plan wrote beside the template."},
            {"name": "Mimegen", "type": "STRING", "default": command,
             "description": "The command on the machines that work."},
        ],
        "steps": [*steps, clips],
    }


def _chunked(name: str, parameter: str, option: str, count: int, chunk: int
             ) -> list[dict[str, Any]]:
    if not count:
        return []
    return [{
        "name": name,
        "parameterSpace": {"taskParameterDefinitions": [{
            "name": parameter, "type": "CHUNK[INT]", "range": f"0-{count - 1}",
            "chunks": {"defaultTaskCount": chunk, "targetRuntimeSeconds": CHUNK_SECONDS,
                       "rangeConstraint": "CONTIGUOUS"}}]},
        "script": _script(option, f"{{{{Task.Param.{parameter}}}}}"),
    }]


def _script(*arguments: str) -> dict[str, Any]:
    return {"actions": {"onRun": {"command": "{{Param.Mimegen}}",
                                  "args": ["work", "{{Param.PlanFile}}", *arguments]}}}


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
