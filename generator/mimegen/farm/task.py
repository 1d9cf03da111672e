"""What a worker does in one go; as JSON, any machine that sees the store can do it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from mimegen.base.errors import RequestError
from mimegen.base.yaml_file import Finite, Strict
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.stage.camera import Camera
from mimegen.stage.config import RenderConfig
from mimegen.stage.jobs import FigureFiles, ShotJob
from mimegen.stage.passes.job import GeometryJob, PassJob
from mimegen.stage.passes.kinds import Engine, Kind
from mimegen.stage.scenery.job import SetJob
from mimegen.stage.scenery.scenery import Scenery


@dataclass(frozen=True, eq=False)
class Task:
    """A job that one worker does in one go, and what to call it in an error."""

    job: ShotJob | SetJob | ClipJob
    title: str

    @property
    def plain(self) -> bool:
        """Whether it needs no engine."""
        return isinstance(self.job, ClipJob)

    def remaining(self) -> "Task | None":
        """Return the part that is not published yet; None if there is none."""
        if not isinstance(self.job, ShotJob):
            return None if self.job.target.exists() else self
        missing = self.job.missing.copy()
        for frame, camera in np.argwhere(missing):
            missing[frame, camera] = not self.job.frame_file(frame, camera).exists()
        return Task(self.job.only(missing), self.title) if missing.any() else None

    def without(self, others: Iterable["Task"]) -> "Task | None":
        """Return the part that none of the others makes; None if there is none."""
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
    """Return a task as what JSON can hold, its paths relative to ``root``, the store's folder."""
    place, job = _Relative(root), task.job
    told: _Told
    if isinstance(job, SetJob):
        told = _SetTask(kind="set", title=task.title, scenery=job.scenery, camera=job.camera,
                        config=job.config, target=place(job.target),
                        geometry_by=job.engine if isinstance(job, GeometryJob) else None)
    elif isinstance(job, ClipJob):
        told = _ClipTask(
            kind="clip", title=task.title, folder=place(job.folder), frames=job.frames,
            shadow=job.shadow,
            background=_with_picture_at(job.background, place),
            camera=job.camera, still=None if job.still is None else place(job.still), fps=job.fps,
            target=place(job.target), angle_deg=job.angle_deg)
    else:
        told = _ShotTask(
            kind="shot", title=task.title,
            passes=job.kinds if isinstance(job, PassJob) else None,
            passes_by=job.engine if isinstance(job, PassJob) else None,
            figures=tuple((place(files.character), place(files.performance))
                          for files in job.figures),
            cameras=job.cameras, config=job.config,
            folders=tuple(place(folder) for folder in job.folders), frames=len(job.missing),
            missing=tuple(tuple(np.flatnonzero(column).tolist()) for column in job.missing.T))
    return told.model_dump(mode="json")


def _with_picture_at(background: Background, place: "_Relative") -> Background:
    if background.file is None:
        return background
    return background.with_file(Path(place(background.file)))


def task_from_json(content: Any, root: Path) -> Task:
    """Return the task that ``task_to_json`` gave, for the store at ``root`` on this machine.

    Raises RequestError where it is no task, or one of another version.
    """
    try:
        return _TOLD.validate_python(content).task(root)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise RequestError(f"not a task that this version of mimegen knows: {where}:"
                           f" {first['msg'].removeprefix('Value error, ')}") from problem


@dataclass(frozen=True)
class _Relative:
    root: Path

    def __call__(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def _inside(place: str) -> str:
    path = PurePosixPath(place)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"{place!r} is no place in a store")
    return place


_Place = Annotated[str, AfterValidator(_inside)]


class _SetTask(Strict):
    kind: Literal["set"]
    title: str
    scenery: Scenery
    camera: Camera
    config: RenderConfig
    target: _Place
    geometry_by: Engine | None = None

    def task(self, root: Path) -> Task:
        facts = self.scenery, self.camera, self.config, root / self.target
        job = SetJob(*facts) if self.geometry_by is None else GeometryJob(*facts, self.geometry_by)
        return Task(job, self.title)


class _ShotTask(Strict):
    """``figures`` are characters and performances; ``missing`` is the frames of each camera.

    With ``passes`` these are frames of ground truth, one of them a column.
    """

    kind: Literal["shot"]
    title: str
    figures: tuple[tuple[_Place, _Place], ...]
    cameras: tuple[Camera, ...]
    config: RenderConfig
    folders: tuple[_Place, ...]
    frames: int = Field(ge=1, le=10**7)
    missing: tuple[tuple[Annotated[int, Field(ge=0)], ...], ...]
    passes: tuple[Kind, ...] | None = None
    passes_by: Engine | None = None

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if not len(self.cameras) == len(self.folders) == len(self.missing):
            raise ValueError("as many cameras as folders and as lists of frames are expected")
        if any(frame >= self.frames for frames in self.missing for frame in frames):
            raise ValueError(f"frames before {self.frames} are expected")
        if self.passes is not None and len(self.passes) != len(self.folders):
            raise ValueError("as many passes as folders are expected")
        return self

    def task(self, root: Path) -> Task:
        figures = tuple(FigureFiles(root / character, root / performance)
                        for character, performance in self.figures)
        folders = tuple(root / folder for folder in self.folders)
        facts = figures, self.cameras, self.config, folders, self._missing()
        if self.passes is None or self.passes_by is None:
            return Task(ShotJob(*facts), self.title)
        return Task(PassJob(*facts, self.passes, self.passes_by), self.title)

    def _missing(self) -> NDArray[np.bool_]:
        missing = np.zeros((self.frames, len(self.missing)), dtype=bool)
        for camera, frames in enumerate(self.missing):
            missing[list(frames), camera] = True
        return missing


class _ClipTask(Strict):
    """The ``background``'s picture, if it has one, lies in the store."""

    kind: Literal["clip"]
    title: str
    folder: _Place
    frames: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    shadow: float = Field(ge=0, le=1)
    background: Background
    camera: Camera
    still: _Place | None
    fps: float = Field(gt=0)
    target: _Place
    angle_deg: Finite = 0.0

    def task(self, root: Path) -> Task:
        background = self.background
        if background.file is not None:
            background = background.with_file(root / background.file)
        return Task(ClipJob(root / self.folder, self.frames, self.shadow, background,
                            self.camera, None if self.still is None else root / self.still,
                            self.fps, root / self.target, self.angle_deg), self.title)


_Told = _SetTask | _ShotTask | _ClipTask
_TOLD: TypeAdapter[_Told] = TypeAdapter(Annotated[_Told, Field(discriminator="kind")])
