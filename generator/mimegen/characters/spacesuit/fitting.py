"""Measures of a spacesuit, taken from the body inside it, and its weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.spacesuit.shapes import frame
from mimegen.characters.spacesuit.spec import Spacesuit
from mimegen.characters.surface import dense_weights
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Fitting:
    """A suit and the body for which it is cut. All constants are lengths for a person of 1.8 m."""

    suit: Spacesuit
    body: Body

    @property
    def scale(self) -> float:
        """The person's height as a multiple of 1.8 m."""
        return self.body.phenotype.height / 1.8

    def joint(self, name: str) -> FloatArray:
        """Return the position (3,) of a joint, in metres."""
        return self.body.joint(name)

    def rigid(self, **shares: float) -> FloatArray:
        """Return weights (J,) from weights of joints that are named by keywords."""
        weights = np.zeros(len(self.body.skeleton.names))
        for name, share in shares.items():
            weights[self.body.skeleton.index[name]] = share
        return weights

    @cached_property
    def skin(self) -> tuple[FloatArray, FloatArray]:
        """The body's own vertices (N, 3) and their weights on each joint (N, J)."""
        used = np.unique(self.body.faces["body"])
        weights = dense_weights(self.body.joints[used], self.body.weights[used],
                                len(self.body.skeleton.names))
        return self.body.vertices[used], weights

    def points_of(self, *names: str) -> FloatArray:
        """Return the skin's vertices (N, 3) whose weights are mostly on the given joints."""
        points, weights = self.skin
        numbers = [self.body.skeleton.index[name] for name in names]
        return np.asarray(points[weights[:, numbers].sum(axis=1) > 0.5])

    def limb_sections(self, names: tuple[str, ...], start: FloatArray, end: FloatArray,
                      shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a limb's centre relative to a line (N, 3), and its radius there (N,), in metres.

        They are measured on the skin around the line from ``start`` to ``end``, near the fractions
        ``shares`` (N,) of it.
        """
        away = self.points_of(*names) - start
        axes = frame(end - start)
        across, places = away @ axes[:, :2], away @ axes[:, 2]
        length = float(np.linalg.norm(end - start))
        sections = [across[np.abs(places - share * length) < 0.03 * self.scale]
                    for share in shares]
        ends = np.array([np.quantile(section, [0.02, 0.98], axis=0) for section in sections])
        offsets = ends.mean(axis=1) @ axes[:, :2].T
        return offsets, np.asarray(np.ptp(ends, axis=1).max(axis=1) / 2)

    def between(self, first: str, second: str, share: FloatArray) -> FloatArray:
        """Return weights (N, J) that blend from one joint (0) to another (1) by ``share`` (N,)."""
        start, end = self.rigid(**{first: 1.0}), self.rigid(**{second: 1.0})
        return np.asarray(np.outer(1 - share, start) + np.outer(share, end))

    def trunk_weights(self, points: FloatArray) -> FloatArray:
        """Return weights (N, J) for points in or on the trunk, blended from joint to joint."""
        names = ("Hips", "Spine", "Spine1", "Spine2")
        soft = 0.05 * self.scale
        height = points[:, 2]
        rises = [ramp(height, self.joint(name)[2] - soft, self.joint(name)[2] + soft)
                 for name in names[1:]]
        levels = [np.ones(len(points)), *rises, np.zeros(len(points))]
        weights = sum(
            (np.outer(levels[i] - levels[i + 1], self.rigid(**{name: 1.0}))
             for i, name in enumerate(names)),
            start=np.zeros((len(points), len(self.body.skeleton.names))),
        )
        for side in ("Left", "Right"):
            shoulder, arm = self.joint(side + "Shoulder"), self.joint(side + "Arm")
            share = ramp(points[:, 0], shoulder[0], arm[0])
            share = 0.6 * share * ramp(height, arm[2] - 0.16 * self.scale, arm[2])
            weights = (weights * (1 - share[:, None])
                       + np.outer(share, self.rigid(**{side + "Shoulder": 1.0})))
        return weights
