"""Write motions to files that other tools open."""

from collections.abc import Callable
from pathlib import Path

from mimegen.base.files import publish
from mimegen.characters.character import Character
from mimegen.motion import Motion
from mimegen.writers.bvh import to_bvh
from mimegen.writers.formats import FORMATS, MOTION_SUFFIXES, checked_format, format_of
from mimegen.writers.npz import to_npz
from mimegen.writers.research import (
    to_humanml_joints,
    to_humanml_vectors,
    to_smplx,
    to_soma,
    to_trc,
)
from mimegen.writers.scene import to_scene_file
from mimegen.writers.vrma import to_vrma

__all__ = ["FORMATS", "MOTION_SUFFIXES", "checked_format", "format_of", "write_motion"]


def write_motion(path: Path, motion: Motion, character: Character | None = None) -> None:
    """Write a motion in the format that the ending of ``path`` selects (``FORMATS``).

    FBX, GLB and USD can also hold the skinned body of a ``character`` whose skeleton the motion
    has. SMPL-X, SOMA, HumanML3D, TRC and VRMA prescribe skeletons, to which the motion is
    transferred. Raises RequestError for another ending, or if Blender cannot write the file.
    """
    writers: dict[str, Callable[[], bytes]] = {
        "bvh": lambda: to_bvh(motion).encode(), "npz": lambda: to_npz(motion),
        **dict.fromkeys(("fbx", "glb", "usd"), lambda: to_scene_file(path, motion, character)),
        "smplx": lambda: to_smplx(motion), "soma": lambda: to_soma(motion),
        "humanml3d": lambda: to_humanml_joints(motion),
        "humanml3d-vectors": lambda: to_humanml_vectors(motion),
        "trc": lambda: to_trc(motion, path.name), "vrma": lambda: to_vrma(motion),
    }
    writer = writers[checked_format(path)]
    path.parent.mkdir(parents=True, exist_ok=True)
    publish(path, writer())
