"""Write FBX, GLB and USD with Blender, in a separate process."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.blender import refuse_unloadable, require_release
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.characters.character import Character, Mesh
from mimegen.motion import Motion

SECONDS_TO_WRITE = 300
# First Blender release that creates the channel bags which hold an action's curves.
OLDEST_WRITER = (5, 0)
GRAY = (0.5, 0.5, 0.5)


def to_scene_file(path: Path, motion: Motion, character: Character | None) -> bytes:
    """Return the content of an FBX, GLB or USD file, by the ending of ``path``.

    Raises RequestError if Blender is not installed, is too old, or cannot write the file.
    """
    blender = require_release(str(path), OLDEST_WRITER)
    with scratch_folder() as folder:
        source, target = folder / "scene.npz", folder / f"scene{path.suffix.lower()}"
        _pack(source, path.stem, motion, character)
        command = blender.command("mimegen.writers.blender.export", str(source), str(target))
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_WRITE,
                                  check=False, stdin=subprocess.DEVNULL,
                                  env=blender.environment() | {"TMPDIR": str(folder)})
        except subprocess.TimeoutExpired as problem:
            raise RequestError(f"{path}: Blender did not finish writing it in {SECONDS_TO_WRITE}"
                               " s; write fewer frames") from problem
        refuse_unloadable(str(path), done.stderr)
        if done.returncode != 0 or not target.is_file():
            output = done.stderr.decode(errors="replace").strip().splitlines()
            reason = output[-1][:200] if output else "no reason given"
            raise RequestError(f"{path}: Blender could not write it ({reason})")
        return target.read_bytes()


def _pack(target: Path, name: str, motion: Motion, character: Character | None) -> None:
    skeleton, meshes = motion.skeleton, character.meshes if character else ()
    header = {
        "name": name, "fps": motion.fps, "names": skeleton.names,
        "meshes": [{"name": mesh.name, "color": _color(mesh, character)} for mesh in meshes],
    }
    arrays: dict[str, Any] = {
        "parents": skeleton.parents, "heads": skeleton.heads, "tails": skeleton.tails,
        "root_positions": motion.root_positions, "rotations": motion.rotations,
    }
    for number, mesh in enumerate(meshes):
        arrays |= {f"{number}_vertices": mesh.vertices, f"{number}_faces": mesh.faces,
                   f"{number}_joints": mesh.joints, f"{number}_weights": mesh.weights}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with target.open("wb") as opened:
        np.savez(opened, header=text, **arrays)


def _color(mesh: Mesh, character: Character | None) -> tuple[float, ...]:
    """Return one linear color for a mesh, because other tools do not know the stage's shaders."""
    if "color" in mesh.attributes:
        return tuple(float(value) for value in mesh.attributes["color"][:, :3].mean(axis=0))
    parameters = character.materials[mesh.material].parameters if character else {}
    color = parameters.get("color", GRAY)
    return color[:3] if isinstance(color, tuple) else GRAY
