"""Single hairs of brows, lashes and beards, grown from their meshes."""

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.character import Mesh
from mimegen.characters.hair_growing import Hairs
from mimegen.characters.surface import vertex_normals
from mimegen.motion.quaternions import FloatArray

POINTS = 4
BROW_RADIUS_M = 0.00005
LASH_RADIUS_M = 0.00006
BEARD_RADIUS_M = 0.00008
# The number of hairs per ribbon of a brow, and the standard deviation of their distance from it in
# X, Y and Z, in metres.
PER_BROW = 4
BROW_SPREAD_M = (0.0012, 0.0002, 0.0008)
LASHES = 85
# The number of positions along a lid at which the mesh of lashes is sampled.
LID_STEPS = 9
LASH_LENGTH = 1.15
# How deep under a beard's surface its hairs begin, and how far their tips stand out, in metres.
BEARD_ROOT_M = 0.004
BEARD_OUT_M = 0.0025


def brow_hairs(mesh: Mesh, draws: np.random.Generator) -> Hairs:
    """Return several hairs around each ribbon of a mesh of brows."""
    lines = ribbon_lines(mesh)
    count = len(lines) * PER_BROW
    line = np.repeat(lines, PER_BROW, axis=0)
    long = draws.uniform(0.6, 1.15, (count, 1, 1))
    share = np.linspace(0, 1, POINTS)[None, :, None]
    straight = line[:, :1] + long * share * (line[:, -1:] - line[:, :1])
    bow = 4 * share * (1 - share) * long * (line[:, 1:2] - 0.5 * (line[:, :1] + line[:, -1:]))
    beside = draws.normal(0, 1, (count, 1, 3)) * BROW_SPREAD_M
    turned = draws.normal(0, 0.0006, (count, 1, 3)) * share
    return Hairs(mesh.name, straight + bow + beside + turned, np.full(count, BROW_RADIUS_M),
                 draws.normal(0, 0.4, count))


def ribbon_lines(mesh: Mesh) -> FloatArray:
    """Return the centre lines (N, 3, 3) of ribbons that consist of three pairs of vertices each."""
    pairs = mesh.vertices.reshape(-1, 3, 2, 3)
    return np.asarray(pairs.mean(axis=2))


def lash_hairs(mesh: Mesh, eyes: FloatArray, draws: np.random.Generator) -> Hairs:
    """Return the lashes of both upper lids: hairs from inside the lid to the edge of the mesh."""
    points = np.concatenate([one_lid(mesh.vertices, eyes, side, draws) for side in (1.0, -1.0)])
    return Hairs(mesh.name, points, np.full(len(points), LASH_RADIUS_M),
                 draws.normal(0, 0.2, len(points)))


def one_lid(lashes: FloatArray, eyes: FloatArray, side: float, draws: np.random.Generator
            ) -> FloatArray:
    """Return the lashes (N, P, 3) of one lid; ``side`` is 1 for the left, -1 for the right."""
    own, eye = (each[each[:, 0] * side > 0] for each in (lashes, eyes))
    away = np.linalg.norm(own - (eye.max(axis=0) + eye.min(axis=0)) / 2, axis=1)
    order = np.argsort(own[:, 0])
    ways = []
    for part in np.array_split(order, LID_STEPS):
        near = part[np.argsort(away[part])]
        thirds = [own[each].mean(axis=0) for each in np.array_split(near, 3)]
        ways.append(np.stack([*thirds, thirds[2] + (own[near[-1]] - thirds[1]) * 0.6]))
    at = (np.arange(LASHES) + draws.random(LASHES)) / LASHES * (LID_STEPS - 1)
    first = np.minimum(at.astype(int), LID_STEPS - 2)
    part = (at - first)[:, None, None]
    hairs = np.stack(ways)[first] * (1 - part) + np.stack(ways)[first + 1] * part
    long = LASH_LENGTH * draws.uniform(0.75, 1.05, (LASHES, 1, 1))
    bent = draws.normal(0, 0.0006, (LASHES, 1, 3)) * np.linspace(0, 1, POINTS)[None, :, None]
    return np.asarray(hairs[:, :1] + long * (hairs - hairs[:, :1]) + bent)


def beard_hairs(beard: Mesh, ribbons: Mesh, count: int, draws: np.random.Generator) -> Hairs:
    """Return ``count`` hairs that grow out of a beard's surface, directed like its ribbons."""
    lines = ribbon_lines(ribbons)
    normals = vertex_normals(beard.vertices, beard.faces)
    corners = beard.faces[draws.integers(len(beard.faces), size=count)]
    shares = draws.dirichlet(np.ones(4), count)[..., None]
    whole = np.where(corners[..., None] >= 0, shares, 0.0)
    whole = whole / whole.sum(axis=1, keepdims=True)
    root = np.sum(whole * beard.vertices[corners], axis=1)
    out = unit(np.sum(whole * normals[corners], axis=1))
    near = cKDTree(lines[:, 0]).query(root, 3)[1]
    strand = np.mean(lines[near, -1] - lines[near, 0], axis=1)
    long = np.linalg.norm(strand, axis=1, keepdims=True) * draws.uniform(0.7, 1.2, (count, 1))
    strand = long * unit(unit(strand) + draws.normal(0, 0.22, (count, 3)))
    share = np.linspace(0, 1, POINTS)[None, :, None]
    rise = BEARD_ROOT_M * (ramp(share, 0.0, 0.5) - 1) + BEARD_OUT_M * share * draws.random(
        (count, 1, 1))
    points = root[:, None] + share * strand[:, None] + rise * out[:, None]
    return Hairs(beard.name, points, np.full(count, BEARD_RADIUS_M), draws.normal(0, 0.5, count))
