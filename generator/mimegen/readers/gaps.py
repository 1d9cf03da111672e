"""Bridge gaps: values that a file gives as NaN, for example where tracking was lost.

Short gaps are interpolated: rotations along the shortest turn, positions along a straight line. At
the file's ends the nearest value is held.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.dropouts import between, lost_note, named

# A longer gap (in seconds) is refused, because what the person did in it cannot be known.
MAX_GAP_S = 1.0
WHY = f"is longer than the {MAX_GAP_S:g} s that are bridged; fill it where the motion was" \
      " recorded, or leave these frames out"


class LongGap(NamedTuple):
    """A gap that is too long to bridge: its column, and its first and last frame."""

    column: int
    first: int
    last: int


def long_gap(lost: BoolArray, fps: float) -> LongGap | None:
    """Return the first gap in ``lost`` (F, K) that is too long to bridge, or None.

    That is a gap of more than ``MAX_GAP_S``, or one that spans the whole file.
    """
    for column in np.flatnonzero(lost.any(axis=0)).tolist():
        for first, last in _runs(lost[:, column]):
            if last - first + 1 > MAX_GAP_S * fps or last - first + 1 == len(lost):
                return LongGap(column, first, last)
    return None


def _runs(lost: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each run of lost values (F,)."""
    edges = np.flatnonzero(np.diff(np.pad(lost, 1).astype(int))).tolist()
    yield from ((a, b - 1) for a, b in list(pairwise(edges))[::2])


def missing(values: FloatArray) -> BoolArray:
    """Return a mask (F, K) of the values (F, K, n) that have a NaN among their components."""
    return np.asarray(np.isnan(values).any(axis=-1))


def bridged_rotations(rotations: FloatArray, lost: BoolArray) -> FloatArray:
    """Return rotations (F, K, 4), interpolated along shortest turns where ``lost`` (F, K)."""
    frames, columns = np.nonzero(lost)
    before, after, share = (values[frames, columns] for values in between(lost))
    bridged = rotations.copy()
    bridged[frames, columns] = quaternions.slerp(rotations[before, columns],
                                                 rotations[after, columns], share)
    return bridged


def bridged_positions(positions: FloatArray, lost: BoolArray) -> FloatArray:
    """Return positions (F, K, 3), interpolated along straight lines where ``lost`` (F, K)."""
    frames, columns = np.nonzero(lost)
    before, after, share = (values[frames, columns] for values in between(lost))
    start = positions[before, columns]
    bridged = positions.copy()
    bridged[frames, columns] = start + share[:, None] * (positions[after, columns] - start)
    return bridged


def gap_notes(names: Sequence[str], lost: BoolArray) -> tuple[str, ...]:
    """Return a note on the gaps (F, J) of joints, or nothing if there are none."""
    if not lost.any():
        return ()
    what = f"the values of {named(tuple(names), lost)} are not numbers"
    return lost_note(lost.any(axis=1), what, 0)
