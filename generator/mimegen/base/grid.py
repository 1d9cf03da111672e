"""Numbers on a grid: what is handed on is rounded, so that it is the same on every machine.

The last bits of sines and sums differ between kinds of CPU. A grid hides them unless a number lies
within that last bit of where rounding up begins, so the grid is as coarse as it can be unseen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# About a micrometre; a power of two, so that sums and differences of such numbers are exact.
PLACE = 2.0**-20
# From this share of a step on numbers are rounded away from zero. Half a step is where numbers
# of single precision, which files hold, lie exactly.
UP_FROM = 1 / 3


def on_grid(values: NDArray[Any], step: float = PLACE) -> NDArray[np.float64]:
    """Return values of any shape rounded to multiples of ``step``, without negative zeros."""
    sizes = np.floor(np.abs(np.asarray(values, float)) / step + (1 - UP_FROM))
    return np.asarray(np.copysign(sizes * step, values) + 0.0)
