"""The main process's handle on a worker process: submit jobs, receive messages."""

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
from mimegen.rendering.serving import WorkerArguments, own_code
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import PlainJob, ShotJob

# After this many frames a worker is replaced, in case a GPU driver leaks memory. Blender itself
# does not: its memory stayed flat over 1200 frames and 40 scenes.
FRAMES_UNTIL_WORN = 5000


class StageWorker:
    """A rendering process that does one job at a time.

    Receive its messages from ``connection``: first Ready, then for every job JobReceived followed
    by the job's own messages. EOFError or ConnectionError there means that the process has died. A
    job submitted before Ready starts once Blender is up.
    """

    def __init__(self, device: str = "auto", threads: int = 0, scratch: Path | None = None
                 ) -> None:
        """Start the process with the engine that ``device`` needs.

        ``device`` is a kind of Cycles device or ``auto`` for the best one (starts Blender),
        ``opengl`` (starts OpenGL) or ``none`` (starts neither). ``threads`` is the number of CPU
        threads to render with, 0 for all. Blender's temporary files go to ``scratch``, by default
        the system's temporary folder; files left by killed processes are removed when the next
        worker starts.
        """
        self._scratch = ExitStack()
        folder = self._scratch.enter_context(scratch_folder(scratch))
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        with theirs, uninterrupted():
            self._process = _started(WorkerArguments(
                theirs.fileno(), device, threads, str(folder), tuple(sys.path), own_code()))
        self._frames = 0

    def submit(self, job: ShotJob | SetJob | PlainJob) -> None:
        """Send a job; the previous one must have ended.

        If the process is dead, nothing is raised here: ``connection`` raises EOFError instead.
        """
        if isinstance(job, ShotJob):
            self._frames += int(job.missing.sum())
        try:
            self.connection.send(job)
        except ConnectionError:
            self._process.wait()

    @property
    def is_fit(self) -> bool:
        """Whether the process is alive and has been given fewer than FRAMES_UNTIL_WORN frames."""
        return self._process.poll() is None and self._frames < FRAMES_UNTIL_WORN

    def close(self) -> None:
        """End the process once its current job is done."""
        self.connection.close()
        self._process.wait()
        self._tidy_up()

    def kill(self) -> None:
        """End the process at once; files get their final names only when whole."""
        self._process.kill()
        self._process.wait()
        self.connection.close()
        self._tidy_up()

    def _tidy_up(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._scratch.close()


def _started(arguments: WorkerArguments) -> subprocess.Popen[bytes]:
    """Start a worker process, by a command line, so the user's main script is not run again.

    The worker ends when its standard input closes, so at the latest when this process ends.
    """
    found = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, *(["-B"] if sys.flags.dont_write_bytecode else []),
         "-m", "mimegen.rendering.serving", arguments.to_json()],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[arguments.descriptor],
        env=environment() | {"PYTHONPATH": os.pathsep.join(filter(None, found))})
