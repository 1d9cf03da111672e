"""Draw dots as discs with exact area coverage, many frames at a time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.srgb import decoded, encoded
from mimegen.motion.quaternions import FloatArray

PHASES = 64
"""Positions and diameters are rounded to 1/64 of a pixel."""
_CHUNK_PIXELS = 1 << 22
_LEVELS = 1 << 13


def disc_coverage(offsets: FloatArray, radii: FloatArray, side: int) -> FloatArray:
    """Return the fraction of each pixel (N, side, side) that lies in a disc, exactly.

    ``offsets`` (N, 2) are the discs' centres, x and y in pixels from the upper left corner of their
    patch; ``radii`` (N,) are in pixels. The disc's area to the left of and above every corner of
    the grid is known in closed form; its second difference is the area in each pixel.
    """
    corners = np.arange(side + 1)
    x = (corners - offsets[:, :1])[:, None, :]
    y = (corners - offsets[:, 1:])[:, :, None]
    return np.diff(np.diff(_area_left_above(x, y, radii[:, None, None]), axis=1), axis=2)


def _area_left_above(x: FloatArray, y: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the area of the part of a disc about the origin that is left of x and above y.

    Within the chord at height y the line y = const bounds the part. Beyond the chord the whole
    height of the disc counts if y is below the centre (y > 0), else nothing.
    """
    x, y = np.clip(x, -radius, radius), np.clip(y, -radius, radius)
    chord = np.sqrt(radius**2 - y**2)
    at_x, at_chord = _under_arc(x, radius), _under_arc(chord, radius)
    left, right = x < -chord, x > chord
    cut = y * (np.clip(x, -chord, chord) + chord)
    cut += np.where(left, 0.0, np.where(right, 2 * at_chord, at_x + at_chord))
    beyond = np.where(left, at_x, -at_chord) + np.where(right, at_x - at_chord, 0.0)
    return np.asarray(cut + np.where(y > 0, 2 * beyond + np.pi / 2 * radius**2, 0.0))


def _under_arc(t: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the area under the upper half circle from 0 to t."""
    root = np.sqrt(np.maximum(radius**2 - t**2, 0.0))
    return np.asarray((t * root + radius**2 * np.arcsin(np.clip(t / radius, -1, 1))) / 2)


class Canvas:
    """A picture's size and background, and the conversion of light to bytes.

    Light is mixed linearly, so that an edge pixel half covered by a disc emits half of its light,
    and stored as sRGB (IEC 61966-2-1). Pictures are gray (H, W) if all colors are gray, else RGB
    (H, W, 3).
    """

    def __init__(self, width: int, height: int, background: FloatArray, gray: bool) -> None:
        self.width, self.height, self.gray = width, height, gray
        self._background = np.asarray(background[:1] if gray else background, np.float32)
        self._bytes = to_srgb(np.linspace(0, 1, _LEVELS + 1))

    def frames(self, positions: FloatArray, diameters: FloatArray, strengths: FloatArray,
               colors: FloatArray) -> Iterator[ByteArray]:
        """Yield one picture per frame.

        ``positions`` (F, D, 2) and ``diameters`` (F, D) are in pixels; a dot with a NaN position or
        zero strength is not drawn. ``strengths`` (F, D) are the opacities with which a dot's linear
        color (D, 3) covers what is below; later dots are drawn over earlier ones. A picture's
        memory is reused for the next one.
        """
        channels = len(self._background)
        # One extra pixel takes whatever falls outside the picture.
        size = self.width * self.height + 1
        chunk = min(len(positions), max(1, _CHUNK_PIXELS // (size * channels)))
        shape = (self.height, self.width) + (() if self.gray else (3,))
        light = np.tile(self._background, (chunk * size, 1))
        empty = self._encoded(self._background)
        pictures = np.tile(empty, (chunk * size, 1))
        colors = np.asarray(colors[:, :channels], np.float32)
        for first in range(0, len(positions), chunk):
            span = slice(first, first + chunk)
            stamps = self._stamps(positions[span], diameters[span], strengths[span])
            for dot, pixels, cover in stamps:
                below = light[pixels]
                light[pixels] = below + cover[:, None] * (colors[dot] - below)
            for _, pixels, _ in stamps:
                pictures[pixels] = self._encoded(light[pixels])
            for picture in pictures.reshape(chunk, size, channels)[:len(positions[span])]:
                yield picture[:-1].reshape(shape)
            for _, pixels, _ in stamps:
                light[pixels], pictures[pixels] = self._background, empty

    def _encoded(self, light: NDArray[np.float32]) -> ByteArray:
        return self._bytes[(light * _LEVELS + np.float32(0.5)).astype(np.uint16)]

    def _stamps(self, positions: FloatArray, diameters: FloatArray,
                strengths: FloatArray) -> list[tuple[int, NDArray[np.intp], NDArray[np.float32]]]:
        """Return each dot's index, the pixels that it touches over all frames, and their coverage.
        """
        shown = np.isfinite(positions).all(axis=-1) & (strengths > 0) & (diameters > 0)
        if not shown.any():
            return []
        fine = np.round(np.where(shown[..., None], positions, 0.0) * PHASES).astype(np.int64)
        wide = np.round(np.where(shown, diameters, 0.0) * PHASES).astype(np.int64)
        side = int(-(-int(wide.max()) // PHASES)) + 1
        # The patch begins at the leftmost and topmost pixel that the disc can touch.
        corner = (fine - wide[..., None] // 2) // PHASES
        covers, which = _covers(fine - corner * PHASES, wide, shown, side)
        weak = np.asarray(strengths, np.float32)
        stamps = []
        for dot in np.flatnonzero(shown.any(axis=0)):
            frames = np.flatnonzero(shown[:, dot])
            pixels = self._pixels(corner[frames, dot], frames, side)
            cover = covers[which[frames, dot]] * weak[frames, dot, None, None]
            touched = cover > 0
            stamps.append((int(dot), pixels[touched], cover[touched]))
        return stamps

    def _pixels(self, corners: NDArray[np.int64], frames: NDArray[np.intp], side: int
                ) -> NDArray[np.int64]:
        """Return the indices (N, side, side) of patches' pixels among the pixels of all frames.

        ``corners`` (N, 2) are the patches' upper left pixels in these frames (N,).
        """
        size, steps = self.width * self.height, np.arange(side)
        x = corners[:, 0][:, None, None] + steps
        y = corners[:, 1][:, None, None] + steps[:, None]
        inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        within = np.where(inside, y * self.width + x, size)
        return np.asarray(within + frames[:, None, None] * (size + 1))


def _covers(within: NDArray[np.int64], wide: NDArray[np.int64], shown: NDArray[np.bool_], side: int
            ) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the coverages (K, side, side) of all different discs, and which (F, D) each dot has.

    Discs differ in the position of their centre ``within`` (F, D, 2) the patch and in their
    diameter ``wide`` (F, D), both in units of 1/PHASES pixel.
    """
    kinds, patch = np.unique(
        np.concatenate([within[shown], wide[shown][:, None]], axis=1), axis=0, return_inverse=True)
    covers = disc_coverage(kinds[:, :2] / PHASES, kinds[:, 2] / (2 * PHASES), side)
    which = np.zeros(shown.shape, np.intp)
    which[shown] = patch.ravel()
    return np.asarray(covers, np.float32), which


def to_srgb(linear: FloatArray) -> ByteArray:
    """Return linear light, 0 to 1 and of any shape, as sRGB bytes."""
    return np.asarray(np.clip(encoded(linear), 0, 1) * 255 + 0.5).astype(np.uint8)


def to_linear(srgb: ByteArray) -> FloatArray:
    """Return sRGB bytes of any shape as linear light, 0 to 1."""
    return np.asarray(decoded(srgb / 255.0))
