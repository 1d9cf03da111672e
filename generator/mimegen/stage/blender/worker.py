"""What a worker process does: jobs in, published frames and messages out."""

import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

import bpy
import numpy as np

from mimegen.base.errors import means_full_disk
from mimegen.base.files import publish
from mimegen.stage.blender.render import PictureReader, use_device
from mimegen.stage.blender.scenery import render_set
from mimegen.stage.blender.shot import FigureStage
from mimegen.stage.config import RenderConfig
from mimegen.stage.devices import kind_of_cpu
from mimegen.stage.figures import Figure, read_figure
from mimegen.stage.jobs import FrameDone, JobDone, JobFailed, Ready, SetJob, ShotJob
from mimegen.stage.skinning import joint_columns
from mimegen.store.frames import frame_to_bytes

Message = Ready | FrameDone | JobDone | JobFailed


class ShotError(Exception):
    """Something went wrong with one frame; the text says with which."""


def serve(connection: Connection, device: str, threads: int) -> None:
    """Do jobs until the main process closes the connection (EOFError).

    Raises RequestError where the device is not on this machine.
    """
    # Without the person's own start-up file, which could change pixels.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    chosen = use_device(device, threads)
    connection.send(Ready(chosen.kind, chosen.count, bpy.app.version_string, kind_of_cpu()))
    reader = PictureReader()
    stage: FigureStage | None = None
    while True:
        job = connection.recv()
        stage, answer = _attempt(job, stage, reader, connection.send)
        connection.send(answer)


def _attempt(job: ShotJob | SetJob, stage: FigureStage | None, reader: PictureReader,
             send: Callable[[Message], None]) -> tuple[FigureStage | None, JobDone | JobFailed]:
    """Do a job; return the stage it leaves behind, for more of the same, and how it ended."""
    try:
        if isinstance(job, SetJob):
            render_set(job, reader)
            return None, JobDone()
        figures = [read_figure(files) for files in job.figures]
        stage = _stage_for(figures, job.config, stage)
        _render_shot(job, figures, stage, reader, send)
        return stage, JobDone()
    except (EOFError, ConnectionError):
        raise
    except ShotError as problem:
        return None, JobFailed(str(problem), means_full_disk(problem))
    except Exception as problem:
        what = job.target if isinstance(job, SetJob) else job.folders[0]
        return None, JobFailed(f"{what}: {type(problem).__name__}: {problem}",
                               means_full_disk(problem))


def _stage_for(figures: Sequence[Figure], config: RenderConfig,
               stage: FigureStage | None) -> FigureStage:
    """Return a stage that holds the figures: the one there is, if it does.

    Raises ShotError naming the characters.
    """
    characters = [figure.character for figure in figures]
    if stage is not None and stage.suits(characters, config):
        return stage
    try:
        return FigureStage(characters, config)
    except Exception as problem:
        names = " and ".join(character.name for character in characters)
        raise ShotError(f"{names} on the stage: {type(problem).__name__}: {problem}") from problem


def _render_shot(job: ShotJob, figures: Sequence[Figure], stage: FigureStage,
                 reader: PictureReader, send: Callable[[Message], None]) -> None:
    """Publish every missing frame, frames outer and cameras inner.

    Raises ShotError, naming frame, camera and folder.
    """
    for frame in np.flatnonzero(job.missing.any(axis=1)):
        columns = [
            joint_columns(figure.character.skeleton, figure.positions[frame, None],
                          figure.rotations[frame, None])
            for figure in figures
        ]
        started = time.perf_counter()
        stage.pose(columns)
        for camera in np.flatnonzero(job.missing[frame]):
            try:
                picture = stage.picture(job.cameras[camera], reader)
                publish(job.frame_file(int(frame), int(camera)), frame_to_bytes(picture))
            except Exception as problem:
                where = f"frame {frame} from camera {camera} of {job.folders[camera]}"
                raise ShotError(f"{where}: {type(problem).__name__}: {problem}") from problem
            ended = time.perf_counter()
            send(FrameDone(int(camera), int(frame), ended - started))
            started = ended
