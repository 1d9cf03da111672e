"""Make Cycles load its kernels from a folder of links that includes the prepared kernels."""

import os
import tempfile
from pathlib import Path

import bpy

from mimegen.base.kernel_folder import kernel_folder
from mimegen.rendering.kernels import CyclesFolder, linked, prepared_in


def folder_of_kernels() -> Path | None:
    """Return a new folder of links to Cycles' files and to the kernels prepared for this Blender.

    Returns None if no kernel is prepared. Raises RequestError for a damaged one.
    """
    cache = kernel_folder()
    if not any(cache.glob("blender-*")):
        return None
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    folder = CyclesFolder(scripts / "addons_core" / "cycles", ".".join(map(str, bpy.app.version)))
    prepared = prepared_in(cache, folder)
    return linked(folder, prepared, Path(tempfile.mkdtemp()) / "cycles") if prepared else None


def use_folder(place: Path | None) -> None:
    """Make Cycles look for its kernels in a folder; with None, change nothing.

    Call this after loading Blender's factory settings, which reset the folder to Blender's own.
    """
    if place is None:
        return
    import _cycles

    config = Path(os.path.abspath(bpy.utils.user_resource("CONFIG", path="")))  # noqa: PTH100
    # The same call as in Blender's Cycles add-on.
    _cycles.init(str(place), str(config.parent), True)
