"""Where flags hold without a break."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def spans(flags: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield the first index of each run of true flags (F,), and the first one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
