"""Pictures of imported figures as PNG or JPEG, tinted, with alpha only where it is used."""

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.readers.blender_process import ReaderReply

# If less than this fraction of a picture is visible, its alpha is assumed to mean something else.
MIN_VISIBLE = 0.02


def with_pictures(path: Path, read: ReaderReply) -> ReaderReply:
    """Return what Blender read of a file, with its pictures encoded as they are rendered.

    Raises RequestError for a picture that is damaged.
    """
    arrays = {name: array for name, array in read.arrays.items() if not name.startswith("tint_")}
    for number, cut_out in enumerate(read.header["cut_out"]):
        name = f"picture_{number}"
        try:
            seen = _as_seen(_encoded(arrays[name]), read.arrays.get(f"tint_{number}"), cut_out)
        except (OSError, ValueError, Image.DecompressionBombError) as problem:
            raise RequestError(f"{path}: its picture {number + 1} cannot be read ({problem});"
                               " export it again with its textures") from problem
        arrays[name] = np.frombuffer(seen, dtype=np.uint8)
    return ReaderReply(read.header, arrays)


def _encoded(picture: NDArray[np.uint8]) -> bytes:
    """Return an encoded picture (N,) unchanged, or pixels (H, W, C) as PNG."""
    if picture.ndim == 1:
        return picture.tobytes()
    return _png(picture[..., 0] if picture.shape[-1] == 1 else picture)


def _as_seen(data: bytes, table: NDArray[np.uint8] | None, cut_out: bool) -> bytes:
    """Return an encoded picture with its tint applied, and with alpha only if ``cut_out`` uses it.

    ``table`` (256, 3) maps the levels of each channel to tinted ones.
    """
    picture = Image.open(io.BytesIO(data))
    alpha = np.asarray(picture.convert("RGBA"))[..., 3] if "A" in picture.getbands() else None
    cut_out = cut_out and alpha is not None and bool(np.mean(alpha > 0) > MIN_VISIBLE)
    if table is None and (cut_out or alpha is None):
        return data
    colors = np.asarray(picture.convert("RGB"))
    if table is not None:
        colors = np.stack([table[colors[..., i], i] for i in range(3)], axis=-1)
    if cut_out and alpha is not None:
        colors = np.concatenate([colors, alpha[..., None]], axis=-1)
    return _png(colors)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    encoded = io.BytesIO()
    Image.fromarray(pixels).save(encoded, "PNG")
    return encoded.getvalue()
