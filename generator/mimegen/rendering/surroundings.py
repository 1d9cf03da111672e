"""Environment maps: equirectangular pictures that light a figure, read by Blender."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimegen.base.blender import ANSWER_S, refuse_unloadable, require_blender
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.motion.quaternions import FloatArray

SUFFIXES = (".exr", ".hdr")
# The largest accepted file, in MiB.
MAX_MIB = 512


@dataclass(frozen=True, eq=False)
class EnvironmentMap:
    """An environment map: its file, and its linear light (H, W, 3), bottom row first.

    ``light`` is reduced to a coarse grid of mean values; ``file`` has the full resolution.
    """

    file: Path
    light: FloatArray


def read_environment_map(what: str) -> EnvironmentMap:
    """Return the environment map of a file, or of one of Blender's studio lights given by name.

    Raises RequestError, with one line, if there is no Blender, the file is missing or too big, or
    Blender cannot read it.
    """
    title = f"--light {what}"
    file = Path(what)
    if file.suffix and not file.is_file():
        raise RequestError(f"{title}: no such file")
    if file.suffix and file.stat().st_size > MAX_MIB * 2**20:
        raise RequestError(f"{title}: has more than {MAX_MIB} MiB; save it smaller")
    blender = require_blender(title)
    with scratch_folder() as folder:
        target = folder / "light.npz"
        command = blender.command("mimegen.rendering.cycles.surroundings", what, str(target))
        try:
            done = subprocess.run(command, capture_output=True, timeout=ANSWER_S, check=False,
                                  stdin=subprocess.DEVNULL, env=blender.environment())
        except subprocess.TimeoutExpired:
            raise RequestError(f"{title}: Blender did not read it in {ANSWER_S:g} s; save it"
                               " smaller") from None
        refuse_unloadable(title, done.stderr)
        if done.returncode != 0 or not target.is_file():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise RequestError(f"{title}: {said[-1][:200] if said else 'Blender cannot read it'}")
        with np.load(target, allow_pickle=False) as packed:
            return EnvironmentMap(Path(str(packed["place"])), packed["light"])
