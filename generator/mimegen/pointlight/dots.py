"""Dots over time, in world or picture coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

Lines = Sequence[tuple[int, int]] | NDArray[np.intp]
MASK = -1
"""The performer's index for dots of a mask."""


@dataclass(frozen=True, eq=False)
class DotTracks:
    """Dots over time; frames first.

    ``positions`` (F, D, 3) are metres in the world. After projection they are pixels to the right
    and down, and depth in metres beyond the figure's middle. They are NaN where a marker was lost.
    ``visible`` (F, D) is False while a dot is not shown; ``sizes`` (F, D) and ``strengths`` (F, D)
    are diameters and contrasts relative to the display's. ``performers`` (D,) is the index of each
    dot's performer; ``limbs`` and ``trunk`` (L, 2) are pairs of dots joined by the lines of a stick
    figure.
    """

    names: tuple[str, ...]
    performers: NDArray[np.intp]
    limbs: NDArray[np.intp]
    trunk: NDArray[np.intp]
    positions: FloatArray
    visible: NDArray[np.bool_]
    sizes: FloatArray
    strengths: FloatArray

    @classmethod
    def of(cls, names: tuple[str, ...], performers: NDArray[np.intp], positions: FloatArray,
           limbs: Lines = (), trunk: Lines = ()) -> "DotTracks":
        """Return dots of equal size and full contrast, visible wherever their position is known."""
        plain = np.ones(positions.shape[:2])
        shown = np.isfinite(positions).all(axis=-1)
        return cls(names, performers, _lines(limbs), _lines(trunk), positions, shown, plain, plain)

    @property
    def frames(self) -> int:
        """The number of frames."""
        return len(self.positions)

    @property
    def count(self) -> int:
        """The number of dots."""
        return len(self.names)

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """The indices (K,) of the dots that belong to a performer, not to a mask."""
        return np.flatnonzero(self.performers != MASK)

    @cached_property
    def people(self) -> list[NDArray[np.intp]]:
        """The indices (K,) of each performer's dots."""
        return [np.flatnonzero(self.performers == person)
                for person in np.unique(self.performers[self.own])]

    def moved(self, positions: FloatArray) -> "DotTracks":
        """Return the same dots at other positions (F, D, 3)."""
        return replace(self, positions=positions)

    def chosen(self, keep: NDArray[np.intp]) -> "DotTracks":
        """Return only the dots with these indices (K,), in this order."""
        number = np.full(self.count, -1)
        number[keep] = np.arange(len(keep))
        limbs, trunk = number[self.limbs], number[self.trunk]
        return DotTracks(
            tuple(self.names[dot] for dot in keep), self.performers[keep],
            limbs[(limbs >= 0).all(axis=1)], trunk[(trunk >= 0).all(axis=1)],
            self.positions[:, keep], self.visible[:, keep], self.sizes[:, keep],
            self.strengths[:, keep],
        )

    def joined(self, other: "DotTracks") -> "DotTracks":
        """Return these dots followed by the other dots, which have the same frames."""
        return DotTracks(
            self.names + other.names, np.concatenate([self.performers, other.performers]),
            np.concatenate([self.limbs, other.limbs + self.count]),
            np.concatenate([self.trunk, other.trunk + self.count]),
            *(np.concatenate([getattr(self, part), getattr(other, part)], axis=1)
              for part in ("positions", "visible", "sizes", "strengths")),
        )

    def box(self) -> FloatArray:
        """Return the smallest and largest X and Y (2, 2) of the performers' dots over all frames.
        """
        flat = self.positions[:, self.own, :2].reshape(-1, 2)
        return np.stack([np.nanmin(flat, axis=0), np.nanmax(flat, axis=0)])


def _lines(pairs: Lines) -> NDArray[np.intp]:
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def sampled(values: FloatArray, moments: FloatArray) -> FloatArray:
    """Return values (F, ...) at fractional frame numbers ``moments`` (N,).

    Uses Catmull-Rom splines (Catmull and Rom 1974), which pass through every frame, and linear
    interpolation next to the ends and to gaps (NaN).
    """
    last = len(values) - 1
    moments = np.clip(moments, 0, last)
    before = np.minimum(moments.astype(int), max(last - 1, 0))
    share = (moments - before).reshape(-1, *[1] * (values.ndim - 1))
    start, end = values[before], values[np.minimum(before + 1, last)]
    ahead, behind = values[np.minimum(before + 2, last)], values[np.maximum(before - 1, 0)]
    linear = start + share * (end - start)
    slope_in, slope_out = (end - behind) / 2, (ahead - start) / 2
    chord = end - start
    curve = start + share * (
        slope_in + share * (3 * chord - 2 * slope_in - slope_out
                            + share * (slope_in + slope_out - 2 * chord)))
    inside = ((before >= 1) & (before + 2 <= last)).reshape(share.shape)
    smooth = np.where(inside & np.isfinite(curve), curve, linear)
    # A time that falls on a frame needs only that frame.
    on_start, on_end = share == 0, share == 1
    return np.asarray(np.where(on_start, start, np.where(on_end, end, smooth)))
