"""Measures of a head: eyes, skull, and the skin at given positions of the face."""

from dataclasses import dataclass

import numpy as np
import scipy

from mimegen.characters.body import Body
from mimegen.characters.character import Mesh
from mimegen.characters.surface import IntArray, clear_of, vertex_normals
from mimegen.motion.quaternions import FloatArray

# A position farther to the side of the nearest skin point than this, in metres, is not in front of
# the face.
FACE_REACH_M = 0.03


@dataclass(frozen=True, eq=False)
class HeadShape:
    """The measures of a head in the rest pose.

    ``centre`` (3,) lies in the middle of the skull at the height of the brows. ``unit`` is the
    height from the eyes to the crown, in metres. ``eyes`` (2, 3) are the eyeballs' centres, left
    first, with the radius ``eye_radius``.
    """

    body: Body
    centre: FloatArray
    unit: float
    eyes: FloatArray
    eye_radius: float

    def skull_radius(self, directions: FloatArray) -> FloatArray:
        """Return the skull's distance (N,) from the centre in unit directions (N, 3).

        Ears are left out; neighbours are weighted by inverse distance.
        """
        skin = np.unique(self.body.faces["body"])
        skin = skin[self.body.masks["ears"][skin] < 0.2]
        away = self.body.vertices[skin] - self.centre
        distance = np.linalg.norm(away, axis=1)
        near = (distance < 1.6 * self.unit) & (distance > 0.5 * self.unit)
        tree = scipy.spatial.cKDTree(away[near] / distance[near, None])
        gaps, found = tree.query(directions, k=8)
        shares = 1 / (gaps + 0.01) ** 2
        return np.asarray((shares * distance[near][found]).sum(1) / shares.sum(1))

    def on_face(self, across: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points (N, 3) and normals (N, 3) of the skin on the front of the face.

        ``across`` (N,) and ``up`` (N,) are their X and Z, in metres.
        """
        skin = np.unique(self.body.faces["body"])
        skin = skin[self.body.vertices[skin, 1] < self.centre[1] - 0.3 * self.unit]
        places = self.body.vertices[skin]
        normals = vertex_normals(self.body.vertices, self.body.faces["body"])[skin]
        outer = (normals[:, 1] < -0.15) & (np.abs(places[:, 2] - self.centre[2]) < self.unit)
        places, normals = places[outer], normals[outer]
        tree = scipy.spatial.cKDTree(places[:, [0, 2]])
        gaps, found = tree.query(np.stack([across, up], axis=1), k=5)
        shares = 1 / (gaps + 0.0015) ** 2
        shares = shares / shares.sum(axis=1, keepdims=True)
        depth = (shares * places[found, 1]).sum(axis=1)
        facing = np.einsum("nk,nka->na", shares, normals[found])
        facing = facing / np.linalg.norm(facing, axis=1, keepdims=True)
        return np.stack([across, depth, up], axis=1), facing

    def off_face(self, places: FloatArray, gap: float, down: float = 0.0) -> FloatArray:
        """Return positions (..., 3) moved to lie at least ``gap`` metres in front of the skin.

        Only skin above ``down`` units below the eyes counts.
        """
        skin = np.unique(self.body.faces["body"])
        skin = skin[self.body.vertices[skin, 2] > self.eyes[0, 2] - down * self.unit]
        normals = vertex_normals(self.body.vertices, self.body.faces["body"])[skin]
        flat = places.reshape(-1, 3)
        push = clear_of(flat, self.body.vertices[skin], normals, gap, FACE_REACH_M)
        return (flat + push).reshape(places.shape)

    def rigid(self, name: str, vertices: FloatArray, faces: IntArray,
              material: str, attributes: dict[str, FloatArray]) -> Mesh:
        """Return a mesh that follows the head joint alone."""
        joints = np.full((len(vertices), 1), self.body.skeleton.index["Head"], dtype=np.int32)
        return Mesh(name, vertices, faces, joints, np.ones((len(vertices), 1)), material,
                    attributes=attributes)


def head_shape(body: Body) -> HeadShape:
    """Return the measures of a body's head."""
    eyeballs = body.vertices[np.unique(body.faces["eyes"])]
    left = eyeballs[eyeballs[:, 0] > 0]
    centre_left = (left.max(axis=0) + left.min(axis=0)) / 2
    eyes = np.stack([centre_left, centre_left * np.array([-1.0, 1.0, 1.0])])
    skin = body.vertices[np.unique(body.faces["body"])]
    unit = float(skin[:, 2].max() - centre_left[2])
    high = skin[skin[:, 2] > centre_left[2] + 0.2 * unit]
    depth = (high[:, 1].max() + high[:, 1].min()) / 2
    centre = np.array([0.0, depth, centre_left[2] + 0.15 * unit])
    radius = float(np.ptp(left[:, 2]) / 2)
    eyes[:, 1] = left[:, 1].min() + radius
    return HeadShape(body, centre, unit, eyes, radius)


def grid_faces(rows: int, columns: int, closed: bool) -> IntArray:
    """Return the quads of a grid of vertices, row by row; ``closed`` joins last column to first."""
    across = columns if closed else columns - 1
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(across), indexing="ij")
    after = (column + 1) % columns
    corners = [row * columns + column, row * columns + after,
               (row + 1) * columns + after, (row + 1) * columns + column]
    return np.asarray(np.stack([corner.ravel() for corner in corners], axis=1), dtype=np.int32)
