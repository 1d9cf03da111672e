"""A warm process of Blender or OpenGL, seen from the main process: jobs in, messages out."""

import os
import shutil
import signal
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.base.interrupts import uninterrupted
from mimegen.base.parents import end_with_parent
from mimegen.stage import plain
from mimegen.stage.cores import seeing_cores
from mimegen.stage.devices import OPENGL
from mimegen.stage.jobs import JobFailed, PlainJob, ShotJob
from mimegen.stage.scenery.job import SetJob

# Blender's memory stayed flat over 1200 frames and 40 scenes; this guards against drivers.
FRAMES_UNTIL_WORN = 5000


class StageWorker:
    """A process of its own that renders, which does one job at a time.

    Messages (Ready first, then those of each job, which begin with JobTaken) are received from
    ``connection``; EOFError or ConnectionError there means that it is gone. A ``submit`` before
    Ready waits until Blender is up.
    """

    def __init__(self, device: str = "auto", threads: int = 0, scratch: Path | None = None
                 ) -> None:
        """Start Blender on a kind of device, or the best with ``auto``; OpenGL on ``opengl``,
        and neither on ``none``.

        ``threads`` is the number of CPU threads that render, 0 for all. In ``scratch``, by default
        the system's place for such things, Blender keeps its temporary files; what is left there
        when all processes are killed goes when the next worker starts.
        """
        self._scratch = ExitStack()
        folder = self._scratch.enter_context(scratch_folder(scratch))
        context = get_context("spawn")
        self.connection: Connection
        self.connection, child_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(child_end, device, threads, folder),
                                        name="mimegen-stage", daemon=True)
        with uninterrupted():
            self._process.start()
        child_end.close()
        self._frames = 0

    def submit(self, job: ShotJob | SetJob | PlainJob) -> None:
        """Hand over a job; the one before must have ended. A dead process says EOFError."""
        if isinstance(job, ShotJob):
            self._frames += int(job.missing.sum())
        try:
            self.connection.send(job)
        except ConnectionError:
            self._process.join()

    @property
    def is_fit(self) -> bool:
        """Whether it lives, and has not rendered so much that a fresh process spares memory."""
        return self._process.is_alive() and self._frames < FRAMES_UNTIL_WORN

    def close(self) -> None:
        """End it once its job is done."""
        self.connection.close()
        self._process.join()
        self._scratch.close()

    def kill(self) -> None:
        """End it at once; no half-written file is ever under a final name."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        self._scratch.close()


def _serve(connection: Connection, device: str, threads: int, scratch: Path) -> None:
    """Be the worker process."""
    # Blender makes a folder of its own there, which stays when it is killed.
    os.environ["TMPDIR"] = str(scratch)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sweep = partial(shutil.rmtree, scratch, ignore_errors=True)
    end_with_parent(sweep)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    try:
        _serve_jobs(connection, device, threads)
    except RequestError as problem:
        connection.send(JobFailed(str(problem)))
    except (EOFError, ConnectionError):
        pass
    finally:
        # A dead parent may be noticed here before the thread that watches it gets its turn.
        sweep()


def _serve_jobs(connection: Connection, device: str, threads: int) -> None:
    """Do jobs on a device until the main process is gone; raises RequestError at the start."""
    if device == plain.NONE:
        plain.serve(connection)
        return
    if device == OPENGL:
        from mimegen.stage.raster.worker import serve as draw

        draw(connection, threads)
        return
    try:
        with seeing_cores(threads):
            from mimegen.stage.blender.worker import serve
    except ImportError as problem:
        raise RequestError(
            f"Blender does not load ({problem}); see the README for the system libraries it needs"
        ) from problem
    serve(connection, device, threads)
