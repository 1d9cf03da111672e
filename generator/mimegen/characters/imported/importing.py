"""Import characters from rigged FBX, GLB, glTF and VRM files."""

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mimegen.base.blender import blender_version, require_blender
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.characters.appendages import appendages
from mimegen.characters.arkit_shapes import shapes_of
from mimegen.characters.character import Character, Material, Mesh
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.helpers import ADDED, HELPERS
from mimegen.characters.imported.mesh import RawMesh, make_meshes, weight_by_joint, with_joints
from mimegen.characters.imported.pictures import with_pictures
from mimegen.characters.imported.skeleton import (
    FileJoints,
    find_placement,
    one_tree,
    with_tails,
    with_true_sides,
)
from mimegen.characters.rounding import rounded_material, rounded_mesh, rounded_skeleton
from mimegen.faces.words import arkit_names
from mimegen.motion import Skeleton
from mimegen.readers.blender_process import ReaderReply, load_answer, read_in_blender, save_answer
from mimegen.readers.files import buffers_beside, check_file
from mimegen.readers.gltf import GLTF_SUFFIXES, plain_gltf

SUFFIXES = (".fbx", ".glb", ".gltf", ".vrm")
# Heights in metres that are taken as they are.
PLAUSIBLE_HEIGHT = (0.5, 3.0)
# Materials less opaque than the first are invisible; than the second, transparent.
MIN_ALPHA, MOST_ALPHA = 0.02, 0.98
# What of materials is not shown.
NOT_SHOWN = {"glows": "the light that materials emit is not shown",
             "moved_picture": "pictures of materials may be misplaced, because the file moves them"}
logger = logging.getLogger(__name__)


def import_character(path: Path, cache: Path | None = None) -> Character:
    """Read a rigged figure and convert it to mimegen's convention.

    That is metres, Z up, facing -Y, the hips above the origin and the root of the skeleton, the
    soles on Z = 0. With a folder ``cache``, a second call does not start Blender. Changes
    and omissions are logged. Raises RequestError, in one line, for a file that is missing, damaged,
    or contains no skinned figure of one whole person.
    """
    rigged = read_rigged(path, cache)
    joints, meshes = _checked(path, rigged)
    unseen = _invisible(path, rigged)
    meshes = _without(meshes, unseen)
    tree = one_tree(joints, weight_by_joint(meshes, len(joints.names)), str(path))
    meshes = with_joints(meshes, tree.number)
    tree = with_true_sides(with_tails(tree, meshes))
    placement = find_placement(tree, meshes, PLAUSIBLE_HEIGHT, str(path))
    skeleton = rounded_skeleton(placement.skeleton(tree.skeleton))
    materials = [rounded_material(material) for material in _materials(rigged)]
    names = [material.name for material in materials]
    made = tuple(map(rounded_mesh, make_meshes(meshes, placement, names)))
    if not made:
        raise RequestError(f"{path}: has a skeleton but no faces to show")
    notes = (*_notes(rigged), *_alpha_notes(rigged, unseen), *tree.notes, *placement.notes,
             *_still_parts(skeleton, tree.roles.values()), *_missing_shapes(made))
    for note in notes:
        logger.warning("%s: %s", path.name, note)
    return Character(
        path.stem, skeleton, made, {material.name: material for material in materials},
        _fingerprint(skeleton, made, materials), f"imported from {path.name}",
        "as its owner states", notes=notes,
    )


def read_rigged(path: Path, cache: Path | None = None) -> ReaderReply:
    """Return the contents of a file (see ``blender/importing.py``), from the cache if possible.

    Raises RequestError like ``import_character``.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{path}: a rigged character is a file that ends in"
                           f" {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise RequestError(f"{path}: no such file")
    check_file(path)
    require_blender(str(path))
    kept = cache / f"{_key(path)}.npz" if cache else None
    found = load_answer(kept) if kept else None
    if found and _complete(found):
        return found
    with scratch_folder(cache) as folder:
        target = folder / "read.npz"
        plain = plain_gltf(path, folder) if path.suffix.lower() in GLTF_SUFFIXES else path
        read = with_pictures(path, read_in_blender(
            "mimegen.characters.imported.blender.importing", path, target, instead=plain))
        read.header["used_files"].update(
            {str(file.resolve()): _sha256(file) for file in buffers_beside(path)})
        if kept and _complete(read):
            save_answer(read, target)
            target.replace(kept)
    return read


def _complete(rigged: ReaderReply) -> bool:
    """Return whether all files that the figure refers to were found and are unchanged."""
    return not rigged.header["missing_pictures"] and all(
        _sha256(Path(name)) == digest for name, digest in rigged.header["used_files"].items()
    )


def _fingerprint(skeleton: Skeleton, meshes: tuple[Mesh, ...], materials: list[Material]) -> str:
    places = np.round([skeleton.heads, skeleton.tails], 6) + 0.0
    parts = (skeleton.names, skeleton.parents.tolist(), places.tolist(),
             fingerprint(meshes, materials))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _key(path: Path) -> str:
    """Return the digest of what a cached result depends on, except files that it refers to."""
    here = Path(__file__).parent
    code = [_sha256(here / "blender" / "importing.py"), _sha256(here / "pictures.py")]
    parts = (str(path.resolve()), _sha256(path), code, blender_version())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _checked(path: Path, rigged: ReaderReply) -> tuple[FileJoints, list[RawMesh]]:
    """Return the joints and the skinned meshes; raises RequestError for whatever the file lacks."""
    header, arrays = rigged.header, rigged.arrays
    if not header["joints"]:
        raise RequestError(f"{path}: contains no skeleton; expected a figure bound to an armature,"
                           " as Blender's automatic weights or Mixamo bind a bare mesh")
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
        raise RequestError(f"{path}: contains NaN or infinite coordinates; it is damaged")
    joints = FileJoints(_own_names(header["joints"]), arrays["parents"], arrays["heads"],
                        arrays["tails"], arrays["armature"])
    return joints, meshes


def _own_names(names: list[str]) -> tuple[str, ...]:
    """Return the joints' names, with those that equal mimegen's helper joints changed.

    They are kept if the helped joints also have mimegen's names. Otherwise a tool has renamed the
    bones of a figure that mimegen wrote, as VRM exporters do.
    """
    helped = {helper.joint for helper in HELPERS.values()}
    if {*ADDED, *helped} <= {*names}:
        return tuple(names)
    return tuple(f"{name} bone" if name in ADDED else name for name in names)


def _materials(rigged: ReaderReply) -> list[Material]:
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


def _invisible(path: Path, rigged: ReaderReply) -> list[int]:
    """Return the indices of materials that a glTF file makes invisible, unless all of them are.

    Opacity in FBX files is often wrong, so there it hides nothing.
    """
    entries = rigged.header["materials"]
    found = [number for number, entry in enumerate(entries) if entry["alpha"] < MIN_ALPHA]
    return found if path.suffix.lower() != ".fbx" and len(found) < len(entries) else []


def _without(meshes: list[RawMesh], materials: list[int]) -> list[RawMesh]:
    """Return the meshes without the faces of some materials, and without those left empty."""
    shown = [(mesh, ~np.isin(mesh.materials, materials)) for mesh in meshes]
    return [replace(mesh, corners=mesh.corners[kept], materials=mesh.materials[kept])
            for mesh, kept in shown if kept.any()] if materials else meshes


def _alpha_notes(rigged: ReaderReply, invisible: list[int]) -> list[str]:
    entries = rigged.header["materials"]
    hidden = [entries[number]["name"] for number in invisible]
    opaque = [entry["name"] for number, entry in enumerate(entries)
              if entry["alpha"] < MOST_ALPHA and number not in invisible]
    said = (("invisible in the file, left out", hidden),
            ("transparent in the file, shown opaque", opaque))
    return [f"materials {words}: {', '.join(names)}" for words, names in said if names]


def _notes(rigged: ReaderReply) -> list[str]:
    loose = [mesh["name"] for mesh in rigged.header["meshes"] if not mesh["skinned"]]
    notes = [f"picture {name} was not found beside it" for name in
             rigged.header["missing_pictures"]]
    colored = [mesh["name"] for mesh in rigged.header["meshes"]
               if mesh["skinned"] and mesh["colored"]]
    if colored:
        notes.append(f"colors at vertices are not shown: {', '.join(colored)}")
    for kind, words in NOT_SHOWN.items():
        found = [entry["name"] for entry in rigged.header["materials"] if entry[kind]]
        if found:
            notes.append(f"{words}: {', '.join(found)}")
    if loose:
        notes.append(f"left out, not bound to the skeleton: {', '.join(loose)}")
    return notes


def _missing_shapes(meshes: Sequence[Mesh]) -> list[str]:
    """Name the shape keys of a face that it lacks; none for a figure without a face."""
    shapes = {name for mesh in meshes for name in shapes_of(mesh)}
    missing = [name for name in arkit_names() if name not in shapes]
    return [f"has {len(shapes)} of ARKit's {len(arkit_names())} shape keys; these do not move:"
            f" {', '.join(missing)}"] if shapes and missing else []


def _still_parts(skeleton: Skeleton, body: Collection[int]) -> list[str]:
    """Name the joints that no motion moves, and what ground truth takes them for."""
    names = [skeleton.names[joint] for joint in appendages(skeleton, body)]
    return [f"do not move by themselves, and are labelled like the part that carries them:"
            f" {', '.join(names)}"] if names else []
