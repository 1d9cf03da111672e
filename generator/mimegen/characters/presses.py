"""Presses: where an arm lies against the trunk both give way alike.

A body's soft surface is told by points. Two of them face each other if their normals do, if they
are near, and if they were not two sides of one limb at rest. What is behind the surface that faces
it comes out of it, and so does that surface; the shifts are smoothed over the skin, and what they
press in comes out about the shoulder. All that is drawn goes along with the points next to it.
It depends on nothing but the pose of the frame.
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

# How wide and how far (m) a point looks at what faces it, and how far from it (m) it comes to lie.
WIDE_M = 0.02
LONG_M = 0.05
GAP_M = 0.0025
# From so much that faces it on a point is moved in full, at most so far (m); so often it looks what
# faces it, and so often it is moved each time, by so much of how far it is behind.
SURE = 0.4
FARTHEST_M = 0.04
PUSH = 0.6
LOOKS = 2
MOVES = 5
# What is moved less (m) than this comes out for what is pressed in, by so much more than is told
# by the points, which are sparser than the skin where it is creased.
STILL_M = 0.005
MORE = 1.3


@dataclass(frozen=True, eq=False)
class PressPoints:
    """Points (P,) of a body's soft surface, and all that does not change with the pose.

    ``skin`` (3 P, 4 J) maps joint columns to places, then to two tangents.
    ``nearby`` (P, P) and ``share`` (P,) smooth shifts. ``areas`` (P,) are m2, ``beside`` (P, 2) is
    how far each comes out for either arm, 0 to 1.
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
        """Return how far (P, 3) points go for joint columns (4 J, 3); None where nothing is."""
        near = self.patches.near(columns)
        if not near.any():
            return None
        # All of them: a product costs less than choosing rows of its matrix.
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
        return _held(shifts)

    def _out(self, places: FloatArray, normals: FloatArray, pairs: Pairs,
             touch: FloatArray) -> FloatArray:
        """Return the shifts (P, 3) that take points out of what faces them."""
        active = either(pairs, len(places))
        number = np.zeros(len(places), np.intp)
        number[active] = np.arange(len(active))
        pairs = pairs._replace(own=number[pairs.own], other=number[pairs.other])
        start, normals, touch = places[active], normals[active], touch[active]
        spread = self.nearby[active].T
        shifts, push = np.zeros_like(places), np.zeros_like(start)
        for _ in range(LOOKS):
            front = Front.of(start + shifts[active], normals, pairs)
            for _ in range(MOVES):
                push += touch[:, None] * front.push(start + shifts[active])
                shifts = self.share[:, None] * (spread @ push)
        return shifts

    def _coming_out(self, shifts: FloatArray, normals: FloatArray) -> FloatArray:
        """Return how far (P, 3) the skin about shoulders comes out for what shifts press in."""
        lost = -(self.areas * dots(shifts, normals))
        comes = self.beside * np.maximum(1 - lengths(shifts) / STILL_M, 0.0)[:, None]
        sums = [np.array([float((side * of).sum()) for side in each.T]) for each, of in (
            (self.beside, lost), (comes, self.areas))]
        share = MORE * np.maximum(sums[0], 0.0) / np.maximum(sums[1], 1e-9)
        return np.asarray((comes * share).sum(axis=1)[:, None] * normals)


def _held(shifts: FloatArray) -> FloatArray:
    """Return shifts (P, 3) no longer than flesh gives way."""
    return np.asarray(shifts * (FARTHEST_M / np.maximum(lengths(shifts), FARTHEST_M))[:, None])


@dataclass(frozen=True, eq=False)
class Front:
    """What faces points (A,): others by pairs both ways (N,), and where their surface is.

    Point ``rows`` sees ``columns`` by ``shares`` (N,) whose sum is 1. Its surface's ``normals``
    (A, 3) are those of the others; ``mean`` (A, 3) is theirs, ``direction`` (A, 3) that as a unit
    vector, ``sure`` (A,) how surely there is something.
    """

    rows: Numbers
    columns: Numbers
    shares: FloatArray
    normals: FloatArray
    mean: FloatArray
    direction: FloatArray
    sure: FloatArray

    @staticmethod
    def of(places: FloatArray, normals: FloatArray, pairs: Pairs) -> "Front":
        """Return what faces points at places (A, 3)."""
        ways = places[pairs.own] - places[pairs.other]
        away, across = dots(ways, ways), unit(normals[pairs.other] - normals[pairs.own])
        aside = away - dots(ways, across) ** 2
        nearness = np.tile(
            pairs.amount * np.exp(-aside / WIDE_M ** 2 - away / LONG_M ** 2), 2)
        rows = np.concatenate([pairs.own, pairs.other])
        columns = np.concatenate([pairs.other, pairs.own])
        weight = np.bincount(rows, nearness, len(places))
        shares = nearness / np.maximum(weight, 1e-12)[rows]
        mean: FloatArray = np.stack([np.bincount(rows, shares * normals[columns, axis], len(places))
                         for axis in range(3)], axis=1)
        return Front(rows, columns, shares, normals, mean, unit(mean),
                     np.minimum(weight / SURE, 1.0))

    def push(self, places: FloatArray) -> FloatArray:
        """Return the shifts (A, 3) that take points at places (A, 3) out of what faces them."""
        along = dots(places, self.normals)
        there = np.bincount(self.rows, self.shares * along[self.columns], len(places))
        ahead = dots(places, self.mean) - there
        return np.asarray((PUSH * self.sure * softly(GAP_M - ahead))[:, None] * self.direction)


@dataclass(frozen=True, eq=False)
class Presses:
    """What of a body's vertices (N,) follows its points: a matrix (N, P)."""

    points: PressPoints
    vertices: Numbers
    follow: Any

    def apply(self, places: Places, columns: Places) -> None:
        """Move vertices (V, 3), blended with joint columns (4 J, 3), in place."""
        shifts = self.points.shifts(columns)
        if shifts is not None:
            places[self.vertices] += (self.follow @ shifts).astype(places.dtype)
