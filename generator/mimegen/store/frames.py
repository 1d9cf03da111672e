"""Rendered frames of a shot as stored: figure and shadow, cropped."""

import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimegen.base.arrays import ByteArray

# A tenth larger than with NumPy's own level, in a third of the time.
COMPRESSION = 1


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture of a shot without its background.

    ``figure`` (h, w, 4) is straight (not premultiplied) sRGB with alpha, 8 bits. Its left upper
    corner is at column ``figure_at[0]`` and row ``figure_at[1]`` of the picture; it may be empty.
    ``shadow`` (h, w), positioned likewise, is the fraction of the ground's light that is missing:
    255 is all of it. ``size`` is the width and height of the whole picture.
    """

    size: tuple[int, int]
    figure: ByteArray
    figure_at: tuple[int, int]
    shadow: ByteArray
    shadow_at: tuple[int, int]


def frame_name(frame: int) -> str:
    """Return the file name of a frame in its shot's folder."""
    return f"{frame:06d}.npz"


def frame_to_bytes(frame: Frame) -> bytes:
    """Pack a frame as an npz archive followed by its CRC-32, by which damage is detected."""
    packed = io.BytesIO()
    places = np.array([*frame.size, *frame.figure_at, *frame.shadow_at])
    with zipfile.ZipFile(packed, "w") as archive:
        for name, array in (("figure", frame.figure), ("shadow", frame.shadow), ("places", places)):
            plain = io.BytesIO()
            np.save(plain, array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), plain.getvalue(),
                             zipfile.ZIP_DEFLATED, COMPRESSION)
    return packed.getvalue() + zlib.crc32(packed.getvalue()).to_bytes(4, "little")


def checked_frame(path: Path) -> bytes:
    """Return a frame's archive after checking its checksum. Raises as ``read_frame``."""
    data = path.read_bytes()
    if len(data) < 5 or zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise ValueError(f"{path}: damaged frame (its checksum does not fit)")
    return data[:-4]


def read_frame(path: Path) -> Frame:
    """Read a frame from the store.

    Raises ValueError, naming the file, if it is damaged, and FileNotFoundError if there is none.
    """
    with np.load(io.BytesIO(checked_frame(path)), allow_pickle=False) as packed:
        figure, shadow = packed["figure"], packed["shadow"]
        width, height, fx, fy, sx, sy = (int(number) for number in packed["places"])
    return Frame((width, height), figure, (fx, fy), shadow, (sx, sy))
