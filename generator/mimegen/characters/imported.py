"""Characters that users bring: rigged FBX, GLB and glTF files."""

import hashlib
import json
import logging
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.build import fingerprint
from mimegen.characters.character import Character, Material
from mimegen.characters.imported_mesh import RawMesh, make_meshes, weight_by_joint, with_joints
from mimegen.characters.imported_skeleton import Joints, find_placement, one_tree, with_tails
from mimegen.errors import RequestError

SUFFIXES = (".fbx", ".glb", ".gltf")
PLAUSIBLE_HEIGHT = (0.5, 3.0)
SECONDS_TO_READ = 300
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class RiggedFile:
    """What Blender found in a file; see ``stage/blender_import.py`` for the header's entries."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    @property
    def complete(self) -> bool:
        """Whether every file that it refers to was found and is still the same."""
        return not self.header["missing_pictures"] and all(
            _sha256(Path(name)) == digest for name, digest in self.header["used_files"].items()
        )


def import_character(path: Path, cache: Path | None = None) -> Character:
    """Read a rigged figure and bring it to the house's convention.

    Metres, Z up, facing -Y, hips over the origin, the lowest vertex on Z = 0; the hips are the
    root. With a folder ``cache`` a second call does not start Blender. What was changed or left
    out is logged. Raises RequestError, one line, for a file that is missing, damaged, or holds no
    skinned figure of one whole person.
    """
    rigged = read_rigged(path, cache)
    joints, meshes = _checked(path, rigged)
    tree = one_tree(joints, weight_by_joint(meshes, len(joints.names)), str(path))
    meshes = with_joints(meshes, tree.number)
    tree = with_tails(tree, meshes)
    placement = find_placement(tree, meshes, PLAUSIBLE_HEIGHT, str(path))
    skeleton = placement.skeleton(tree.skeleton)
    materials = _materials(rigged)
    made = make_meshes(meshes, placement, [material.name for material in materials])
    if not made:
        raise RequestError(f"{path}: has a skeleton but no faces to show")
    for note in (*_notes(rigged), *tree.notes, *placement.notes):
        logger.warning("%s: %s", path.name, note)
    return Character(
        path.stem, skeleton, made, {material.name: material for material in materials},
        fingerprint(made, materials), f"imported from {path.name}", "as its owner states",
    )


def read_rigged(path: Path, cache: Path | None = None) -> RiggedFile:
    """Return what a file holds, from the cache or by a Blender process of its own.

    Raises RequestError as ``import_character``.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{path}: a rigged character is a file that ends in .fbx, .glb or .gltf")
    if not path.is_file():
        raise RequestError(f"{path}: there is no such file")
    kept = cache / f"{_key(path)}.npz" if cache else None
    if kept and kept.is_file():
        rigged = _load(kept)
        if rigged and rigged.complete:
            return rigged
    if cache:
        cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".reading-") as folder:
        target = Path(folder) / "read.npz"
        _run_blender(path, target)
        rigged = _load(target)
        if rigged is None:
            raise RequestError(f"{path}: Blender's answer about it cannot be read; try again")
        if kept and rigged.complete:
            target.replace(kept)
    return rigged


def _run_blender(path: Path, target: Path) -> None:
    command = [sys.executable, "-m", "mimegen.stage.blender_import", str(path.resolve()),
               str(target)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_READ, check=False,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as problem:
        raise RequestError(
            f"{path}: Blender did not finish reading it in {SECONDS_TO_READ} s; it may be damaged"
        ) from problem
    if done.returncode == 0 and target.is_file():
        return
    if done.returncode < 0:
        raise RequestError(
            f"{path}: Blender crashed while reading it (signal {-done.returncode});"
            " the file is damaged or of a kind it does not know, export it again"
        )
    said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines()]
    reasons = [line for line in said if line and not line.startswith("Location:")]
    reason = reasons[-1] if reasons else "no reason given"
    reason = re.split(r"Error: |Cannot import file .*: ", reason)[-1].strip(" '\"")[:200]
    raise RequestError(f"{path}: Blender cannot read it ({reason}); export it again as FBX or GLB")


def _key(path: Path) -> str:
    """Return what a cached reading depends on, but for the files that the file refers to."""
    code = Path(__file__).parents[1] / "stage" / "blender_import.py"
    parts = (str(path.resolve()), _sha256(path), _sha256(code), version("bpy"))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _load(path: Path) -> RiggedFile | None:
    """Return a reading, or None where the archive is damaged."""
    try:
        with np.load(path, allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        return RiggedFile(json.loads(arrays.pop("header").tobytes()), arrays)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError):
        return None


def _checked(path: Path, rigged: RiggedFile) -> tuple[Joints, list[RawMesh]]:
    """Return the joints and the skinned meshes, or say what the file lacks."""
    header, arrays = rigged.header, rigged.arrays
    if not header["joints"]:
        raise RequestError(f"{path}: holds no skeleton; expected a figure bound to an armature")
    meshes = [
        RawMesh.of(mesh["name"], arrays, number)
        for number, mesh in enumerate(header["meshes"]) if mesh["skinned"]
    ]
    meshes = [mesh for mesh in meshes if len(mesh.vertices) and len(mesh.weights)]
    if not meshes:
        held = "meshes that are not bound to it" if header["meshes"] else "no mesh"
        raise RequestError(
            f"{path}: has a skeleton but no body ({held}); export the figure with its skin"
        )
    if not any(len(mesh.corners) for mesh in meshes):
        raise RequestError(f"{path}: has a skeleton but its body has no faces")
    numbers = [arrays["heads"], arrays["tails"],
               *(a for m in meshes for a in (m.vertices, m.weights, m.uvs) if a is not None)]
    if not all(np.isfinite(array).all() for array in numbers):
        raise RequestError(f"{path}: holds coordinates that are not numbers; it is damaged")
    joints = Joints(tuple(header["joints"]), arrays["parents"], arrays["heads"], arrays["tails"],
                    arrays["armature"])
    return joints, meshes


def _materials(rigged: RiggedFile) -> list[Material]:
    made = []
    for entry in rigged.header["materials"]:
        parameters: dict[str, float | str | tuple[float, ...]] = {
            "color": tuple(entry["color"]), "roughness": entry["roughness"],
            "metallic": entry["metallic"],
        }
        picture = entry.get("picture")
        image = None if picture is None else rigged.arrays[f"picture_{picture}"].tobytes()
        made.append(Material(entry["name"], "plain" if image is None else "image", parameters,
                             image))
    return made


def _notes(rigged: RiggedFile) -> list[str]:
    loose = [mesh["name"] for mesh in rigged.header["meshes"] if not mesh["skinned"]]
    notes = [f"picture {name} was not found beside it" for name in
             rigged.header["missing_pictures"]]
    if loose:
        notes.append(f"left out, not bound to the skeleton: {', '.join(loose)}")
    return notes
