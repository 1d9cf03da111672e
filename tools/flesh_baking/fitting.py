"""The weights with which linear blending comes nearest to what flesh does.

Mohr and Gleicher, "Building Efficient, Accurate Character Skins from Examples" (2003). What is off
along the surface counts less than what is off across it, which changes outline and volume; and
what volume is still wanting is asked for on top in the next round.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import nnls
from scipy.sparse.csgraph import connected_components

from flesh_baking.elastic import deformed
from flesh_baking.limbs import Limb
from flesh_baking.sculpted import Array, Sculpted
from mimegen.characters.helpers import with_helpers
from mimegen.characters.surface import boundary_edges, vertex_normals

FITS = 5
# How much more errors across the surface count; how much even weights, and their sum of 1, do.
ACROSS, EVEN, SUM = 2.0, 0.02, 3.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Where a body's skin (S,) shall be in all poses, the sculpted one first (K, S, 3).

    ``matrices`` (K, C, 3, 3) and ``shifts`` (K, C, 3) are what a limb's columns of weights alone
    do to the body in the T pose.
    """

    skin: NDArray[np.intp]
    seen: Array
    matrices: Array
    shifts: Array

    @staticmethod
    def of(body: Sculpted, limb: Limb) -> "Examples":
        """Return what the flesh of a limb does."""
        skin, seen = deformed(body, limb)
        names = with_helpers(body.rest).names
        columns = [names.index(name) for name in limb.columns]
        moves = [body.moved(turns) for turns in (None, *limb.poses())]
        return Examples(skin, np.concatenate([body.vertices[None, skin], seen]),
                        *(np.stack([each[part][columns] for each in moves]) for part in (0, 1)))

    def part(self, skin: NDArray[np.intp]) -> "Examples":
        """Return the examples of some of the skin."""
        return replace(self, skin=skin, seen=self.seen[:, np.searchsorted(self.skin, skin)])

    def at_rest(self, weights: Array) -> Array:
        """Return the places (S, 3) in the T pose that skinning brings where they were sculpted."""
        blend = np.einsum("sc,cab->sab", weights, self.matrices[0])
        away = self.seen[0] - weights @ self.shifts[0]
        return np.asarray(np.linalg.solve(blend, away[..., None])[..., 0])

    def alone(self, rest: Array) -> Array:
        """Return where each column alone brings places (S, 3) of the T pose: (K, S, C, 3)."""
        return np.asarray(np.einsum("kcab,sb->ksca", self.matrices, rest) + self.shifts[:, None])


def fitted(limb: Limb, examples: Sequence[Examples],
           faces: NDArray[np.int32]) -> tuple[NDArray[np.intp], Array]:
    """Return a limb's skin (S,) and its weights (S, C) of the limb's columns.

    The places in the T pose follow from the weights, and the weights from them, in turn. ``faces``
    (F, 4) are those of the whole body.
    """
    skin = examples[0].skin
    for other in examples[1:]:
        skin = np.intersect1d(skin, other.skin)
    parts = [each.part(skin) for each in examples]
    own = faces_within(skin, faces)
    rests = [each.seen[1 + limb.like_rest] for each in parts]
    goals = [each.seen for each in parts]
    ways = np.concatenate([np.stack([vertex_normals(pose, own) for pose in each.seen])
                           for each in parts])
    for number in range(FITS):
        alone = [each.alone(rest) for each, rest in zip(parts, rests, strict=True)]
        weights = blends(np.concatenate(alone), np.concatenate(goals), ways)
        rests = [each.at_rest(weights) for each in parts]
        now = [np.einsum("sc,ksca->ksa", weights, each.alone(rest))
               for each, rest in zip(parts, rests, strict=True)]
        goals = [goal + wanting(each.seen[:1] if limb.keeps else each.seen, places, own)
                 for goal, each, places in zip(goals, parts, now, strict=True)]
        _tell(limb, number, np.concatenate(now) - np.concatenate([each.seen for each in parts]))
    return skin, weights


def faces_within(skin: NDArray[np.intp], faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the faces all of whose corners are skin (S,), by their places in it."""
    number = np.full(faces.max() + 1, -1, dtype=np.int32)
    number[skin] = np.arange(len(skin))
    own = number[faces]
    return own[(own >= 0).all(axis=1)]


def blends(alone: Array, seen: Array, ways: Array) -> Array:
    """Return weights (S, C), not negative, that bring (K, S, C, 3) nearest to (K, S, 3).

    They sum to 1. ``ways`` (K, S, 3) are out of the surface.
    """
    count = alone.shape[2]
    more = np.sqrt(ACROSS**2 - 1)
    sides = np.concatenate([alone, more * np.einsum("ksca,ksa->ksc", alone, ways)[..., None]], 3)
    goals = np.concatenate([seen, more * np.sum(seen * ways, axis=2, keepdims=True)], axis=2)
    rows = sides.transpose(1, 0, 3, 2).reshape(len(seen[0]), -1, count)
    flat = goals.transpose(1, 0, 2).reshape(len(seen[0]), -1, 1)
    squares = rows.transpose(0, 2, 1) @ rows + SUM**2 + EVEN**2 * np.eye(count)
    pull = rows.transpose(0, 2, 1) @ flat + SUM**2
    lower = np.linalg.cholesky(squares)
    found = np.stack([nnls(one.T, side)[0] for one, side in zip(
        lower, np.linalg.solve(lower, pull)[..., 0], strict=True)])
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def wanting(seen: Array, now: Array, faces: NDArray[np.int32]) -> Array:
    """Return how far skin (K, S, 3) should come out for the volume of ``seen`` (K or 1, S, 3).

    It is the same everywhere in a pose.
    """
    found = np.empty_like(now)
    for pose, (goal, places) in enumerate(zip(np.broadcast_to(seen, now.shape), now, strict=True)):
        out = vertex_normals(places, faces)
        whole, more = (_volume(each, faces) for each in (places, places + 0.001 * out))
        found[pose] = 0.001 * (_volume(goal, faces) - whole) / (more - whole) * out
    return found


def _volume(places: Array, faces: NDArray[np.int32]) -> float:
    """Return the volume of a surface whose holes are closed from their middles."""
    parts = [places[faces[:, [0, 1, 2]]], places[faces[:, [0, 2, 3]]]]
    edges = boundary_edges(faces)
    links = sparse.coo_matrix((np.ones(len(edges)), edges.T), (len(places),) * 2)
    _, hole = connected_components(links, directed=False)
    for number in np.unique(hole[edges]):
        start, end = places[edges[hole[edges[:, 0]] == number]].swapaxes(0, 1)
        parts.append(np.stack([end, start, np.broadcast_to(start.mean(axis=0), start.shape)], 1))
    a, b, c = np.moveaxis(np.concatenate(parts), 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6)


def _tell(limb: Limb, number: int, away: Array) -> None:
    far = 1e3 * np.linalg.norm(away, axis=-1)
    print(f"{limb.columns[-1]} {number}: {np.sqrt(np.mean(far**2)):.1f} mm off (rms),"
          f" 95 % under {np.percentile(far, 95):.1f} mm", flush=True)
