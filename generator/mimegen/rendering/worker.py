"""A warm process of Blender or OpenGL, seen from the main process: jobs in, messages out."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

from mimegen.base.blender import environment
from mimegen.base.files import scratch_folder
from mimegen.base.interrupts import uninterrupted
from mimegen.base.paths import PACKAGE
from mimegen.rendering.serving import WorkerArguments
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import PlainJob, ShotJob

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
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        with theirs, uninterrupted():
            self._process = _started(WorkerArguments(
                theirs.fileno(), device, threads, str(folder), tuple(sys.path)))
        self._frames = 0

    def submit(self, job: ShotJob | SetJob | PlainJob) -> None:
        """Hand over a job; the one before must have ended. A dead process says EOFError."""
        if isinstance(job, ShotJob):
            self._frames += int(job.missing.sum())
        try:
            self.connection.send(job)
        except ConnectionError:
            self._process.wait()

    @property
    def is_fit(self) -> bool:
        """Whether it lives, and has not rendered so much that a fresh process spares memory."""
        return self._process.poll() is None and self._frames < FRAMES_UNTIL_WORN

    def close(self) -> None:
        """End it once its job is done."""
        self.connection.close()
        self._process.wait()
        self._tidy_up()

    def kill(self) -> None:
        """End it at once; no half-written file is ever under a final name."""
        self._process.kill()
        self._process.wait()
        self.connection.close()
        self._tidy_up()

    def _tidy_up(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._scratch.close()


def _started(arguments: WorkerArguments) -> subprocess.Popen[bytes]:
    """Start a worker process, which does not run the user's own script again.

    It ends when its standard input closes, that is with this process.
    """
    found = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, *(["-B"] if sys.flags.dont_write_bytecode else []),
         "-m", "mimegen.rendering.serving", arguments.to_json()],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[arguments.descriptor],
        env=environment() | {"PYTHONPATH": os.pathsep.join(filter(None, found))})
