"""Frames of ground truth as stored: arrays followed by a checksum."""

import io
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.store.frames import checked_frame


def pack_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Pack arrays as an npz archive followed by its CRC-32, as for frames."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return packed.getvalue() + zlib.crc32(packed.getvalue()).to_bytes(4, "little")


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read arrays packed by ``pack_arrays``.

    Raises ValueError, naming the file, if it is damaged, and FileNotFoundError if there is none.
    """
    with np.load(io.BytesIO(checked_frame(path)), allow_pickle=False) as packed:
        return dict(packed)


def is_intact(path: Path) -> bool:
    """Return whether the file exists and its checksum is right; remove a damaged file."""
    try:
        checked_frame(path)
    except FileNotFoundError:
        return False
    except ValueError:
        path.unlink(missing_ok=True)
        return False
    return True
