"""The sky's clouds: Blender's own noise (Perlin 2002, hashed as Jenkins' lookup3), so that what
they light has them where the picture shows them."""

import itertools

import numpy as np
from numpy.typing import NDArray

from mimegen.base.easing import minimum_jerk, ramp
from mimegen.motion.quaternions import FloatArray

COLOR = (0.95, 0.96, 1.0)
# Clouds by direction: their scale, how often finer waves are laid over, between what they begin.
SCALE = (3.2, 3.2, 14.4)
OCTAVES = 7
BEGIN = 0.5
WHOLE = 0.72
START = 0xDEADBEEF + 25
# Each step of the hash takes one of three numbers, another, and turns that by so many bits.
HASH_STEPS = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))


def cloud_shares(ways: FloatArray) -> FloatArray:
    """Return how much of a fully clouded sky's clouds cover directions (N, 3) in the world."""
    sizes = 0.5 ** np.arange(OCTAVES)
    waves = [size * _wave(ways * SCALE / size) for size in sizes]
    return ramp(0.5 * np.sum(waves, axis=0) / sizes.sum() + 0.5, BEGIN, WHOLE)


def _wave(places: FloatArray) -> FloatArray:
    """Return one octave of noise (N,), around 0."""
    low = np.floor(places)
    within = places - low
    weight = minimum_jerk(within)
    total = np.zeros(len(places))
    for corner in itertools.product((0, 1), repeat=3):
        shares = np.where(corner, weight, 1 - weight).prod(axis=1)
        total += shares * _height(_hash(low.astype(np.int64) + corner), within - corner)
    return 0.982 * total


def _hash(cells: NDArray[np.int64]) -> NDArray[np.uint32]:
    numbers = [(START + axis).astype(np.uint32) for axis in cells.T]
    for changed, by, turn in HASH_STEPS:
        other = numbers[by]
        turned = other << np.uint32(turn) | other >> np.uint32(32 - turn)
        numbers[changed] = (numbers[changed] ^ other) - turned
    return np.asarray(numbers[2])


def _height(hashed: NDArray[np.uint32], away: FloatArray) -> FloatArray:
    """Return how high a corner's slope is at places (N, 3) away from it."""
    x, y, z = away.T
    which = hashed & 15
    one = np.where(which < 8, x, y)
    other = np.where(which < 4, y, np.where((which == 12) | (which == 14), x, z))
    return np.asarray(np.where(which & 1, -one, one) + np.where(which & 2, -other, other))
