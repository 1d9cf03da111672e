"""Which Blender there is, how to run it, and one line for users where it is not or does not start.

It is this Python's package bpy, which ``pip install 'mimegen[render]'`` adds, another Python's, or
Blender's own program. It is never imported here: it runs in processes of its own.
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

# The environment's name for another Blender than this Python's.
BLENDER = "MIMEGEN_BLENDER"
# From it on Cycles has all settings of a render config.
OLDEST = (4, 2)
INSTALL = ("Blender is not installed here; pip install 'mimegen[render]' adds it and needs Python"
           " 3.11 or 3.13, and --blender PATH uses one that is installed elsewhere. Without it,"
           " --config draft renders, and BVH, C3D and ASF are read")
# What tools/system_libraries.sh installs, on Debian and Ubuntu.
SYSTEM_LIBRARIES = (
    "libgl1 libsm6 libice6 libxi6 libxkbcommon0 libxrender1 libxfixes3 libxt6 libxext6 libx11-6"
    " libgomp1 libegl1 libgl1-mesa-dri")
INSTALL_LIBRARIES = ("install the system libraries it needs, on Debian or Ubuntu: sudo apt-get"
                     f" install {SYSTEM_LIBRARIES}")
DOES_NOT_START = f"Blender does not start; {INSTALL_LIBRARIES}"
EXPECTED = ("expected Blender's program, a Python that has bpy, or the folder of its virtual"
            " environment")
# Starting over a network's file system takes long.
ANSWER_S = 120.0
# Without importing it, which takes seconds; a bpy that was built from source is no package.
_VERSION_OF_BPY = """
from importlib.metadata import PackageNotFoundError, version
try:
    print("bpy", version("bpy"))
except PackageNotFoundError:
    import bpy
    print("bpy", bpy.app.version_string)
"""
# The Blender of the request in hand, which threads and other requests do not see.
_chosen: ContextVar[Path | None] = ContextVar("blender", default=None)


@dataclass(frozen=True)
class Blender:
    """A Blender to run: ``version`` as in 5.0.1, ``path`` its program or a Python that has bpy.

    ``is_own`` says that it is this Python's.
    """

    path: Path
    version: str
    is_program: bool = False
    is_own: bool = False

    def command(self, module: str, *arguments: str) -> list[str]:
        """Return the command that runs a module of mimegen, as a file, in this Blender.

        The module finds its ``arguments`` by ``arguments_given``, and may import nothing but the
        standard library, NumPy and Blender's own modules.
        """
        file = str(source_file(module))
        if self.is_program:
            return [str(self.path), "--background", "--factory-startup", "--python-exit-code", "1",
                    "--python", file, "--", *arguments]
        bytecode = ["-B"] if sys.flags.dont_write_bytecode else []
        return [str(self.path), "-P", *bytecode, file, *arguments]

    def environment(self) -> dict[str, str]:
        """Return the environment to run it in, without the packages of this Python for another."""
        given = environment()
        if not self.is_own:
            folders = given.get("PYTHONPATH", "").split(os.pathsep)
            given["PYTHONPATH"] = os.pathsep.join(
                folder for folder in folders if folder and Path(folder) != PACKAGE.parent)
        return given

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers that compare."""
        return _number(self.version)


@contextmanager
def using_blender(path: Path | str | None) -> Iterator[None]:
    """Have all in this context use the Blender at ``path``; None changes nothing."""
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
    """Return this process's environment for a program that is to see the same data, Blender and
    kernels.
    """
    chosen = _chosen.get()
    named = {} if chosen is None else {BLENDER: str(chosen)}
    return with_libraries() | named | kernel_environment()


def find_blender() -> Blender | None:
    """Return the Blender to use, None where there is none that can be used.

    That is the one of ``using_blender``, of the environment, this Python's bpy, or the first
    ``blender`` on the PATH. Raises RequestError where one that was named cannot be used.
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
    """Return whether there is a Blender. Raises RequestError as ``find_blender``."""
    return find_blender() is not None


def require_blender(purpose: str) -> Blender:
    """Return the Blender to use. Raises RequestError, which names ``purpose``, for none."""
    found = find_blender()
    if found is None:
        raise RequestError(f"{purpose}: {INSTALL}{_on_path()[1]}")
    return found


def require_release(purpose: str, oldest: tuple[int, int]) -> Blender:
    """Return the Blender to use. Raises RequestError for none, or one older than ``oldest``."""
    found = require_blender(purpose)
    if found.number < oldest:
        raise RequestError(f"{purpose}: needs Blender {oldest[0]}.{oldest[1]} or later, and"
                           f" {found.path} is {found.version}")
    return found


def blender_version() -> str:
    """Return the version of Blender, without importing it. Raises RequestError for none."""
    return require_blender("rendering with Cycles").version


def _own() -> Blender | None:
    try:
        return Blender(Path(sys.executable), version("bpy"), is_own=True)
    except PackageNotFoundError:
        return None


def _on_path() -> tuple[Blender | None, str]:
    """Return the blender on the PATH, or None and why it cannot be used."""
    found = shutil.which("blender")
    if found is None:
        return None, ""
    try:
        return _blender_at(Path(found).absolute(), "PATH"), ""
    except RequestError as problem:
        return None, f" ({problem})"


def _blender_at(path: Path, named_by: str) -> Blender:
    """Return the Blender at a path. Raises RequestError, naming it, where it cannot be used."""
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
    """Return the program in a virtual environment's or Blender's own folder, or the path."""
    inside = [path / name for name in ("bin/python", "Scripts/python.exe", "blender",
                                       "blender.exe", "Contents/MacOS/Blender")]
    return next((file for file in inside if file.is_file()), path)


@lru_cache(maxsize=16)
def _asked(file: Path, _changed: int) -> Blender:
    """Ask a program what it is. Raises RequestError where it is no Blender that can be used."""
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
    """Return what a program prints. Raises RequestError where it does not start."""
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
    """Return one line that says which system library a program lacks, as its errors tell."""
    found = re.search(r"(?:ImportError|error while loading shared libraries): (\S+): cannot open"
                      r" shared object file", stderr)
    return None if found is None else (
        f"Blender does not load, because {found[1]} is missing; {INSTALL_LIBRARIES}")


def refuse_unloadable(purpose: str, stderr: bytes) -> None:
    """Raise RequestError where a process of Blender ended for want of a system library.

    ``stderr`` is what it wrote.
    """
    missing = missing_library(stderr.decode(errors="replace"))
    if missing:
        raise RequestError(f"{purpose}: {missing}")


def import_failure(problem: ImportError) -> str:
    """Return one line that says why bpy cannot be imported, and what to do."""
    if find_spec("bpy") is None:
        return INSTALL
    return f"Blender does not load ({problem}); {INSTALL_LIBRARIES}"
