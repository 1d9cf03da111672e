"""Wrinkles of faces: where their grooves lie on the skin, and how deep units make them.

Wrinkles are shading in close-ups, not part of a mesh. One map of grooves is drawn for all faces;
each frame has a depth for every vertex of the skin. A vertex's position on the map is that of the
same vertex on the sculpted body, so grooves lie at the same features of every face.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.base.easing import ramp
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.characters.character import Character, Mesh, Places
from mimegen.characters.face_units import POINTS, carriers, read_carriers, units_bake
from mimegen.faces.words import SIDES, units_file
from mimegen.motion.quaternions import FloatArray

# The lower and upper bounds of the map in mm: to the left of the middle, and above the eyes'
# corners. The right side of the face is its mirror image. CELL_MM is the size of a pixel.
LOW_MM = (-10.0, -95.0)
HIGH_MM = (75.0, 80.0)
CELL_MM = 0.3
# Height of the eyes' corners on the sculpted body, and the depth behind which vertices do not
# belong to the face, in metres.
EYES_M = 0.728
FRONT_M = -0.07
# The fraction of its length over which a line fades out at either end.
ENDS = 0.3
# The ridge beside a groove: its height as a fraction of the groove's depth, and its width as a
# multiple of the groove's.
BESIDE = 0.4
BESIDE_WIDE = 2.2
# The factor (RGB) that darkens the deepest grooves: the light that reaches them is red.
DARKENED = (0.7, 0.55, 0.51)
# The attributes of a mesh that shaders read: positions on the map (V, 2), 0 to 1, and depths (V,).
CHART = "face_chart"
DEPTH = "face_depth"
Line = tuple[tuple[float, float], ...]


class WrinkleGroup(Strict):
    """Grooves that appear together.

    ``by`` are shape units with their weights; the grooves appear from the first sum of ``shows``
    and are fully deep from the second. ``wide`` and ``deep`` are in mm; ``lines`` are points in mm
    on the map.
    """

    by: dict[str, float]
    shows: tuple[float, float]
    wide: float = Field(gt=0)
    deep: float = Field(gt=0)
    lines: tuple[Line, ...]


class WrinklesFile(Strict):
    """The contents of rigs/faces/wrinkles.yaml, which explains its parts."""

    groups: dict[str, WrinkleGroup]
    ages: dict[int, float]
    reach: tuple[float, float]


def wrinkles_file() -> WrinklesFile:
    """Return the contents of rigs/faces/wrinkles.yaml."""
    return read_yaml_once(data_file("rigs/faces/wrinkles.yaml"), WrinklesFile)


class _Nearest(NamedTuple):
    """Distances (N,) of positions from a line, and where along it (N,) their nearest points are."""

    away: FloatArray
    along: FloatArray


def _nearest(places: FloatArray, line: Line) -> _Nearest:
    """Return the points of a line that are nearest to ``places`` (N, 2), in mm.

    ``along`` runs from 0 to 1.
    """
    points = np.array(line)
    sizes = np.linalg.norm(np.diff(points, axis=0), axis=1)
    before = np.concatenate([[0.0], np.cumsum(sizes)])
    best = _Nearest(np.full(len(places), np.inf), np.zeros(len(places)))
    for number, (start, end) in enumerate(pairwise(points)):
        segment = end - start
        share = np.clip((places - start) @ segment / (segment @ segment), 0.0, 1.0)
        away = np.linalg.norm(places - start - share[:, None] * segment, axis=1)
        nearer = away < best.away
        along = (before[number] + share * sizes[number]) / before[-1]
        best = _Nearest(np.where(nearer, away, best.away), np.where(nearer, along, best.along))
    return best


@cache
def groove_map() -> NDArray[np.float32]:
    """Return the height (H, W) of the skin at the deepest wrinkles, in metres.

    Grooves are negative. The first row is the lowest.
    """
    axes = [np.arange(low, high, CELL_MM) + CELL_MM / 2
            for low, high in zip(LOW_MM, HIGH_MM, strict=True)]
    across, up = np.meshgrid(*axes)
    places = np.stack([across.ravel(), up.ravel()], axis=1)
    height = np.zeros(len(places))
    for group in wrinkles_file().groups.values():
        for line in group.lines:
            near = _about(places, line, 3 * BESIDE_WIDE * group.wide)
            grooved = group.deep * _groove(_nearest(places[near], line), group.wide)
            height[near] = np.where(np.abs(grooved) > np.abs(height[near]), grooved, height[near])
    return (height.reshape(across.shape) / 1000).astype(np.float32)


def darkest() -> float:
    """Return the depth of the deepest grooves, at which they are darkest, in metres."""
    return max(group.deep for group in wrinkles_file().groups.values()) / 1000


def _about(places: FloatArray, line: Line, reach: float) -> NDArray[np.intp]:
    """Return the indices of positions (N, 2) within ``reach`` of a line's bounding box."""
    low, high = np.min(line, axis=0) - reach, np.max(line, axis=0) + reach
    return np.flatnonzero(((places > low) & (places < high)).all(axis=1))


def _groove(near: _Nearest, wide: float) -> FloatArray:
    """Return the height of the skin at a groove of depth 1; ``wide`` is in mm."""
    across = near.away / wide
    profile = BESIDE * np.exp(-(across / BESIDE_WIDE) ** 2) - (1 + BESIDE) * np.exp(-across**2)
    ends = ramp(near.along, 0.0, ENDS) * ramp(near.along, 1.0, 1 - ENDS)
    return np.asarray(profile * ends)


def chart(skin: Mesh) -> FloatArray:
    """Return the positions (V, 2) of a skin's vertices on the map.

    They are 0 to 1 on the map and outside of that range elsewhere.
    """
    across, up, _ = _on_face(skin).T
    low, high = np.array(LOW_MM), np.array(HIGH_MM)
    return np.asarray((np.stack([np.abs(across), up], axis=1) - low) / (high - low))


def _on_face(skin: Mesh) -> FloatArray:
    """Return where vertices lie on the sculpted body (V, 3).

    The columns are mm to the left, mm above the eyes' corners, and metres to the back.
    """
    x, y, z = units_bake().places[skin.attributes[POINTS].astype(int)].T
    return np.stack([1000 * x, 1000 * (z - EYES_M), y], axis=1)


@dataclass(frozen=True, eq=False)
class Wrinkling:
    """The wrinkles of one skin.

    ``carriers`` (C,) and ``head`` are joint indices. ``shares`` (2 G, V) are the depths at vertices
    for each group of the left side, then of the right side, scaled for the person's age.
    """

    carriers: NDArray[np.intp]
    head: int
    shares: NDArray[np.float32]

    def depths(self, columns: Places) -> NDArray[np.float32] | None:
        """Return depths (V,) for joint columns (4 J, 3) of a frame; None if all are 0."""
        blocks = columns.reshape(-1, 4, 3)
        head = np.asarray(blocks[self.head, :3], float)
        own = np.asarray(blocks[self.carriers, :3], float)
        deep = group_depths(read_carriers(np.matmul(head, np.swapaxes(own, 1, 2)))).ravel()
        used = np.flatnonzero(deep)
        if not len(used):
            return None
        return np.asarray((deep[used, None].astype(np.float32) * self.shares[used]).max(axis=0))


def group_depths(units: FloatArray) -> FloatArray:
    """Return the depths of groups of wrinkles (2, G), 0 to 1, for units' values (2, U)."""
    names = units_file().units
    depths = [ramp(sum(share * units[:, names.index(unit)] for unit, share in group.by.items()),
                   *group.shows) for group in wrinkles_file().groups.values()]
    return np.stack(depths, axis=1)


def wrinkling_of(character: Character) -> Wrinkling | None:
    """Return the wrinkles of a character; None without an age or a moving face built by mimegen."""
    index, skin = character.skeleton.index, skin_of(character.meshes)
    if carriers()[0] not in index or skin is None or character.age is None:
        return None
    numbers = np.array([index[name] for name in carriers()])
    return Wrinkling(numbers, index["Head"], _shares(skin, age_share(character.age)))


def skin_of(meshes: Sequence[Mesh]) -> Mesh | None:
    """Return the mesh that wrinkles, or None."""
    return next((mesh for mesh in meshes
                 if mesh.name == "skin" and POINTS in mesh.attributes), None)


def age_share(age: float) -> float:
    """Return the factor by which an age, in years, deepens wrinkles."""
    ages: Mapping[int, float] = wrinkles_file().ages
    return float(np.interp(age, [*ages], [*ages.values()]))


def _shares(skin: Mesh, deepened: float) -> NDArray[np.float32]:
    """Return the depths (2 G, V) at a skin's vertices for each group, times ``deepened``."""
    across, up, behind = _on_face(skin).T
    full, none = wrinkles_file().reach
    found = []
    for side in SIDES:
        own = np.stack([across if side == SIDES[0] else -across, up], axis=1)
        for group in wrinkles_file().groups.values():
            away = np.min([_nearest(own, line).away for line in group.lines], axis=0)
            found.append(deepened * ramp(away, none, full) * (behind < FRONT_M))
    return np.array(found, np.float32)
