"""Write a body in one pose as a mesh file for modelling programs and viewers, with trimesh."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.srgb import encoded
from mimegen.motion.quaternions import FloatArray

MESH_SUFFIXES = (".glb", ".stl", ".obj", ".ply")
# glTF has Y up: (x, y, z) becomes (x, z, -y).
Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])


@dataclass(frozen=True)
class ColoredMesh:
    """A named surface: vertices (V, 3) in metres, triangles (T, 3), linear colors (V, 3)."""

    name: str
    vertices: FloatArray
    triangles: NDArray[np.int32]
    colors: FloatArray


def write_meshes(path: Path, meshes: Sequence[ColoredMesh]) -> int:
    """Write meshes as GLB (Y up, one node for each), STL (no colors), OBJ or PLY (Z up), metres.

    Returns the number of triangles written. Raises RequestError for another suffix.
    """
    kind = path.suffix.lower()
    if kind not in MESH_SUFFIXES:
        raise RequestError(f"{path}: a body is written as {', '.join(MESH_SUFFIXES)}; name --out"
                           " accordingly")
    made = {f"{number:02d}_{mesh.name}": _trimesh(mesh) for number, mesh in enumerate(meshes)}
    # Any, because trimesh's exports are typed only in part.
    whole: Any = trimesh.util.concatenate(list(made.values()))
    if kind == ".glb":
        whole = trimesh.Scene()
        for name, mesh in made.items():
            whole.add_geometry(mesh, geom_name=name, node_name=name, transform=Y_UP)
        content = whole.export(file_type="glb", tree_postprocessor=_double_sided)
    else:
        content = whole.export(file_type=kind[1:])
    publish(path, content.encode() if isinstance(content, str) else bytes(content))
    return sum(len(mesh.faces) for mesh in made.values())


def _double_sided(tree: dict[str, Any]) -> None:
    """Make viewers draw both sides of open surfaces such as clothes and hair."""
    tree["materials"] = [{"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0}}]
    for mesh in tree["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["material"] = 0


def _trimesh(mesh: ColoredMesh) -> trimesh.Trimesh:
    colors = np.round(255 * np.clip(encoded(mesh.colors), 0, 1)).astype(np.uint8)
    faces = _facing_out(mesh.vertices, _with_area(mesh.vertices[mesh.triangles], mesh.triangles))
    return trimesh.Trimesh(mesh.vertices, faces, vertex_colors=colors, process=False)


def _with_area(corners: FloatArray, triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the triangles with three different corners; poles of grids are rows of equal points.
    """
    a, b, c = corners.swapaxes(0, 1)
    together = (a == b).all(axis=1) | (b == c).all(axis=1) | (c == a).all(axis=1)
    return np.asarray(triangles[~together])


def _facing_out(vertices: FloatArray, triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the triangles, with those of inside-out parts reversed.

    Bodies have such parts (eyeballs, soles), because renderers here draw both sides. A connected
    part is inside out if its signed volume is negative. The volume is taken about the part's own
    mean, so that an opening such as a sleeve's adds little; trimesh's ``fix_inversion`` takes it
    about the origin.
    """
    ends = triangles[:, [1, 2]].ravel(), np.repeat(triangles[:, 0], 2)
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(len(vertices),) * 2)
    part = connected_components(graph, directed=False)[1]
    sums = np.stack([np.bincount(part, column) for column in vertices.T], 1)
    middles = (sums / np.bincount(part)[:, None])[part]
    a, b, c = (vertices - middles)[triangles].swapaxes(0, 1)
    of_triangle = part[triangles[:, 0]]
    volumes = np.bincount(of_triangle, (np.cross(a, b) * c).sum(axis=1))
    return np.where((volumes < 0)[of_triangle, None], triangles[:, ::-1], triangles)
