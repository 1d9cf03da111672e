"""Two-bone limbs: analytic inverse kinematics over any number of frames and candidates."""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import soft_excess
from mimegen.base.vectors import lengths, product, unit
from mimegen.motion.quaternions import cross


def middle_joint(upper: ArrayLike, lower: ArrayLike,
                 distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where a limb's middle joint is: the distances along and away from the limb's line.

    ``upper`` and ``lower`` are the bones' lengths, ``distance`` (more than 0) that from the limb's
    start to its end, all in metres; by the law of cosines. The distance away from the line is 0 if
    the bones cannot span ``distance``.
    """
    a, b = np.asarray(upper, float), np.asarray(lower, float)
    along = (a * a - b * b + distance * distance) / (2 * distance)
    aside = np.sqrt(np.maximum(a * a - along * along, 0.0))
    return cast(FloatArray, along), cast(FloatArray, aside)


class Limb(NamedTuple):
    """A limb at rest: its two bones as vectors and the direction the middle joint points."""

    upper: FloatArray
    lower: FloatArray
    pole: FloatArray

    @property
    def reach(self) -> float:
        """The total length of both bones, in metres."""
        return float(np.linalg.norm(self.upper) + np.linalg.norm(self.lower))


class BentLimb(NamedTuple):
    """Rotation matrices (..., 3, 3) of both bones, and the middle joint's position (..., 3)."""

    upper: FloatArray
    lower: FloatArray
    middle: FloatArray


def across(vectors: FloatArray, axes: FloatArray) -> FloatArray:
    """Return unit vectors along the part of ``vectors`` that is perpendicular to unit ``axes``.

    If a vector is parallel to its axis, an arbitrary perpendicular is returned.
    """
    part = vectors - np.einsum("...i,...i->...", vectors, axes)[..., None] * axes
    size = lengths(part)[..., None]
    if (size < 1e-6).any():
        # (-y - z, x, x) is perpendicular to (x, y, z), and is 0 only if x is 0 and y = -z. In that
        # case the added billionth along X, which is perpendicular to such an axis, is all that is
        # left.
        other = np.stack([-axes[..., 1] - axes[..., 2], axes[..., 0], axes[..., 0]], axis=-1)
        part = np.where(size < 1e-6, other + np.array([1e-9, 0.0, 0.0]), part)
    return unit(part)


def bend(limb: Limb, start: FloatArray, end: FloatArray, pole: FloatArray) -> BentLimb:
    """Bend a limb from ``start`` so that it ends at ``end`` (..., 3), if it is long enough.

    ``pole`` (..., 3) is the direction in which the middle joint should point. By the law of
    cosines.
    """
    a, b = float(np.linalg.norm(limb.upper)), float(np.linalg.norm(limb.lower))
    line = end - start
    distance = np.linalg.norm(line, axis=-1, keepdims=True)
    axis = line / np.maximum(distance, 1e-9)
    # Neither fully folded nor fully straight: there the plane of the bend is undefined, and the
    # slightest change of the target would spin the limb about itself.
    distance = np.clip(distance, abs(a - b) * 1.001 + 1e-6, (a + b) * 0.99999)
    along, aside = middle_joint(a, b, distance)
    pole = across(pole, axis)
    middle = along * axis + aside * pole
    hinge = cross(pole, axis)
    # The bending axis is tracked separately from the direction, so that bones do not twist about
    # themselves.
    rest_hinge = np.cross(limb.pole, unit(limb.upper + limb.lower))
    upper = _turn(limb.upper, rest_hinge, middle, hinge)
    lower = _turn(limb.lower, rest_hinge, distance * axis - middle, hinge)
    return BentLimb(upper, lower, start + middle)


def _turn(rest: FloatArray, rest_hinge: FloatArray, bone: FloatArray,
          hinge: FloatArray) -> FloatArray:
    """Return the rotation matrices that turn a bone and its hinge axis from the rest pose."""
    before = _basis(rest, rest_hinge)
    return np.asarray(product(_basis(bone, hinge), np.swapaxes(before, -1, -2)))


def _basis(bone: FloatArray, hinge: FloatArray) -> FloatArray:
    first = unit(bone)
    second = across(hinge, first)
    return np.stack([first, second, cross(first, second)], axis=-1)


def eased_reach(distance: FloatArray, reach: float, share: float = 0.035) -> FloatArray:
    """Return distances (...,) that approach ``reach`` but never attain it, so limbs do not snap.

    Distances below ``1 - share`` times ``reach`` are unchanged.
    """
    # Near full reach the elbow moves far for a small step of the hand, so a limb that becomes
    # straight at once would stop with a jerk.
    start = reach * (1 - share)
    over = np.maximum(distance - start, 0.0)
    return np.minimum(distance, start) + soft_excess(over, reach * share)
