"""Has Cycles look for its kernels in a folder of links, with the prepared ones among them."""

import os
import tempfile
from pathlib import Path

import bpy

from mimegen.base.kernel_folder import kernel_folder
from mimegen.rendering.kernels import CyclesFolder, linked, prepared_in


def folder_of_kernels() -> Path | None:
    """Return a folder of links to Cycles' files and the kernels prepared for this Blender.

    It is None without any. Raises RequestError for prepared kernels that are damaged.
    """
    cache = kernel_folder()
    if not any(cache.glob("blender-*")):
        return None
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    folder = CyclesFolder(scripts / "addons_core" / "cycles", ".".join(map(str, bpy.app.version)))
    prepared = prepared_in(cache, folder)
    return linked(folder, prepared, Path(tempfile.mkdtemp()) / "cycles") if prepared else None


def use_folder(place: Path | None) -> None:
    """Have Cycles look for its kernels in a folder; None changes nothing.

    Blender's factory settings set its own folder again, so this comes after them.
    """
    if place is None:
        return
    import _cycles

    config = Path(os.path.abspath(bpy.utils.user_resource("CONFIG", path="")))  # noqa: PTH100
    # As Blender's own add-on does.
    _cycles.init(str(place), str(config.parent), True)
