"""Presses: where an arm lies against the trunk, both give way equally.

A body's soft surface is represented by points. Two points face each other if their normals do, if
they are near, and if they were not two sides of one limb at rest. A point behind the surface that
faces it moves out of it, and so does that surface. The displacements are smoothed over the skin;
skin around the shoulder bulges to keep the volume. Rendered vertices follow the points next to
them. The result depends only on the frame's pose.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Places
from mimegen.characters.contacts import Numbers, Pairs, Patches, PressContact, dots, either, joined
from mimegen.characters.folds import softly
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Widths of the Gaussians by which a point weights what faces it, across and by distance, and the
# gap at which it comes to lie in front of it, all in metres.
WIDE_M = 0.02
LONG_M = 0.05
GAP_M = 0.0025
# A point moves in full from this sum of weights on, and at most MAX_SHIFT_M (metres). The facing
# surface is determined OUTER_STEPS times; each time the points are moved INNER_STEPS times, by the
# fraction PUSH of how far they are behind it.
FULL_WEIGHT = 0.4
MAX_SHIFT_M = 0.04
PUSH = 0.6
OUTER_STEPS = 2
INNER_STEPS = 5
# Points that move less than STILL_M (metres) bulge to replace the volume that is pressed in. The
# points are sparser than the skin where it is creased, so their estimate of it is multiplied by
# MORE.
STILL_M = 0.005
MORE = 1.3


@dataclass(frozen=True, eq=False)
class PressPoints:
    """Points (P,) of a body's soft surface, with everything that does not change with the pose.

    ``rest`` (P, 3) are their positions at rest. ``skin`` (3 P, 4 J) maps joint columns to
    positions, then to two tangents. ``nearby`` (P, P) and ``share`` (P,) smooth displacements.
    ``areas`` (P,) are in m2; ``beside`` (P, 2) is how much each point bulges for either arm, 0 to
    1.
    """

    rest: FloatArray
    skin: Any
    nearby: Any
    share: FloatArray
    areas: FloatArray
    beside: FloatArray
    contacts: tuple[PressContact, ...]
    patches: Patches

    def shifts(self, columns: Places) -> FloatArray | None:
        """Return the displacements (P, 3) for joint columns (4 J, 3); None if nothing touches."""
        near = self.patches.near(columns)
        if not near.any():
            return None
        # Compute all of them: the product is cheaper than selecting rows of its matrix.
        places, *slopes = np.asarray(self.skin @ columns, float).reshape(3, -1, 3)
        pairs = joined([contact.pairs(places, near) for contact in self.contacts])
        if not len(pairs.own):
            return None
        normals = unit(quaternions.cross(*slopes))
        pairs = pairs.facing(normals)
        pairs = pairs.chosen(pairs.amount > 0)
        touch = pairs.touching(places, normals)
        pairs = pairs.chosen((touch[pairs.own] > 0) | (touch[pairs.other] > 0))
        if not len(pairs.own):
            return None
        shifts = self._out(places, normals, pairs, touch)
        shifts += self._coming_out(shifts, normals)
        return _limited(shifts)

    def _out(self, places: FloatArray, normals: FloatArray, pairs: Pairs,
             touch: FloatArray) -> FloatArray:
        """Return the displacements (P, 3) that take points out of the surfaces that face them."""
        active = either(pairs, len(places))
        number = np.zeros(len(places), np.intp)
        number[active] = np.arange(len(active))
        pairs = pairs._replace(own=number[pairs.own], other=number[pairs.other])
        start, normals, touch = places[active], normals[active], touch[active]
        spread = self.nearby[active].T
        shifts, push = np.zeros_like(places), np.zeros_like(start)
        for _ in range(OUTER_STEPS):
            front = Front.of(start + shifts[active], normals, pairs)
            for _ in range(INNER_STEPS):
                push += touch[:, None] * front.push(start + shifts[active])
                shifts = self.share[:, None] * (spread @ push)
        return shifts

    def _coming_out(self, shifts: FloatArray, normals: FloatArray) -> FloatArray:
        """Return how far (P, 3) the skin around the shoulders bulges for the volume pressed in."""
        lost = -(self.areas * dots(shifts, normals))
        comes = self.beside * np.maximum(1 - lengths(shifts) / STILL_M, 0.0)[:, None]
        sums = [np.array([float((side * of).sum()) for side in each.T]) for each, of in (
            (self.beside, lost), (comes, self.areas))]
        share = MORE * np.maximum(sums[0], 0.0) / np.maximum(sums[1], 1e-9)
        return np.asarray((comes * share).sum(axis=1)[:, None] * normals)


def _limited(shifts: FloatArray) -> FloatArray:
    """Return displacements (P, 3), shortened to at most ``MAX_SHIFT_M``."""
    return np.asarray(shifts * (MAX_SHIFT_M / np.maximum(lengths(shifts), MAX_SHIFT_M))[:, None])


@dataclass(frozen=True, eq=False)
class Front:
    """The surface that faces each of the points (A,).

    Point ``rows`` (N,) sees point ``columns`` (N,) with weight ``shares`` (N,); a point's weights
    sum to 1. ``normals`` (A, 3) are the points' normals, ``mean`` (A, 3) the weighted means of the
    normals they see, ``direction`` (A, 3) the same as unit vectors. ``confidence`` (A,) is how
    certain it is, 0 to 1, that something faces a point.
    """

    rows: Numbers
    columns: Numbers
    shares: FloatArray
    normals: FloatArray
    mean: FloatArray
    direction: FloatArray
    confidence: FloatArray

    @staticmethod
    def of(places: FloatArray, normals: FloatArray, pairs: Pairs) -> "Front":
        """Return what faces points at positions ``places`` (A, 3)."""
        offsets = places[pairs.own] - places[pairs.other]
        away, across = dots(offsets, offsets), unit(normals[pairs.other] - normals[pairs.own])
        aside = away - dots(offsets, across) ** 2
        nearness = np.tile(
            pairs.amount * np.exp(-aside / WIDE_M ** 2 - away / LONG_M ** 2), 2)
        rows = np.concatenate([pairs.own, pairs.other])
        columns = np.concatenate([pairs.other, pairs.own])
        weight = np.bincount(rows, nearness, len(places))
        shares = nearness / np.maximum(weight, 1e-12)[rows]
        mean: FloatArray = np.stack([np.bincount(rows, shares * normals[columns, axis], len(places))
                         for axis in range(3)], axis=1)
        return Front(rows, columns, shares, normals, mean, unit(mean),
                     np.minimum(weight / FULL_WEIGHT, 1.0))

    def push(self, places: FloatArray) -> FloatArray:
        """Return the displacements (A, 3) that take points at (A, 3) out of what faces them."""
        along = dots(places, self.normals)
        there = np.bincount(self.rows, self.shares * along[self.columns], len(places))
        ahead = dots(places, self.mean) - there
        size = PUSH * self.confidence * softly(GAP_M - ahead)
        return np.asarray(size[:, None] * self.direction)


@dataclass(frozen=True, eq=False)
class Presses:
    """Vertices (N,) that follow the points of a body, by the sparse matrix ``follow`` (N, P)."""

    points: PressPoints
    vertices: Numbers
    follow: Any

    def apply(self, places: Places, columns: Places) -> None:
        """Move vertices (V, 3), blended with joint columns (4 J, 3), in place."""
        shifts = self.points.shifts(columns)
        if shifts is not None:
            places[self.vertices] += (self.follow @ shifts).astype(places.dtype)
