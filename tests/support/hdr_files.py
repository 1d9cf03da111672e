"""Small Radiance pictures of all that is around: an even sky with one bright place."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray


def sky_with_light(azimuth_deg: float, elevation_deg: float, strength: float,
                   color: tuple[float, float, float] = (1.0, 1.0, 1.0), rows: int = 64
                   ) -> FloatArray:
    """Return linear light (H, 2 H, 3), first row lowest: gray 0.3, a spot ``strength`` bright.

    Azimuth is as the camera's: 0 in front of the person (-Y), 90 at their left (+X).
    """
    light = np.full((rows, 2 * rows, 3), 0.3) * color
    row = int((elevation_deg / 180 + 0.5) * rows)
    # Blender has the picture's middle at +X, and +Y left of it.
    column = int((0.5 + (90 - azimuth_deg) / 360) * 2 * rows) % (2 * rows)
    light[row - 1:row + 2, column - 1:column + 2] = strength
    return light


def write_hdr(path: Path, light: FloatArray) -> Path:
    """Write linear light (H, W, 3), first row lowest, as a Radiance file (Ward 1991)."""
    height, width = light.shape[:2]
    head = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n"
    path.write_bytes(head.encode() + _rgbe(light[::-1]).tobytes())
    return path


def _rgbe(light: FloatArray) -> NDArray[np.uint8]:
    brightest = np.maximum(light.max(axis=-1), 1e-30)
    mantissa, exponent = np.frexp(brightest)
    coded = light * (mantissa * 256 / brightest)[..., None]
    return np.concatenate([coded, exponent[..., None] + 128.0], axis=-1).astype(np.uint8)
