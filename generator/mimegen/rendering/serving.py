"""A worker process, ``python -m mimegen.rendering.serving``, which ``StageWorker`` starts."""

import json
import os
import shutil
import signal
import sys
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

from mimegen.base.blender import import_failure
from mimegen.base.code import code_key
from mimegen.base.errors import RequestError
from mimegen.base.parents import end_with_input
from mimegen.base.paths import PACKAGE
from mimegen.rendering import plain
from mimegen.rendering.cores import seeing_cores
from mimegen.rendering.remote_blender import use_remote_blender
from mimegen.shots.devices import OPENGL
from mimegen.shots.jobs import JobFailed

# The modules that carry out jobs of any kind, in this package. Whole names would count as imports
# (see ``code_key``), so that an edit of one kind of job would renew all others.
_RUN_BY_WORKERS = ("rendering.serving", "compositing.clipjob", "compositing.passjob",
                   "pointlight.displayjob")


@dataclass(frozen=True)
class WorkerArguments:
    """The arguments on a worker process's command line.

    ``descriptor`` is the worker's end of the connection, an inherited file descriptor. ``path`` is
    the parent's ``sys.path``; the worker needs it to unpickle the jobs. ``code`` is the parent's
    ``own_code``.
    """

    descriptor: int
    device: str
    threads: int
    scratch: str
    path: tuple[str, ...]
    code: str

    def to_json(self) -> str:
        """Return the arguments as JSON, for a single command-line argument."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the arguments read from the JSON that ``to_json`` wrote."""
        return cls(**json.loads(text))


def own_code() -> str:
    """Return the key of the code that workers run, as it is when a process first asks for it."""
    return code_key(*(f"{PACKAGE.name}.{module}" for module in _RUN_BY_WORKERS))


def main() -> None:
    """Do jobs until the parent closes the connection or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    arguments = WorkerArguments.from_json(sys.argv[1])
    sys.path += [folder for folder in arguments.path if folder not in sys.path]
    # Blender makes its temporary folder in TMPDIR and leaves it behind when it is killed.
    os.environ["TMPDIR"] = arguments.scratch
    sweep = partial(shutil.rmtree, Path(arguments.scratch), ignore_errors=True)
    end_with_input(sweep)
    connection = Connection(arguments.descriptor)
    try:
        if own_code() != arguments.code:
            raise RequestError("the code of mimegen has changed since this run was planned; run the"
                               " same command again")
        _serve_jobs(connection, arguments.device, arguments.threads)
    except RequestError as problem:
        connection.send(JobFailed(str(problem)))
    except (EOFError, ConnectionError):
        pass
    finally:
        # The watching thread also sweeps, but the parent's death may be noticed here first.
        sweep()


def _serve_jobs(connection: Connection, device: str, threads: int) -> None:
    """Do jobs on a device until the main process closes the connection (EOFError).

    Raises RequestError if the engine does not start.
    """
    if device == plain.NONE:
        plain.serve(connection)
        return
    if device == OPENGL:
        from mimegen.rendering.opengl.worker import serve as draw

        draw(connection, threads)
        return
    use_remote_blender()
    try:
        with seeing_cores(threads):
            from mimegen.rendering.cycles.worker import serve
    except ImportError as problem:
        raise RequestError(import_failure(problem)) from problem
    serve(connection, device, threads)


if __name__ == "__main__":
    main()
