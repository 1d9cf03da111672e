"""Round numbers to a grid, so that results are the same on every machine.

The last bits of sines and sums differ between kinds of CPU. Rounding hides this unless a number
lies within its last bit of a rounding threshold, so the grid is as coarse as is invisible.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# About a micrometre, in metres; a power of two, so that sums and differences of such numbers are
# exact.
POSITION_STEP_M = 2.0**-20
# Numbers are rounded away from zero from this fraction of a step on. The usual half step would be a
# bad threshold: single-precision numbers in files often lie exactly there.
UP_FROM = 1 / 3


def on_grid(values: NDArray[Any], step: float = POSITION_STEP_M) -> NDArray[np.float64]:
    """Return values of any shape rounded to multiples of ``step``, without negative zeros."""
    sizes = np.floor(np.abs(np.asarray(values, float)) / step + (1 - UP_FROM))
    return np.asarray(np.copysign(sizes * step, values) + 0.0)
