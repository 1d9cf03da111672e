"""Shapes of which a spacesuit consists: lofts, beads, hoses and rounded boxes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mimegen.base.decisions import first_least
from mimegen.base.seeds import generator
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shape:
    """A surface with outward faces.

    ``vertices`` (V, 3) are in metres; ``faces`` (F, 4) end with -1 for triangles.
    """

    vertices: FloatArray
    faces: IntArray


@dataclass(frozen=True, eq=False)
class SuitPart:
    """A shape bound to the skeleton by ``weights`` (V, J), with linear ``colors`` (V, 3)."""

    shape: Shape
    weights: FloatArray
    colors: FloatArray
    material: str


def part(shape: Shape, weights: FloatArray, color: ArrayLike, material: str) -> SuitPart:
    """Return a shape as a part, with weights (J,) or (V, J) and a color (3,) or (V, 3)."""
    count = len(shape.vertices)
    return SuitPart(
        shape, np.broadcast_to(weights, (count, np.shape(weights)[-1])),
        np.broadcast_to(np.asarray(color, float), (count, 3)), material,
    )


def joined(parts: Sequence[SuitPart]) -> SuitPart:
    """Return several parts of one material as one."""
    starts = np.cumsum([0] + [len(each.shape.vertices) for each in parts])
    faces = [np.where(each.shape.faces < 0, -1, each.shape.faces + start)
             for each, start in zip(parts, starts, strict=False)]
    shape = Shape(np.concatenate([each.shape.vertices for each in parts]),
                  np.concatenate(faces).astype(np.int32))
    return SuitPart(shape, np.concatenate([each.weights for each in parts]),
                    np.concatenate([each.colors for each in parts]), parts[0].material)


def mirrored(original: SuitPart, skeleton: Skeleton) -> SuitPart:
    """Return a part of the left side mirrored to the right."""
    swap = [skeleton.index[other_side(name)] for name in skeleton.names]
    faces = original.shape.faces
    turned = np.where(faces[:, 3:] < 0, faces[:, [2, 1, 0, 3]], faces[:, ::-1])
    shape = Shape(original.shape.vertices * np.array([-1.0, 1.0, 1.0]), turned)
    return replace(original, shape=shape, weights=original.weights[:, swap])


def other_side(name: str) -> str:
    """Return the name of a joint's counterpart; other names are returned unchanged."""
    if name.startswith("Left"):
        return "Right" + name.removeprefix("Left")
    return "Left" + name.removeprefix("Right") if name.startswith("Right") else name


def loft(rings: FloatArray, closed: bool = False) -> Shape:
    """Return the surface through rings (S, A, 3), each counterclockwise seen from the next one.

    An open loft gets flat lids; ``closed`` joins the last ring to the first instead.
    """
    steps, around = rings.shape[:2]
    here = np.arange(steps * around).reshape(steps, around)
    there = np.roll(here, -1, axis=0)
    if not closed:
        here, there = here[:-1], there[:-1]
    quads = np.stack([here, np.roll(here, -1, 1), np.roll(there, -1, 1), there], -1).reshape(-1, 4)
    vertices = rings.reshape(-1, 3)
    if closed:
        return Shape(vertices, quads.astype(np.int32))
    lids, first = [], np.arange(around)
    for number, (ring, order) in enumerate([(first, -1), (here[-1, 0] + around + first, 1)]):
        middle = np.full(around, len(vertices) + number)
        after = np.roll(ring, -order)
        lids.append(np.stack([middle, ring, after, np.full(around, -1)], axis=1))
    middles = rings[[0, -1]].mean(axis=1)
    return Shape(np.concatenate([vertices, middles]),
                 np.concatenate([quads, *lids]).astype(np.int32))


def frame(axis: ArrayLike) -> FloatArray:
    """Return an orthonormal right-handed matrix whose columns are two directions and the axis."""
    along = np.asarray(axis, float) / np.linalg.norm(axis)
    first = np.cross(np.eye(3)[first_least(np.abs(along))], along)
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(along, first), along], axis=1)


def circle(around: int) -> tuple[FloatArray, FloatArray]:
    """Return cosines and sines (A,) of evenly spaced angles, counterclockwise."""
    angles = np.arange(around) * 2 * np.pi / around
    return np.cos(angles), np.sin(angles)


def tube(path: FloatArray, radii: FloatArray, axes: FloatArray) -> FloatArray:
    """Return rings (S, A, 3) around a path (S, 3).

    ``radii`` (S, A) are in metres. The columns of ``axes`` (3, 3) or (S, 3, 3) are two directions
    across the path and the one along it.
    """
    cosines, sines = circle(radii.shape[1])
    across = np.broadcast_to(axes, (len(path), 3, 3))
    spokes = (cosines[:, None] * across[:, None, :, 0] + sines[:, None] * across[:, None, :, 1])
    return np.asarray(path[:, None] + radii[:, :, None] * spokes)


def bead(path: FloatArray, outward: FloatArray, height: float, width: float,
         around: int = 8) -> Shape:
    """Return a closed band along a closed path (S, 3), rounded like a machined ring.

    ``outward`` (S, 3) are unit vectors. ``height`` and ``width`` of the band are in metres.
    """
    along = np.roll(path, -1, 0) - np.roll(path, 1, 0)
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    side = np.cross(along, outward)
    cosines, sines = (0.5 * np.sign(v) * np.abs(v) ** 0.6 for v in circle(around))
    rings = (path[:, None] + height * cosines[:, None] * outward[:, None]
             + width * sines[:, None] * side[:, None])
    return loft(rings, closed=True)


def ring(centre: ArrayLike, axis: ArrayLike, radius: float, height: float, width: float,
         around: int = 32) -> Shape:
    """Return a round band about an axis."""
    axes = frame(axis)
    cosines, sines = circle(around)
    outward: FloatArray = np.stack([cosines, sines], axis=1) @ axes[:, :2].T
    return bead(np.asarray(centre) + radius * outward, outward, height, width)


def drum(centre: ArrayLike, axis: ArrayLike, radius: float, length: float,
         around: int = 20) -> Shape:
    """Return a short cylinder with rounded rims, centred at ``centre``."""
    rim = min(radius, length) * 0.2
    profile = np.array([[-0.5, 1.5], [-0.5, 1.0], [-0.5, 0.3], [-0.5, 0.0]])
    reach = radius - rim * profile[:, 1]
    height = np.array([-length / 2, -length / 2, -length / 2 + 0.3 * rim, -length / 2 + rim])
    reach, height = np.concatenate([reach, reach[::-1]]), np.concatenate([height, -height[::-1]])
    path = np.asarray(centre) + height[:, None] * frame(axis)[:, 2]
    return loft(tube(path, np.repeat(reach[:, None], around, 1), frame(axis)))


def ball(centre: ArrayLike, radii: ArrayLike, axis: ArrayLike = (0, 0, 1), steps: int = 11,
         around: int = 20) -> Shape:
    """Return an ellipsoid; ``radii`` is (3,), in the frame of ``axis``, or one radius."""
    slopes = np.linspace(-0.97, 0.97, steps) * np.pi / 2
    cosines, sines = circle(around)
    rings = np.stack(np.broadcast_arrays(
        np.cos(slopes)[:, None] * cosines, np.cos(slopes)[:, None] * sines,
        np.sin(slopes)[:, None],
    ), axis=-1)
    return loft(np.asarray(centre) + (rings * np.asarray(radii)) @ frame(axis).T)


def box(centre: ArrayLike, size: ArrayLike, rounding: float, fineness: int = 4) -> Shape:
    """Return a box of ``size`` (3,) with rounded edges, ``fineness`` faces around each edge."""
    half = np.asarray(size, float) / 2
    bend = np.tan(np.linspace(0, np.pi / 4, fineness // 2 + 1))
    faces, corners, start = [], [], 0
    for axis in range(3):
        for sign in (-1.0, 1.0):
            grid = face_grid(half, axis, sign, rounding, bend)
            count = grid.shape[:2]
            here = start + np.arange(count[0] * count[1]).reshape(count)
            quads = np.stack([here[:-1, :-1], here[1:, :-1], here[1:, 1:], here[:-1, 1:]], -1)
            quads = quads.reshape(-1, 4)
            faces.append(quads if sign > 0 else quads[:, ::-1])
            corners.append(grid.reshape(-1, 3))
            start += count[0] * count[1]
    points = np.concatenate(corners)
    inner = np.clip(points, -(half - rounding), half - rounding)
    away = points - inner
    points = inner + rounding * away / np.linalg.norm(away, axis=1, keepdims=True)
    _, first, number = np.unique(np.round(points, 6), axis=0, return_index=True,
                                 return_inverse=True)
    return Shape(points[first] + np.asarray(centre),
                 number.reshape(-1)[np.concatenate(faces)].astype(np.int32))


def face_grid(half: FloatArray, axis: int, sign: float, rounding: float,
              bend: FloatArray) -> FloatArray:
    """Return the points (M, N, 3) of one side of a box, dense along its edges."""
    second, third = (axis + 1) % 3, (axis + 2) % 3
    sides = []
    for other in (second, third):
        edge = half[other] - rounding + rounding * bend
        sides.append(np.concatenate([-edge[::-1], edge]))
    grid = np.empty((len(sides[0]), len(sides[1]), 3))
    grid[..., axis] = sign * half[axis]
    grid[..., second], grid[..., third] = sides[0][:, None], sides[1]
    return grid


def hose(points: ArrayLike, radius: float, reference: ArrayLike, steps: int = 70,
         around: int = 10, rib: float = 0.0) -> Shape:
    """Return a hose through points (N, 3), with ribs ``rib`` metres high at every second step.

    ``reference`` (3,) must not be parallel to the hose anywhere.
    """
    through = np.asarray(points, float)
    places = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(through, axis=0), axis=1))])
    spline = scipy.interpolate.CubicSpline(places, through)
    at = np.linspace(0, places[-1], steps)
    along = spline(at, 1)
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    first = np.cross(np.asarray(reference, float), along)
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    axes = np.stack([first, np.cross(along, first), along], axis=-1)
    radii = radius + rib * (np.arange(steps) % 2)
    return loft(tube(spline(at), np.repeat(radii[:, None], around, 1), axes))


def puffs(places: FloatArray, period: float) -> FloatArray:
    """Return the profile of sewn pleats: 0 at seams, every ``period`` metres, 1 at crests."""
    return np.asarray(np.abs(np.sin(np.pi * places / period)) ** 0.7)


def creases(places: FloatArray, angles: FloatArray, seed: int, waves: int = 9) -> FloatArray:
    """Return gentle irregular folds (S, A), from -1 to 1, mostly across the axis.

    ``places`` (S,) are positions along the axis in metres, ``angles`` (A,) are around it in
    radians.
    """
    random = generator(seed, 7)
    total = np.zeros((len(places), len(angles)))
    for _ in range(waves):
        along, phase = random.uniform(6, 22), random.uniform(0, 2 * np.pi)
        around = random.integers(-2, 3)
        wave = np.sin(2 * np.pi * along * places[:, None] + around * angles + phase)
        total += wave / np.sqrt(waves / 2)
    return np.tanh(total)


