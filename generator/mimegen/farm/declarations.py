"""Declarations of all kinds of jobs as JSON, with paths relative to the store's folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from mimegen.base.names import plain_name
from mimegen.base.yaml_file import Finite, Strict
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.compositing.color import Shade
from mimegen.compositing.passfiles import PassSource
from mimegen.compositing.passjob import PassFilesJob
from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.groundtruth.kinds import Engine, Kind
from mimegen.pointlight.displayjob import DisplayJob
from mimegen.pointlight.spec import Display
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.shots.jobs import FigureFiles, ShotJob
from mimegen.shots.look import CameraLook, FilmedLook

Job = ShotJob | SetJob | ClipJob | PassFilesJob | DisplayJob


@dataclass(frozen=True)
class Relative:
    """Converts paths to paths relative to the store at ``root``; raises ValueError for others."""

    root: Path

    def __call__(self, path: Path) -> str:
        """Return the path of a file relative to the store."""
        return path.relative_to(self.root).as_posix()


def _inside(place: str) -> str:
    try:
        return "/".join(map(plain_name, place.split("/")))
    except ValueError:
        raise ValueError(f"{place!r} is no place in a store") from None


Place = Annotated[str, AfterValidator(_inside)]
FigurePlaces = tuple[tuple[Place, Place], ...]
"""A character's file and a performance's file, for each figure."""
FrameNumber = Annotated[int, Field(ge=0)]


def _places_of(figures: tuple[FigureFiles, ...], place: Relative) -> FigurePlaces:
    return tuple((place(files.character), place(files.performance)) for files in figures)


def _figures(places: FigurePlaces, root: Path) -> tuple[FigureFiles, ...]:
    return tuple(FigureFiles(root / character, root / performance)
                 for character, performance in places)


class _Titled(Strict):
    title: str


class SetDeclaration(_Titled):
    """A job that renders a still of a set, or its geometry."""

    kind: Literal["set"] = "set"
    scenery: Scenery
    camera: Camera
    config: RenderConfig
    target: Place
    geometry_by: Engine | None = None

    @classmethod
    def of(cls, job: SetJob, title: str, place: Relative) -> Self:
        """Return a job's declaration."""
        return cls(title=title, scenery=job.scenery, camera=job.camera, config=job.config,
                   target=place(job.target),
                   geometry_by=job.engine if isinstance(job, GeometryJob) else None)

    def job(self, root: Path) -> SetJob:
        """Return the job for the store at ``root``."""
        facts = self.scenery, self.camera, self.config, root / self.target
        return SetJob(*facts) if self.geometry_by is None else GeometryJob(*facts, self.geometry_by)


class ShotDeclaration(_Titled):
    """A job that renders frames; ``missing`` are the frame numbers for each camera.

    If ``passes`` is given, the frames are ground truth, with one pass for each camera.
    """

    kind: Literal["shot"] = "shot"
    figures: FigurePlaces
    cameras: tuple[Camera, ...]
    config: RenderConfig
    folders: tuple[Place, ...]
    frames: int = Field(ge=1, le=10**7)
    missing: tuple[tuple[FrameNumber, ...], ...]
    passes: tuple[Kind, ...] | None = None
    passes_by: Engine | None = None
    world: Place | None = None

    @classmethod
    def of(cls, job: ShotJob, title: str, place: Relative) -> Self:
        """Return a job's declaration."""
        return cls(
            title=title, passes=job.kinds if isinstance(job, PassJob) else None,
            passes_by=job.engine if isinstance(job, PassJob) else None,
            figures=_places_of(job.figures, place), cameras=job.cameras, config=job.config,
            folders=tuple(place(folder) for folder in job.folders), frames=len(job.missing),
            missing=tuple(tuple(np.flatnonzero(column).tolist()) for column in job.missing.T),
            world=None if job.world is None else place(job.world))

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if not len(self.cameras) == len(self.folders) == len(self.missing):
            raise ValueError("as many cameras as folders and as lists of frames are expected")
        if any(frame >= self.frames for frames in self.missing for frame in frames):
            raise ValueError(f"frames before {self.frames} are expected")
        if self.passes is not None and len(self.passes) != len(self.folders):
            raise ValueError("as many passes as folders are expected")
        return self

    def job(self, root: Path) -> ShotJob:
        """Return the job for the store at ``root``."""
        folders = tuple(root / folder for folder in self.folders)
        facts = _figures(self.figures, root), self.cameras, self.config, folders, self._missing()
        if self.passes is None or self.passes_by is None:
            return ShotJob(*facts, world=None if self.world is None else root / self.world)
        return PassJob(*facts, self.passes, self.passes_by)

    def _missing(self) -> NDArray[np.bool_]:
        missing = np.zeros((self.frames, len(self.missing)), dtype=bool)
        for camera, frames in enumerate(self.missing):
            missing[list(frames), camera] = True
        return missing


class ClipDeclaration(_Titled):
    """A job that makes a clip; the ``background``'s picture, if any, is in the store."""

    kind: Literal["clip"] = "clip"
    folder: Place
    frames: tuple[FrameNumber, ...] = Field(min_length=1)
    shadow: float = Field(ge=0, le=1)
    background: Background
    camera: Camera
    still: Place | None
    fps: float = Field(gt=0)
    target: Place
    angle_deg: Finite = 0.0
    tint: tuple[Finite, Finite, Finite] | None = None
    window: tuple[int, int] | None = None
    pan: tuple[tuple[int, int], ...] = ()
    shade: tuple[tuple[Finite, Finite, Finite], Finite, Finite] | None = None
    empty: bool = False
    look: CameraLook | None = None
    look_seed: tuple[int | str, ...] = ()

    @classmethod
    def of(cls, job: ClipJob, title: str, place: Relative) -> Self:
        """Return a job's declaration."""
        file = job.background.file
        return cls(
            title=title, folder=place(job.folder), frames=job.frames, shadow=job.shadow,
            background=job.background if file is None else job.background.with_file(
                Path(place(file))),
            camera=job.camera, still=None if job.still is None else place(job.still), fps=job.fps,
            target=place(job.target), angle_deg=job.angle_deg,
            tint=job.tint, window=job.window, pan=job.pan, shade=job.shade, empty=job.empty,
            **_look_of(job.look))

    def job(self, root: Path) -> ClipJob:
        """Return the job for the store at ``root``."""
        background = self.background
        if background.file is not None:
            background = background.with_file(root / background.file)
        return ClipJob(root / self.folder, self.frames, self.shadow, background, self.camera,
                       None if self.still is None else root / self.still, self.fps,
                       root / self.target, self.angle_deg, self.tint, self.window, self.pan,
                       None if self.shade is None else Shade(*self.shade), self.empty,
                       None if self.look is None else FilmedLook(self.look, self.look_seed))


class PassFilesDeclaration(_Titled):
    """A job that writes a clip's files of a pass."""

    kind: Literal["pass files"] = "pass files"
    of_pass: Kind
    folder: Place
    shown: tuple[FrameNumber, ...] = Field(min_length=1)
    camera: Camera
    fps: float = Field(gt=0)
    engine: Engine
    shadow: float = Field(ge=0, le=1)
    geometry: Place | None
    flow_files: str = Field(pattern="^(exr|flo)$")
    target: Place
    look: CameraLook | None = None
    look_seed: tuple[int | str, ...] = ()

    @classmethod
    def of(cls, job: PassFilesJob, title: str, place: Relative) -> Self:
        """Return a job's declaration."""
        source = job.source
        return cls(
            title=title, of_pass=source.kind, folder=place(source.folder), shown=source.shown,
            camera=source.camera, fps=source.fps, engine=source.engine, shadow=source.shadow,
            geometry=None if source.geometry is None else place(source.geometry),
            flow_files=source.flow_files, target=place(job.target), **_look_of(source.look))

    def job(self, root: Path) -> PassFilesJob:
        """Return the job for the store at ``root``."""
        return PassFilesJob(PassSource(
            self.of_pass, root / self.folder, self.shown, self.camera, self.fps, self.engine,
            self.shadow, None if self.geometry is None else root / self.geometry,
            self.flow_files, None if self.look is None else FilmedLook(self.look, self.look_seed),
        ), root / self.target)


class DisplayDeclaration(_Titled):
    """A job that makes a point-light display of performances."""

    kind: Literal["display"] = "display"
    figures: FigurePlaces
    name: str
    display: Display
    seed: int
    angle: float
    shared: RenderConfig | None
    target: Place
    faults: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, job: DisplayJob, title: str, place: Relative) -> Self:
        """Return a job's declaration."""
        return cls(title=title, figures=_places_of(job.figures, place), name=job.name,
                   display=job.display, seed=job.seed, angle=job.angle, shared=job.shared,
                   target=place(job.target), faults=job.faults)

    def job(self, root: Path) -> DisplayJob:
        """Return the job for the store at ``root``."""
        return DisplayJob(_figures(self.figures, root), self.name, self.display, self.seed,
                          self.angle, self.shared, root / self.target, self.faults)


def _look_of(look: FilmedLook | None) -> dict[str, Any]:
    """Return a clip's camera look as fields of its declaration."""
    return {} if look is None else {"look": look.look, "look_seed": look.seed}


Declaration = (SetDeclaration | ShotDeclaration | ClipDeclaration | PassFilesDeclaration
               | DisplayDeclaration)
_DECLARATIONS: TypeAdapter[Declaration] = TypeAdapter(
    Annotated[Declaration, Field(discriminator="kind")])


def declaration_of(job: Job, title: str, place: Relative) -> Declaration:
    """Return a job's declaration, with paths relative to the store."""
    match job:
        case SetJob():
            return SetDeclaration.of(job, title, place)
        case ShotJob():
            return ShotDeclaration.of(job, title, place)
        case ClipJob():
            return ClipDeclaration.of(job, title, place)
        case PassFilesJob():
            return PassFilesDeclaration.of(job, title, place)
        case DisplayJob():
            return DisplayDeclaration.of(job, title, place)


def parsed_declaration(content: Any) -> Declaration:
    """Return the declaration in JSON content. Raises ValidationError if it is not a job."""
    return _DECLARATIONS.validate_python(content)
