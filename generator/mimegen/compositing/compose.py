"""Lay a shot's frame over a background, in linear light."""

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.compositing.color import LightArray, Shade, Tint, bytes_to_linear, linear_to_bytes
from mimegen.store.frames import Frame

# The fraction of a faint sky shadow that is filled by light reflected from the body, as observed
# when figure and set are rendered together.
FILLED = 0.3


class Compositor:
    """Composes many frames over one background.

    ``backdrop_linear`` (H, W, 3) is linear light, 0 to 1. The figure's light is multiplied by
    ``tint``; ``shade`` is the light that shadows take from the ground. Only pixels that figure or
    shadow cover are computed; all others are the background's own bytes.
    """

    def __init__(self, backdrop_linear: LightArray, tint: Tint | None = None,
                 shade: Shade | None = None) -> None:
        self._left = _left_table(shade)
        self._tinted = None if tint is None else linear_to_bytes(
            bytes_to_linear(np.arange(256, dtype=np.uint8))[:, None] * np.array(tint, np.float32))
        self._linear = np.ascontiguousarray(backdrop_linear, dtype=np.float32)
        self._bytes = linear_to_bytes(self._linear)

    @property
    def empty(self) -> ByteArray:
        """The background alone (H, W, 3), sRGB bytes."""
        return self._bytes

    def compose(self, frame: Frame) -> ByteArray:
        """Return the finished picture (H, W, 3), sRGB bytes.

        The ground's light is multiplied by the light that the shadow leaves, so the ground keeps
        its color. The figure is put over it by Porter and Duff's "over" on premultiplied linear
        light (Compositing Digital Images, 1984): ``alpha * figure + (1 - alpha) * ground``. Where
        the figure is opaque, its bytes are copied. Raises ValueError if frame and background differ
        in size.
        """
        height, width = self._bytes.shape[:2]
        if frame.size != (width, height):
            raise ValueError(f"the frame is {frame.size}, its background {(width, height)}")
        picture = self._bytes.copy()
        self._cast_shadow(picture, frame)
        self._lay_figure(picture, frame)
        return picture

    def _cast_shadow(self, picture: ByteArray, frame: Frame) -> None:
        left, top = frame.shadow_at
        height, width = frame.shadow.shape
        region = np.s_[top : top + height, left : left + width]
        # Compute the whole box: indexing only its dark pixels takes three times as long.
        light = self._light_left(frame.shadow)
        light[frame.shadow == 0] = 1
        picture[region] = linear_to_bytes(self._linear[region] * light)

    def _lay_figure(self, picture: ByteArray, frame: Frame) -> None:
        left, top = frame.figure_at
        height, width = frame.figure.shape[:2]
        region = picture[top : top + height, left : left + width]
        coverage, colors = frame.figure[..., 3], self._lit(frame.figure[..., :3])
        np.copyto(region, colors, where=(coverage == 255)[..., None])

        rows, columns = np.nonzero((coverage > 0) & (coverage < 255))
        alpha = coverage[rows, columns, None].astype(np.float32) / np.float32(255)
        ground = self._ground_light(frame, rows + top, columns + left)
        region[rows, columns] = linear_to_bytes(
            alpha * bytes_to_linear(colors[rows, columns]) + (1 - alpha) * ground
        )

    def _lit(self, colors: ByteArray) -> ByteArray:
        """Return a figure's colors (h, w, 3) with their light multiplied by the tint."""
        if self._tinted is None:
            return colors
        return np.stack([self._tinted[colors[..., channel], channel] for channel in range(3)],
                        axis=-1)

    def _ground_light(
        self, frame: Frame, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> LightArray:
        """Return the linear light (N, 3) of the ground, with its shadow, at pixels."""
        height, width = frame.shadow.shape
        shadow_rows, shadow_columns = rows - frame.shadow_at[1], columns - frame.shadow_at[0]
        inside = (shadow_rows >= 0) & (shadow_rows < height)
        inside &= (shadow_columns >= 0) & (shadow_columns < width)
        light = np.ones((len(rows), 3), dtype=np.float32)
        light[inside] = self._light_left(frame.shadow[shadow_rows[inside], shadow_columns[inside]])
        return self._linear[rows, columns] * light

    def _light_left(self, shadow: ByteArray) -> LightArray:
        """Return the fraction (..., 3) of the ground's light that shadows (...) leave."""
        return np.take(self._left, shadow, axis=0)


def _left_table(shade: Shade | None) -> LightArray:
    """Return the fraction (256, 3) of the ground's light that is left for each byte of shadow.

    With a ``shade``, the suns' light, with its color, is taken first and the sky's after it.
    Shadows fainter than the full shadow of the sky are mostly the sky's; FILLED of their first half
    is filled by light reflected from the body.
    """
    missing = np.arange(256, dtype=np.float32)[:, None] / np.float32(255)
    if shade is None:
        return np.repeat(1 - missing, 3, axis=1)
    sky = shade.whole - shade.part
    filled = missing
    if 0 < sky < shade.part:
        filled = np.interp(missing, (0, sky / 2, sky, 1), (0, (1 - FILLED) * sky / 2, sky, 1))
    return np.concatenate([np.interp(filled, (0, shade.part, shade.whole), (1, 1 - sun, 0))
                           for sun in shade.sun], axis=1).astype(np.float32)


def compose(frame: Frame, backdrop_linear: LightArray) -> ByteArray:
    """Return one finished picture (H, W, 3), sRGB bytes; for many, use ``Compositor``."""
    return Compositor(backdrop_linear).compose(frame)
