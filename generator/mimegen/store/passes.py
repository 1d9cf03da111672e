"""Frames of ground truth as they lie in the store: arrays, with a checksum behind them."""

import io
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.store.frames import checked_frame


def pack_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Pack arrays as an npz archive with its own CRC-32 behind it, as frames have it."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return packed.getvalue() + zlib.crc32(packed.getvalue()).to_bytes(4, "little")


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read what ``pack_arrays`` packed.

    Raises ValueError, naming the file, where it is damaged, and FileNotFoundError.
    """
    with np.load(io.BytesIO(checked_frame(path)), allow_pickle=False) as packed:
        return dict(packed)


def is_whole(path: Path) -> bool:
    """Whether the file is there and its checksum fits; a damaged one is removed."""
    try:
        checked_frame(path)
    except FileNotFoundError:
        return False
    except ValueError:
        path.unlink(missing_ok=True)
        return False
    return True
