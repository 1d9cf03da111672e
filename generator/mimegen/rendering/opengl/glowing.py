"""Divide a set's glowing surfaces into parts, so that their light can be summed like lamps'."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.voxels import SIDES, ColoredTriangles, Grid, points_on


@dataclass(frozen=True)
class GlowParameters:
    """How glowing surfaces are divided."""

    # The smallest side of a part in metres; it grows by ``growth`` until there are at most
    # ``most_parts`` parts.
    least_part_m: float = 0.5
    most_parts: int = 512
    growth: float = 1.3
    # Glowing triangles outside of a set below this area (square metres) hide too little sky to
    # count.
    least_screen_m2: float = 4.0


GLOW = GlowParameters()


def glowing_parts(surfaces: Sequence[ColoredTriangles]) -> FloatArray:
    """Return glowing surfaces as parts (G, 10): position, direction, power (RGB) and area."""
    glowing = [surface for surface in surfaces if surface.glows and surface.color.any()]
    if not glowing:
        return np.zeros((0, 10))
    corners = np.concatenate([surface.triangles.reshape(-1, 3) for surface in glowing])
    low, high = corners.min(axis=0) - 1e-3, corners.max(axis=0) + 1e-3
    size = GLOW.least_part_m
    while len(parts := _parts(glowing, _bins(low, high, size))) > GLOW.most_parts:
        size *= GLOW.growth
    return parts


def screens(surfaces: Sequence[ColoredTriangles], low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the large glowing triangles (T, 3, 3) that lie outside a box and face its centre.

    ``low`` and ``high`` (3,) are the box's corners.
    """
    glowing = [surface.triangles for surface in surfaces if surface.glows]
    triangles = np.concatenate([np.zeros((0, 3, 3), np.float32), *glowing]).astype(float)
    outside = ((triangles.max(axis=1) < low) | (triangles.min(axis=1) > high)).any(axis=1)
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = (across * ((low + high) / 2 - triangles[:, 0])).sum(axis=1) > 0
    large = np.linalg.norm(across, axis=1) > 2 * GLOW.least_screen_m2
    return np.asarray(triangles[outside & inwards & large])


def passing(triangles: FloatArray, starts: FloatArray, directions: FloatArray) -> NDArray[np.bool_]:
    """Return which rays from starts (N, 3) in directions (N, 3) hit no triangle (T, 3, 3).

    Moeller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997.
    """
    free = np.ones(len(starts), np.bool_)
    for first, second, third in triangles:
        one, two, away = second - first, third - first, starts - first
        across = np.cross(directions, two)
        depth = across @ one
        safe = np.where(np.abs(depth) > 1e-9, depth, 1e-9)
        u = (across * away).sum(axis=1) / safe
        turned = np.cross(away, one)
        v, far = (turned * directions).sum(axis=1) / safe, turned @ two / safe
        free &= ~((u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0))
    return free


def _bins(low: FloatArray, high: FloatArray, size: float) -> Grid:
    x, y, z = (int(count) for count in np.maximum(np.ceil((high - low) / size), 1))
    return Grid(low, np.full(3, size), (x, y, z))


def _parts(glowing: Sequence[ColoredTriangles], bins: Grid) -> FloatArray:
    """Return the parts (G, 10): one for each bin and each of six directions that surfaces face."""
    found = []
    for surface in glowing:
        points, normals, areas = points_on(surface.triangles, bins, 0.0)
        inside = bins.cells(points)[1]
        power = np.pi * areas[:, None] * surface.color
        found.append(np.column_stack([points, normals, power, areas])[inside])
    each = np.concatenate(found)
    _, number = np.unique(_numbers(each, bins), return_inverse=True)
    # Positions and directions are means weighted by area; powers and areas are sums.
    weighed = np.column_stack([each[:, :6] * each[:, 9:], each[:, 6:]])
    summed = np.stack([np.bincount(number, column) for column in weighed.T], axis=-1)
    area = np.maximum(summed[:, 9:], 1e-12)
    return np.column_stack([summed[:, :3] / area, unit(summed[:, 3:6]), summed[:, 6:]])


def _numbers(parts: FloatArray, bins: Grid) -> NDArray[np.int64]:
    """Return a number (N,) that is equal for points in the same bin that face the same side."""
    side = np.argmax(parts[:, 3:6] @ SIDES.T, axis=1)
    return np.asarray(bins.cells(parts[:, :3])[0] * len(SIDES) + side)
