"""Second-order systems as digital filters, without importing ``scipy.signal`` for a few of them."""

from itertools import count
from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import FloatArray

# Importing scipy.signal takes as long as filtering this often without it, some 1.5 s.
WORTH_IMPORTING = 150
_earlier = count()


class SecondOrder(NamedTuple):
    """A transfer function in 1/z: ``up`` (3,) over ``down`` (3,), whose first value is 1."""

    up: FloatArray
    down: FloatArray

    @property
    def still(self) -> FloatArray:
        """The steady state (2,) for constant input 1."""
        to_itself = np.array([[1.0 + self.down[1], -1.0], [self.down[2], 1.0]])
        return np.linalg.solve(to_itself, self.up[1:] - self.down[1:] * self.up[0])

    def filtered(self, values: FloatArray, state: FloatArray) -> FloatArray:
        """Return the filtered ``values`` (F, C), starting from a ``state`` (2, C).

        Transposed direct form II (Oppenheim and Schafer), in the order of operations of
        ``scipy.signal.lfilter``, so that results are equal to the last bit. After some calls scipy
        does it, which takes a twentieth of the time.
        """
        if next(_earlier) < WORTH_IMPORTING:
            return self._filtered_by_frame(values, state)
        from scipy.signal import lfilter

        return np.asarray(lfilter(self.up, self.down, values, axis=0, zi=state)[0], float)

    def _filtered_by_frame(self, values: FloatArray, state: FloatArray) -> FloatArray:
        came_out = np.empty_like(values)
        now, later = state
        pushed = [share * values for share in self.up]
        for frame, (at_once, next_time, last) in enumerate(zip(*pushed, strict=True)):
            out = np.add(now, at_once, out=came_out[frame])
            now = later + next_time - self.down[1] * out
            later = last - self.down[2] * out
        return came_out
