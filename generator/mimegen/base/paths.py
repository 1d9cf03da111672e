"""Where things lie: mimegen's own modules and data, and what users keep in their libraries."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

# The environment's name for library folders, separated as in PATH.
LIBRARIES = "MIMEGEN_LIBRARY"
# The library folders of the request in hand, which threads and other requests do not see.
_chosen: ContextVar[tuple[Path, ...] | None] = ContextVar("libraries", default=None)
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def data_folder() -> Path:
    """Return the folder that holds mimegen's rigs/, mocap/, scenes/ and the like.

    In a checkout that is the repository; in an installed package its own ``data`` folder.
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
    """Have all that reads data in this context see these library folders; none changes nothing.
    """
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
    """Have all that reads data from now on see these library folders, as in a new process."""
    _chosen.set(tuple(library.resolve() for library in libraries))


def with_libraries() -> dict[str, str]:
    """Return this process's environment for a program that is to see the same libraries."""
    return os.environ | {LIBRARIES: os.pathsep.join(map(str, user_libraries()))}


def data_folders() -> tuple[Path, ...]:
    """Return mimegen's own data folder and the user's libraries; later ones hide namesakes."""
    return (data_folder(), *user_libraries())


def data_file(name: str) -> Path:
    """Return the data file with this path in its folder, as ``mocap/life.yaml``.

    To be called with the text itself: ``code_key`` finds it there and covers the file.
    """
    own, *libraries = data_folders()
    found = (folder / name for folder in reversed(libraries) if (folder / name).is_file())
    return next(found, own / name)


def data_files(pattern: str) -> tuple[Path, ...]:
    """Return the data files whose paths fit a pattern, as ``rigs/dot_sets/*.yaml``, by path.

    To be called with the text itself, as ``data_file``.
    """
    found = {file.relative_to(folder).as_posix(): file
             for folder in data_folders() for file in folder.glob(pattern)}
    return tuple(file for _, file in sorted(found.items()))


def source_file(module: str) -> Path:
    """Return the file that holds a module of this package, as ``mimegen.base.paths``."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
