"""The jobs that the main process sends to workers, and their answers: picklable, without bpy."""

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
    """The files that a figure is published in: its character and its performance."""

    character: Path
    performance: Path


@dataclass(frozen=True, eq=False)
class ShotJob:
    """A job to render frames of a scene from one or more cameras.

    ``figures`` are the performers' files; their performances must have the same length.
    ``missing`` (F, C) says which frames are still to be rendered for which camera; for each frame
    all cameras are done in turn. Frame ``f`` of camera ``c`` is published as
    ``folders[c] / frame_name(f)``. ``world`` is the file of the config's environment map, if any.
    """

    figures: tuple[FigureFiles, ...]
    cameras: tuple[Camera, ...]
    config: RenderConfig
    folders: tuple[Path, ...]
    missing: NDArray[np.bool_]
    world: Path | None = field(default=None, kw_only=True)

    def only(self, missing: NDArray[np.bool_]) -> "ShotJob":
        """Return this job with ``missing`` (F, C) replaced."""
        return replace(self, missing=missing)

    def frame_file(self, frame: int, camera: int) -> Path:
        """Return the path under which a camera's frame is published."""
        return self.folders[camera] / frame_name(frame)


class PlainJob(Protocol):
    """A job that needs no rendering engine: it runs by itself in any process; picklable."""

    @property
    def target(self) -> Path:
        """The file or folder that the job publishes."""

    def run(self) -> None:
        """Do the job."""


@dataclass(frozen=True)
class Ready:
    """A worker has started ``program`` and renders on ``count`` devices of the kind ``device``.

    ``cpu`` is the machine's kind of processor, because Cycles' CPU kernels depend on it.
    """

    device: str
    count: int
    program: str
    cpu: str


@dataclass(frozen=True)
class FrameDone:
    """A frame of the job has been published for one of its cameras, after ``seconds`` of work."""

    camera: int
    frame: int
    seconds: float


@dataclass(frozen=True)
class JobDone:
    """The job is done and everything it asked for is published."""


@dataclass(frozen=True)
class JobFailed:
    """The job, or the start of the worker, failed; files published before stay valid.

    ``disk_full`` says that the error was a full disk or quota.
    """

    message: str
    disk_full: bool = False
