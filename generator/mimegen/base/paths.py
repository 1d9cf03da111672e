"""Where things lie: mimegen's own modules and data, and what users keep in their libraries."""

import os
from functools import cache
from pathlib import Path

# Folders like mimegen's own one, parted as in PATH. Processes that are started inherit it.
LIBRARIES = "MIMEGEN_LIBRARY"
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def data_folder() -> Path:
    """Return the folder that holds mimegen's rigs/, mocap/, scenes/ and the like.

    In a checkout that is the repository; in an installed package its own ``data`` folder.
    """
    checkout = PACKAGE.parent.parent
    return checkout if (checkout / "render_configs").is_dir() else PACKAGE / "data"


def data_folders() -> tuple[Path, ...]:
    """Return mimegen's own data folder and the user's libraries; later ones hide namesakes."""
    libraries = os.environ.get(LIBRARIES, "").split(os.pathsep)
    return (data_folder(), *(Path(library) for library in libraries if library))


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
