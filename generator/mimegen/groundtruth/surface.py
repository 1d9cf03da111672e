"""All performers of a shot as one surface of triangles, posed frame by frame."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse

from mimegen.characters.character import Character, Material, Mesh
from mimegen.groundtruth.parts import vertex_parts
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles
from mimegen.shots.figures import Figure
from mimegen.shots.skinning import BodySkin, SkinMatrix, body_skin, joint_columns

IntArray = NDArray[np.intp]
UV = "corner uv"


@dataclass(frozen=True, eq=False)
class Cutout:
    """Triangles ``first`` to ``end`` (exclusive), with holes where ``image`` is transparent."""

    first: int
    end: int
    image: bytes


@dataclass(frozen=True, eq=False)
class SceneMeshes:
    """The meshes of all performers, one after another.

    ``triangles`` (T, 3) are vertex indices. ``persons``, ``parts`` and ``garments`` (V,) label each
    vertex with its person, part of the body, and garment in ``garment_names``, all counted from 1.
    A triangle has the labels of its last vertex. ``uvs`` (V, 2) are texture coordinates in the
    images of ``cutouts``.
    """

    skins: tuple[BodySkin, ...]
    triangles: IntArray
    persons: NDArray[np.uint8]
    parts: NDArray[np.uint8]
    garments: NDArray[np.uint8]
    garment_names: tuple[str, ...]
    uvs: FloatArray
    cutouts: tuple[Cutout, ...]

    @property
    def labels(self) -> NDArray[np.uint8]:
        """Person, part and garment (V, 3) of each vertex."""
        return np.stack([self.persons, self.parts, self.garments], axis=1)


def surface_of(characters: Sequence[Character]) -> SceneMeshes:
    """Return the surface of characters in a scene."""
    skins = tuple(body_skin(character, _unrolled(character).meshes) for character in characters)
    characters = [_unrolled(character) for character in characters]
    meshes = [mesh for character in characters for mesh in character.meshes]
    persons = [number for number, character in enumerate(characters, 1)
               for _ in character.meshes]
    names = tuple(dict.fromkeys(mesh.name for mesh in meshes))
    sizes = [len(mesh.vertices) for mesh in meshes]
    starts = np.cumsum([0, *sizes])
    return SceneMeshes(
        skins=skins,
        triangles=np.concatenate([_triangles(mesh.faces) + start
                                  for mesh, start in zip(meshes, starts, strict=False)]),
        persons=np.repeat(np.array(persons, np.uint8), sizes),
        parts=np.concatenate([_parts(character) for character in characters]),
        garments=np.repeat(np.array([names.index(mesh.name) + 1 for mesh in meshes], np.uint8),
                           sizes),
        garment_names=names,
        uvs=np.concatenate([mesh.attributes.get(UV, np.zeros((len(mesh.vertices), 2)))
                            for mesh in meshes]),
        cutouts=tuple(_cutouts(characters)))


def _has_holes(material: Material) -> bool:
    if material.image is None:
        return False
    with Image.open(io.BytesIO(material.image)) as image:
        alpha = np.asarray(image.convert("RGBA"))[..., 3]
    # Alpha is a cut-out here, not a degree of transparency: below half is a hole.
    return bool((alpha < 128).any())


def _unrolled(character: Character) -> Character:
    """Return a character whose meshes with holes have a separate vertex for each face corner."""
    meshes = tuple(
        _with_own_corners(mesh) if mesh.uvs is not None
        and _has_holes(character.materials[mesh.material]) else mesh for mesh in character.meshes)
    return replace(character, meshes=meshes)


def _with_own_corners(mesh: Mesh) -> Mesh:
    used = mesh.faces >= 0
    old = mesh.faces[used]
    faces = np.full_like(mesh.faces, -1)
    faces[used] = np.arange(len(old))
    assert mesh.uvs is not None, "only meshes that wear pictures have holes"
    return replace(mesh, vertices=mesh.vertices[old], faces=faces, joints=mesh.joints[old],
                   weights=mesh.weights[old], uvs=None, attributes={UV: mesh.uvs[used]})


def _cutouts(characters: Sequence[Character]) -> Iterator[Cutout]:
    first = 0
    for character in characters:
        for mesh in character.meshes:
            end = first + len(_triangles(mesh.faces))
            image = character.materials[mesh.material].image
            if UV in mesh.attributes and image is not None:
                yield Cutout(first, end, image)
            first = end


def character_roles(character: Character) -> Mapping[str, str]:
    """Return the names of the character's joints by role."""
    return find_roles(character.skeleton).joints


def _parts(character: Character) -> NDArray[np.uint8]:
    return vertex_parts(character.meshes, character.skeleton, character_roles(character))


def _triangles(faces: NDArray[np.int32]) -> IntArray:
    # A quad is divided along the diagonal from its first corner.
    quads = faces[faces[:, 3] >= 0]
    triangles: IntArray = np.concatenate([faces[:, :3], quads[:, [0, 2, 3]]]).astype(np.intp)
    return triangles


class PosedScene:
    """The performers' surface, posed in any frame; the latest frames are cached."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self.figures = tuple(figures)
        self.characters = [figure.character for figure in figures]
        self.surface = surface_of(self.characters)
        self.frames = len(figures[0].positions)
        # Flow needs the frame before and the frame after, too; four hold these and one more.
        self._posed = lru_cache(maxsize=4)(self._pose)
        self._at_corners = _at_corners(self.surface)

    def vertices(self, frame: int) -> NDArray[np.float32]:
        """Return all vertices (V, 3) of a frame, clamped to the first and last, in the world."""
        return self._posed(min(max(frame, 0), self.frames - 1))

    def normals(self, frame: int) -> FloatArray:
        """Return unit normals (V, 3) of the posed surface, weighted by the triangles' areas."""
        # Cross products are as long as twice the triangle's area, which makes them the weights.
        first, second, third = np.moveaxis(self.vertices(frame)[self.surface.triangles], 1, 0)
        summed = self._at_corners @ np.cross(second - first, third - first)
        return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-20))

    def columns(self, figure: Figure, frame: int) -> NDArray[np.float32]:
        """Return a figure's joint columns (4 J, 3) in a frame."""
        return joint_columns(figure.character.skeleton, figure.positions[frame, None],
                             figure.rotations[frame, None])

    def _pose(self, frame: int) -> NDArray[np.float32]:
        return np.concatenate([
            skin.posed(self.columns(figure, frame))
            for skin, figure in zip(self.surface.skins, self.figures, strict=True)])


def _at_corners(surface: SceneMeshes) -> SkinMatrix:
    """Return the matrix (V, T) that sums, for each vertex, values of its triangles."""
    corners = surface.triangles.ravel()
    return sparse.csr_matrix(
        (np.ones(len(corners), np.float32), (corners, np.repeat(
            np.arange(len(surface.triangles)), 3))),
        shape=(len(surface.persons), len(surface.triangles)))
