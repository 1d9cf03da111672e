"""Collars, hoods, plackets and pockets: what is sewn onto a garment."""

from dataclasses import replace

import numpy as np

from mimegen.base.decisions import nearest
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.cloth import Field, cleared
from mimegen.characters.head import grid_faces
from mimegen.characters.surface import (
    Surface,
    clipped,
    neighbour_average,
    smoothed,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

COLUMNS = 48
# A folded shirt collar: metres outwards and up from the neckline, row after row, and how much
# further down its points reach in front.
COLLAR = np.array([[0.0, -0.006], [-0.010, 0.012], [-0.014, 0.024], [-0.010, 0.030],
                   [-0.002, 0.025], [0.007, 0.006], [0.012, -0.006]])
POINTS = np.array([0.0, 0.0, 0.0, 0.0, 0.004, 0.018, 0.030])
# A hood on the back: how thick its roll is in front and behind, and how far its bag hangs, metres.
ROLL_M, BEHIND_M, BAG_M = 0.012, 0.036, 0.17
SECTION = 12
# Over how many metres what is sewn on slopes down to the cloth.
EDGE_M = 0.006


def neck_ring(surface: Surface, neckline: FloatArray, turns: FloatArray) -> FloatArray:
    """Return the neckline's places (N, 3) at azimuths (N,), radians from straight ahead.

    ``neckline`` (V,) is how far the surface's vertices lie inside it.
    """
    ring = surface.vertices[np.abs(neckline) < 1e-6]
    middle = ring.mean(axis=0)
    away = ring - middle
    azimuth = np.arctan2(away[:, 0], -away[:, 1])
    order = np.argsort(azimuth, kind="stable")
    return np.asarray(middle + np.stack([np.interp(turns, azimuth[order], away[order, axis],
                                        period=2 * np.pi) for axis in range(3)], axis=1))


def like_nearest(host: Surface, grid: FloatArray, closed: bool) -> Surface:
    """Return a grid of places (R, C, 3) as a surface that moves as the ``host`` does there."""
    places = grid.reshape(-1, 3)
    average = neighbour_average(host.faces, len(host.vertices))
    weights = smoothed(host.weights, average, 8)
    return Surface(places, grid_faces(len(grid), grid.shape[1], closed),
                   weights[nearest(host.vertices, places)])


def outwards(ring: FloatArray) -> FloatArray:
    """Return level unit vectors (N, 3) away from a ring's middle."""
    away = (ring - ring.mean(axis=0)) * np.array([1.0, 1.0, 0.0])
    return np.asarray(away / np.linalg.norm(away, axis=1, keepdims=True))


def shirt_collar(host: Surface, neckline: FloatArray, body: Body, gap_deg: float) -> Surface:
    """Return a folded collar, open over ``gap_deg`` degrees to each side in front."""
    start = np.radians(gap_deg)
    turns = np.linspace(start, 2 * np.pi - start, COLUMNS)
    ring = neck_ring(host, neckline, turns)
    away, up = outwards(ring), np.array([0.0, 0.0, 1.0])
    front = ramp(np.cos(turns), 0.3, 1.0)
    fall = COLLAR[:, 1:] - POINTS[:, None] * front
    grid = ring + COLLAR[:, :1, None] * away + fall[:, :, None] * up
    grid[:, :, 1] -= (0.4 * POINTS[:, None] * front)
    made = like_nearest(host, grid, closed=False)
    return replace(made, vertices=cleared(made, body, 0.004).vertices, faces=made.faces[:, ::-1])


def hood(host: Surface, neckline: FloatArray, body: Body) -> Surface:
    """Return a hood that lies on the back: a roll around the neck with a bag behind."""
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
    made = like_nearest(host, grid, closed=False)
    return replace(made, vertices=cleared(made, body, 0.022).vertices)


def patch(host: Surface, body: Body, field: Field, lift: float) -> Surface:
    """Return the part of a surface's front where a field is positive, ``lift`` metres above it.

    It slopes down to the surface at its edge: a wall so low would be seen as a row of dots.
    """
    front = body.joint("Spine1")[1] - 0.01 - host.vertices[:, 1]
    part = clipped(host, np.minimum(field(host.vertices), front))
    above = 0.0004 + lift * ramp(field(part.vertices), 0.0, EDGE_M)
    return replace(part, vertices=part.vertices
                   + above[:, None] * vertex_normals(part.vertices, part.faces))
