"""Smooth noise in space (Perlin, An image synthesizer, 1985), 0 to 1 around 0.5."""

import itertools
from functools import cache

import numpy as np

from mimegen.base.seeds import generator
from mimegen.motion.quaternions import FloatArray

CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))
# The lattice repeats after this many cells.
PERIOD = 64
STEP = 0.01


def noise(places: FloatArray) -> FloatArray:
    """Return noise (N,) at places (N, 3), one wave a unit."""
    cell = np.floor(places).astype(int)
    within = places - cell
    weight = within**3 * (within * (within * 6 - 15) + 10)
    total = np.zeros(len(places))
    for corner in CORNERS:
        share = np.where(corner, weight, 1 - weight).prod(axis=1)
        x, y, z = ((cell + corner) % PERIOD).T
        total += share * (_gradients()[x, y, z] * (within - corner)).sum(axis=1)
    return 0.5 + 0.5 * total


def fractal(places: FloatArray, detail: float) -> FloatArray:
    """Return noise (N,) with ``detail`` further octaves, each of half the size and height."""
    octaves = 2.0 ** np.arange(int(detail) + 1)
    layers = [noise(places * octave + 17.0 * octave) / octave for octave in octaves]
    return np.asarray(sum(layers) / (1 / octaves).sum())


def slope(places: FloatArray, detail: float = 0.0, distortion: float = 0.0) -> FloatArray:
    """Return the gradient (N, 3) of ``fractal`` at places (N, 3) that ``distortion`` moves."""
    def height(at: FloatArray) -> FloatArray:
        moved = [noise(at + 13.5 * axis) - 0.5 for axis in np.eye(3)] if distortion else 0.0
        return fractal(at + 2 * distortion * np.transpose(moved), detail)

    return np.stack([
        (height(places + step) - height(places - step)) / (2 * STEP) for step in STEP * np.eye(3)
    ], axis=-1)


@cache
def _gradients() -> FloatArray:
    """Return the lattice's unit vectors (PERIOD, PERIOD, PERIOD, 3)."""
    drawn = generator("noise").normal(size=(PERIOD, PERIOD, PERIOD, 3))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))
