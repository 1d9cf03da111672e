"""The performers' bodies behind their dots: posed surfaces, true occlusion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from mimegen.characters.character import Performance
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import Dots, sampled
from mimegen.pointlight.view import View
from mimegen.stage.skinning import SkinMatrix, joint_columns, skin_matrix, skinned

# A light sits on the skin about a joint. It is seen where the first surface on the way to it lies
# within this many times the joint's depth under the skin.
REACH = 1.5
REACH_SLACK_M = 0.02
_POSES_FOR_REACH = 8


@dataclass(frozen=True, eq=False)
class Body:
    """A performer's surface over time, as one mesh of triangles (T, 3)."""

    skin: SkinMatrix
    columns: NDArray[np.float32]
    triangles: NDArray[np.intp]

    def vertices(self, frame: int) -> FloatArray:
        """Return the vertices (V, 3) in one frame."""
        posed = skinned(self.skin, self.columns[:, 3 * frame:3 * frame + 3])
        return np.asarray(posed[0], float)


def posed_body(performance: Performance, moments: FloatArray) -> Body:
    """Return a performance's surface at fractional frame numbers (N,)."""
    character, pose = performance.character, performance.motion.global_pose
    last = performance.motion.frames - 1
    before = np.clip(moments.astype(int), 0, max(last - 1, 0))
    after = np.minimum(before + 1, last)
    rotations = quaternions.slerp(pose.rotations[before], pose.rotations[after],
                                  (moments - before)[:, None])
    columns = joint_columns(character.skeleton, sampled(pose.positions, moments), rotations)
    joints = len(character.skeleton.names)
    triangles, first = [], 0
    for mesh in character.meshes:
        corners = mesh.faces[:, [0, 2, 3]][mesh.faces[:, 3] >= 0]
        triangles += [mesh.faces[:, :3] + first, corners + first]
        first += len(mesh.vertices)
    skin = sparse.vstack([skin_matrix(mesh, joints) for mesh in character.meshes], format="csr")
    return Body(skin, columns, np.concatenate(triangles).astype(np.intp))


def hidden_dots(dots: Dots, view: View, bodies: Sequence[Body]) -> NDArray[np.bool_]:
    """Return which dots (F, D) in the world are hidden behind a body, as in a filmed display.

    A ray from the eye to the dot meets the triangle that its pixel lies in; the dot is hidden where
    that is nearer than the dot by more than the dot's reach.
    """
    seen = view.project(dots.places)
    reach = _reaches(dots, bodies)
    hidden = np.zeros(seen.shape[:2], dtype=bool)
    for frame in range(dots.frames):
        for body in bodies:
            nearest = first_surface(_projected(body, view, frame), body.triangles, seen[frame])
            hidden[frame] |= nearest < seen[frame, :, 2] - reach
    return hidden


def _projected(body: Body, view: View, frame: int) -> FloatArray:
    return np.asarray(view.at(frame).project(body.vertices(frame)[None])[0])


def _reaches(dots: Dots, bodies: Sequence[Body]) -> FloatArray:
    """Return how far (D,) in front of a dot its own skin may lie, in metres."""
    frames = np.unique(np.linspace(0, dots.frames - 1, _POSES_FOR_REACH).astype(int))
    depths = np.empty((len(frames), dots.count))
    for row, frame in enumerate(frames):
        for person, body in enumerate(bodies):
            own = dots.performers == person
            depths[row, own] = cKDTree(body.vertices(frame)).query(dots.places[frame, own])[0]
    return np.asarray(REACH * np.median(depths, axis=0) + REACH_SLACK_M)


def first_surface(vertices: FloatArray, triangles: NDArray[np.intp],
                  points: FloatArray) -> FloatArray:
    """Return the depth (D,) of the first triangle over each point (D, 3) of the picture.

    ``vertices`` (V, 3) are pixels and depth. Infinite where there is no triangle.
    """
    corners = vertices.astype(np.float32)[triangles]
    low, high = corners[..., :2].min(axis=1), corners[..., :2].max(axis=1)
    flat = points[:, None, :2].astype(np.float32)
    dot, triangle = np.nonzero((low <= flat).all(axis=-1) & (flat <= high).all(axis=-1))
    a, b, c = np.moveaxis(vertices[triangles[triangle]], 1, 0)
    p = points[dot]
    area = _cross(b - a, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        v, w = _cross(p - a, c - a) / area, _cross(b - a, p - a) / area
    depth = a[:, 2] + v * (b - a)[:, 2] + w * (c - a)[:, 2]
    inside = (v >= 0) & (w >= 0) & (v + w <= 1)
    nearest = np.full(len(points), np.inf)
    np.minimum.at(nearest, dot[inside], depth[inside])
    return nearest


def _cross(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])


def outlines(bodies: Sequence[Body], view: View, frames: int) -> Iterator[list[FloatArray]]:
    """Yield, frame by frame, each body's triangles in the picture (T, 3, 2), in pixels."""
    for frame in range(frames):
        yield [_projected(body, view, frame)[body.triangles][..., :2] for body in bodies]
