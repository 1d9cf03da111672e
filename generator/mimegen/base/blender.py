"""Whether Blender is installed, and one line for users where it is not or does not start.

Blender is the package bpy, which ``pip install 'mimegen[render]'`` adds. It is never imported here:
it runs in processes of its own.
"""

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from mimegen.base.errors import RequestError

INSTALL = ("Blender is not installed here; pip install 'mimegen[render]' adds it and needs Python"
           " 3.11 or 3.13. Without it, --config draft renders, and BVH, C3D and ASF are read")
# What tools/system_libraries.sh installs, on Debian and Ubuntu.
SYSTEM_LIBRARIES = (
    "libgl1 libsm6 libice6 libxi6 libxkbcommon0 libxrender1 libxfixes3 libxt6 libxext6 libx11-6"
    " libgomp1 libegl1 libgl1-mesa-dri")
INSTALL_LIBRARIES = ("install the system libraries it needs, on Debian or Ubuntu: sudo apt-get"
                     f" install {SYSTEM_LIBRARIES}")
DOES_NOT_START = f"Blender does not start; {INSTALL_LIBRARIES}"


def blender_is_installed() -> bool:
    """Return whether this Python has the package bpy."""
    return find_spec("bpy") is not None


def require_blender(purpose: str) -> None:
    """Raise RequestError, which names ``purpose``, where Blender is not installed."""
    if not blender_is_installed():
        raise RequestError(f"{purpose}: {INSTALL}")


def blender_version() -> str:
    """Return the version of the installed bpy, without importing it.

    Raises RequestError where there is none.
    """
    try:
        return version("bpy")
    except PackageNotFoundError:
        raise RequestError(f"rendering with Cycles: {INSTALL}") from None


def refuse_unloadable(purpose: str, stderr: bytes) -> None:
    """Raise RequestError where a process of Blender ended for want of a system library.

    ``stderr`` is what it wrote.
    """
    found = re.search(rb"ImportError: (\S+): cannot open shared object file", stderr)
    if found:
        raise RequestError(f"{purpose}: Blender does not load, for {found[1].decode()} is missing;"
                           f" {INSTALL_LIBRARIES}")


def import_failure(problem: ImportError) -> str:
    """Return one line that says why bpy cannot be imported, and what to do."""
    if not blender_is_installed():
        return INSTALL
    return f"Blender does not load ({problem}); {INSTALL_LIBRARIES}"
