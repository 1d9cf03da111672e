"""Random numbers that depend only on seeds and stable names."""

import zlib

import numpy as np


def generator(*parts: int | str) -> np.random.Generator:
    """Return the random generator for a sequence of seeds and stable names.

    Names enter by their CRC-32, so that the same names give the same numbers on every machine.
    """
    return np.random.default_rng(
        [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts])
