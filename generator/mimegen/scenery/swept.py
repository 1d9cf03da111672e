"""The floor that performers take, seen from above: what keeps things of a set out of their way."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Floors are told in squares of this size. They are coarse, so that last bits of a motion do not
# decide what stands in a set.
CELL_M = 0.1
EMPTY = "."
TAKEN = "#"

Cells = NDArray[np.intp]


@dataclass(frozen=True)
class GroundGrid:
    """Squares of the ground: ``rows`` along X, one for each Y, the first at ``low`` (X, Y).

    Square (i, j) reaches from ``CELL_M * i`` to ``CELL_M * (i + 1)`` along X, and so along Y.
    """

    low: tuple[int, int]
    rows: tuple[str, ...]

    @classmethod
    def of(cls, cells: Cells) -> "GroundGrid":
        """Return the floor of squares (N, 2), each of which may be named more than once."""
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
    """What performers take of a place: the ``floor`` below their bodies, up to ``top_m``."""

    floor: GroundGrid
    top_m: float

    def content(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"top_m": self.top_m, "low": list(self.floor.low), "rows": list(self.floor.rows)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "Swept":
        """Return what ``content`` made JSON of."""
        x, y = content["low"]
        return cls(GroundGrid((x, y), tuple(content["rows"])), content["top_m"])
