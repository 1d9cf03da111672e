"""The floor area that performers occupy, from which a set's objects are kept clear."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Edge length of the floor's squares. They are coarse so that rounding errors in a motion do not
# change which objects a set keeps.
CELL_M = 0.1
EMPTY = "."
TAKEN = "#"

Cells = NDArray[np.intp]


@dataclass(frozen=True)
class GroundGrid:
    """A set of floor squares: one string of ``rows`` per Y, along X, starting at ``low`` (X, Y).

    Square (i, j) spans ``CELL_M * i`` to ``CELL_M * (i + 1)`` along X, and likewise j along Y.
    """

    low: tuple[int, int]
    rows: tuple[str, ...]

    @classmethod
    def of(cls, cells: Cells) -> "GroundGrid":
        """Return the grid of squares (N, 2), which may contain duplicates."""
        if not len(cells):
            return cls((0, 0), ())
        low = cells.min(axis=0)
        mask = np.zeros((cells.max(axis=0) - low + 1)[::-1], bool)
        mask[tuple((cells - low).T[::-1])] = True
        rows = tuple("".join(row) for row in np.where(mask, TAKEN, EMPTY))
        return cls((int(low[0]), int(low[1])), rows)

    @property
    def cells(self) -> Cells:
        """The squares (N, 2), row by row."""
        return _cells(self)


@lru_cache(maxsize=256)
def _cells(floor: GroundGrid) -> Cells:
    if not floor.rows:
        return np.zeros((0, 2), np.intp)
    mask = np.array([list(row) for row in floor.rows]) == TAKEN
    return np.asarray(np.argwhere(mask)[:, ::-1] + np.array(floor.low))


@dataclass(frozen=True)
class Swept:
    """The space that performers occupy: the ``floor`` below their bodies, up to ``top_m``."""

    floor: GroundGrid
    top_m: float

    def content(self) -> dict[str, Any]:
        """Return the space as JSON content."""
        return {"top_m": self.top_m, "low": list(self.floor.low), "rows": list(self.floor.rows)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "Swept":
        """Return the space from the JSON that ``content`` returned."""
        x, y = content["low"]
        return cls(GroundGrid((x, y), tuple(content["rows"])), content["top_m"])
