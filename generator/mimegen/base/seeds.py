"""Random numbers that depend on a seed and stable names alone."""

import zlib

import numpy as np


def generator(*parts: int | str) -> np.random.Generator:
    """Return the generator that belongs to seeds and stable names, in their order.

    Names count by their CRC-32, so that the same names give the same numbers on every machine.
    """
    return np.random.default_rng(
        [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts])
