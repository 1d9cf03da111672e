"""Two-bone inverse kinematics: where the middle joint of a limb is."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray


def middle_joint(upper: ArrayLike, lower: ArrayLike,
                 distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far along the line from a limb's start to its end the middle joint is, and aside.

    ``upper`` and ``lower`` are the bones' lengths, ``distance`` (more than 0) that from start to
    end, all in metres; by the law of cosines. Nothing is aside where the limb is too short.
    """
    a, b = np.asarray(upper, float), np.asarray(lower, float)
    along = (a * a - b * b + distance * distance) / (2 * distance)
    aside = np.sqrt(np.maximum(a * a - along * along, 0.0))
    return cast(FloatArray, along), cast(FloatArray, aside)
