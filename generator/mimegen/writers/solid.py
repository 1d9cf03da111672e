"""Pieces without openings, for printers: what is a hollow body is closed, a sheet is thickened."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mimegen.motion.quaternions import FloatArray
from mimegen.writers.piece import Piece

Ints = NDArray[np.int32]
SHEET_M = 0.001
# A part of whose places more than so many lie on its rim is a sheet, as a strand of hair.
SHEET_RIM = 1 / 3


def solid(piece: Piece) -> Piece:
    """Return a piece (V, 3), (T, 3) of which every edge has a triangle on either side.

    Openings, a collar's too, are filled with a fan of triangles about their middle; a sheet gets a
    back ``SHEET_M`` behind it and a rim between. Parts may still lie in one another, which slicers
    take as one.
    """
    merged = _merged(piece)
    part = _parts(merged.triangles, len(merged.vertices))
    # How many openings go through each vertex; a rim about a place of two would be no surface.
    rims = np.bincount(_open_edges(merged.triangles)[:, 0], minlength=len(part))
    is_sheet = ((np.bincount(part, rims > 0) > SHEET_RIM * np.bincount(part))
                & (np.bincount(part, rims > 1) == 0))
    return outwards(_filled(_thickened(merged, is_sheet[part])))


def _merged(piece: Piece) -> Piece:
    """Return the piece with one vertex at each place, without triangles that have no area."""
    places, first, number = np.unique(piece.vertices, axis=0, return_index=True,
                                      return_inverse=True)
    triangles = number.reshape(-1)[piece.triangles].astype(np.int32)
    a, b, c = triangles.T
    return Piece(piece.name, places, triangles[(a != b) & (b != c) & (c != a)],
                 piece.colors[first])


def _open_edges(triangles: Ints) -> Ints:
    """Return the edges (E, 2), as their triangle goes along them, that have no other triangle."""
    edges = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    size = int(edges.max()) + 1
    there = edges[:, 0].astype(np.int64) * size + edges[:, 1]
    back = edges[:, 1].astype(np.int64) * size + edges[:, 0]
    return np.asarray(edges[~np.isin(back, there)])


def _parts(edges: Ints, count: int) -> Ints:
    """Return (count,) which connected part each vertex belongs to; of triangles, or of edges."""
    ends = edges[:, [0, 1]], edges[:, [-1, 1]]
    rows, columns = np.concatenate(ends).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def _normals(piece: Piece) -> FloatArray:
    """Return (V, 3) unit normals, from the triangles by their area."""
    a, b, c = piece.vertices[piece.triangles].swapaxes(0, 1)
    across = np.cross(b - a, c - a)
    normals = np.zeros_like(piece.vertices)
    for corner in range(3):
        np.add.at(normals, piece.triangles[:, corner], across)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None])


def _thickened(piece: Piece, of_sheets: NDArray[np.bool_]) -> Piece:
    """Return the piece with a back and a rim where the vertices (V,) are of sheets."""
    front = piece.triangles[of_sheets[piece.triangles[:, 0]]]
    if not len(front):
        return piece
    shift = len(piece.vertices)
    start, end = _open_edges(front).T
    rim = np.concatenate([np.stack([end, start, start + shift], 1),
                          np.stack([end, start + shift, end + shift], 1)])
    behind = piece.vertices - SHEET_M * _normals(piece)
    return Piece(piece.name, np.concatenate([piece.vertices, behind]),
                 np.concatenate([piece.triangles, front[:, ::-1] + shift, rim]).astype(np.int32),
                 np.concatenate([piece.colors, piece.colors]))


def _filled(piece: Piece) -> Piece:
    """Return the piece with a fan in each of its openings."""
    loops = _loops(_open_edges(piece.triangles))
    count = len(piece.vertices)
    middles = [piece.vertices[[loop]].mean(axis=1) for loop in loops]
    fans = [np.stack([np.roll(loop, -1), loop, np.full(len(loop), count + number)], 1)
            for number, loop in enumerate(loops)]
    return Piece(
        piece.name,
        np.concatenate([piece.vertices, *middles]),
        np.concatenate([piece.triangles, *fans]).astype(np.int32),
        np.concatenate([piece.colors, *(piece.colors[[loop]].mean(axis=1) for loop in loops)]))


def _middles(piece: Piece) -> FloatArray:
    """Return (V, 3) the middle of the part that each vertex belongs to."""
    part = _parts(piece.triangles, len(piece.vertices))
    sums = np.stack([np.bincount(part, column) for column in piece.vertices.T], 1)
    return np.asarray((sums / np.bincount(part)[:, None])[part])


def _loops(edges: Ints) -> list[list[int]]:
    """Return the vertices around each opening; two that touch at a vertex are two."""
    after: dict[int, list[int]] = {}
    for start, end in edges.tolist():
        after.setdefault(start, []).append(end)
    loops: list[list[int]] = []
    for start in after:
        path = [start]
        while after.get(path[-1]):
            end = after[path[-1]].pop()
            if end in path:
                loops.append(path[path.index(end):])
                del path[path.index(end) + 1:]
            else:
                path.append(end)
    return loops


def outwards(piece: Piece) -> Piece:
    """Return the piece with the triangles of parts that are inside out turned about."""
    part = _parts(piece.triangles, len(piece.vertices))[piece.triangles[:, 0]]
    # From each part's own middle, so that an opening counts for little.
    a, b, c = (piece.vertices - _middles(piece))[piece.triangles].swapaxes(0, 1)
    volume = np.bincount(part, (np.cross(a, b) * c).sum(axis=1))
    turned = np.where((volume < 0)[part, None], piece.triangles[:, ::-1], piece.triangles)
    return Piece(piece.name, piece.vertices, turned, piece.colors)
