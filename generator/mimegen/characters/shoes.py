"""Shoes with soles, laces and socks."""

from dataclasses import replace

import numpy as np
import scipy

from mimegen.base.arrays import BoolArray
from mimegen.base.decisions import first_least, nearest
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Material
from mimegen.characters.cloth import Field, cut_from_tights, inside_all
from mimegen.characters.head import grid_faces
from mimegen.characters.piece import CharacterPiece, without_hidden
from mimegen.characters.spec import Shoes
from mimegen.characters.surface import (
    SkinnedSurface,
    hemmed,
    neighbour_average,
    smoothed,
    to_mesh,
    vertex_normals,
)
from mimegen.motion.editing import counterparts
from mimegen.motion.quaternions import FloatArray

# Distances of shoes and of socks from the foot, and the height of the sole's upper edge, in metres.
GAP_M = 0.006
SOCK_M = 0.0025
SOLE_RISE_M = 0.008
LACES = 5
OUTLINE_POINTS = 48


def make_shoes(garment: Shoes, body: Body) -> CharacterPiece:
    """Return a pair of shoes; their soles reach down to -``lift``."""
    collar = opening(garment, body)
    upper = replace(cut := cut_from_tights(body, [collar]), vertices=fitted(cut, GAP_M, -0.002))
    finished = hemmed(upper, 0.003, 0.01)
    left = [make_sole(upper, garment.sole_height)]
    if garment.style == "trainers":
        left.append(laces(upper, body))
    meshes = [to_mesh("shoes", finished, "shoes", {"rest": finished.vertices})]
    meshes += [to_mesh(name, joined(one, mirrored(one, body)), "soles", {})
               for name, one in zip(("soles", "laces"), left, strict=False)]

    def hides(points: FloatArray) -> BoolArray:
        return collar(points) > 0.005

    shoes = CharacterPiece(tuple(meshes), shoe_materials(garment), hides, lift=garment.sole_height)
    return shoes if garment.socks is None else with_socks(shoes, garment.socks, body)


def opening(garment: Shoes, body: Body) -> Field:
    """Return a field of how far points lie below a shoe's opening, in metres."""
    ankle, size = body.joint("LeftFoot"), body.phenotype.height
    rise, slope = {"trainers": (0.006, 0.35), "leather": (0.002, 0.3), "flats": (-0.018, 0.0),
                   "boots": (0.085, 0.0)}[garment.style]
    top, highest = ankle[2] + rise * size, ankle[2] * (4.5 if garment.style == "boots" else 2.5)

    def below(points: FloatArray) -> FloatArray:
        low = np.where(points[:, 2] < highest, 1.0, -1.0)
        return np.asarray(np.minimum(top - points[:, 2] - slope * (points[:, 1] - ankle[1]), low))

    return below


def fitted(cut: SkinnedSurface, gap: float, lowest: float) -> FloatArray:
    """Return vertices (V, 3) ``gap`` metres off the foot, none below ``lowest`` metres."""
    average = neighbour_average(cut.faces, len(cut.vertices))
    vertices = smoothed(cut.vertices, average, 4)
    vertices = vertices + gap * vertex_normals(vertices, cut.faces)
    vertices[:, 2] = np.maximum(vertices[:, 2], lowest)
    return vertices


def with_socks(shoes: CharacterPiece, color: tuple[float, float, float], body: Body
              ) -> CharacterPiece:
    """Return shoes with socks in them, up to a hand's width above the ankle."""
    ankle, size = body.joint("LeftFoot"), body.phenotype.height
    ends: list[Field] = [lambda points: ankle[2] + 0.055 * size - points[:, 2],
                         lambda points: points[:, 2] - 0.5 * ankle[2]]
    cut = cut_from_tights(body, ends)
    worn = hemmed(replace(cut, vertices=fitted(cut, SOCK_M, 0.0)), 0.002, 0.008)
    socks = CharacterPiece((to_mesh("socks", worn, "socks", {}),), (Material(
        "socks", "plain", {"color": color, "roughness": 0.95, "metallic": 0.0}),))
    inner = without_hidden(socks, shoes.hides)
    return CharacterPiece(shoes.meshes + inner.meshes, shoes.materials + inner.materials,
                          lambda points: shoes.hides(points) | inside_all(points, ends, 0.01),
                          shoes.lift)


def laces(upper: SkinnedSurface, body: Body) -> SkinnedSurface:
    """Return the left shoe's laces: bars across the instep."""
    ankle, toe = body.joint("LeftFoot"), body.joint("LeftToeBase")
    share = np.linspace(0.34, 0.92, LACES)[:, None, None]
    width = np.linspace(-1, 1, 7)[None, None, :] * (0.010 + 0.010 * share)
    along = np.array([-0.0026, 0.0026])[None, :, None]
    middle = ankle + share[..., None] * (toe - ankle)
    grid = np.stack(np.broadcast_arrays(
        middle[..., 0] + width, middle[..., 1] + along, 0.0 * share), axis=-1).reshape(-1, 3)
    grid[:, 2] = height_of(upper, grid) + 0.0022
    rows = grid_faces(2, 7, closed=False)
    faces = np.concatenate([rows + 14 * number for number in range(LACES)]).astype(np.int32)
    return SkinnedSurface(grid, faces[:, ::-1], upper.weights[nearest(upper.vertices, grid)])


def height_of(upper: SkinnedSurface, points: FloatArray) -> FloatArray:
    """Return the height (N,) of the left shoe's top at points (N, 3), in metres."""
    normals = vertex_normals(upper.vertices, upper.faces)
    top = upper.vertices[(normals[:, 2] > 0.15) & (upper.vertices[:, 0] > 0)]
    away = points[:, None, :2] - top[None, :, :2]
    near = np.exp(-(away * away).sum(axis=-1) / (2 * 0.006**2))
    return np.asarray((near * top[:, 2]).sum(axis=1) / near.sum(axis=1))


def make_sole(upper: SkinnedSurface, height: float) -> SkinnedSurface:
    """Return the left sole: the outline of the shoe from above, extruded downwards."""
    own = np.flatnonzero((upper.vertices[:, 0] > 0) & (upper.vertices[:, 2] < 0.035))
    outline = rounded_outline(upper.vertices[own, :2])
    centre = outline.mean(axis=0)
    levels = ((0.975, SOLE_RISE_M), (1.008, SOLE_RISE_M - 0.002), (1.012, 0.3 * -height),
              (0.995, 0.85 * -height), (0.97, -height), (0.0, -height))
    rings = [
        np.column_stack([centre + (outline - centre) * share, np.full(len(outline), level)])
        for share, level in levels
    ]
    toe = ramp(outline[:, 1], centre[1], outline[:, 1].min())
    for ring, (share, level) in zip(rings, levels, strict=True):
        ring[:, 2] += 0.006 * toe**2 * (share > 0) * (level < 0) * (level > -height)
    vertices = np.concatenate(rings)
    count = len(outline)
    start = np.arange(count)
    after = np.roll(start, -1)
    faces = np.concatenate([
        np.stack([start + k * count, after + k * count, after + (k + 1) * count,
                  start + (k + 1) * count], axis=1)
        for k in range(len(rings) - 1)
    ]).astype(np.int32)
    weights = upper.weights[own[nearest(upper.vertices[own], vertices)]]
    return SkinnedSurface(vertices, faces, weights)


def rounded_outline(points: FloatArray) -> FloatArray:
    """Return the convex outline (OUTLINE_POINTS, 2) of points (N, 2), rounded and evenly spaced."""
    hull = points[scipy.spatial.ConvexHull(points).vertices]
    hull = np.roll(hull, -first_least(hull[:, 1]), axis=0)
    closed = np.concatenate([hull, hull[:1]])
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    places = np.linspace(0, lengths[-1], OUTLINE_POINTS, endpoint=False)
    outline = np.stack([np.interp(places, lengths, closed[:, axis]) for axis in (0, 1)], axis=1)
    for _ in range(3):
        outline = (np.roll(outline, 1, 0) + 2 * outline + np.roll(outline, -1, 0)) / 4
    return outline


def mirrored(surface: SkinnedSurface, body: Body) -> SkinnedSurface:
    """Return the surface mirrored to the other side."""
    return SkinnedSurface(
        surface.vertices * np.array([-1.0, 1.0, 1.0]), surface.faces[:, ::-1],
        surface.weights[:, counterparts(body.flesh.names)],
    )


def joined(first: SkinnedSurface, second: SkinnedSurface) -> SkinnedSurface:
    """Return two surfaces of quads as one."""
    return SkinnedSurface(
        np.concatenate([first.vertices, second.vertices]),
        np.concatenate([first.faces, second.faces + len(first.vertices)]).astype(np.int32),
        np.concatenate([first.weights, second.weights]),
    )


def shoe_materials(garment: Shoes) -> tuple[Material, Material]:
    """Return the materials of uppers and soles."""
    return (
        Material("shoes", "plain", {"color": garment.color, "roughness": 0.45, "metallic": 0.0}),
        Material("soles", "plain", {"color": garment.sole_color, "roughness": 0.7,
                                    "metallic": 0.0}),
    )
