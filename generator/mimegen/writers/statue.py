"""A body in one pose as a file for modelling programs, printers and viewers, by trimesh."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import trimesh
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.srgb import encoded
from mimegen.writers.piece import Piece

STATUE_SUFFIXES = (".glb", ".stl", ".obj", ".ply")
# glTF has Y up: (x, y, z) becomes (x, z, -y).
Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])


def write_statue(path: Path, pieces: Sequence[Piece]) -> int:
    """Write pieces as GLB (Y up, one mesh for each), STL (no colors), OBJ or PLY (Z up), metres.

    Returns how many triangles it wrote. Raises RequestError for another ending.
    """
    kind = path.suffix.lower()
    if kind not in STATUE_SUFFIXES:
        raise RequestError(f"{path}: a body is written as {', '.join(STATUE_SUFFIXES)}; name --out"
                           " accordingly")
    made = {f"{number:02d}_{piece.name}": _mesh(piece) for number, piece in enumerate(pieces)}
    # Of trimesh's export not all is typed.
    whole: Any = _joined(list(made.values()))
    if kind == ".glb":
        whole = trimesh.Scene()
        for name, mesh in made.items():
            whole.add_geometry(mesh, geom_name=name, node_name=name, transform=Y_UP)
        content = whole.export(file_type="glb", tree_postprocessor=_seen_from_behind)
    else:
        content = whole.export(file_type=kind[1:])
    publish(path, content.encode() if isinstance(content, str) else bytes(content))
    return sum(len(mesh.faces) for mesh in made.values())


def _seen_from_behind(tree: dict[str, Any]) -> None:
    """Have viewers draw both sides of sheets, as clothes and hair are."""
    tree["materials"] = [{"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0}}]
    for mesh in tree["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["material"] = 0


def _joined(meshes: Sequence[trimesh.Trimesh]) -> trimesh.Trimesh:
    return cast(trimesh.Trimesh, trimesh.util.concatenate(list(meshes)))


def _mesh(piece: Piece) -> trimesh.Trimesh:
    colors = np.round(255 * np.clip(encoded(piece.colors), 0, 1)).astype(np.uint8)
    return trimesh.Trimesh(piece.vertices, _with_area(piece), vertex_colors=colors, process=False)


def _with_area(piece: Piece) -> NDArray[np.int32]:
    """Return the triangles whose corners lie apart: poles of grids are rows of one place."""
    a, b, c = piece.vertices[piece.triangles].swapaxes(0, 1)
    together = (a == b).all(axis=1) | (b == c).all(axis=1) | (c == a).all(axis=1)
    return np.asarray(piece.triangles[~together])


@dataclass(frozen=True)
class Findings:
    """What a file's meshes are like, and what may be wrong with them, in words.

    ``height_m`` is the extent along the axis that the format has upwards.
    """

    meshes: int
    vertices: int
    triangles: int
    height_m: float
    open_edges: int
    problems: tuple[str, ...]


# Heights of people, and of people whose file is in centimetres or in inches.
PERSON_M, METRE_IN = (0.5, 3.0), (("centimetres", 0.01), ("millimetres", 0.001), ("inches", 0.0254))


def examine(path: Path) -> Findings:
    """Return what trimesh finds in a GLB, glTF, PLY, OBJ or STL file.

    Raises RequestError, naming the file, for what it cannot read and for files without a surface.
    """
    if not path.is_file():
        raise RequestError(f"{path}: no such file; expected GLB, glTF, PLY, OBJ or STL")
    try:
        scene = trimesh.load_scene(path)
        meshes = [mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh)]
    except Exception as problem:
        raise RequestError(f"{path}: not a readable mesh ({' '.join(str(problem).split())});"
                           " expected GLB, glTF, PLY, OBJ or STL") from problem
    if not any(len(mesh.faces) for mesh in meshes):
        raise RequestError(f"{path}: contains no triangles; check that the file is complete")
    whole = _joined(meshes)
    whole.merge_vertices(merge_tex=True, merge_norm=True)
    up = 1 if path.suffix.lower() in (".glb", ".gltf") else 2
    height = float(np.ptp(whole.vertices[:, up]))
    opened = _opened(whole, meshes)
    return Findings(len(meshes), len(whole.vertices), len(whole.faces), height,
                    sum(opened.values()), tuple(_problems(whole, height, opened)))


def _opened(whole: trimesh.Trimesh, meshes: Sequence[trimesh.Trimesh]) -> dict[str, int]:
    """Return how many edges have a triangle on one side only, by their meshes' names, most first.
    """
    edge = np.asarray(whole.edges_unique_inverse)
    alone = np.flatnonzero(np.bincount(edge)[edge] == 1)
    faces = np.asarray(whole.edges_face)[alone]
    of_face = np.repeat(np.arange(len(meshes)), [len(mesh.faces) for mesh in meshes])
    counts = np.bincount(of_face[faces], minlength=len(meshes))
    return {str(meshes[number].metadata.get("name", number)): int(counts[number])
            for number in np.argsort(-counts, kind="stable") if counts[number]}


def _problems(mesh: trimesh.Trimesh, height_m: float, opened: dict[str, int]) -> list[str]:
    problems = []
    if not np.isfinite(mesh.vertices).all():
        problems.append("some vertices are NaN or infinite")
    if not PERSON_M[0] <= height_m <= PERSON_M[1]:
        meant = next((f"; in {name} it would be {height_m * size:.2f} m" for name, size in METRE_IN
                      if PERSON_M[0] <= height_m * size <= PERSON_M[1]), "")
        problems.append(f"{height_m:.4g} m tall is no person's height{meant}")
    if opened:
        named = ", ".join(f"{name} {count}" for name, count in opened.items())
        problems.append(f"not watertight: {sum(opened.values())} edges have a triangle on one side"
                        f" only ({named}): clothes, hair and other sheets look right so, printers"
                        " need them closed (mimegen character export --solid)")
    if not mesh.is_winding_consistent:
        problems.append("neighbouring triangles face opposite ways")
    flat = int((mesh.area_faces < 1e-12).sum())
    if flat:
        problems.append(f"{flat} triangles have no area")
    return problems
