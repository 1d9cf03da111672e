"""A character's meshes in OpenGL buffers, posed frame by frame."""

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import moderngl
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse

from mimegen.characters.character import Character, Mesh
from mimegen.characters.posing import corrections_of
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.looks import MeshLook, look_of
from mimegen.rendering.opengl.wrinkles import BodyWrinkles
from mimegen.shots.skinning import BodySkin, SkinMatrix, skin_matrix
from mimegen.shots.surface_points import surface_matrix

NUMBERS = "f4"
# Kinds of material whose back faces can be culled, because their meshes are closed. Others cannot:
# the insides of sleeves are visible, users' own bodies may be open anywhere, and eyeballs' faces
# point inwards, so that culling would show the sockets.
CLOSED_KINDS = {"skin", "painted", "light"}


class RasterBody:
    """One character: its vertices and normals are posed by one matrix; their looks never change."""

    def __init__(self, context: moderngl.Context, character: Character, cell_m: float,
                 wrinkles: bool = False) -> None:
        self._character, self._cell_m = character, cell_m
        meshes = [_split_at_seams(mesh) for mesh in character.meshes]
        looks = [look_of(mesh, character.materials[mesh.material]) for mesh in meshes]
        matrix = _skin(meshes, looks, len(character.skeleton.names))
        self._skin = BodySkin(matrix, corrections_of(character, meshes, normals=True))
        self.size = matrix.shape[0] // 2
        self.places = context.buffer(reserve=self.size * 12, dynamic=True)
        self.normals = context.buffer(reserve=self.size * 12, dynamic=True)
        shown = [np.concatenate([look.color, look.glow, look.shine], axis=1) for look in looks]
        self.looks = context.buffer(np.concatenate(shown).astype(NUMBERS).tobytes())
        self.parts = _parts(context, character, meshes)
        self.wrinkles = (BodyWrinkles(context, character, meshes) or None) if wrinkles else None

    @cached_property
    def surface(self) -> SkinMatrix:
        """The matrix of the points that cast the shadow, as ``surface_matrix`` returns it."""
        return surface_matrix(self._character, self._cell_m)

    def pose(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """Pose the body by the joint columns (4 J, 3) of a frame; return its vertices (V, 3)."""
        posed = self._skin.posed(columns)
        self.places.write(posed[:self.size])
        self.normals.write(posed[self.size:])
        if self.wrinkles is not None:
            self.wrinkles.pose(columns)
        return posed[:self.size]


class DrawnPart:
    """Triangles drawn by one call, with their texture if they have one.

    If ``two_sided``, they are also visible from behind.
    """

    def __init__(self, context: moderngl.Context, triangles: NDArray[np.int32], two_sided: bool,
                 uvs: FloatArray | None = None, image: moderngl.Texture | None = None) -> None:
        self.two_sided = two_sided
        self.index = context.buffer(np.ascontiguousarray(triangles, np.int32).tobytes())
        self.uvs = None if uvs is None else context.buffer(uvs.astype(NUMBERS).tobytes())
        self.image = image


def triangles_of(faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """Split quads and triangles (F, 4), with -1 as the fourth corner of triangles, into (T, 3)."""
    # The halves of a quad follow each other, so that the GPU shades shared corners only once.
    both = faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    return both[both[:, 2] >= 0]


def _skin(meshes: Sequence[Mesh], looks: Sequence[MeshLook], joints: int) -> SkinMatrix:
    """Return the matrix (2 V, 4 J) that poses all vertices, followed by all normals."""
    turned = np.tile(np.array([1, 1, 1, 0], np.float32), joints)
    places = [skin_matrix(mesh, joints) for mesh in meshes]
    normals = [skin_matrix(replace(mesh, vertices=look.normals), joints) @ sparse.diags(turned)
               for mesh, look in zip(meshes, looks, strict=True)]
    matrix = sparse.csr_matrix(sparse.vstack([*places, *normals]), dtype=np.float32)
    matrix.eliminate_zeros()
    return matrix


def _split_at_seams(mesh: Mesh) -> Mesh:
    """Duplicate vertices at texture seams, so that each has one coordinate, ``uv`` (V, 2)."""
    if mesh.uvs is None:
        return mesh
    used = mesh.faces >= 0
    corners = np.column_stack([mesh.faces[used], mesh.uvs[used]])
    kinds, numbers = np.unique(corners, axis=0, return_inverse=True)
    old = kinds[:, 0].astype(int)
    faces = np.full_like(mesh.faces, -1)
    faces[used] = numbers.ravel()
    attributes = {name: values[old] for name, values in mesh.attributes.items()}
    attributes["uv"] = kinds[:, 1:]
    return replace(mesh, vertices=mesh.vertices[old], faces=faces, joints=mesh.joints[old],
                   weights=mesh.weights[old], uvs=None, attributes=attributes)


def _parts(context: moderngl.Context, character: Character, meshes: Sequence[Mesh]
          ) -> list[DrawnPart]:
    """Return the parts to draw: untextured meshes joined by sidedness, each textured one alone."""
    plain: dict[bool, list[NDArray[np.int32]]] = {}
    worn = []
    first, total = 0, sum(len(mesh.vertices) for mesh in meshes)
    for mesh in meshes:
        triangles = triangles_of(mesh.faces) + first
        material = character.materials[mesh.material]
        two_sided, image = material.kind not in CLOSED_KINDS, material.image
        if image is None or "uv" not in mesh.attributes:
            plain.setdefault(two_sided, []).append(triangles)
        else:
            uvs = np.zeros((total, 2))
            uvs[first:first + len(mesh.vertices)] = mesh.attributes["uv"]
            worn.append(DrawnPart(context, triangles, two_sided, uvs, texture(context, image)))
        first += len(mesh.vertices)
    return [*(DrawnPart(context, np.concatenate(of), sided) for sided, of in plain.items()), *worn]


def texture(context: moderngl.Context, image: bytes) -> moderngl.Texture:
    """Return an encoded picture as a texture."""
    with Image.open(io.BytesIO(image)) as picture:
        # In texture coordinates V points up, but pictures have their top row first.
        rgba = picture.convert("RGBA").transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    texture = context.texture(rgba.size, 4, rgba.tobytes())
    texture.build_mipmaps()
    return texture
