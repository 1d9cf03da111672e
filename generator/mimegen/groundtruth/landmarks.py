"""The landmarks of keypoints: their positions on a character and depths below its surface."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.characters.character import Character
from mimegen.characters.face_units import POINTS
from mimegen.groundtruth.parts import PARTS, vertex_parts
from mimegen.groundtruth.rays import around_origin
from mimegen.groundtruth.surface import character_roles
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.framing import sphere_directions
from mimegen.shots.skinning import SkinMatrix

# For landmarks on the surface: a surface up to this far in front of one does not hide it.
SKIN_M = 0.02
# For joints, the same distance as a multiple of the median distance from joint to surface.
FLESH = 1.5
# Positions of facial landmarks from the head's joint, in lengths of the head's bone; means of three
# people.
FACE = {
    "nose": (0.0, -0.73, 0.26),
    "left_eye": (0.146, -0.58, 0.45), "right_eye": (-0.146, -0.58, 0.45),
    "left_ear": (0.39, -0.10, 0.36), "right_ear": (-0.39, -0.10, 0.36),
}
# The axis along which a landmark lies on the surface, and on which side; 0 is its own side.
BESIDE = {"nose": (1, -1.0), "eye": (1, -1.0), "ear": (0, 0.0)}
# Kinds of materials of figures that users import. Their faces are not known.
IMPORTED = ("plain", "image")
# The outermost points of a foot or shoe in these directions: forwards, to the other foot, down.
FOOT = {"big_toe": (1.0, 0.3, 0.0), "small_toe": (0.5, -1.0, 0.0), "heel": (-1.0, 0.0, 0.3)}
# Directions to the surface are sampled by cones with this half angle, as its cosine.
_CONE_COSINE = np.cos(np.radians(20.0))


class _Landmark(Strict):
    joints: tuple[str, ...] = ()
    surface: str | None = None


class _LandmarkFile(Strict):
    landmarks: Mapping[str, _Landmark] = Field(min_length=1)


class _FaceFile(Strict):
    source: str
    points: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Landmarks:
    """A character's landmarks, by ``names`` (K,).

    ``matrix`` (K, 4 J) maps joint columns to their positions; ``defined`` (K,) says which of them
    the character has. A landmark counts as visible if only body parts in ``flesh`` (K, 25) are in
    front of it, by at most ``depth_m`` (K,). ``vertices`` (K,) are the indices of the character's
    vertices that landmarks coincide with, or -1.
    """

    names: tuple[str, ...]
    matrix: SkinMatrix
    defined: NDArray[np.bool_]
    depth_m: FloatArray
    flesh: NDArray[np.bool_]
    vertices: NDArray[np.intp]


def landmarks_of(character: Character) -> Landmarks:
    """Return the landmarks of rigs/keypoints/landmarks.yaml and face68.yaml on a character."""
    entries = read_yaml(data_file("rigs/keypoints/landmarks.yaml"), _LandmarkFile).landmarks
    face = read_yaml(data_file("rigs/keypoints/face68.yaml"), _FaceFile)
    body = _RestBody(character, character_roles(character))
    found = [body.point(entry) for entry in entries.values()] + body.face(face)
    empty = np.zeros(4 * len(character.skeleton.names))
    rows = np.stack([empty if point is None else point.row for point in found])
    names = (*entries, *(f"face_{number}" for number in range(len(face.points))))
    return Landmarks(
        names, sparse.csr_matrix(rows.astype(np.float32)),
        np.array([point is not None for point in found]),
        np.array([0.0 if point is None else point.depth_m for point in found]),
        np.stack([body.flesh_about(point) for point in found]),
        np.array([-1 if point is None else point.vertex for point in found]))


@dataclass(frozen=True, eq=False)
class _Point:
    """A landmark: position at rest, row (4 J,) of a skin matrix, and ``depth_m`` of ``Landmarks``.

    If ``vertex`` is not -1, the landmark moves with that vertex of the character instead.
    """

    place: FloatArray
    row: FloatArray
    depth_m: float
    vertex: int = -1


class _RestBody:
    """Finds landmarks on a character in its rest pose."""

    def __init__(self, character: Character, roles: Mapping[str, str]) -> None:
        self._skeleton, self._roles = character.skeleton, roles
        self._meshes = character.meshes
        self._eyes = [mesh for mesh in character.meshes
                      if character.materials[mesh.material].kind == "eye"]
        self._skins = [mesh for mesh in character.meshes
                       if character.materials[mesh.material].kind == "skin"]
        self._imported = all(material.kind in IMPORTED for material in character.materials.values())
        self._vertices = np.concatenate([mesh.vertices for mesh in character.meshes])
        self._parts = vertex_parts(character.meshes, character.skeleton, roles)
        self._strongest = np.concatenate([
            mesh.joints[np.arange(len(mesh.joints)), mesh.weights.argmax(axis=1)]
            for mesh in character.meshes])

    def point(self, entry: _Landmark) -> _Point | None:
        """Return the landmark of an entry; None if the character does not have it."""
        if entry.surface is None:
            return self._between(entry.joints)
        if entry.surface in FACE:
            return self._of_face(entry.surface)
        side, _, name = entry.surface.partition("_")
        return self._of_foot(side, FOOT[name])

    def face(self, face: _FaceFile) -> list[_Point | None]:
        """Return the points of a face; all None if the skin was not made from the base mesh."""
        head, first = self._end("head"), 0
        for mesh in self._meshes:
            if head is not None and mesh in self._skins and POINTS in mesh.attributes:
                index = {int(point): number for number, point in enumerate(mesh.attributes[POINTS])}
                found = [index.get(point) for point in face.points]
                return [None if number is None else _Point(
                    mesh.vertices[number], _row(self._skeleton, head[0], mesh.vertices[number]),
                    SKIN_M, first + number) for number in found]
            first += len(mesh.vertices)
        return [None] * len(face.points)

    def flesh_about(self, point: _Point | None) -> NDArray[np.bool_]:
        """Return which parts of the body (25,) are around a point at rest, within its depth."""
        about = np.zeros(len(PARTS) + 1, np.bool_)
        if point is not None:
            away = np.linalg.norm(self._vertices - point.place, axis=1)
            about[self._parts[away < max(point.depth_m, away.min() + 1e-6)]] = True
        return about

    def _between(self, ends: tuple[str, ...]) -> _Point | None:
        points = [self._end(end) for end in ends]
        known = [point for point in points if point is not None]
        if len(known) < len(ends):
            return None
        row = np.mean([_row(self._skeleton, *point) for point in known], axis=0)
        place = np.mean([place for _, place in known], axis=0)
        return _Point(place, row, FLESH * self._way_out(place))

    def _end(self, end: str) -> tuple[int, FloatArray] | None:
        role, _, tail = end.partition(".")
        joint = self._skeleton.index.get(self._roles.get(role, ""))
        if joint is None:
            return None
        return joint, (self._skeleton.tails if tail else self._skeleton.heads)[joint]

    def _way_out(self, place: FloatArray) -> float:
        """Return the median distance, over all directions, from inside a body to its surface."""
        away = self._vertices - place
        reach = np.linalg.norm(away, axis=1)
        # No joint is more than 0.4 m below the surface; farther vertices would only cost time.
        near = reach < 0.4
        cosines = (away[near] / np.maximum(reach[near, None], 1e-9)) @ sphere_directions(64).T
        first = np.where(cosines > _CONE_COSINE, reach[near, None], np.inf).min(axis=0,
                                                                                initial=np.inf)
        # The median and not the mean, because distances through an open mouth or a sleeve can be
        # much longer.
        return float(np.median(first[np.isfinite(first)])) if np.isfinite(first).any() else SKIN_M

    def _of_face(self, name: str) -> _Point | None:
        head = self._end("head")
        if head is None:
            return None
        joint, start = head
        bone = float(np.linalg.norm(self._skeleton.tails[joint] - start))
        guess = start + bone * np.array(FACE[name])
        place = self._on_face(name, guess, bone)
        return _Point(place, _row(self._skeleton, joint, place), SKIN_M)

    def _on_face(self, name: str, guess: FloatArray, bone: float) -> FloatArray:
        """Return the point of the surface for a facial landmark near ``guess``.

        Returns ``guess`` itself if the character has no face, or no surface near it.
        """
        if self._imported:
            return self._outermost(guess, *BESIDE[name.rpartition("_")[2]], 0.5 * bone)
        meshes = self._eyes if name.endswith("eye") else self._skins
        if not self._eyes or not meshes:
            return guess
        places = np.concatenate([mesh.vertices for mesh in meshes])
        near = places[np.linalg.norm(places - guess, axis=1) < 0.25 * bone]
        if not len(near):
            return guess
        if name.endswith("ear"):
            # The outermost vertices near the guess are the ear's rim; take their mean, so that no
            # single vertex decides.
            out = np.abs(near[:, 0])
            return np.asarray(near[out > out.max() - 0.06 * bone].mean(axis=0))
        # Characters face -Y, so the vertex with the smallest Y is at the front.
        return np.asarray(near[near[:, 1].argmin()])

    def _outermost(self, guess: FloatArray, axis: int, side: float, limit: float) -> FloatArray:
        """Return ``guess`` moved along a world axis to the outermost skin of the head.

        ``side`` is 1 or -1, or 0 for the side where ``guess`` is. Without skin within ``limit``
        metres, it is ``guess`` itself.
        """
        side = side or float(np.sign(guess[axis]))
        flat = [each for each in range(3) if each != axis]
        corners = self._head_corners() - guess
        hit, weights = around_origin(*corners[..., flat].transpose(2, 1, 0))
        depths = (weights * corners[hit, :, axis].T).sum(axis=0) * side
        near = depths[np.abs(depths) < limit]
        moved = guess.copy()
        moved[axis] += side * (near.max() if len(near) else 0.0)
        return moved

    def _head_corners(self) -> FloatArray:
        """Return the corners (T, 3, 3) of the triangles that the head and its joints move."""
        head = self._skeleton.index[self._roles["head"]]
        own = self._skeleton.below([head])
        start, corners = 0, []
        for mesh in self._meshes:
            triangles = np.concatenate([mesh.faces[:, :3], mesh.faces[mesh.faces[:, 3] >= 0][
                :, [0, 2, 3]]])
            moved = np.isin(self._strongest[start:start + len(mesh.vertices)], own)
            corners.append(mesh.vertices[triangles[moved[triangles].all(axis=1)]])
            start += len(mesh.vertices)
        return np.concatenate(corners)

    def _of_foot(self, side: str, towards: tuple[float, float, float]) -> _Point | None:
        foot = self._end(f"{side}_foot")
        if foot is None:
            return None
        toe = self._end(f"{side}_toe")
        joints = [foot[0]] if toe is None else [foot[0], toe[0]]
        there = self._vertices[np.isin(self._strongest, joints)]
        if not len(there):
            return None
        forwards, inwards, down = towards
        other = -1.0 if side == "left" else 1.0
        # The farthest vertex along a direction is on the outline of any kind of shoe.
        place = there[(there @ [other * inwards, -forwards, -down]).argmax()]
        # The heel follows the foot's joint, toes follow the toe's.
        joint = foot[0] if toe is None or forwards < 0 else toe[0]
        return _Point(place, _row(self._skeleton, joint, place), SKIN_M)


def _row(skeleton: Skeleton, joint: int, place: FloatArray) -> FloatArray:
    """Return the row (4 J,) of a skin matrix for a position (3,) that moves with a joint."""
    row = np.zeros(4 * len(skeleton.names))
    row[4 * joint:4 * joint + 4] = [*place, 1.0]
    return row
