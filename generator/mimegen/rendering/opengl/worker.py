"""The main loop of an OpenGL worker, without bpy: receive jobs, publish frames, send messages."""

from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import moderngl

from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.rendering.failures import failure
from mimegen.rendering.opengl.context import context_of_process, is_sound
from mimegen.rendering.opengl.scenery import draw_set
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.rendering.receiving import jobs_from
from mimegen.scenery.job import SetJob
from mimegen.shots.devices import OPENGL, kind_of_cpu
from mimegen.shots.figures import read_figure
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, PlainJob, Ready, ShotJob
from mimegen.shots.publishing import posing, publish_frames

if TYPE_CHECKING:
    from mimegen.rendering.passes_server import PassServer

Message = Ready | FrameDone | JobDone | JobFailed


def serve(connection: Connection, threads: int) -> None:
    """Do jobs until the main process closes the connection (EOFError), or OpenGL is lost.

    If a job fails and OpenGL no longer draws, return after sending the answer; the process then
    ends and the main process starts another. Raises RequestError if OpenGL does not start.
    """
    context = context_of_process(threads)
    program = f"OpenGL {context.info['GL_RENDERER']}"
    connection.send(Ready(OPENGL, 1, program, kind_of_cpu()))
    passes = cache(lambda: _pass_server(threads, context))
    stage: RasterStage | None = None
    for job in jobs_from(connection):
        stage, answer = _attempt(context, job, stage, passes, connection.send)
        connection.send(answer)
        if isinstance(answer, JobFailed) and not is_sound(context):
            return


def _pass_server(threads: int, context: moderngl.Context) -> "PassServer":
    # Imported here because ground truth needs many modules that frames and stills do not.
    from mimegen.rendering.passes_server import PassServer

    return PassServer(threads, context)


def _attempt(context: moderngl.Context, job: ShotJob | SetJob | PlainJob, stage: RasterStage | None,
             passes: "Callable[[], PassServer]", send: Callable[[Message], None]
             ) -> tuple[RasterStage | None, JobDone | JobFailed]:
    """Do a job; return the stage to reuse for the next job, if any, and the answer."""
    try:
        if isinstance(job, PassJob | GeometryJob):
            passes().do(job, send)
        elif isinstance(job, SetJob):
            draw_set(context, job)
        elif not isinstance(job, ShotJob):
            job.run()
        else:
            stage = _shoot(context, job, stage, send)
        return stage, JobDone()
    except (EOFError, ConnectionError):
        raise
    except Exception as problem:
        return None, failure(job, problem)


def _shoot(context: moderngl.Context, job: ShotJob, stage: RasterStage | None,
           send: Callable[[Message], None]) -> RasterStage:
    """Draw a job's frames; return the stage used, the given one if it suits the figures."""
    figures = [read_figure(files) for files in job.figures]
    characters = [figure.character for figure in figures]
    if stage is None or not stage.suits(characters, job.config):
        stage = RasterStage(context, characters, job.config)
    publish_frames(job, posing(figures, stage), stage.picture, send)
    return stage
