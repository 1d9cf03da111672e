"""Runs of consecutive true flags."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def spans(flags: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) indices of each run of true flags (F,); the end is exclusive."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
