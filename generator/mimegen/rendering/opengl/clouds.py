"""The sky's clouds, by the same noise as in Blender (Perlin 2002, hashed by Jenkins' lookup3).

So the clouds that light a set are in the same places as those in the picture.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from mimegen.base.easing import minimum_jerk, ramp
from mimegen.motion.quaternions import FloatArray

# Linear RGB.
COLOR = (0.95, 0.96, 1.0)
# The noise's scale by axis of the direction, its number of octaves, and the values of the noise at
# which clouds begin and are full.
SCALE = (3.2, 3.2, 14.4)
OCTAVES = 7
BEGIN = 0.5
WHOLE = 0.72
START = 0xDEADBEEF + 25
# Steps of the hash: which of three numbers changes, by which other one, rotated by how many bits.
HASH_STEPS = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))


def cloud_shares(directions: FloatArray) -> FloatArray:
    """Return the cover (N,), 0 to 1, of a fully clouded sky in directions (N, 3) of the world."""
    sizes = 0.5 ** np.arange(OCTAVES)
    waves = [size * _wave(directions * SCALE / size) for size in sizes]
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
    """Return the height (N,) of a lattice corner's gradient at displacements (N, 3) from it."""
    x, y, z = away.T
    which = hashed & 15
    one = np.where(which < 8, x, y)
    other = np.where(which < 4, y, np.where((which == 12) | (which == 14), x, z))
    return np.asarray(np.where(which & 1, -one, one) + np.where(which & 2, -other, other))
