"""The main loop of a Cycles worker: receive jobs, publish frames, send messages."""

from collections.abc import Callable
from multiprocessing.connection import Connection

import bpy

from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.rendering.cycles.render import PictureReader
from mimegen.rendering.cycles.scenery import render_set
from mimegen.rendering.cycles.shot import FigureStage
from mimegen.rendering.cycles.shotframes import render_shot, stage_for
from mimegen.rendering.cycles.warmup import warm_device
from mimegen.rendering.failures import failure
from mimegen.rendering.passes_server import PassServer
from mimegen.rendering.receiving import jobs_from
from mimegen.scenery.job import SetJob
from mimegen.shots.devices import kind_of_cpu
from mimegen.shots.figures import read_figure
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, PlainJob, Ready, ShotJob

Message = Ready | FrameDone | JobDone | JobFailed


def serve(connection: Connection, device: str, threads: int) -> None:
    """Do jobs until the main process closes the connection (EOFError), or OpenGL is lost.

    If a job fails and OpenGL no longer draws, return after sending the answer; the process then
    ends and the main process starts another. Raises RequestError if the machine lacks the device or
    it does not render.
    """
    chosen = warm_device(device, threads)
    program = f"Blender {bpy.app.version_string}"
    connection.send(Ready(chosen.kind, chosen.count, program, kind_of_cpu()))
    reader, passes = PictureReader(), PassServer(threads)
    stage: FigureStage | None = None
    for job in jobs_from(connection):
        stage, answer = _attempt(job, stage, reader, passes, connection.send)
        connection.send(answer)
        if isinstance(answer, JobFailed) and not passes.draws():
            return


def _attempt(job: ShotJob | SetJob | PlainJob, stage: FigureStage | None, reader: PictureReader,
             passes: PassServer, send: Callable[[Message], None]
             ) -> tuple[FigureStage | None, JobDone | JobFailed]:
    """Do a job; return the stage to reuse for the next job, if any, and the answer."""
    try:
        if isinstance(job, PassJob | GeometryJob):
            passes.do(job, send)
            return None, JobDone()
        if isinstance(job, SetJob | ShotJob):
            passes.blender_was_emptied()
        if isinstance(job, SetJob):
            render_set(job, reader)
            return None, JobDone()
        if not isinstance(job, ShotJob):
            job.run()
            return stage, JobDone()
        figures = [read_figure(files) for files in job.figures]
        stage = stage_for(figures, job.config, stage, job.world)
        render_shot(job, figures, stage, reader, send)
        return stage, JobDone()
    except (EOFError, ConnectionError):
        raise
    except Exception as problem:
        return None, failure(job, problem)
