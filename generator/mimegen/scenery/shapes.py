"""The mesh of each kind of shape, in numpy and scipy."""

from functools import lru_cache, singledispatch

import numpy as np
import scipy

from mimegen.base.seeds import generator
from mimegen.base.vectors import spread_directions, unit
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.letters import GRID, strokes_of
from mimegen.scenery.meshes import (
    ShapeMesh,
    grid_faces,
    skin,
    smooth_line,
    unit_circle,
)
from mimegen.scenery.objects import (
    Arc,
    Box,
    Curtain,
    Cylinder,
    Extrude,
    Foliage,
    Frond,
    HangingSheet,
    Island,
    Lathe,
    Loft,
    Solid,
    Sphere,
    Tube,
    WrittenWords,
)

SIDES = 32
TUBE_SIDES = 10
# Bunches of leaves in a tree's crown.
BOUGHS = 26


@singledispatch
def mesh_of(shape: Solid) -> ShapeMesh:
    """Return the mesh of one shape, before its bevel, in its own frame."""
    raise TypeError(f"no mesh for {type(shape).__name__}")


@lru_cache(maxsize=8192)
def bounds_of(shape: Solid) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest corner (3,) of one shape's mesh."""
    points = mesh_of(shape).vertices
    return points.min(axis=0), points.max(axis=0)


def _turned(profile: FloatArray, capped: bool) -> ShapeMesh:
    """Return the surface of revolution of a profile (N, 2) of radius and height about Z."""
    rings = np.empty((len(profile), SIDES, 3))
    rings[..., :2] = profile[:, None, :1] * unit_circle(SIDES)
    rings[..., 2] = profile[:, 1:]
    return skin(rings, capped)


@mesh_of.register
def _(shape: Box) -> ShapeMesh:
    x, y, z = shape.size
    outline = np.array([[-x, -y], [x, -y], [x, y], [-x, y]]) / 2
    return _raised(outline, z)


def _raised(outline: FloatArray, height: float) -> ShapeMesh:
    after = np.roll(outline, -1, axis=0)
    area = (outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]).sum()
    around = outline if area > 0 else outline[::-1]
    levels = [np.column_stack([around, np.full(len(around), z)]) for z in (0.0, height)]
    return skin(np.stack(levels), capped=True)


@mesh_of.register
def _(shape: Cylinder) -> ShapeMesh:
    top = shape.radius if shape.top is None else shape.top
    return _turned(np.array([[shape.radius, 0.0], [top, shape.height]]), capped=True)


@mesh_of.register
def _(shape: Sphere) -> ShapeMesh:
    rise = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    return _turned(shape.radius * np.stack([np.cos(rise), np.sin(rise)], axis=-1), capped=False)


@mesh_of.register
def _(shape: Lathe) -> ShapeMesh:
    return _turned(np.array(shape.profile), capped=False)


@mesh_of.register
def _(shape: Extrude) -> ShapeMesh:
    outline = np.array(shape.outline)
    if shape.smooth:
        outline = smooth_line(shape.outline, 6, closed=True)
    return _raised(outline, shape.height)


@mesh_of.register
def _(shape: Tube) -> ShapeMesh:
    line = np.array(shape.points, dtype=float)
    if shape.smooth:
        line = smooth_line(shape.points, 6, shape.closed)
    if shape.closed:
        line = np.vstack([line, line[:1]])
    along = np.gradient(line, axis=0)
    if shape.closed:
        along[0] = along[-1] = line[1] - line[-2]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    # One fixed side direction keeps rings from twisting; it must not run along the tube.
    steady = np.eye(3)[np.abs(along).max(axis=0).argmin()]
    side = np.cross(along, steady)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(along, side)
    radius = np.linspace(shape.radius, shape.end or shape.radius, len(line))[:, None, None]
    circle = unit_circle(TUBE_SIDES)
    rings = line[:, None] + radius * (
        circle[:, :1] * side[:, None] + circle[:, 1:] * up[:, None])
    return skin(rings, capped=not shape.closed)


@mesh_of.register
def _(shape: Arc) -> ShapeMesh:
    start, end = np.radians(shape.between)
    turn = np.linspace(start, end, max(2, int(abs(end - start) / np.radians(4)) + 1))
    way = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=-1)
    lines = np.stack([way * (shape.radius - shape.width), way * shape.radius], axis=1)
    vertices = lines.reshape(-1, 3)
    faces = [(a, b, c, d) for a, d, c, b in grid_faces(len(turn), 2, wrap=False)]
    return ShapeMesh(vertices, tuple(faces))


@mesh_of.register
def _(shape: Curtain) -> ShapeMesh:
    width, height = shape.size
    columns, rows = shape.folds * 8 + 1, 7
    share, level = np.linspace(0, 1, columns), np.linspace(0, 1, rows)
    swing = 2 * np.pi * (shape.folds * share + 0.15 * np.sin(9.7 * share * 2 * np.pi / 3))
    vertices = np.empty((rows, columns, 3))
    vertices[..., 0] = (share - 0.5) * width
    vertices[..., 1] = shape.depth * np.sin(swing) * (1.0 - 0.45 * level[:, None])
    vertices[..., 2] = level[:, None] * height
    return ShapeMesh(vertices.reshape(-1, 3), tuple(grid_faces(rows, columns, wrap=False)))


@mesh_of.register
def _(shape: HangingSheet) -> ShapeMesh:
    (width, height), (rows, columns) = shape.size, (9, 25)
    level, share = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij")
    vertices = np.empty((rows, columns, 3))
    vertices[..., 0] = (share - 0.5) * width
    vertices[..., 1] = shape.belly * np.sin(np.pi * share) * np.sin(np.pi * level)
    # A hanging cord is a catenary, which a parabola approximates closely.
    vertices[..., 2] = level * (height - shape.sag * 4 * share * (1 - share))
    return ShapeMesh(vertices.reshape(-1, 3), tuple(grid_faces(rows, columns, wrap=False)))


@mesh_of.register
def _(shape: WrittenWords) -> ShapeMesh:
    if not isinstance(shape.words, str):
        raise TypeError("one writing of several is chosen where it stands")
    ends = strokes_of(shape.words) * shape.height / GRID
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.where(length > 0, along / np.maximum(length, 1e-9), [1.0, 0.0])
    along *= shape.weight * shape.height / 2
    aside = along[:, ::-1] * [-1.0, 1.0]
    start, end = ends[:, 0] - along, ends[:, 1] + along
    corners = np.stack([start - aside, end - aside, end + aside, start + aside], axis=1)
    vertices = np.zeros((4 * len(ends), 3))
    vertices[:, [0, 2]] = _fitted(corners.reshape(-1, 2), shape.width)
    faces = np.arange(4 * len(ends)).reshape(-1, 4)
    return ShapeMesh(vertices, tuple(map(tuple, faces.tolist())))


def _fitted(points: FloatArray, width: float | None) -> FloatArray:
    """Return points (N, 2) scaled about their center to fit into a width."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    share = 1.0 if width is None else min(1.0, width / (high[0] - low[0]))
    return np.asarray(middle + share * (points - middle))


@mesh_of.register
def _(shape: Loft) -> ShapeMesh:
    fields = ("bottom", "top", "width", "square", "lean")
    table = np.array([[getattr(part, name) for name in fields] for part in shape.sections])
    x = np.array([part.x for part in shape.sections])
    if shape.smooth:
        at = np.interp(np.linspace(0, len(x) - 1, (len(x) - 1) * 6 + 1), np.arange(len(x)), x)
        table, x = np.asarray(scipy.interpolate.PchipInterpolator(x, table)(at)), at
    bottom, top, width, square, lean = table[:, :, None].transpose(1, 0, 2)
    circle = unit_circle(48)
    bent = np.sign(circle) * np.abs(circle) ** (2 / square[..., None])
    y, z = bent[..., 0] / 2, bent[..., 1] / 2
    rings = np.empty((len(x), len(circle), 3))
    rings[..., 0] = x[:, None]
    rings[..., 1] = y * width * (1 - lean * (z + 0.5))
    rings[..., 2] = (bottom + top) / 2 + z * (top - bottom)
    return skin(rings, capped=True)


@mesh_of.register
def _(shape: Frond) -> ShapeMesh:
    share = np.linspace(0.02, 1, 25)
    pitch = np.radians(shape.rise - shape.droop * share**1.3)
    step = shape.length / 24
    spine = np.stack([0 * share, -np.cumsum(np.cos(pitch)) * step,
                      np.cumsum(np.sin(pitch)) * step], axis=-1)
    at = np.linspace(0.12, 1, shape.leaflets)
    root = np.stack([np.interp(at, share, spine[:, axis]) for axis in range(3)], axis=-1)
    reach = shape.width / 2 * np.sin(np.pi * (0.12 + 0.84 * at)) ** 0.6
    vertices: list[FloatArray] = []
    faces: list[tuple[int, ...]] = []
    for side in (-1.0, 1.0):
        tip = root + reach[:, None] * np.array([side, -0.55, -0.35])
        wide = np.array([0.0, -0.5, 0.0]) * shape.length / shape.leaflets
        middle = (root + tip) / 2 + np.array([0.0, 0.0, 0.06]) * reach[:, None]
        for leaf in zip(root, middle - wide, tip, middle + wide, strict=True):
            faces.append(tuple(range(len(vertices), len(vertices) + 4)))
            vertices.extend(leaf)
    edge = np.array([0.008 * shape.length, 0.0, 0.0])
    first = len(vertices)
    vertices.extend(np.concatenate([spine - edge, spine + edge]))
    faces.extend((first + n, first + n + 1, first + n + 26, first + n + 25) for n in range(24))
    return ShapeMesh(np.array(vertices), tuple(faces))


@mesh_of.register
def _(shape: Foliage) -> ShapeMesh:
    chance = generator(shape.leaves)
    boughs = unit(spread_directions(BOUGHS) + chance.normal(scale=0.15, size=(BOUGHS, 3)))
    thick = chance.uniform(0.22, 0.34, BOUGHS)
    of = chance.permutation(np.arange(shape.leaves) % BOUGHS)
    facing = chance.normal(size=(shape.leaves, 3))
    # Leaves grow on the outer half of their bough.
    inwards = np.minimum((facing * boughs[of]).sum(axis=1, keepdims=True), 0.0)
    facing = unit(facing - 2 * inwards * boughs[of])
    reach = (1.0 - thick)[of, None] * boughs[of] + thick[of, None] * facing
    middle = shape.radius * chance.uniform(0.92, 1.06, (shape.leaves, 1)) * reach
    facing += chance.normal(scale=0.5, size=facing.shape)
    along = np.cross(facing, chance.normal(size=facing.shape))
    along *= 0.5 * shape.leaf / np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(facing, along) / np.linalg.norm(facing, axis=1, keepdims=True) * 0.6
    leaves = middle[:, None] + np.stack([along, across, -along, -across], axis=1)
    inside = _boughs(boughs, thick, shape.radius)
    first = len(inside.vertices)
    quads = first + np.arange(4 * shape.leaves).reshape(-1, 4)
    return ShapeMesh(np.concatenate([inside.vertices, leaves.reshape(-1, 3)]),
                     (*inside.faces, *(tuple(quad) for quad in quads.tolist())))


def _boughs(boughs: FloatArray, thick: FloatArray, radius: float) -> ShapeMesh:
    """Return a ball with bulges at the boughs (N, 3); it keeps light from shining through."""
    rise = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    ball = _turned(np.stack([np.cos(rise), np.sin(rise)], axis=-1), capped=False)
    apart = np.arccos(np.clip(ball.vertices @ boughs.T, -1.0, 1.0))
    bulge = ((1.0 - thick) * np.exp(-0.5 * (apart / thick) ** 2)).max(axis=1)
    return ShapeMesh(radius * (0.5 + 0.36 * bulge)[:, None] * ball.vertices, ball.faces)


@mesh_of.register
def _(shape: Island) -> ShapeMesh:
    away = np.array([-6, -3, -1.5, -0.8, -0.4, 0, 0.4, 0.8, 1.5, 3, 6, 12, 25, 60, 200, 1e3, 5e3])
    coast = smooth_line(shape.outline, 12, closed=True)
    centre = coast.mean(axis=0)
    out = coast - centre
    radius = np.linalg.norm(out, axis=1, keepdims=True)
    reach = np.maximum(radius + away[:, None, None], 0.0)
    lines = centre + reach * (out / radius)
    rings = np.concatenate([lines, np.zeros((*lines.shape[:2], 1))], axis=-1)[::-1]
    columns = len(coast)
    count = len(away) * columns
    faces = [face[::-1] for face in grid_faces(len(away), columns, wrap=True)]
    faces = [tuple(int(corner) for corner in face) for face in faces]
    inner = range((len(away) - 1) * columns, count)
    faces.append(tuple(inner))
    vertices = rings.reshape(-1, 3)
    return ShapeMesh(vertices, tuple(faces), np.repeat(away[::-1].astype(float), columns))
