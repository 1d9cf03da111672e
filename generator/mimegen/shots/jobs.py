"""What the main process asks of the stage, and what it hears: typed, picklable, no bpy."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.store.frames import frame_name


@dataclass(frozen=True)
class FigureFiles:
    """Where a figure is published: what is seen of it, and its performance."""

    character: Path
    performance: Path


@dataclass(frozen=True, eq=False)
class ShotJob:
    """Frames of a scene from one or more cameras, frames outer and cameras inner.

    ``figures`` are the performers' files, performances as long as one another; ``missing`` (F, C)
    says which frames are still to be made for which camera. Frame ``f`` of camera ``c`` is
    published as ``folders[c] / frame_name(f)``. ``world`` is the file of the config's world, if it
    has one.
    """

    figures: tuple[FigureFiles, ...]
    cameras: tuple[Camera, ...]
    config: RenderConfig
    folders: tuple[Path, ...]
    missing: NDArray[np.bool_]
    world: Path | None = field(default=None, kw_only=True)

    def only(self, missing: NDArray[np.bool_]) -> "ShotJob":
        """Return the part of the job that ``missing`` (F, C) names."""
        return replace(self, missing=missing)

    def frame_file(self, frame: int, camera: int) -> Path:
        """Return where a frame is published."""
        return self.folders[camera] / frame_name(frame)


class PlainJob(Protocol):
    """A job that needs no engine and does itself, in any process; picklable, as the others."""

    @property
    def target(self) -> Path:
        """The file that it publishes."""

    def run(self) -> None:
        """Do it."""


@dataclass(frozen=True)
class Ready:
    """``program`` has started; ``device`` is the kind that it renders on, ``count`` how many of it.

    ``cpu`` is the machine's kind of processor, whose instructions Cycles' kernels depend on.
    """

    device: str
    count: int
    program: str
    cpu: str


@dataclass(frozen=True)
class FrameDone:
    """A frame of the job's shot for one of its cameras is published, after ``seconds`` of work."""

    camera: int
    frame: int
    seconds: float


@dataclass(frozen=True)
class JobDone:
    """Everything the job asked for is published."""


@dataclass(frozen=True)
class JobFailed:
    """The job, or starting Blender, ended in an error; what was published stays whole.

    ``disk_full`` says that the error came from a disk or quota without space.
    """

    message: str
    disk_full: bool = False
