"""Paths of mimegen's own modules and data, and of users' libraries."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

# Environment variable with library folders, separated as in PATH.
LIBRARIES = "MIMEGEN_LIBRARY"
# The library folders of the current request, not visible to threads and other requests.
_chosen: ContextVar[tuple[Path, ...] | None] = ContextVar("libraries", default=None)
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def data_folder() -> Path:
    """Return the folder with mimegen's rigs/, mocap/, scenes/ and so on.

    In a checkout it is the repository; in an installed package, its ``data`` folder.
    """
    checkout = PACKAGE.parent.parent
    return checkout if (checkout / "render_configs").is_dir() else PACKAGE / "data"


def user_libraries() -> tuple[Path, ...]:
    """Return the user's library folders: those of ``using_libraries``, or the environment's."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    named = os.environ.get(LIBRARIES, "").split(os.pathsep)
    return tuple(Path(library) for library in named if library)


@contextmanager
def using_libraries(libraries: Sequence[Path]) -> Iterator[None]:
    """Use these library folders within this context; an empty sequence changes nothing."""
    if not libraries:
        yield
        return
    before = _chosen.get()
    use_libraries(libraries)
    try:
        yield
    finally:
        _chosen.set(before)


def use_libraries(libraries: Sequence[Path]) -> None:
    """Use these library folders from now on, as in a new process."""
    _chosen.set(tuple(library.resolve() for library in libraries))


def with_libraries() -> dict[str, str]:
    """Return this process's environment, extended so that a subprocess uses the same libraries."""
    return os.environ | {LIBRARIES: os.pathsep.join(map(str, user_libraries()))}


def data_folders() -> tuple[Path, ...]:
    """Return mimegen's data folder and the user's libraries; later ones override earlier ones."""
    return (data_folder(), *user_libraries())


def data_file(name: str) -> Path:
    """Return the data file with this relative path, such as ``mocap/life.yaml``.

    Call it with a string literal: ``code_key`` finds the literal and covers the file.
    """
    found = (folder / name for folder in reversed(user_libraries()) if (folder / name).is_file())
    return next(found, None) or _own_file(name)


# Cached, because some of these files are asked for a thousand times in a performance.
@cache
def _own_file(name: str) -> Path:
    return data_folder() / name


def data_files(pattern: str) -> tuple[Path, ...]:
    """Return the data files that match a pattern, such as ``rigs/dot_sets/*.yaml``, sorted.

    Call it with a string literal, as ``data_file``.
    """
    found = {file.relative_to(folder).as_posix(): file
             for folder in data_folders() for file in folder.glob(pattern)}
    return tuple(file for _, file in sorted(found.items()))


def source_file(module: str) -> Path:
    """Return the file of a module of this package, such as ``mimegen.base.paths``."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
