"""Pose the performers' bodies behind their dots, and find the dots that they hide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Performance
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks, sampled
from mimegen.pointlight.turn import Turn
from mimegen.pointlight.view import View, view_from
from mimegen.shots.skinning import BodySkin, body_skin, joint_columns

# A light sits on the skin around a joint. It is visible if the first surface on the line to the
# joint is the light's own skin: not much farther from the joint than the skin usually is, over
# views from all sides. A dot's reach is REACH times this quantile of the distances, plus a slack
# (m).
REACH = 1.75
REACH_SLACK_M = 0.02
REACH_QUANTILE = 0.4
# Number of frames, and of views in each, from which these distances are measured.
_REACH_POSES = 4
_REACH_SIDES = 8


@dataclass(frozen=True, eq=False)
class BodySurface:
    """A performer's surface over time, as one mesh.

    ``faces`` (Q, 4) repeat the last corner for triangles; ``columns`` are as returned by
    `joint_columns`.
    """

    skin: BodySkin
    columns: NDArray[np.float32]
    faces: NDArray[np.intp]

    @cached_property
    def triangles(self) -> NDArray[np.intp]:
        """The faces as triangles (T, 3)."""
        whole = self.faces[self.faces[:, 2] != self.faces[:, 3]]
        return np.concatenate([self.faces[:, :3], whole[:, [0, 2, 3]]])

    def vertices(self, frame: int) -> FloatArray:
        """Return the vertices (V, 3) in one frame."""
        return np.asarray(self.skin.posed(self.columns[:, 3 * frame:3 * frame + 3]), float)


def posed_body(performance: Performance, moments: FloatArray, turns: Sequence[Turn] = ()
               ) -> BodySurface:
    """Return a performance's surface at fractional frame numbers (N,), turned in the world."""
    character, pose = performance.character, performance.motion.global_pose
    last = performance.motion.frames - 1
    before = np.clip(moments.astype(int), 0, max(last - 1, 0))
    after = np.minimum(before + 1, last)
    rotations = quaternions.slerp(pose.rotations[before], pose.rotations[after],
                                  (moments - before)[:, None])
    positions = sampled(pose.positions, moments)
    for turn in turns:
        positions, rotations = turn.points(positions), turn.rotations(rotations)
    columns = joint_columns(character.skeleton, positions, rotations)
    faces, first = [], 0
    for mesh in character.meshes:
        whole = np.where(mesh.faces < 0, mesh.faces[:, [2]], mesh.faces)
        faces.append(whole.astype(np.intp) + first)
        first += len(mesh.vertices)
    return BodySurface(body_skin(character), columns, np.concatenate(faces))


def hidden_dots(dots: DotTracks, view: View, bodies: Sequence[BodySurface]) -> NDArray[np.bool_]:
    """Return a mask (F, D) of the dots in the world that are hidden behind a body, as if filmed.

    A ray from the viewer to the dot meets the triangle that covers the dot's pixel. The dot is
    hidden if that triangle is nearer than the dot by more than the dot's reach.
    """
    seen = view.project(dots.positions)
    reach = skin_reaches(dots, bodies)
    hidden = np.zeros(seen.shape[:2], dtype=bool)
    for frame in range(dots.frames):
        for body in bodies:
            nearest = first_surface(_projected(body, view, frame), body.triangles, seen[frame])
            hidden[frame] |= nearest < seen[frame, :, 2] - reach
    return hidden


def _projected(body: BodySurface, view: View, frame: int) -> FloatArray:
    return np.asarray(view.at(frame).project(body.vertices(frame)[None])[0])


def skin_reaches(dots: DotTracks, bodies: Sequence[BodySurface]) -> FloatArray:
    """Return how far (D,) in front of a dot its own skin may lie, in metres."""
    reaches = np.zeros(dots.count)
    frames = np.unique(np.linspace(0, dots.frames - 1, _REACH_POSES).astype(int))
    for person, body in zip(dots.people, bodies, strict=True):
        depths = []
        for frame in frames:
            vertices = body.vertices(frame)
            for side in range(_REACH_SIDES):
                turn = quaternions.conjugate(view_from(360 * side / _REACH_SIDES, 0.0))
                away = np.array([1.0, 1.0, -1.0])
                seen = quaternions.rotate(turn, dots.positions[frame, person]) * away
                around = quaternions.rotate(turn, vertices) * away
                depths.append(seen[:, 2] - first_surface(around, body.triangles, seen))
        usual = np.quantile(np.maximum(depths, 0.0), REACH_QUANTILE, axis=0)
        reaches[person] = REACH * usual + REACH_SLACK_M
    return reaches


def first_surface(vertices: FloatArray, triangles: NDArray[np.intp],
                  points: FloatArray) -> FloatArray:
    """Return the depth (D,) of the nearest triangle over each point (D, 3) of the picture.

    ``vertices`` (V, 3) are pixels and depth. The depth is infinite where there is no triangle.
    """
    near = np.ones((len(points), len(triangles)), dtype=bool)
    for axis in range(2):
        one, two, three = vertices[triangles.T, axis]
        at = points[:, [axis]]
        near &= np.minimum(np.minimum(one, two), three) <= at
        near &= at <= np.maximum(np.maximum(one, two), three)
    dot, triangle = np.nonzero(near)
    a, b, c = vertices[triangles[triangle].T]
    p = points[dot]
    area = _cross(b - a, c - a)
    flat = np.where(area == 0, 1.0, area)
    v, w = _cross(p - a, c - a) / flat, _cross(b - a, p - a) / flat
    depth = a[:, 2] + v * (b - a)[:, 2] + w * (c - a)[:, 2]
    inside = (area != 0) & (v >= 0) & (w >= 0) & (v + w <= 1)
    nearest = np.full(len(points), np.inf)
    np.minimum.at(nearest, dot[inside], depth[inside])
    return nearest


def _cross(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])


def outlines(bodies: Sequence[BodySurface], view: View, frames: int) -> Iterator[list[FloatArray]]:
    """Yield for each frame each body's faces towards the viewer (Q, 4, 2), in pixels."""
    for frame in range(frames):
        shapes = []
        for body in bodies:
            a, b, c, d = corners = _projected(body, view, frame)[body.faces.T, :2]
            # Faces are counterclockwise seen from outside; the picture's y axis points down.
            shapes.append(corners[:, _cross(c - a, d - b) < 0].swapaxes(0, 1))
        yield shapes
