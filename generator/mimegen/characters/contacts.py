"""Find the points of a body's surface that may press each other in a pose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths
from mimegen.characters.character import Places
from mimegen.motion.quaternions import FloatArray

Numbers = NDArray[np.intp]

# Two points may press each other if they are nearer than REACH_M; this is complete FULL_M before
# that distance. At rest they must have been farther apart by APART_M, which begins at the first
# value and is complete at the second; otherwise they belong to one fold. All in metres.
REACH_M = 0.07
FULL_M = 0.015
APART_M = (0.02, 0.04)
# Cosine between normals at which surfaces face each other in full; from 0 on they do not.
FACING = -0.5
# Distance in front of each other, in metres, at which points begin to touch and at which they touch
# in full. Pairs whose amount is at least FULL_AMOUNT touch in full.
TOUCH_M = (0.012, 0.0045)
FULL_AMOUNT = 0.3


class Pairs(NamedTuple):
    """Pairs of points that face each other.

    ``own`` and ``other`` (N,) are the points' indices; ``amount`` (N,) is how strongly they may
    press each other, 0 to 1.
    """

    own: Numbers
    other: Numbers
    amount: FloatArray

    def chosen(self, which: NDArray[np.bool_]) -> "Pairs":
        """Return the pairs selected by a mask (N,)."""
        numbers = np.flatnonzero(which)
        return Pairs(self.own[numbers], self.other[numbers], self.amount[numbers])

    def facing(self, normals: FloatArray) -> "Pairs":
        """Return the pairs, weighted by how much their ``normals`` (P, 3) face each other."""
        cosines = dots(normals[self.own], normals[self.other])
        return self._replace(amount=self.amount * clip01(cosines / FACING))

    def touching(self, places: FloatArray, normals: FloatArray) -> FloatArray:
        """Return how much each point (P,) touches another, 0 to 1.

        Points of a pair touch if each of them is nearly behind the other's surface.
        """
        offsets = places[self.own] - places[self.other]
        ahead = np.maximum(dots(offsets, normals[self.other]), -dots(offsets, normals[self.own]))
        touch = (clip01((TOUCH_M[0] - ahead) / (TOUCH_M[0] - TOUCH_M[1]))
                 * clip01(self.amount / FULL_AMOUNT))
        most, some = np.zeros(len(places)), np.flatnonzero(touch)
        np.maximum.at(most, self.own[some], touch[some])
        np.maximum.at(most, self.other[some], touch[some])
        return most


def joined(pairs: Sequence[Pairs]) -> Pairs:
    """Return several sets of pairs as one."""
    own, other, amount = (np.concatenate(each) for each in zip(*pairs, strict=True))
    return Pairs(own, other, amount)


def either(pairs: Pairs, count: int) -> Numbers:
    """Return the indices, below ``count``, of all points that are in some pair."""
    there = np.zeros(count, bool)
    there[pairs.own] = True
    there[pairs.other] = True
    return np.flatnonzero(there)


@dataclass(frozen=True, eq=False)
class PressContact:
    """Two sets of points, (A,) and (B,), that may press each other.

    ``apart`` (A, B) is their distance at rest in metres, negative for pairs that never press.
    ``reach`` (A, B) is the squared distance below which they press, in m2.
    """

    own: Numbers
    other: Numbers
    apart: NDArray[np.float32]
    reach: NDArray[np.float32]

    @staticmethod
    def of(own: Numbers, other: Numbers, apart: NDArray[np.float32]) -> "PressContact":
        """Return the contact of two sets of points that are ``apart`` (A, B) metres at rest."""
        reach = np.minimum(np.maximum(apart - APART_M[0], 0.0), REACH_M)
        return PressContact(own, other, apart, np.square(reach))

    def pairs(self, places: FloatArray, near: NDArray[np.bool_]) -> Pairs:
        """Return the pairs that may press, for points at ``places`` (P, 3).

        ``near`` (P,) marks the points that can be near something.
        """
        own, other = np.flatnonzero(near[self.own]), np.flatnonzero(near[self.other])
        own = own[_within(places[self.own[own]], places[self.other[other]])]
        other = other[_within(places[self.other[other]], places[self.own[own]])]
        rows, columns, squares = _close(places[self.own[own]], places[self.other[other]],
                                        np.square(np.float32(REACH_M)))
        near = squares < self.reach[own[rows], other[columns]]
        own, other = own[rows[near]], other[columns[near]]
        first, second = self.own[own], self.other[other]
        away = lengths(places[first] - places[second])
        amount = (clip01((self.apart[own, other] - away - APART_M[0])
                         / (APART_M[1] - APART_M[0])) * clip01((REACH_M - away) / FULL_M))
        return Pairs(first, second, amount)


def _within(places: FloatArray, others: FloatArray) -> Numbers:
    """Return the indices of points (A, 3) near the bounding box of others (B, 3)."""
    if not len(others):
        return np.zeros(0, np.intp)
    low, high = others.min(axis=0) - REACH_M, others.max(axis=0) + REACH_M
    return np.flatnonzero(((places > low) & (places < high)).all(axis=1))


def _close(first: Places, second: Places, squared: NDArray[np.float32] | np.float32
           ) -> tuple[Numbers, Numbers, NDArray[np.float32]]:
    """Return the pairs between (A, 3) and (B, 3) whose squared distance is below (A, B) m2.

    They are the indices of both (N,) and the squared distances (N,).
    """
    one, other = first.astype(np.float32), second.astype(np.float32)
    squares = np.square(one[:, 0, None] - other[:, 0])
    for axis in (1, 2):
        squares += np.square(one[:, axis, None] - other[:, axis])
    found = np.flatnonzero(squares < squared)
    rows, columns = np.divmod(found, max(len(other), 1))
    return rows, columns, squares.ravel()[found]


@dataclass(frozen=True, eq=False)
class Patches:
    """Points (P,) grouped into patches (K,): a cheap test of which cannot touch anything in a pose.

    ``of`` (P,) is each point's patch; ``skin`` (K, 4 J) maps joint columns to the patches' centres.
    Limb patches ``own`` (L,) may press another patch if the squared distance of their centres is
    below ``reach`` (L, K), in m2.
    """

    of: Numbers
    skin: Any
    own: Numbers
    reach: NDArray[np.float32]

    def near(self, columns: Places) -> NDArray[np.bool_]:
        """Return a mask (P,) of the points that may be near something they can press."""
        middles = self.skin @ columns
        rows, others, _ = _close(middles[self.own], middles, self.reach)
        found = np.zeros(len(middles), bool)
        found[self.own[rows]] = True
        found[others] = True
        return np.asarray(found[self.of])


def dots(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the dot products (N,) of vectors (N, 3)."""
    return np.asarray(np.einsum("nx,nx->n", first, second))


def clip01(values: FloatArray) -> FloatArray:
    """Return values (N,) clipped to 0 to 1."""
    return np.asarray(np.clip(values, 0.0, 1.0))
