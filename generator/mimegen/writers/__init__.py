"""From motions in memory to files that other tools open."""

from collections.abc import Callable
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.characters.character import Character
from mimegen.motion import Motion
from mimegen.writers.bvh import to_bvh
from mimegen.writers.npz import to_npz
from mimegen.writers.scene import to_scene_file

__all__ = ["MOTION_SUFFIXES", "write_motion"]

MOTION_SUFFIXES = (".bvh", ".npz", ".fbx", ".glb")


def write_motion(path: Path, motion: Motion, character: Character | None = None) -> None:
    """Write a motion as BVH, NPZ, FBX or GLB, by the ending of ``path``.

    FBX and GLB also hold the skinned body of a ``character`` whose skeleton the motion has.
    Raises RequestError for another ending, or where Blender cannot write the file.
    """
    writers: dict[str, Callable[[], bytes]] = {
        ".bvh": lambda: to_bvh(motion).encode(),
        ".npz": lambda: to_npz(motion),
        ".fbx": lambda: to_scene_file(path, motion, character),
        ".glb": lambda: to_scene_file(path, motion, character),
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise RequestError(f"{path}: a motion is written as {', '.join(MOTION_SUFFIXES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    publish(path, writer())
