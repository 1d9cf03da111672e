"""The frames of a shot: figures posed, pictures taken, packed and published, by any engine."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publish
from mimegen.shots.camera import Camera
from mimegen.shots.devices import kind_of_cpu
from mimegen.shots.figures import Figure
from mimegen.shots.jobs import FrameDone, ShotJob
from mimegen.store.frames import Frame, frame_to_bytes
from mimegen.store.makers import note_maker


class ShotError(Exception):
    """Something went wrong with one frame; the text says with which."""


class Poseable(Protocol):
    """Figures on an engine's stage."""

    def pose(self, columns: Sequence[NDArray[np.float32]]) -> None:
        """Pose the figures; each has ``columns`` (4 J, 3) as from ``joint_columns``."""


def posing(figures: Sequence[Figure], stage: Poseable) -> Callable[[int], None]:
    """Return what poses figures on a stage as they are in a frame."""
    return lambda frame: stage.pose([figure.columns_at(frame) for figure in figures])


def publish_frames(job: ShotJob, pose: Callable[[int], None],
                   picture: Callable[[Camera], Frame], send: Callable[[FrameDone], None]) -> None:
    """Publish every missing frame, posed and then pictured, frames outer and cameras inner.

    The folders' parents are there: a store that is away is never made again. Raises
    FileNotFoundError where they are not, and ShotError, naming frame, camera and folder.
    """
    cpu = kind_of_cpu()
    for folder in job.folders:
        folder.mkdir(exist_ok=True)
    for frame in np.flatnonzero(job.missing.any(axis=1)):
        started = time.perf_counter()
        pose(int(frame))
        for camera in np.flatnonzero(job.missing[frame]):
            try:
                packed = frame_to_bytes(picture(job.cameras[camera]))
                note_maker(job.folders[camera], cpu)
                publish(job.frame_file(int(frame), int(camera)), packed, makes_folder=False)
            except Exception as problem:
                where = f"frame {frame} from camera {camera} of {job.folders[camera]}"
                raise ShotError(f"{where}: {type(problem).__name__}: {problem}") from problem
            ended = time.perf_counter()
            send(FrameDone(int(camera), int(frame), ended - started))
            started = ended
