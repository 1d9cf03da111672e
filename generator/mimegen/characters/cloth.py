"""Steps shared by all sewn garments: cutting them from the close-fitting surface, and finishing."""

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
# Distance of sleeves from the skin, in metres: kept up to the first value, compressed beyond it so
# that it stays below the second. It also holds for cloth beside the trunk below the sleeves.
SLEEVE_OFF_M = (0.016, 0.024)

Field = Callable[[FloatArray], FloatArray]
"""A function from rest-pose points (N, 3) to how far (N,), roughly, they lie inside a garment's
edge, in metres.
"""


def cut_from_tights(body: Body, fields: Sequence[Field]) -> SkinnedSurface:
    """Return the part of the close-fitting surface where all fields are positive, in fine faces."""
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
    """Return the surface ``gap`` metres off the skin, smoothed so that it clings less."""
    average = neighbour_average(surface.faces, len(surface.vertices))
    vertices = smoothed(surface.vertices, average, rounds)
    vertices = vertices + gap * vertex_normals(vertices, surface.faces)
    return cleared(replace(surface, vertices=vertices), body, gap)


def cleared(surface: SkinnedSurface, body: Body, gap: float) -> SkinnedSurface:
    """Return the surface pushed out to at least ``gap`` metres from the skin."""
    used = np.unique(body.faces["body"])
    normals = vertex_normals(body.vertices, body.faces["body"])[used]
    average = neighbour_average(surface.faces, len(surface.vertices))
    push = clear_of(surface.vertices, body.vertices[used], normals, gap)
    spread = smoothed(push, average, 3)
    vertices = surface.vertices + spread
    return replace(surface, vertices=vertices + clear_of(vertices, body.vertices[used],
                                                         normals, gap))


def evened_out(surface: SkinnedSurface, body: Body, gap: float) -> SkinnedSurface:
    """Return the surface smoothed after draping, at least ``gap`` metres off the skin."""
    average = neighbour_average(surface.faces, len(surface.vertices))
    vertices = smoothed(surface.vertices, average, 2)
    return cleared(replace(surface, vertices=vertices), body, gap)


def limit_sleeve_gap(surface: SkinnedSurface, body: Body) -> SkinnedSurface:
    """Return the surface with cloth beyond the shoulder joints pulled towards the skin.

    ``SLEEVE_OFF_M`` limits how far it may stand off.
    """
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
    """Return a finished garment: hemmed, with smoothed weights and the attributes its shader needs.

    ``cut`` is the surface before draping, on which the fields hold. Attributes: ``rest`` (V, 3),
    positions in the rest pose, and ``edge`` (V,), the distance to the nearest hem, both in metres.
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
    """Return a trimming as a mesh with the attributes that the cloth's shader needs.

    Its ``edge`` is 0: it has no seams, and it does not push inner pieces inwards.
    """
    return to_mesh(name, surface, material, {
        "rest": surface.vertices, "edge": np.zeros(len(surface.vertices))})


def inside_all(points: FloatArray, fields: Sequence[Field], margin: float) -> BoolArray:
    """Return a mask (N,) of the points that lie at least ``margin`` metres inside all edges."""
    return np.asarray(np.min([field(points) for field in fields], axis=0) > margin)
