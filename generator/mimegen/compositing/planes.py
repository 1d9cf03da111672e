"""Convert pictures for the encoder: BT.709 luma and chroma planes, 4:2:0, limited range.

All arithmetic is in integers, so that every machine gets the same bytes. Each chroma sample is the
mean of four pixels, sited at their centre (H.264's chroma location 1). See Rec. ITU-R BT.709-6,
sections 3 and 4.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.store.frames import Frame

PixelBox = tuple[int, int, int, int]
"""Left, top, right and bottom pixels, ends exclusive, all even."""

# Fixed-point weights have this many fractional bits.
_BITS = 16
# The weights of colors in luma (ITU-R BT.709).
_RED = 0.2126
_GREEN = 0.7152
_BLUE = 0.0722


def _weights(share: float, *of_channels: float) -> NDArray[np.int32]:
    return np.asarray(np.round(np.array(of_channels) * share * 2**_BITS), np.int32)


_LUMA = _weights(219 / 255, _RED, _GREEN, _BLUE)
_CHROMA = (
    _weights(224 / 255 / (2 * (1 - _BLUE)), -_RED, -_GREEN, 1 - _BLUE),
    _weights(224 / 255 / (2 * (1 - _RED)), 1 - _RED, -_GREEN, -_BLUE),
)


def changed_box(frame: Frame) -> PixelBox:
    """Return the smallest box with even edges that contains figure and shadow."""
    boxes = []
    for (left, top), (height, width) in ((frame.figure_at, frame.figure.shape[:2]),
                                         (frame.shadow_at, frame.shadow.shape)):
        if height and width:
            boxes.append((left, top, left + width, top + height))
    if not boxes:
        return 0, 0, 0, 0
    left, top = (min(box[side] for box in boxes) // 2 * 2 for side in (0, 1))
    right, bottom = (-(-max(box[side] for box in boxes) // 2) * 2 for side in (2, 3))
    return left, top, right, bottom


class Planes:
    """The planes of a background; for each frame, only the changed part is converted again."""

    def __init__(self, background: ByteArray) -> None:
        """Convert a picture (H, W, 3) of even height and width, sRGB bytes."""
        self._height, self._width = background.shape[:2]
        self._still = np.empty(self._height * self._width * 3 // 2, np.uint8)
        _convert(background, self._views(self._still), (0, 0, self._width, self._height))
        self._now = self._still.copy()
        self._box: PixelBox = (0, 0, 0, 0)

    def show(self, picture: ByteArray, box: PixelBox) -> ByteArray:
        """Return the planes (H * W * 3 / 2) of a picture equal to the background outside ``box``.

        The array is overwritten by the next call.
        """
        left, top, right, bottom = self._box
        for number, (now, still) in enumerate(zip(self._views(self._now),
                                                  self._views(self._still), strict=True)):
            step = 2 if number else 1
            part = np.s_[top // step : bottom // step, left // step : right // step]
            now[part] = still[part]
        _convert(picture, self._views(self._now), box)
        self._box = box
        return self._now

    def _views(self, planes: ByteArray) -> tuple[ByteArray, ByteArray, ByteArray]:
        pixels, half = self._height * self._width, (self._height // 2, self._width // 2)
        return (planes[:pixels].reshape(self._height, self._width),
                planes[pixels : pixels * 5 // 4].reshape(half),
                planes[pixels * 5 // 4 :].reshape(half))


def _convert(picture: ByteArray, planes: tuple[ByteArray, ByteArray, ByteArray],
             box: PixelBox) -> None:
    """Convert a box of a picture and write it into the planes."""
    left, top, right, bottom = box
    colors = picture[top:bottom, left:right]
    planes[0][top:bottom, left:right] = _mixed(colors, _LUMA, 16, _BITS)
    rows = colors[0::2].astype(np.uint16) + colors[1::2]
    quads = rows[:, 0::2] + rows[:, 1::2]
    for plane, weights in zip(planes[1:], _CHROMA, strict=True):
        plane[top // 2 : bottom // 2, left // 2 : right // 2] = _mixed(quads, weights, 128,
                                                                       _BITS + 2)


def _mixed(colors: NDArray[np.unsignedinteger[Any]], weights: NDArray[np.int32], offset: int,
           bits: int) -> NDArray[np.int32]:
    """Return the weighted sum (h, w) of the channels, rounded and shifted down, plus an offset."""
    total = np.full(colors.shape[:2], (offset << bits) + (1 << (bits - 1)), np.int32)
    for channel, weight in enumerate(weights):
        total += np.multiply(colors[..., channel], weight, dtype=np.int32)
    return np.right_shift(total, bits, out=total)
