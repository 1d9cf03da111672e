"""Shape units: the movements of a face, stored as rotations of extra joints on the head.

A carrier joint's rotation vector holds the values of three units of one side. So every operation
that keeps, mirrors or blends a motion treats the face alike. ``FaceMove`` reads the values back
when surfaces are posed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.easing import ramp
from mimegen.base.paths import data_file
from mimegen.base.vectors import product
from mimegen.characters.bake import read_bake
from mimegen.characters.character import Character, Mesh, Places
from mimegen.faces.words import SIDES, units_file
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Names of joints that carry units: side, this word, number.
CARRIER = "Face"
# Rotation of a carrier, in radians, for a unit at 1; three units together stay below half a turn.
RAD = 0.7
# Units with smaller values are ignored.
MIN_VALUE = 0.002
# Below this angle, in radians, an approximation for small rotations is used.
SMALL_RAD = 1e-4
# Units that press the lids into the eyes, and the values at which lids begin to be held out and are
# held out fully.
PRESS = ("cheekSquint", "eyeSquint", "mouthSmile", "browInnerUp")
PRESSING = (0.25, 0.5)
# Lids are held ROOM_M (metres) off an eyeball. Only vertices in front of it and near it count,
# within these multiples of its radius.
CLEARANCE_M = 0.0005
BEFORE = 0.1
AROUND = 2.0
# A smile draws the skin below the lower lip back. Between these two values of the smile the teeth
# move back as well, by up to TEETH_BACK_M (metres).
SMILES = (0.25, 0.8)
TEETH_BACK_M = 0.0015
# Attributes of a mesh that moves with the skin: the indices of body vertices that each of its
# vertices follows, and their weights.
POINTS = "face_points"
SHARES = "face_shares"


class UnitsBake(NamedTuple):
    """The contents of rigs/faces/units.npz.

    ``units`` holds for each unit the points (N,) that it moves and their offsets (N, 3) in metres.
    Points are the body's vertices, ``body`` of them, followed by those of teeth and tongue, whose
    quads are in ``faces``. ``places`` (P, 3) are the positions of all points on the sculpted body,
    ``mirror`` (P,) the indices of their counterparts on the other side.
    """

    units: Mapping[str, tuple[NDArray[np.intp], FloatArray]]
    body: int
    places: FloatArray
    mirror: NDArray[np.intp]
    faces: Mapping[str, NDArray[np.int32]]

    def moved(self, unit: str, side: str) -> FloatArray:
        """Return the displacements (P, 3) of all points by a unit of one side, in metres."""
        points, offsets = self.units[unit]
        whole = np.zeros((len(self.places), 3))
        whole[points] = offsets
        return whole if side == SIDES[0] else whole[self.mirror] * np.array([-1.0, 1.0, 1.0])


def units_bake() -> UnitsBake:
    """Return the shape units that come with mimegen."""
    return _read(data_file("rigs/faces/units.npz"))


@cache
def _read(path: Path) -> UnitsBake:
    with np.load(path) as data:
        ends = data["ends"].astype(np.intp)[:-1]
        points = np.split(data["points"].astype(np.intp), ends)
        offsets = np.split(data["offsets"] * float(data["step"]), ends)
        faces = {name.removeprefix("faces_"): data[name].astype(np.int32)
                 for name in data.files if name.startswith("faces_")}
        body = read_bake()
        count = len(body.joints)
        sculpted = body.points(np.zeros(len(body.target_names)))[:count]
        return UnitsBake(
            dict(zip(map(str, data["names"]), zip(points, offsets, strict=True), strict=True)),
            count, np.concatenate([sculpted, data["inner"].astype(float)]),
            np.concatenate([body.mirror[:count], data["inner_mirror"].astype(np.intp)]), faces)


def carriers() -> tuple[str, ...]:
    """Return the names of the joints that carry units: those of the left side, then the right."""
    count = -(-len(units_file().units) // 3)
    return tuple(f"{side}{CARRIER}{number}" for side in SIDES for number in range(1, count + 1))


def carried(values: Mapping[tuple[str, str], FloatArray], frames: int) -> FloatArray:
    """Return the carriers' rotation vectors (F, C, 3) for values (F,) of units by name and side."""
    none = np.zeros(frames)
    turns = []
    for side, mirror in zip(SIDES, ((1, 1, 1), (1, -1, -1)), strict=True):
        rows = [values.get((unit, side), none) for unit in units_file().units]
        rows += [none] * (-len(rows) % 3)
        turns.append(np.stack(rows, axis=1).reshape(frames, -1, 3) * np.array(mirror))
    return np.asarray(RAD * np.concatenate(turns, axis=1))


def read_carriers(turned: FloatArray) -> FloatArray:
    """Return the units' values (..., 2, U), left and right, from carriers' matrices (..., C, 3, 3).

    The matrices are the carriers' rotations relative to the head.
    """
    values = (rotation_vectors(turned) / RAD).reshape(*turned.shape[:-3], 2, -1, 3)
    values = values * np.array([[[1, 1, 1]], [[1, -1, -1]]])
    return np.asarray(values.reshape(*values.shape[:-2], -1)[..., :len(units_file().units)])


def rotation_vectors(turned: FloatArray) -> FloatArray:
    """Return the rotation vectors (..., 3) of matrices (..., 3, 3) below half a turn."""
    trace = np.trace(turned, axis1=-2, axis2=-1)
    angle = np.arccos(np.clip((trace - 1) / 2, -1.0, 1.0))
    sine = np.sin(angle)
    size = np.where(sine > SMALL_RAD, angle / np.where(sine > SMALL_RAD, 2 * sine, 1.0), 0.5)
    axis = np.stack([turned[..., 2, 1] - turned[..., 1, 2], turned[..., 0, 2] - turned[..., 2, 0],
                     turned[..., 1, 0] - turned[..., 0, 1]], axis=-1)
    return np.asarray(size[..., None] * axis)


@dataclass(frozen=True, eq=False)
class EyeRoom:
    """Keeps lids out of an eyeball when units press them into it.

    ``rows`` (N,) are vertices in front of the eye, which is centred at ``middle`` (3,); ``away``
    (N,) is their least distance from it, in metres. ``units`` (K,) are the indices of the pressing
    units, ``joint`` is the eye's joint.
    """

    joint: int
    middle: FloatArray
    rows: NDArray[np.intp]
    away: NDArray[np.float32]
    units: NDArray[np.intp]

    def clear(self, places: Places, blocks: Places, values: FloatArray) -> None:
        """Move vertices (V, 3) out of the eye, in place.

        ``blocks`` (J, 4, 3) are the joint columns, ``values`` (2 U,) the units' values.
        """
        share = float(ramp(values[self.units].max(), *PRESSING))
        if share == 0.0:
            return
        eye = blocks[self.joint]
        offsets = places[self.rows] - (product(self.middle, eye[:3]) + eye[3])
        away = np.sqrt(np.einsum("na,na->n", offsets, offsets))
        out = share * np.maximum(self.away / away - 1, 0.0)
        places[self.rows] += (out[:, None] * offsets).astype(places.dtype)


@dataclass(frozen=True, eq=False)
class TeethRoom:
    """Moves the teeth, the vertices ``rows`` (N,), back when the lips smile."""

    head: int
    rows: NDArray[np.intp]

    def clear(self, places: Places, blocks: Places, values: FloatArray) -> None:
        """Move vertices (V, 3) back, in place; the arguments are those of ``EyeRoom.clear``."""
        smile = values.reshape(2, -1)[:, units_file().units.index("mouthSmile")].max()
        share = float(ramp(smile, *SMILES))
        if share > 0.0:
            places[self.rows] += (share * TEETH_BACK_M * blocks[self.head, 1]).astype(places.dtype)


@dataclass(frozen=True, eq=False)
class FaceMove:
    """The effect of shape units on a body's vertices or normals.

    ``carriers`` (C,) and ``head`` are joint indices. ``displacements`` (2 U, N, 3) are those
    of ``rows`` (N,) by each unit, in the frame of the head. Then ``rooms`` keep lids out of the
    eyes, and teeth behind smiling lips.
    """

    carriers: NDArray[np.intp]
    head: int
    rows: NDArray[np.intp]
    displacements: NDArray[np.float32]
    rooms: tuple[EyeRoom | TeethRoom, ...] = ()

    def apply(self, places: Places, columns: Places) -> None:
        """Move rows of ``places`` (V, 3), blended with joint columns (4 J, 3), in place."""
        blocks = columns.reshape(-1, 4, 3)
        head = np.asarray(blocks[self.head, :3], float)
        own = np.asarray(blocks[self.carriers, :3], float)
        values = read_carriers(np.matmul(head, np.swapaxes(own, 1, 2))).ravel()
        used = np.flatnonzero(np.abs(values) > MIN_VALUE)
        if len(used):
            moved = np.zeros(self.displacements.shape[1:], np.float32)
            for unit in used:
                moved += np.float32(values[unit]) * self.displacements[unit]
            places[self.rows] += product(moved, head.astype(np.float32)).astype(places.dtype)
            for room in self.rooms:
                room.clear(places, blocks, values)


def face_moves(character: Character, meshes: Sequence[Mesh],
               normals: bool = False) -> tuple[FaceMove, ...]:
    """Return the effect of units on meshes, concatenated; empty for a character without carriers.

    With ``normals``, the meshes' normals follow after all vertices and are moved, too.
    """
    index = character.skeleton.index
    if carriers()[0] not in index or not any(POINTS in mesh.attributes for mesh in meshes):
        return ()
    displacements = _displacements(character)
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    parts = [(start, _mesh_displacements(mesh, displacements))
             for mesh, start in zip(meshes, starts, strict=False) if POINTS in mesh.attributes]
    if normals:
        parts += [(starts[-1] + start, _normal_displacements(mesh, displacements))
                  for mesh, start in zip(meshes, starts, strict=False) if _is_skin(mesh)]
    moving = [np.flatnonzero(np.abs(one).max(axis=(0, 2)) > 0) for _, one in parts]
    rows = np.concatenate([start + own for (start, _), own in zip(parts, moving, strict=True)])
    joined = np.concatenate([one[:, own] for (_, one), own in zip(parts, moving, strict=True)],
                            axis=1)
    numbers = np.array([index[name] for name in carriers()])
    return (FaceMove(numbers, index["Head"], rows, joined, _rooms(character, meshes)),)


def _rooms(character: Character, meshes: Sequence[Mesh]) -> tuple[EyeRoom | TeethRoom, ...]:
    """Return the corrections for eyes and teeth; rows count through all meshes, concatenated."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    eyes = next(mesh for mesh in character.meshes if mesh.name == "eyes")
    found: list[EyeRoom | TeethRoom] = [
        TeethRoom(character.skeleton.index["Head"], start + np.arange(len(mesh.vertices)))
        for start, mesh in zip(starts, meshes, strict=False) if mesh.name == "teeth"]
    for number, (sign, side) in enumerate(zip((1.0, -1.0), SIDES, strict=True)):
        joint = character.skeleton.index[f"{side}Eye"]
        middle, own = character.skeleton.heads[joint], eyes.vertices[sign * eyes.vertices[:, 0] > 0]
        radius = float(np.ptp(own[:, 2]) / 2)
        units = np.array([units_file().units.index(unit) for unit in PRESS]
                         ) + number * len(units_file().units)
        for start, mesh in zip(starts, meshes, strict=False):
            if _is_skin(mesh) and mesh.name == "skin":
                offsets = mesh.vertices - middle
                away = np.linalg.norm(offsets, axis=1)
                near = np.flatnonzero((away > radius) & (away < AROUND * radius)
                                      & (offsets[:, 1] < -BEFORE * radius))
                least = np.minimum(away[near], radius + CLEARANCE_M).astype(np.float32)
                found.append(EyeRoom(joint, middle, start + near, least, units))
    return tuple(found)


def _is_skin(mesh: Mesh) -> bool:
    """Return whether a mesh's vertices are themselves points of the units."""
    return POINTS in mesh.attributes and mesh.attributes[POINTS].ndim == 1


@lru_cache(maxsize=8)
def _displacements(character: Character) -> FloatArray:
    """Return the units' displacements of all points (2 U, P, 3), scaled to the size of the face."""
    bake = units_bake()
    skin = next(mesh for mesh in character.meshes if mesh.name == "skin")
    points = skin.attributes[POINTS].astype(np.intp)
    moving = np.unique(np.concatenate([rows for rows, _ in bake.units.values()]))
    seen = np.isin(points, moving)
    own, sculpted = (np.linalg.norm(places.std(axis=0)) for places in (
        skin.vertices[seen], bake.places[points[seen]]))
    return np.stack([bake.moved(unit, side) for side in SIDES for unit in units_file().units]
                    ) * (own / sculpted)


def with_inner_mouth(vertices: FloatArray, lips: FloatArray) -> FloatArray:
    """Return the positions (I, 3) of teeth and tongue behind a person's lips.

    ``vertices`` (V, 3) are the body's; ``lips`` (V,), 0 to 1, marks its lips.
    """
    bake = units_bake()
    own, sculpted = vertices[lips > 0.5], bake.places[:bake.body][lips > 0.5]
    size = np.ptp(own[:, 0]) / np.ptp(sculpted[:, 0])
    return np.asarray(own.mean(axis=0) + size * (bake.places[bake.body:] - sculpted.mean(axis=0)))


def _mesh_displacements(mesh: Mesh, displacements: FloatArray) -> NDArray[np.float32]:
    """Return the units' displacements (2 U, V, 3) of a mesh's vertices."""
    points = mesh.attributes[POINTS].astype(np.intp)
    if points.ndim == 1:
        return displacements[:, points].astype(np.float32)
    shares = mesh.attributes[SHARES]
    return np.asarray(sum(shares[:, k, None] * displacements[:, points[:, k]]
                          for k in range(points.shape[1])), np.float32)


def _normal_displacements(mesh: Mesh, displacements: FloatArray) -> NDArray[np.float32]:
    """Return the units' changes (2 U, V, 3) of a skin's normals."""
    moved = _mesh_displacements(mesh, displacements)
    turned = np.zeros_like(moved)
    inner = _corners(mesh, np.abs(moved).max(axis=(0, 2)) > 0)
    faces = mesh.faces[inner[mesh.faces].any(axis=1)]
    used, numbers = np.unique(faces, return_inverse=True)
    normals = _Normals.of(numbers.reshape(faces.shape), len(used))
    rest, kept = normals.at(mesh.vertices[used]), inner[used]
    for unit in np.flatnonzero(np.abs(moved).max(axis=(1, 2)) > 0):
        now = normals.at(mesh.vertices[used] + moved[unit, used])
        turned[unit, used[kept]] = (now - rest)[kept]
    return turned


class _Normals(NamedTuple):
    """Sums the faces' areas at their corners, for many sets of positions of the same vertices.

    ``corners`` (F, 4) are vertex indices, ``summing`` is a sparse matrix (V, F).
    """

    corners: NDArray[np.intp]
    summing: Any

    @staticmethod
    def of(faces: NDArray[np.intp], count: int) -> "_Normals":
        """Return the sums for quads (F, 4) on ``count`` vertices."""
        rows = np.arange(len(faces)).repeat(4)
        return _Normals(faces, scipy.sparse.csr_matrix(
            (np.ones(faces.size), (faces.ravel(), rows)), shape=(count, len(faces))))

    def at(self, places: FloatArray) -> FloatArray:
        """Return unit normals (V, 3) as `surface.vertex_normals` does for quads."""
        first, second, third, fourth = np.moveaxis(places[self.corners], 1, 0)
        summed = self.summing @ quaternions.cross(third - first, fourth - second)
        return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12))


def _corners(mesh: Mesh, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask (V,) of the corners of all faces that have a chosen corner."""
    corners = np.zeros(len(mesh.vertices), bool)
    corners[mesh.faces[chosen[mesh.faces].any(axis=1)]] = True
    return corners
