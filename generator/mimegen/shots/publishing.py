"""Publish the frames of a shot: pose figures, render, pack and publish, with any engine."""

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
    """A frame could not be made; the text names it."""


class Poseable(Protocol):
    """A stage of an engine whose figures can be posed."""

    def pose(self, columns: Sequence[NDArray[np.float32]]) -> None:
        """Pose each figure by its ``columns`` (4 J, 3), as ``joint_columns`` returns them."""


def posing(figures: Sequence[Figure], stage: Poseable) -> Callable[[int], None]:
    """Return a function that poses the stage's figures as in a frame, given by its number."""
    return lambda frame: stage.pose([figure.columns_at(frame) for figure in figures])


def publish_frames(job: ShotJob, pose: Callable[[int], None],
                   picture: Callable[[Camera], Frame], send: Callable[[FrameDone], None]) -> None:
    """Publish every missing frame: pose it once, then render it from each camera.

    The folders' parents must exist, so that a store that is not mounted is never created anew.
    Raises FileNotFoundError if they do not, and ShotError, naming frame, camera and folder, if a
    frame fails.
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
