"""Parts that are sewn onto a garment: collars, hoods, lapels, plackets and pockets."""

from dataclasses import replace

import numpy as np

from mimegen.base.decisions import nearest
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.cloth import Field, cleared
from mimegen.characters.head import grid_faces
from mimegen.characters.surface import (
    SkinnedSurface,
    clear_of,
    clipped,
    neighbour_average,
    smoothed,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

COLUMNS = 48
# A shirt's collar: the height of its stand behind and in front, the length of its leaf behind and
# at its points (both in metres), the leaf's angle from vertical, and its distance from the cloth
# below (metres).
STAND_M = (0.026, 0.010)
LEAF_M = (0.046, 0.072)
LEAF_DEG = 52.0
LEAF_GAP_M = 0.005
LEAF_ROWS = 6
# Lapels: their widths at these distances below the neck's joint, and how far they stand off the
# cloth, all in metres.
LAPEL_BELOW_M = (-0.05, 0.03, 0.09, 0.10, 0.30)
LAPEL_WIDE_M = (0.03, 0.035, 0.062, 0.062, -0.01)
LAPEL_LIFT_M = 0.011
# A hood on the back: the thickness of its roll in front and behind, and how far its bag hangs down,
# in metres.
ROLL_M = 0.012
BEHIND_M = 0.036
BAG_M = 0.17
SECTION = 12
# The width in metres over which a trimming slopes down to the cloth at its edge.
EDGE_M = 0.006


def neck_ring(surface: SkinnedSurface, neckline: FloatArray, turns: FloatArray) -> FloatArray:
    """Return positions (N, 3) on the neckline at azimuths (N,), in radians from straight ahead.

    ``neckline`` (V,) is how far the surface's vertices lie inside the neckline, in metres.
    """
    ring = surface.vertices[np.abs(neckline) < 1e-6]
    middle = ring.mean(axis=0)
    away = ring - middle
    azimuth = np.arctan2(away[:, 0], -away[:, 1])
    order = np.argsort(azimuth, kind="stable")
    return np.asarray(middle + np.stack([np.interp(turns, azimuth[order], away[order, axis],
                                        period=2 * np.pi) for axis in range(3)], axis=1))


def skinned_like(host: SkinnedSurface, grid: FloatArray, closed: bool) -> SkinnedSurface:
    """Return a grid of positions (R, C, 3) as a surface that moves like the ``host`` below it.

    ``closed`` joins the last column to the first.
    """
    places = grid.reshape(-1, 3)
    average = neighbour_average(host.faces, len(host.vertices))
    weights = smoothed(host.weights, average, 8)
    return SkinnedSurface(places, grid_faces(len(grid), grid.shape[1], closed),
                          weights[nearest(host.vertices, places)])


def outwards(ring: FloatArray) -> FloatArray:
    """Return horizontal unit vectors (N, 3) that point away from a ring's centre."""
    away = (ring - ring.mean(axis=0)) * np.array([1.0, 1.0, 0.0])
    return np.asarray(away / np.linalg.norm(away, axis=1, keepdims=True))


def shirt_collar(host: SkinnedSurface, neckline: FloatArray, body: Body, gap_deg: float
                ) -> SkinnedSurface:
    """Return a folded collar, open by ``gap_deg`` degrees to each side in front.

    A stand follows the neckline; from it a leaf falls onto the cloth, farthest at its points.
    """
    start = np.radians(gap_deg)
    turns = np.linspace(start, 2 * np.pi - start, COLUMNS)
    ring = neck_ring(host, neckline, turns)
    front = ramp(np.cos(turns), 0.1, np.cos(start))
    stand, leaf = (behind + (before - behind) * front for behind, before in (STAND_M, LEAF_M))
    fall = np.linspace(0.0, 1.0, LEAF_ROWS)[:, None] * leaf
    out = np.concatenate([0 * fall[:2], 0.004 + np.sin(np.radians(LEAF_DEG)) * fall])
    rise = np.concatenate([[0 * stand - 0.006, stand],
                           stand - np.cos(np.radians(LEAF_DEG)) * fall])
    grid = ring + out[..., None] * outwards(ring)
    grid[:, :, 2] += rise
    made = cleared(skinned_like(host, grid, closed=False), body, 0.004)
    falling = np.repeat([0.0, 0.0, *np.linspace(0.0, 1.0, LEAF_ROWS)], COLUMNS)[:, None]
    return replace(made, vertices=laid_on(host, made, falling), faces=made.faces[:, ::-1])


def laid_on(host: SkinnedSurface, made: SkinnedSurface, share: FloatArray) -> FloatArray:
    """Return positions (V, 3) of a trimming that is lowered onto the cloth.

    ``share`` (V, 1) is how far each vertex is lowered, 0 to 1.
    """
    normals = vertex_normals(host.vertices, host.faces)
    down = clear_of(made.vertices, host.vertices, -normals, -LEAF_GAP_M)
    average = neighbour_average(made.faces, len(made.vertices))
    fallen = made.vertices + ramp(share, 0.1, 0.6) * smoothed(down, average, 3)
    return np.asarray(fallen + (share > 0) * clear_of(fallen, host.vertices, normals,
                                                      LEAF_GAP_M))


def hood(host: SkinnedSurface, neckline: FloatArray, body: Body) -> SkinnedSurface:
    """Return a hood that lies on the back: a roll around the neck with a bag behind it."""
    turns = np.linspace(0.25, 2 * np.pi - 0.25, COLUMNS)
    ring = neck_ring(host, neckline, turns)
    behind = ramp(-np.cos(turns), -0.5, 0.9)
    thick = ROLL_M + (BEHIND_M - ROLL_M) * behind
    around = np.linspace(np.pi, -np.pi, SECTION)[:, None]
    out, rise = thick * (0.7 + np.cos(around)), thick * (0.5 + np.sin(around))
    low = ramp(-np.sin(around), 0.2, 1.0) * ramp(behind, 0.55, 1.0)
    grid = ring + out[..., None] * outwards(ring)
    grid[:, :, 2] += rise - BAG_M * low
    grid[:, :, 0] *= 1 - 0.25 * low
    grid[:, :, 1] += 0.03 * low
    made = skinned_like(host, grid, closed=False)
    return replace(made, vertices=cleared(made, body, 0.022).vertices)


def lapels(host: SkinnedSurface, body: Body, opening: Field) -> SkinnedSurface:
    """Return a jacket's lapels, folded back along its opening from the neck to the chest."""
    neck, scale = body.joint("Neck")[2], body.phenotype.height / 1.7

    def inside(points: FloatArray) -> FloatArray:
        below = (neck - points[:, 2]) / scale
        width = scale * np.interp(below, LAPEL_BELOW_M, LAPEL_WIDE_M)
        return np.asarray(width - np.maximum(opening(points), 0.0))

    return patch(host, body, inside, LAPEL_LIFT_M)


def patch(host: SkinnedSurface, body: Body, field: Field, lift: float) -> SkinnedSurface:
    """Return the front part of a surface where a field is positive, ``lift`` metres above it."""
    front = body.joint("Spine1")[1] - 0.01
    return band(host, lambda points: np.minimum(field(points), front - points[:, 1]), lift)


def band(host: SkinnedSurface, field: Field, lift: float) -> SkinnedSurface:
    """Return the part of a surface where a field is positive, ``lift`` metres above it.

    It slopes down to the surface at its edge: a low vertical wall would be rendered as a row of
    dots.
    """
    part = clipped(host, field(host.vertices))
    above = 0.0004 + lift * ramp(field(part.vertices), 0.0, EDGE_M)
    return replace(part, vertices=part.vertices
                   + above[:, None] * vertex_normals(part.vertices, part.faces))
