"""A warm Blender process on a machine of a cluster, as controlled by the driver."""

import os
import socket
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mimegen import __version__
from mimegen.base.blender import find_blender
from mimegen.base.errors import RequestError
from mimegen.base.files import publish_once
from mimegen.base.kernel_folder import using_kernels
from mimegen.farm.executor import Lost, Message
from mimegen.farm.task import Task, task_from_json
from mimegen.rendering.receiving import JobReceived
from mimegen.rendering.serving import own_code
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, ShotJob

_WITH_BLENDER = " with Blender "
# Longest duration of a call in seconds, so that the loss of a machine is noticed.
LISTEN_S = 2.0


@dataclass(frozen=True)
class FolderProbe:
    """A file in the store's folder that shows whether a machine sees the same folder."""

    root: Path
    name: str
    token: str

    def seen(self) -> bool:
        """Return whether this machine sees it."""
        try:
            return (self.root / self.name).read_text() == self.token
        except OSError:
            return False


@dataclass(frozen=True)
class WorkerHost:
    """A worker's machine: its name, whether it sees the store, and its version of mimegen."""

    host: str
    node: str
    sees_store: bool
    version: str


@dataclass(frozen=True)
class WorkerMessage:
    """A message and, if the worker does not see the store, the file made: its path and bytes.

    The path is relative to the store.
    """

    message: Message
    file: tuple[str, bytes] | None = None


def version() -> str:
    """Return what decides what this machine's workers make: mimegen, its code, and Blender."""
    code = f"{__version__} {own_code()[:12]}"
    # A Blender that cannot be used is reported when it is needed.
    with suppress(RequestError):
        if (blender := find_blender()) is not None:
            return f"{code}{_WITH_BLENDER}{blender.version}"
    return code


def makes_the_same(there: str, here: str) -> bool:
    """Return whether machines of two versions make the same files under the same keys.

    One without Blender fits all others of its code: it renders nothing that needs Blender.
    """
    (code, _, blender), (own, _, own_blender) = (
        each.partition(_WITH_BLENDER) for each in (there, here))
    return code == own and (not blender or not own_blender or blender == own_blender)


class RemoteWorker:
    """A Blender process that takes tasks and is polled for messages.

    If it does not see ``probe``, tasks bring the files they read, and frames go back with messages.
    ``kernels`` is the folder of prepared GPU kernels, with the same path on all machines.
    """

    def __init__(self, probe: FolderProbe, shared: bool | None, device: str, threads: int,
                 node: str = "", kernels: Path | None = None) -> None:
        self._sees_store = probe.seen() if shared is None else shared
        self._scratch = tempfile.TemporaryDirectory(prefix="mimegen-")
        self._root = probe.root if self._sees_store else Path(self._scratch.name)
        self._device, self._threads, self._node = device, threads, node
        self._kernels = kernels
        self._task: Task | None = None
        self._taken = False
        self._refused: list[WorkerMessage] = []
        self._worker = self._fresh()

    def place(self) -> WorkerHost:
        """Return the worker's machine."""
        return WorkerHost(socket.gethostname(), self._node, self._sees_store, version())

    def submit(self, content: dict[str, Any], files: dict[str, bytes]) -> None:
        """Begin a task, given as JSON; ``files`` are those it reads, by path in the store."""
        try:
            for place, data in files.items():
                publish_once(self._root / place, data)
            self._task = task_from_json(content, self._root)
            if not self._sees_store:
                for folder in _folders(self._task):
                    folder.mkdir(parents=True, exist_ok=True)
        except RequestError as problem:
            self._refused = [WorkerMessage(JobFailed(f"{socket.gethostname()}: {problem}"))]
            return
        if not self._worker.is_fit:
            self._worker.close()
            self._worker = self._fresh()
        self._taken = False
        self._worker.submit(self._task.job)

    def listen(self) -> list[WorkerMessage]:
        """Return the messages that arrive within two seconds."""
        messages, self._refused = self._refused, []
        timeout = 0.0 if messages else LISTEN_S
        try:
            while self._worker.connection.poll(timeout):
                message, timeout = self._worker.connection.recv(), 0.0
                if isinstance(message, JobReceived):
                    self._taken = True
                else:
                    messages.append(self._with_file(message))
        except (EOFError, OSError):
            self._worker.kill()
            self._worker = self._fresh()
            messages.append(WorkerMessage(Lost("its process died", blameless=not self._taken)))
        return messages

    def pid(self) -> int:
        """Return the process id, for tests that kill the process."""
        return os.getpid()

    def _fresh(self) -> StageWorker:
        with using_kernels(self._kernels):
            return StageWorker(self._device, self._threads, Path(self._scratch.name))

    def _with_file(self, message: Message) -> WorkerMessage:
        """Return a message with the file it reports, if this machine does not see the store."""
        if isinstance(message, JobFailed):
            with_host = f"{socket.gethostname()}: {message.message}"
            return WorkerMessage(replace(message, message=with_host))
        path = None if self._sees_store or self._task is None else _made(self._task, message)
        if path is None:
            return WorkerMessage(message)
        data = path.read_bytes()
        path.unlink()
        return WorkerMessage(message, (path.relative_to(self._root).as_posix(), data))


def _folders(task: Task) -> tuple[Path, ...]:
    """Return the folders that a task writes to; where the store is seen, the driver makes them."""
    return task.job.folders if isinstance(task.job, ShotJob) else (task.job.target.parent,)


def _made(task: Task, message: Message) -> Path | None:
    """Return the file that a message reports as made; None if there is none."""
    if isinstance(message, FrameDone) and isinstance(task.job, ShotJob):
        return task.job.frame_file(message.frame, message.camera)
    if isinstance(message, JobDone) and isinstance(task.job, SetJob):
        return task.job.target
    return None
