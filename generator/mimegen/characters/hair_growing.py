"""Grow hairs along a field: guides, locks that gather around them, and noise."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.hair_field import HairField, Skull, StrandPoints
from mimegen.characters.hair_styles import HairStyle
from mimegen.motion.quaternions import FloatArray

# The length within which a hair rises from the skin to its layer, in metres.
RISING_M = 0.012
# Hairs shorter than this, in metres, wave less.
SMALL_M = 0.05
# Height of the lowest roots of hanging hair above the eyes, in units (eyes to crown).
ROOTS_UP = 0.05
# How much shorter full-length hairs may be, as a fraction of their length.
LAYERED = 0.14


class Hairs(NamedTuple):
    """Hairs at rest: points (N, P, 3) from root to tip, radius (N,) at the root, shade (N,).

    ``source`` is the name of the mesh that they move with. Lengths are in metres; most shades lie
    between -1 and 1.
    """

    source: str
    points: FloatArray
    radius: FloatArray
    shade: FloatArray


def grown(name: str, field: HairField, skull: Skull, style: HairStyle, count: int,
          draws: np.random.Generator) -> Hairs:
    """Return ``count`` hairs of a style on a field; ``name`` is that of the field's mesh."""
    begin, column = field.roots(count, growing(field, skull, style), draws)
    strand, share = walked(field, style, begin, column, draws)
    small = np.minimum(path_lengths(strand)[-1] / SMALL_M, 1.0)
    points = strand.places + depth(strand, share, style, draws)[..., None] * strand.out
    lock = locks(points, style)
    points = wound(points, strand, small * share, lock, style, draws)
    points = pulled_to_guides(points, share, lock, style, draws)
    points = points + small[:, None] * frizzed(strand, share, style, draws)
    shade = draws.normal(0, 0.35, count) + draws.normal(0, 0.35, count)[lock]
    radius = style.radius * draws.uniform(0.8, 1.2, count)
    return Hairs(name, points.transpose(1, 0, 2), radius, shade)


def growing(field: HairField, skull: Skull, style: HairStyle) -> FloatArray:
    """Return where hairs of a style have roots (R, C), 0 or 1."""
    if style.long is not None or style.twist:
        return np.ones_like(field.off)
    on_head = field.places[..., 2] > skull.eyes_z + ROOTS_UP * skull.unit
    return np.asarray(on_head if on_head.mean() > 0.05 else np.ones_like(field.off), float)


def walked(field: HairField, style: HairStyle, begin: FloatArray, column: FloatArray,
           draws: np.random.Generator) -> tuple[StrandPoints, FloatArray]:
    """Return the paths of hairs from their roots, and positions along each hair (P, 1), 0 to 1."""
    share = np.linspace(0, 1, style.points)[:, None]
    length, count = field.length(column), len(begin)
    last = 1.0 + np.minimum(style.beyond / length, 0.1) * draws.random(count)
    if style.long is None:
        end = last - LAYERED * draws.random(count) ** 2
    else:
        end = np.minimum(begin + draws.uniform(*style.long, count) / length, last)
    end = np.maximum(end, begin + 0.004 / length)
    columns = field.off.shape[1]
    column = column + style.twist * columns * draws.uniform(-1, 1, count)
    return field.strand_points(begin + share * (end - begin), column % columns), share


def depth(strand: StrandPoints, share: FloatArray, style: HairStyle,
          draws: np.random.Generator) -> FloatArray:
    """Return how far hairs lie outside the field (P, N), in metres: they rise to their layer."""
    count = strand.off.shape[1]
    up = ramp(path_lengths(strand), -0.002, RISING_M)
    layer = draws.uniform(*style.layers, count)
    lift = style.lift * draws.random(count) * share * share
    return np.asarray(strand.off * (up * layer - (1 - up)) + lift)


def path_lengths(strand: StrandPoints) -> FloatArray:
    """Return the lengths of paths up to each point (P, N), in metres."""
    steps = np.linalg.norm(np.diff(strand.places, axis=0), axis=-1)
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])


def locks(points: FloatArray, style: HairStyle) -> FloatArray:
    """Return the lock (N,) of each hair (P, N, 3), as the index of the most similar guide hair.

    Roots, middles and tips are compared.
    """
    guides = np.arange(0, points.shape[1], style.per)
    ways = np.concatenate([points[0], 0.6 * points[len(points) // 2], 0.4 * points[-1]], axis=1)
    nearest = cKDTree(ways[guides]).query(ways)[1]
    return np.asarray(guides[nearest])


def wound(points: FloatArray, strand: StrandPoints, share: FloatArray, lock: FloatArray,
          style: HairStyle,
          draws: np.random.Generator) -> FloatArray:
    """Return hairs (P, N, 3) that sway and wave like their locks, or coil."""
    count = points.shape[1]
    phase, swings = draws.uniform(0, 6.28, count)[lock], draws.uniform(0.6, 1.4, count)[lock]
    sway = style.sway * draws.normal(0, 1, count).clip(-2, 2)[lock] * share * share
    rise = 0.4 * style.sway * draws.normal(0, 1, count).clip(-2, 2)[lock] * share * share
    wave = style.wave * np.sin(phase + 9 * swings * share) * ramp(share, 0.15, 0.6)
    moved = points + (sway + wave)[..., None] * strand.aside + rise[..., None] * strand.out
    if style.coil is None:
        return np.asarray(moved)
    radius = draws.uniform(*style.coil, count)[lock] * ramp(share, 0.0, 0.25)
    turn = phase + draws.normal(0, 0.25, count) + share * 14 * swings
    tip = draws.normal(size=(count, 3))[lock]
    axis = unit(np.gradient(moved, axis=0) + 0.004 * tip)
    over = unit(np.cross(axis, strand.aside) + 1e-9)
    around = np.cos(turn)[..., None] * strand.aside + np.sin(turn)[..., None] * over
    away = (0.5 * strand.off * share)[..., None] * unit(tip - np.sum(
        tip * strand.out[0], axis=-1, keepdims=True) * strand.out[0])
    return np.asarray(moved + radius[..., None] * around + away)


def pulled_to_guides(points: FloatArray, share: FloatArray, lock: FloatArray, style: HairStyle,
                     draws: np.random.Generator) -> FloatArray:
    """Return hairs (P, N, 3) with their ends pulled towards the guide of their lock."""
    pull = style.clump * draws.uniform(0.5, 1.0, points.shape[1]) * ramp(share, 0.0, 0.8)
    return np.asarray(points + pull[..., None] * (points[:, lock] - points))


def frizzed(strand: StrandPoints, share: FloatArray, style: HairStyle, draws: np.random.Generator
            ) -> FloatArray:
    """Return each hair's own displacement (P, N, 3): a few waves that grow towards its end."""
    count = strand.off.shape[1]
    loose = style.frizz * np.where(draws.random(count) < 0.05, 2.5, 1.0) * ramp(share, 0.0, 1.0)
    shifts = [loose * draws.normal(0, 1, count) * np.sin(
        draws.uniform(0, 6.28, count) + share * draws.uniform(2, 12, count)) for _ in range(2)]
    return np.asarray(shifts[0][..., None] * strand.aside + shifts[1][..., None] * strand.out)
