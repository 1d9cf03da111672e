"""Smooth noise in space (Perlin, An image synthesizer, 1985), 0 to 1 around 0.5."""

import itertools
from functools import cache

import numpy as np

from mimegen.base.seeds import generator
from mimegen.motion.quaternions import FloatArray

CORNERS = tuple(itertools.product((0, 1), repeat=3))
# The noise repeats after this many cells.
PERIOD = 64


def noise(places: FloatArray) -> FloatArray:
    """Return noise (N,) at positions (N, 3), with one wave per unit of length."""
    within, gradients = _cells(places)
    weight = within**3 * (within * (within * 6 - 15) + 10)
    total = np.zeros(len(places))
    for corner, (gx, gy, gz) in zip(CORNERS, gradients, strict=True):
        wx, wy, wz = (weight[axis] if side else 1 - weight[axis]
                      for axis, side in enumerate(corner))
        x, y, z = (within[axis] - side for axis, side in enumerate(corner))
        total += wx * wy * wz * (gx * x + gy * y + gz * z)
    return 0.5 + 0.5 * total


def fractal(places: FloatArray, detail: float) -> FloatArray:
    """Return noise (N,) with ``detail`` further octaves, each of half the size and height."""
    octaves = _octaves(detail)
    layers = [noise(places * octave + 17.0 * octave) / octave for octave in octaves]
    return np.asarray(sum(layers) / (1 / octaves).sum())


def slope(places: FloatArray, detail: float = 0.0, distortion: float = 0.0) -> FloatArray:
    """Return the gradient (N, 3) of ``fractal`` at positions (N, 3).

    With ``distortion``, positions are first displaced by noise of that strength.
    """
    if not distortion:
        return _fractal_slope(places, detail).T
    starts = [places + 13.5 * axis for axis in np.eye(3)]
    moved = [noise(start) - 0.5 for start in starts]
    steep = _fractal_slope(places + 2 * distortion * np.transpose(moved), detail)
    # The chain rule: the displacement is itself noise and has a gradient.
    return np.asarray(steep + 2 * distortion * sum(
        _noise_slope(start) * along for start, along in zip(starts, steep, strict=True))).T


def _octaves(detail: float) -> FloatArray:
    return np.asarray(2.0 ** np.arange(int(detail) + 1))


def _fractal_slope(places: FloatArray, detail: float) -> FloatArray:
    """Return the gradient (3, N) of ``fractal``."""
    octaves = _octaves(detail)
    layers = [_noise_slope(places * octave + 17.0 * octave) for octave in octaves]
    return np.asarray(sum(layers) / (1 / octaves).sum())


def _noise_slope(places: FloatArray) -> FloatArray:
    """Return the gradient (3, N) of ``noise``."""
    within, gradients = _cells(places)
    weight = within**3 * (within * (within * 6 - 15) + 10)
    steep = 30 * (within * (within - 1)) ** 2
    total = np.zeros((3, len(places)))
    for corner, gradient in zip(CORNERS, gradients, strict=True):
        shares = [weight[axis] if side else 1 - weight[axis] for axis, side in enumerate(corner)]
        height = sum(gradient[axis] * (within[axis] - side) for axis, side in enumerate(corner))
        for axis, side in enumerate(corner):
            others = shares[axis - 2] * shares[axis - 1]
            total[axis] += others * (
                shares[axis] * gradient[axis] + (steep[axis] if side else -steep[axis]) * height)
    return 0.5 * total


def _cells(places: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """Return positions within their lattice cells (3, N), and each corner's gradients (3, N)."""
    along = np.ascontiguousarray(places.T)
    cell = np.floor(along)
    low = cell.astype(np.int64) % PERIOD
    high = (low + 1) % PERIOD
    sides = np.stack([low, high]) * np.array([[PERIOD**2], [PERIOD], [1]])
    lattice = _gradients()
    return along - cell, [lattice[:, sides[i, 0] + sides[j, 1] + sides[k, 2]]
                          for i, j, k in CORNERS]


@cache
def _gradients() -> FloatArray:
    """Return the lattice's random gradients, unit vectors (3, PERIOD^3)."""
    drawn = generator("noise").normal(size=(PERIOD, PERIOD, PERIOD, 3))
    unit = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return np.ascontiguousarray(unit.reshape(-1, 3).T)
