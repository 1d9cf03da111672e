"""Shoes with soles."""

from dataclasses import replace

import numpy as np
from scipy.spatial import ConvexHull

from mimegen.base.decisions import first_least, nearest
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Material
from mimegen.characters.cloth import cut_from_tights
from mimegen.characters.piece import BoolArray, Piece
from mimegen.characters.spec import Shoes
from mimegen.characters.surface import (
    Surface,
    hemmed,
    neighbour_average,
    smoothed,
    to_mesh,
    vertex_normals,
)
from mimegen.motion.editing import counterparts
from mimegen.motion.quaternions import FloatArray

GAP_M = 0.006
SOLE_RISE_M = 0.014
OUTLINE_POINTS = 48


def make_shoes(garment: Shoes, body: Body) -> Piece:
    """Return a pair of shoes; their soles reach down to -``lift``."""
    ankle = body.joint("LeftFoot")
    top = ankle[2] + 0.012 * body.phenotype.height

    def collar(points: FloatArray) -> FloatArray:
        low = np.where(points[:, 2] < ankle[2] * 2.5, 1.0, -1.0)
        return np.asarray(np.minimum(top - points[:, 2] - 0.35 * (points[:, 1] - ankle[1]), low))

    cut = cut_from_tights(body, [collar])
    average = neighbour_average(cut.faces, len(cut.vertices))
    vertices = smoothed(cut.vertices, average, 4)
    normals = vertex_normals(vertices, cut.faces)
    vertices = vertices + GAP_M * normals
    vertices[:, 2] = np.maximum(vertices[:, 2], -0.002)
    upper = replace(cut, vertices=vertices)
    meshes = [
        to_mesh("shoes", finished := hemmed(upper, 0.003, 0.01), "shoes",
                {"rest": finished.vertices})
    ]
    left = make_sole(upper, garment.sole_height)
    meshes.append(to_mesh("soles", joined(left, mirrored(left, body)), "soles", {}))

    def hides(points: FloatArray) -> BoolArray:
        return collar(points) > 0.005

    return Piece(tuple(meshes), shoe_materials(garment), hides, lift=garment.sole_height)


def make_sole(upper: Surface, height: float) -> Surface:
    """Return the left sole: the outline of the shoe seen from above, drawn out downwards."""
    own = np.flatnonzero((upper.vertices[:, 0] > 0) & (upper.vertices[:, 2] < 0.035))
    outline = rounded_outline(upper.vertices[own, :2])
    centre = outline.mean(axis=0)
    levels = ((0.990, SOLE_RISE_M), (1.025, SOLE_RISE_M - 0.002), (1.030, 0.3 * -height),
              (1.015, 0.85 * -height), (0.985, -height), (0.0, -height))
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
    return Surface(vertices, faces, weights)


def rounded_outline(points: FloatArray) -> FloatArray:
    """Return the convex outline (OUTLINE_POINTS, 2) of points (N, 2), rounded and evenly spaced."""
    hull = points[ConvexHull(points).vertices]
    hull = np.roll(hull, -first_least(hull[:, 1]), axis=0)
    closed = np.concatenate([hull, hull[:1]])
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    places = np.linspace(0, lengths[-1], OUTLINE_POINTS, endpoint=False)
    outline = np.stack([np.interp(places, lengths, closed[:, axis]) for axis in (0, 1)], axis=1)
    for _ in range(3):
        outline = (np.roll(outline, 1, 0) + 2 * outline + np.roll(outline, -1, 0)) / 4
    return outline


def mirrored(surface: Surface, body: Body) -> Surface:
    """Return the surface's counterpart on the other side."""
    return Surface(
        surface.vertices * np.array([-1.0, 1.0, 1.0]), surface.faces[:, ::-1],
        surface.weights[:, counterparts(body.flesh.names)],
    )


def joined(first: Surface, second: Surface) -> Surface:
    """Return two surfaces of quads as one."""
    return Surface(
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
