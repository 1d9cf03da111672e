"""Second-order systems as digital filters, since importing ``scipy.signal`` takes half a second."""

from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import FloatArray


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
        ``scipy.signal.lfilter``, so that results are equal to the last bit.
        """
        came_out = np.empty_like(values)
        now, later = state
        pushed = [share * values for share in self.up]
        for frame, (at_once, next_time, last) in enumerate(zip(*pushed, strict=True)):
            out = np.add(now, at_once, out=came_out[frame])
            now = later + next_time - self.down[1] * out
            later = last - self.down[2] * out
        return came_out
