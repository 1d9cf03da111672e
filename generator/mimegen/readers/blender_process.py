"""Run Blender in a separate process and read its reply, a NumPy archive, or report the error."""

import json
import os
import re
import signal
import subprocess
import threading
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.blender import refuse_unloadable, require_release
from mimegen.base.errors import RequestError
from mimegen.base.paths import source_file

# First release of Blender whose built-in importer reads FBX and whose actions have slots.
OLDEST_READER = (4, 5)
# Limits of processor time. A megabyte of keys takes three seconds on a slow core.
SECONDS_TO_READ = 40.0
SECONDS_PER_MEGABYTE = 20.0
GIBIBYTES_TO_READ = 6.0
# Limit of elapsed time as a multiple of processor time, for a machine that is busy otherwise.
TIMEOUT_FACTOR = 10
# Blender's importers multiply in single precision with OpenBLAS, whose last bits depend on the
# kernel chosen for the CPU. These settings select a kernel that every x86 CPU has (machines other
# than x86 have only one), so that results are the same everywhere.
OPENBLAS_SETTINGS = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
# Bytes kept from the beginning and from the end of a program's error output, and bytes of it after
# which the program is stopped.
KEPT_ERRORS = 1 << 16
MAX_ERRORS = 1 << 23
# Exit status given to a program that exceeded the elapsed time.
TIMED_OUT = 1000
OUT_OF_MEMORY = re.compile(rb"MemoryError|bad_alloc|Calloc returns null|Malloc returns null"
                           rb"|Unable to allocate|failed to map segment"
                           rb"|[Cc]annot (allocate memory|map zero-fill)")


@dataclass(frozen=True, eq=False)
class ReaderReply:
    """Blender's reply: a header of JSON values, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def read_in_blender(module: str, path: Path, target: Path, *arguments: str,
                    instead: Path | None = None) -> ReaderReply:
    """Run ``MODULE PATH TARGET ARGUMENTS`` in Blender and return the archive that it writes.

    If ``instead`` is given, Blender reads it instead of ``path``; errors still name ``path``.
    Blender's temporary files are written beside ``target``.

    Raises RequestError, one line that names the file, if Blender is not installed or too old,
    cannot read the file, crashes, or needs more time or memory than a file of its size should.
    """
    blender = require_release(str(path), OLDEST_READER)
    size = (instead or path).stat().st_size
    seconds = round(SECONDS_TO_READ + SECONDS_PER_MEGABYTE * size / 1e6)
    command = blender.command("mimegen.readers.limited", f"{GIBIBYTES_TO_READ:g}", str(seconds),
                              str(source_file(module)), str((instead or path).resolve()),
                              str(target), *arguments)
    unfinished = RequestError(
        f"{path}: Blender did not finish reading it in {seconds} s; it is damaged, or too long:"
        " cut it into shorter takes")
    environment = blender.environment() | OPENBLAS_SETTINGS | {"TMPDIR": str(target.parent)}
    try:
        done = _run(command, environment, TIMEOUT_FACTOR * seconds)
    except _TooManyErrorsError:
        raise RequestError(f"{path}: Blender cannot read it (it finds errors without end); it is"
                           " damaged, export it again as FBX or GLB") from None
    if done.returncode in (-signal.SIGXCPU, TIMED_OUT):
        raise unfinished
    refuse_unloadable(str(path), done.stderr)
    _refuse_crash(path, done)
    answer = load_answer(target) if done.returncode == 0 else None
    if answer is None:
        raise RequestError(f"{path}: Blender cannot read it ({_reason(done.stderr)});"
                           " export it again as FBX or GLB")
    return answer


def _run(command: list[str], environment: dict[str, str], seconds: float
         ) -> subprocess.CompletedProcess[bytes]:
    """Run a program and keep the beginning and the end of its error output.

    Raises _TooManyErrorsError if it reports without end: a damaged file can cause gigabytes.
    """
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env=environment) as running:
        timer = threading.Timer(seconds, running.kill)
        # An interrupted reading must not wait for the timer.
        timer.daemon = True
        timer.start()
        try:
            errors = _errors(running)
            timed_out = not timer.is_alive()
        except BaseException:
            running.kill()
            raise
        finally:
            timer.cancel()
    return subprocess.CompletedProcess(
        command, TIMED_OUT if timed_out else running.returncode, b"", errors)


def _errors(running: subprocess.Popen[bytes]) -> bytes:
    """Return the beginning and the end of a program's error output, once it has ended."""
    first = last = b""
    count = 0
    assert running.stderr is not None
    while part := os.read(running.stderr.fileno(), KEPT_ERRORS):
        first, last = first or part, (last + part)[-KEPT_ERRORS:]
        count += len(part)
        if count > MAX_ERRORS:
            raise _TooManyErrorsError
    return first + b"\n" + last


class _TooManyErrorsError(Exception):
    pass


def _refuse_crash(path: Path, done: subprocess.CompletedProcess[bytes]) -> None:
    """Raise RequestError if Blender ran out of memory or a signal ended it."""
    if done.returncode != 0 and OUT_OF_MEMORY.search(done.stderr):
        raise RequestError(f"{path}: Blender needs more than {GIBIBYTES_TO_READ:g} GiB of memory to"
                           " read it; it is damaged, or too large")
    if done.returncode < 0:
        raise RequestError(
            f"{path}: Blender crashed while reading it (signal {-done.returncode}); the file is"
            " damaged or of an unsupported kind, export it again"
        )


def save_answer(answer: ReaderReply, path: Path) -> None:
    """Write an answer as the archive that ``load_answer`` reads."""
    header: Any = np.frombuffer(json.dumps(answer.header).encode(), dtype=np.uint8)
    with path.open("wb") as opened:
        np.savez(opened, header=header, **answer.arrays)


def load_answer(path: Path) -> ReaderReply | None:
    """Return an answer from its archive, or None if that is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        return ReaderReply(json.loads(arrays.pop("header").tobytes()), arrays)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError):
        return None


def _reason(said: bytes) -> str:
    """Return the last error message in Blender's output, at most 200 characters."""
    lines = [line.strip() for line in said.decode(errors="replace").splitlines()]
    lines = [line for line in lines
             if line and not line.startswith(("Location:", "Error: script failed"))]
    last = lines[-1] if lines else "no reason given"
    return re.split(r"Error: |Cannot import file .*: ", last)[-1].strip(" '\"")[:200]
