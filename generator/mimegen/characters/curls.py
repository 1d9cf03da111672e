"""Curls: an even volume around the skull, lumps on its surface, and ringlets arching out of it."""

from collections.abc import Iterator

import numpy as np
import scipy

from mimegen.base.vectors import spread_directions, unit
from mimegen.characters.character import Mesh
from mimegen.characters.head import HeadShape, grid_faces
from mimegen.characters.spec import Hair
from mimegen.characters.strands import sampled, strips
from mimegen.motion.quaternions import FloatArray

ROWS = 50
COLUMNS = 128
# How far curls stand off the skull and how wide a lump is, at volume 0 and 1, in metres.
OFF_M = (0.009, 0.050)
LUMP_M = (0.010, 0.015)
# Height of a lump's middle above its rim, as a fraction of its width.
LUMP_RISE = 0.55
# Width in metres of the edge, where hair thins out along a quarter of a circle.
EDGE_M = 0.014
# The number of ringlets, of those along the edge, of points in each, and its turn in radians.
RINGLETS = 330
EDGE_RINGLETS = 110
POINTS = 5
TURN = 3.8
# How far down from the crown hair reaches, in radians; used to spread ringlets evenly.
REACH = 1.9


def curl_thickness(hair: Hair, on_skull: FloatArray) -> FloatArray:
    """Return how far curls stand off points of the skull (R, C, 3), without lumps, in metres."""
    off = OFF_M[0] + hair.volume * (OFF_M[1] - OFF_M[0])
    steps = np.linalg.norm(np.diff(on_skull, axis=0), axis=-1)
    to_edge = np.cumsum(steps[::-1], axis=0)[::-1]
    to_edge = np.concatenate([to_edge, np.zeros((1, on_skull.shape[1]))])
    bare = np.maximum(1 - to_edge / (EDGE_M + 0.6 * off), 0.0)
    return np.asarray(off * np.sqrt(1 - bare * bare) - 0.001)


def curls(head: HeadShape, hair: Hair, flow: FloatArray,
          draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield the lumpy surface of curly hair over a flow (R, C, 3), and the ringlets on it."""
    size = LUMP_M[0] + hair.volume * (LUMP_M[1] - LUMP_M[0])
    middles = lump_middles(head, flow, size, draws)
    column = flow.shape[1] * np.arange(COLUMNS) / COLUMNS
    along = np.broadcast_to(np.linspace(0, 1, ROWS)[:, None], (ROWS, COLUMNS))
    places = lumpy(head, sampled(flow, along, column), middles, size).reshape(-1, 3)
    faces = grid_faces(ROWS, COLUMNS, closed=True)[:, ::-1]
    # Shades are spots as wide as lumps.
    yield head.rigid("hair", places, faces, "hair", {"strand": 0.2 * places / size})
    column = flow.shape[1] * draws.random((1, RINGLETS + EDGE_RINGLETS))
    along = np.arccos(1 - draws.random(RINGLETS) * (1 - np.cos(REACH))) / REACH
    along = np.concatenate([along, draws.uniform(0.96, 1.0, EDGE_RINGLETS)])[None]
    roots = lumpy(head, sampled(flow, along, column[0]), middles, size)[0]
    yield ringlets(head, roots, 0.4 * size, draws)


def lump_middles(head: HeadShape, flow: FloatArray, size: float,
                 draws: np.random.Generator) -> FloatArray:
    """Return the centres (N, 3) of lumps: a lattice around the head, randomly displaced.

    They are as far from the head's centre as the hair nearest to them. ``size`` is a lump's width
    in metres.
    """
    away = flow.reshape(-1, 3) - head.centre
    radius = np.linalg.norm(away, axis=1)
    many = int(4 * np.pi * radius.mean() ** 2 / size ** 2)
    moved = unit(spread_directions(many)
                 + draws.normal(0, 0.28 * size / radius.mean(), (many, 3)))
    nearest = scipy.spatial.cKDTree(away / radius[:, None]).query(moved)[1]
    return np.asarray(head.centre + radius[nearest, None] * moved)


def lumpy(head: HeadShape, places: FloatArray, middles: FloatArray, size: float) -> FloatArray:
    """Return positions (..., 3) moved outwards by lumps, domes around the nearest centre."""
    gaps = scipy.spatial.cKDTree(middles).query(places.reshape(-1, 3))[0]
    away = gaps.reshape(places.shape[:-1]) / size
    rise = LUMP_RISE * size * np.sqrt(np.maximum(1 - 1.3 * away * away, 0.0))
    return np.asarray(places + rise[..., None] * unit(places - head.centre))


def ringlets(head: HeadShape, roots: FloatArray, radius: float,
             draws: np.random.Generator) -> Mesh:
    """Return coils of ``radius`` metres around roots (N, 3), in random directions."""
    count = len(roots)
    out = unit(roots - head.centre)
    axis = unit(np.cross(out, draws.normal(size=(count, 3))))
    axis = unit(axis + out * draws.uniform(-0.5, 0.5, (count, 1)))
    side = unit(np.cross(out, axis))
    over = np.cross(axis, side)
    turn = (np.linspace(-0.5, 0.5, POINTS) * TURN)[:, None, None] + draws.uniform(
        -0.5, 0.5, (count, 1))
    wide = radius * draws.uniform(0.7, 1.3, (count, 1))
    middle = roots + wide * (np.sin(turn) * side + np.cos(turn) * over + 0.25 * turn * axis)
    half = (0.0016 - 0.0005 * np.abs(turn) / TURN) * axis
    return strips(head, "strands", middle, half, draws, 0.3)
