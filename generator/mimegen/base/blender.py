"""Find the Blender to use and run it, with one-line errors if it is missing or does not start.

It is the package bpy of this Python, which ``pip install 'mimegen[render]'`` adds, that of another
Python, or Blender's own program. It is never imported here: it runs in separate processes.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.kernel_folder import kernel_environment
from mimegen.base.paths import PACKAGE, source_file, with_libraries

# Environment variable with the path of another Blender than this Python's.
BLENDER = "MIMEGEN_BLENDER"
# The first version in which Cycles has all settings of a render config.
OLDEST = (4, 2)
INSTALL = ("Blender is not installed here; pip install 'mimegen[render]' adds it and needs Python"
           " 3.11 or 3.13, and --blender PATH uses one that is installed elsewhere. Without it,"
           " --config draft renders, and BVH, C3D and ASF are read")
# The packages that tools/system_libraries.sh installs on Debian and Ubuntu.
SYSTEM_LIBRARIES = (
    "libgl1 libsm6 libice6 libxi6 libxkbcommon0 libxrender1 libxfixes3 libxt6 libxext6 libx11-6"
    " libgomp1 libegl1 libgl1-mesa-dri")
INSTALL_LIBRARIES = ("install the system libraries it needs, on Debian or Ubuntu: sudo apt-get"
                     f" install {SYSTEM_LIBRARIES}")
DOES_NOT_START = f"Blender does not start; {INSTALL_LIBRARIES}"
EXPECTED = ("expected Blender's program, a Python that has bpy, or the folder of its virtual"
            " environment")
# Timeout in seconds; starting from a network file system is slow.
ANSWER_S = 120.0
# Avoids importing bpy, which takes seconds; a bpy built from source has no package metadata.
_VERSION_OF_BPY = """
from importlib.metadata import PackageNotFoundError, version
try:
    print("bpy", version("bpy"))
except PackageNotFoundError:
    import bpy
    print("bpy", bpy.app.version_string)
"""
# The Blender of the current request, not visible to threads and other requests.
_chosen: ContextVar[Path | None] = ContextVar("blender", default=None)


@dataclass(frozen=True)
class Blender:
    """A Blender to run: ``path`` is its program or a Python with bpy, ``version`` as in 5.0.1.

    ``is_program`` is True for Blender's own program, ``is_own`` for the bpy of this Python.
    """

    path: Path
    version: str
    is_program: bool = False
    is_own: bool = False

    def command(self, module: str, *arguments: str) -> list[str]:
        """Return the command that runs a module of mimegen, as a file, in this Blender.

        The module reads its ``arguments`` with ``arguments_given``, and may import only the
        standard library, NumPy and Blender's own modules.
        """
        file = str(source_file(module))
        if self.is_program:
            return [str(self.path), "--background", "--factory-startup", "--python-exit-code", "1",
                    "--python", file, "--", *arguments]
        bytecode = ["-B"] if sys.flags.dont_write_bytecode else []
        return [str(self.path), "-P", *bytecode, file, *arguments]

    def environment(self) -> dict[str, str]:
        """Return the environment to run it in; packages of this Python are hidden from another."""
        given = environment()
        if not self.is_own:
            folders = given.get("PYTHONPATH", "").split(os.pathsep)
            given["PYTHONPATH"] = os.pathsep.join(
                folder for folder in folders if folder and Path(folder) != PACKAGE.parent)
        return given

    @property
    def number(self) -> tuple[int, ...]:
        """The version as a tuple of numbers, for comparison."""
        return _number(self.version)


@contextmanager
def using_blender(path: Path | str | None) -> Iterator[None]:
    """Use the Blender at ``path`` within this context; None changes nothing."""
    if path is None:
        yield
        return
    before = _chosen.get()
    _chosen.set(Path(path).expanduser().absolute())
    try:
        yield
    finally:
        _chosen.set(before)


def environment() -> dict[str, str]:
    """Return an environment that passes libraries, Blender and kernels on to a subprocess."""
    chosen = _chosen.get()
    named = {} if chosen is None else {BLENDER: str(chosen)}
    return with_libraries() | named | kernel_environment()


def find_blender() -> Blender | None:
    """Return the Blender to use; None if there is none.

    In order of preference: that of ``using_blender``, of the environment variable, this Python's
    bpy, the first ``blender`` on the PATH. Raises RequestError if an explicitly named one cannot be
    used.
    """
    chosen, named = _chosen.get(), os.environ.get(BLENDER)
    if chosen is not None:
        return _blender_at(chosen, "--blender")
    if named:
        return _blender_at(Path(named).expanduser().absolute(), BLENDER)
    if find_spec("bpy") is not None:
        return _own()
    return _on_path()[0]


def blender_is_installed() -> bool:
    """Return whether there is a Blender to use. Raises RequestError as ``find_blender``."""
    return find_blender() is not None


def require_blender(purpose: str) -> Blender:
    """Return the Blender to use. Raises RequestError, naming ``purpose``, if there is none."""
    found = find_blender()
    if found is None:
        raise RequestError(f"{purpose}: {INSTALL}{_on_path()[1]}")
    return found


def require_release(purpose: str, oldest: tuple[int, int]) -> Blender:
    """Return the Blender to use. Raises RequestError if there is none from ``oldest`` on."""
    found = require_blender(purpose)
    if found.number < oldest:
        raise RequestError(f"{purpose}: needs Blender {oldest[0]}.{oldest[1]} or later, and"
                           f" {found.path} is {found.version}")
    return found


def blender_version() -> str:
    """Return Blender's version without importing it. Raises RequestError if there is none."""
    return require_blender("rendering with Cycles").version


def _own() -> Blender | None:
    try:
        return Blender(Path(sys.executable), version("bpy"), is_own=True)
    except PackageNotFoundError:
        return None


def _on_path() -> tuple[Blender | None, str]:
    """Return the blender on the PATH, or None and the reason why it cannot be used."""
    found = shutil.which("blender")
    if found is None:
        return None, ""
    try:
        return _blender_at(Path(found).absolute(), "PATH"), ""
    except RequestError as problem:
        return None, f" ({problem})"


def _blender_at(path: Path, named_by: str) -> Blender:
    """Return the Blender at a path. Raises RequestError, naming it, if it cannot be used."""
    try:
        file = _program_in(path)
        status = file.stat()
    except OSError:
        raise RequestError(f"{named_by} {path}: no such file; {EXPECTED}") from None
    try:
        return _asked(file, status.st_mtime_ns)
    except RequestError as problem:
        raise RequestError(f"{named_by} {path}: {problem}") from problem


def _program_in(path: Path) -> Path:
    """Return the program in a folder of a virtual environment or of Blender, else the path."""
    inside = [path / name for name in ("bin/python", "Scripts/python.exe", "blender",
                                       "blender.exe", "Contents/MacOS/Blender")]
    return next((file for file in inside if file.is_file()), path)


@lru_cache(maxsize=16)
def _asked(file: Path, _changed: int) -> Blender:
    """Run a program to identify it. Raises RequestError if it is not a usable Blender."""
    said = _answer(file, "--version")
    program = re.search(r"^Blender (\d+(?:\.\d+)+)", said, re.MULTILINE)
    if program is None and not re.search(r"^Python \d", said, re.MULTILINE):
        raise RequestError(f"is neither Blender nor Python; {EXPECTED}")
    if program is None:
        package = re.search(r"^bpy (\d+(?:\.\d+)+)", _answer(file, "-c", _VERSION_OF_BPY), re.M)
        if package is None:
            raise RequestError("this Python has no bpy; install it there with pip install bpy")
        found = Blender(file, package[1])
    else:
        found = Blender(file, program[1], is_program=True)
    if found.number < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise RequestError(f"is Blender {found.version}; mimegen needs {oldest} or later")
    return found


def _answer(file: Path, *arguments: str) -> str:
    """Return the output of a program. Raises RequestError if it does not start."""
    try:
        done = subprocess.run([str(file), *arguments], capture_output=True, text=True,
                              errors="replace", timeout=ANSWER_S, check=False,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise RequestError(f"did not answer in {ANSWER_S:.0f} s") from None
    except OSError as problem:
        raise RequestError(f"does not start ({problem.strerror})") from None
    missing = missing_library(done.stderr)
    if missing:
        raise RequestError(missing)
    return done.stdout


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def missing_library(stderr: str) -> str | None:
    """Return one line that names the system library missing according to error output."""
    found = re.search(r"(?:ImportError|error while loading shared libraries): (\S+): cannot open"
                      r" shared object file", stderr)
    return None if found is None else (
        f"Blender does not load, because {found[1]} is missing; {INSTALL_LIBRARIES}")


def refuse_unloadable(purpose: str, stderr: bytes) -> None:
    """Raise RequestError if a Blender process ended because a system library is missing.

    ``stderr`` is the process's error output.
    """
    missing = missing_library(stderr.decode(errors="replace"))
    if missing:
        raise RequestError(f"{purpose}: {missing}")


def import_failure(problem: ImportError) -> str:
    """Return one line on why bpy cannot be imported and what to do."""
    if find_spec("bpy") is None:
        return INSTALL
    return f"Blender does not load ({problem}); {INSTALL_LIBRARIES}"
