"""What all sewn garments share: cutting them from the close-fitting surface, and finishing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.decisions import EQUAL, nearest
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Mesh
from mimegen.characters.surface import (
    SkinnedSurface,
    clear_of,
    clipped,
    hemmed,
    neighbour_average,
    part_of,
    smoothed,
    subdivided,
    to_mesh,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

HEM_THICKNESS_M = 0.003
HEM_DEPTH_M = 0.02
# Sleeves, and what is beside the trunk below them, are so far (m) off the skin as they hang, from
# there on less, and never farther than the second.
SLEEVE_OFF_M = (0.016, 0.024)

Field = Callable[[FloatArray], FloatArray]
"""Roughly how far rest-pose points (N, 3) lie inside a garment's edge, in metres."""


def cut_from_tights(body: Body, fields: Sequence[Field]) -> SkinnedSurface:
    """Return the close-fitting surface where all fields are positive, in fine faces."""
    surface = part_of(body.vertices, body.faces["tights"], body.flesh.dense)
    for field in fields:
        near = field(surface.vertices) > -0.03
        surface = part_of(surface.vertices, surface.faces[near[surface.faces].any(axis=1)],
                          surface.weights)
    surface = subdivided(surface)
    for field in fields:
        surface = clipped(surface, field(surface.vertices))
    return surface


def lifted_off(surface: SkinnedSurface, body: Body, gap: float, rounds: int = 8) -> SkinnedSurface:
    """Return the surface ``gap`` metres off the skin, rounded so that it clings less."""
    average = neighbour_average(surface.faces, len(surface.vertices))
    vertices = smoothed(surface.vertices, average, rounds)
    vertices = vertices + gap * vertex_normals(vertices, surface.faces)
    return cleared(replace(surface, vertices=vertices), body, gap)


def cleared(surface: SkinnedSurface, body: Body, gap: float) -> SkinnedSurface:
    """Return the surface pushed out wherever it comes nearer to the skin than ``gap`` metres."""
    used = np.unique(body.faces["body"])
    normals = vertex_normals(body.vertices, body.faces["body"])[used]
    average = neighbour_average(surface.faces, len(surface.vertices))
    push = clear_of(surface.vertices, body.vertices[used], normals, gap)
    spread = smoothed(push, average, 3)
    vertices = surface.vertices + spread
    return replace(surface, vertices=vertices + clear_of(vertices, body.vertices[used],
                                                         normals, gap))


def evened_out(surface: SkinnedSurface, body: Body, gap: float) -> SkinnedSurface:
    """Return the surface evened out after draping, at least ``gap`` metres off the skin."""
    average = neighbour_average(surface.faces, len(surface.vertices))
    vertices = smoothed(surface.vertices, average, 2)
    return cleared(replace(surface, vertices=vertices), body, gap)


def sleeves_near(surface: SkinnedSurface, body: Body) -> SkinnedSurface:
    """Return the surface with nothing beside the shoulder joints that is far off the skin."""
    skin = body.vertices[np.unique(body.faces["body"])]
    away = surface.vertices - skin[nearest(skin, surface.vertices)]
    far = np.maximum(np.linalg.norm(away, axis=1), EQUAL)
    hanging, most = SLEEVE_OFF_M
    over = np.maximum(far - hanging, 0.0)
    less = over - (most - hanging) * (1 - np.exp(-over / (most - hanging)))
    shoulder = body.joint("LeftArm")[0]
    share = ramp(np.abs(surface.vertices[:, 0]), 0.75 * shoulder, shoulder)
    pull = (share * less / far)[:, None] * away
    average = neighbour_average(surface.faces, len(surface.vertices))
    return replace(surface, vertices=surface.vertices - smoothed(pull, average, 2))


def sewn(name: str, surface: SkinnedSurface, cut: SkinnedSurface, fields: Sequence[Field]) -> Mesh:
    """Return a finished garment: hemmed, its weights evened out, with what its shader needs.

    ``cut`` is the same surface as it was cut, where the fields hold. Attributes: ``rest`` (V, 3),
    the rest-pose place in metres, and ``edge`` (V,), the distance to the nearest hem in metres.
    """
    average = neighbour_average(surface.faces, len(surface.vertices))
    surface = replace(surface, weights=smoothed(surface.weights, average, 8))
    edge = np.min([field(cut.vertices) for field in fields], axis=0)
    finished = hemmed(surface, HEM_THICKNESS_M, HEM_DEPTH_M)
    folded = np.zeros(len(finished.vertices) - len(edge))
    return to_mesh(name, finished, name, {
        "rest": finished.vertices, "edge": np.concatenate([np.maximum(edge, 0.0), folded]),
    })


def cloth_mesh(name: str, surface: SkinnedSurface, material: str) -> Mesh:
    """Return what is sewn onto a garment as a mesh of its cloth, with what its shader needs.

    Its ``edge`` is 0: it has no seams, and what lies further inside is not pushed in by it.
    """
    return to_mesh(name, surface, material, {
        "rest": surface.vertices, "edge": np.zeros(len(surface.vertices))})


def inside_all(points: FloatArray, fields: Sequence[Field], margin: float) -> BoolArray:
    """Return which points (N,) lie at least ``margin`` metres inside all edges."""
    return np.asarray(np.min([field(points) for field in fields], axis=0) > margin)
