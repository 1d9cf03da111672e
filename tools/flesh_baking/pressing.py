"""What movers do where parts are pressed together, on top of fitted weights.

Skin that blending brings inside another part is asked out, each part half of the way, and the
volume that is wanting with it; weights and movers' turns are fitted to that in turn, as in Le and
Deng, "Smooth Skinning Decomposition with Rigid Bones" (2012). In poses where nothing presses, and
where it was sculpted, skin is asked to stay where it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from flesh_baking.contact import Contact
from flesh_baking.fitting import ACROSS, SUM, faces_within, wanting
from flesh_baking.sculpted import Array, Sculpted, Turns
from mimegen.characters.helpers import with_helpers
from mimegen.characters.movers import MOVERS
from mimegen.characters.surface import neighbour_average, vertex_normals
from mimegen.motion import quaternions

ROUNDS, VOLUME_ROUNDS, EASE = 8, 5, 0.8
# How much what stays counts against what is pressed; how little weights change; how reluctantly
# movers turn, and how far (radians).
STAYS, LIKE_BEFORE, STILL, FARTHEST = 2.0, 0.1, 1e-2, 0.7


@dataclass(frozen=True, eq=False)
class Fold:
    """Two parts that touch, poses in which they may, and the columns of weights that may change.

    ``sides`` tells the parts (2, V) of a body.
    """

    columns: tuple[str, ...]
    poses: Callable[[], Sequence[Turns]]
    sides: Callable[[Sculpted], tuple[NDArray[np.bool_], NDArray[np.bool_]]]


class Posed:
    """A body's skin (S,) in a fold's poses, the sculpted one first, by weights (V, J)."""

    def __init__(self, body: Sculpted, fold: Fold, skin: NDArray[np.intp], weights: Array) -> None:
        """Take the fold's columns out of ``weights``; others stay as they are."""
        helped = with_helpers(body.rest)
        poses = (None, *fold.poses())
        moves = [body.moved(turns) for turns in poses]
        matrices, shifts = (np.stack([each[part] for each in moves]) for part in (0, 1))
        blend = np.einsum("sj,jab->sab", weights[skin], matrices[0])
        away = body.vertices[skin] - weights[skin] @ shifts[0]
        self.rest: Array = np.linalg.solve(blend, away[..., None])[..., 0]
        columns = [helped.index[name] for name in fold.columns]
        self.before = (np.einsum("sj,kjab,sb->ksa", weights[skin], matrices, self.rest,
                                 optimize=True)
                       + np.einsum("sj,kja->ksa", weights[skin], shifts))
        self.matrices, self.shifts = matrices[:, columns], shifts[:, columns]
        self.heads = helped.heads[columns]
        pressed = np.zeros((len(poses), len(helped.names)))
        pressed[:, [helped.index[name] for name in MOVERS]] = [body.pressed(turns)
                                                               for turns in poses]
        self.pressed = pressed[:, columns]

    def alone(self, most: Array) -> Array:
        """Return where each column alone brings the skin: (K, S, C, 3).

        ``most`` (C, 3) are rotation vectors of movers that press most.
        """
        turns = quaternions.to_matrices(quaternions.from_rotation_vectors(
            self.pressed[..., None] * most))
        matrices = self.matrices @ turns
        shifts = self.shifts + np.einsum("kcab,cb->kca", self.matrices - matrices, self.heads)
        return np.asarray(np.einsum("kcab,sb->ksca", matrices, self.rest) + shifts[:, None])

    def slopes(self, weights: Array) -> Array:
        """Return how places follow the movers' rotation vectors: (K, S, 3, C, 3)."""
        x, y, z = np.moveaxis(self.rest[:, None] - self.heads, 2, 0)
        no = np.zeros_like(x)
        arms = np.moveaxis(np.array([[no, z, -y], [-z, no, x], [y, -x, no]]), (0, 1), (2, 3))
        return np.asarray(np.einsum("kc,sc,kcab,scbd->ksacd", self.pressed, weights,
                                    self.matrices, arms, optimize=True))


class Pressing:
    """Weights (S, C) of a fold's columns and what its movers do, fitted in turn."""

    def __init__(self, fold: Fold, bodies: Sequence[Sculpted], weights: Array) -> None:
        """``weights`` (V, J) are those of the whole body without movers."""
        self.fold = fold
        sides = fold.sides(bodies[0])
        self.skin = np.flatnonzero(sides[0] | sides[1])
        self.faces = faces_within(self.skin, bodies[0].faces)
        self.parts = [Posed(body, fold, self.skin, weights) for body in bodies]
        touching = [np.flatnonzero(side[self.skin]) for side in sides]
        self.contacts = [Contact(touching, part.rest, self.faces) for part in self.parts]
        self.goals = [part.before for part in self.parts]
        self.presses = self.parts[0].pressed.any(axis=1)
        self.heed = np.where(np.concatenate([self.presses] * len(bodies)), 1.0, STAYS)
        names = with_helpers(bodies[0].rest).names
        self.weights = weights[self.skin][:, [names.index(name) for name in fold.columns]]
        self.given = self.weights
        self.movers = np.flatnonzero([name in MOVERS for name in fold.columns])
        self.most = np.zeros((len(fold.columns), 3))

    def run(self) -> None:
        """Fit, asking on top for what lies inside, and for wanting volume."""
        alone = [part.alone(self.most) for part in self.parts]
        fixed = [part.before - _blended(self.given, each)
                 for part, each in zip(self.parts, alone, strict=True)]
        for number in range(ROUNDS):
            now = [_blended(self.weights, each) + still
                   for each, still in zip(alone, fixed, strict=True)]
            self._ask(now, number < VOLUME_ROUNDS)
            goals = [goal - still for goal, still in zip(self.goals, fixed, strict=True)]
            if number:
                self._turn(np.concatenate(self.goals) - np.concatenate(now))
            alone = [part.alone(self.most) for part in self.parts]
            self.weights = self._split(np.concatenate(alone), np.concatenate(goals),
                                       np.concatenate(now))
        for name, most, share in zip(self.fold.columns, self.most, self.weights.T, strict=True):
            if name in MOVERS:
                print(f"{name}: turns {np.degrees(most).round(1)}, at most {share.max():.2f}")

    def _ask(self, now: Sequence[Array], volume: bool) -> None:
        on = self.presses[:, None, None]
        more = []
        for places, part, contact in zip(now, self.parts, self.contacts, strict=True):
            asked = np.stack([contact.push(pose) for pose in places])
            if volume:
                asked += wanting(part.before[:1], places, self.faces)
            more.append(EASE * on * asked)
        self.goals = [goal + each for goal, each in zip(self.goals, more, strict=True)]

    def _turn(self, off: Array) -> None:
        slopes = np.concatenate([part.slopes(self.weights)[:, :, :, self.movers]
                                 for part in self.parts])
        slopes = slopes.reshape(off.size, -1)
        squares = slopes.T @ slopes
        squares += STILL * np.trace(squares) / len(squares) * np.eye(len(squares))
        found = self.most[self.movers] + np.linalg.solve(
            squares, slopes.T @ off.ravel()).reshape(-1, 3)
        far = np.linalg.norm(found, axis=1, keepdims=True)
        self.most[self.movers] = found * np.minimum(1, FARTHEST / np.maximum(far, 1e-9))

    def _split(self, alone: Array, goals: Array, now: Array) -> Array:
        """Return weights, none negative, that come nearest to the goals and sum as before."""
        ways = np.concatenate([np.stack([vertex_normals(pose, self.faces) for pose in part])
                               for part in np.split(now, len(self.parts))])
        more = np.sqrt(ACROSS**2 - 1)
        sides = np.concatenate([alone, more * np.einsum("ksca,ksa->ksc", alone, ways)[..., None]],
                               3) * self.heed[:, None, None, None]
        flat = np.concatenate([goals, more * np.sum(goals * ways, axis=2, keepdims=True)],
                              axis=2) * self.heed[:, None, None]
        count = alone.shape[2]
        rows = sides.transpose(1, 0, 3, 2).reshape(len(self.skin), -1, count)
        total = self.given.sum(axis=1)[:, None]
        squares = rows.transpose(0, 2, 1) @ rows + SUM**2 + LIKE_BEFORE**2 * np.eye(count)
        pull = (rows.transpose(0, 2, 1) @ flat.transpose(1, 0, 2).reshape(len(self.skin), -1, 1)
                + SUM**2 * total[..., None] + LIKE_BEFORE**2 * self.given[..., None])
        lower = np.linalg.cholesky(squares)
        found = np.stack([nnls(one.T, side)[0] for one, side in zip(
            lower, np.linalg.solve(lower, pull)[..., 0], strict=True)])
        return np.asarray(found * total / np.maximum(found.sum(axis=1, keepdims=True), 1e-9))


def _blended(weights: Array, alone: Array) -> Array:
    return np.asarray(np.einsum("sc,ksca->ksa", weights, alone))


def with_pressing(weights: Array, fit: Pressing, body: Sculpted) -> Array:
    """Return weights (V, J) of the whole body with a fold's fitted columns, smoothed."""
    names = with_helpers(body.rest).names
    columns = [names.index(name) for name in fit.fold.columns]
    found = weights.copy()
    change = np.zeros((len(weights), len(columns)))
    change[fit.skin] = fit.weights - fit.given
    average = neighbour_average(body.faces, len(weights))
    for _ in range(2):
        change = (change + average @ change) / 2
    found[:, columns] = np.maximum(weights[:, columns] + change, 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def moves_of(fits: Sequence[Pressing]) -> NDArray[np.float32]:
    """Return the rotation vectors (M, 3) of all movers that press most."""
    found = {name: most for fit in fits
             for name, most in zip(fit.fold.columns, fit.most, strict=True)}
    return np.array([found[name] if name in found else
                     found[name.replace("Right", "Left")] * [1, -1, -1] for name in MOVERS],
                    np.float32)
