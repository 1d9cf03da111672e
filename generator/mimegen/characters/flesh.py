"""The skin's weights on joints and helper joints: rigs/flesh.npz, from tools/bake_flesh.py."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.paths import data_file
from mimegen.characters.surface import dense_weights
from mimegen.motion.quaternions import FloatArray


class Flesh(NamedTuple):
    """The weights of a body's vertices on joints, helper joints and movers.

    ``joints`` (V, K) are indices into ``names``, with ``weights`` (V, K). ``moves`` (M, 3) are the
    movers' rotation vectors at full pressure, in radians.
    """

    names: tuple[str, ...]
    joints: NDArray[np.int32]
    weights: FloatArray
    moves: FloatArray

    @property
    def dense(self) -> FloatArray:
        """The weights (V, J) on all of the names."""
        return dense_weights(self.joints, self.weights, len(self.names))


def read_flesh() -> Flesh:
    """Return the weights and movers that come with mimegen."""
    return _read(data_file("rigs/flesh.npz"))


@cache
def _read(path: Path) -> Flesh:
    with np.load(path) as data:
        weights = data["weights"].astype(float)
        return Flesh(tuple(map(str, data["joint_names"])), data["joints"].astype(np.int32),
                     weights / weights.sum(axis=1, keepdims=True), data["moves"].astype(float))
