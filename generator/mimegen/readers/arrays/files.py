"""Read npz, npy, pickle, joblib and torch files as dictionaries, lists and arrays."""

import bz2
import gzip
import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.lib import format as npy

from mimegen.base.errors import RequestError
from mimegen.readers.arrays.inert import DamagedError
from mimegen.readers.arrays.pickles import CodeError, unpickled, unpickled_old_torch
from mimegen.readers.files import MAX_FILE_BYTES

# First bytes of zip, npy and pickle files.
ZIP = b"PK\x03\x04"
NPY = b"\x93NUMPY"
PICKLE = b"\x80"
# First bytes of joblib's compressed files (zlib), with the functions that unpack them.
PACKED = {b"x\x01": zlib.decompressobj, b"x\x5e": zlib.decompressobj, b"x\x9c": zlib.decompressobj,
          b"x\xda": zlib.decompressobj}
# First bytes of gzip, bzip2 and both kinds of LZMA files, and the functions that open them.
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"]\x00\x00")
OPENED_BY: Any = dict(zip(COMPRESSED, (gzip.open, bz2.open, lzma.open, lzma.open), strict=True))
DAMAGED = (OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, MemoryError,
           OverflowError, NotImplementedError, RuntimeError, struct.error, tokenize.TokenError,
           zipfile.BadZipFile, zlib.error, lzma.LZMAError, IndexError, AttributeError)
# Files of torch before 1.6 begin with the pickle of this number.
OLD_TORCH = 0x1950A86A20F9469CFC6C.to_bytes(10, "little")
# Second byte of a pickle of protocol 2 and later; earlier ones are recognised by the file's name.
PROTOCOLS = range(2, 6)


def is_arrays(head: bytes) -> bool:
    """Return whether a file with these first bytes holds arrays or pickles, or is a zip file."""
    return head.startswith((ZIP, NPY, *COMPRESSED)) or head[:2] in PACKED \
        or (head[:1] == PICKLE and len(head) > 1 and head[1] in PROTOCOLS)


def tree_of(path: Path) -> Any:
    """Return what a file of arrays holds: dictionaries, lists, arrays and plain values.

    Raises RequestError, one line, if it is damaged, holds more than ``MAX_FILE_BYTES`` bytes
    unpacked, or would execute code.
    """
    try:
        return _tree(path.read_bytes())
    except CodeError as problem:
        raise RequestError(
            f"{path}: names {problem.what}, which is code, not data, so it is not read; save its"
            " arrays with numpy.savez and use that file") from None
    except DAMAGED as problem:
        raise RequestError(
            f"{path}: is damaged, or not a file of arrays ({_error_text(problem)})") from None


def _error_text(problem: BaseException) -> str:
    """Return the first line of an error's message, shortened."""
    lines = str(problem).splitlines()
    return lines[0][:120] if lines else "damaged"


def _tree(data: bytes) -> Any:
    """Return the content of a file, by its first bytes."""
    if data.startswith(ZIP):
        return _zipped(data)
    if data.startswith(NPY):
        return array_in(data)
    if data.startswith(PICKLE):
        if OLD_TORCH in data[:64]:
            return unpickled_old_torch(data)
        return unpickled(data)
    whole = _unpacked(data)
    return unpickled(whole) if whole is data or whole[:2] in PACKED \
        or whole.startswith(COMPRESSED) else _tree(whole)


def _unpacked(data: bytes) -> bytes:
    """Return compressed data unpacked, and other data unchanged.

    Raises DamagedError for more than ``MAX_FILE_BYTES`` bytes.
    """
    if data[:2] in PACKED:
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(data, MAX_FILE_BYTES)
        whole = not unpacking.unconsumed_tail
    else:
        opened = next((OPENED_BY[mark] for mark in COMPRESSED if data.startswith(mark)), None)
        if opened is None:
            return data
        with opened(io.BytesIO(data)) as stream:
            found, whole = stream.read(MAX_FILE_BYTES), not stream.read(1)
    if not whole:
        raise DamagedError(f"it holds more than {MAX_FILE_BYTES // 2**20} MiB")
    return found


def _zipped(data: bytes) -> Any:
    """Return the content of a zip file: torch's objects, or the arrays of an npz by name.

    Raises DamagedError if it is too large unpacked.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_FILE_BYTES:
            raise DamagedError(f"it holds more than {MAX_FILE_BYTES // 2**20} MiB")
        names = archive.namelist()
        program = next((name for name in names if PurePosixPath(name).name == "data.pkl"), None)
        if program is not None:
            beside = PurePosixPath(program).parent / "data"
            return unpickled(archive.read(program), lambda key: archive.read(str(beside / key)))
        return {name.removesuffix(".npy"): array_in(archive.read(name))
                for name in names if name.endswith(".npy")}


def array_in(data: bytes) -> Any:
    """Return the array of an npy file; for a single object, return the object itself.

    Raises DamagedError, ValueError or similar if it is damaged.
    """
    stream = io.BytesIO(data)
    version = npy.read_magic(stream)  # type: ignore[no-untyped-call]
    read: Any = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    rest = data[stream.tell():]
    if dtype.hasobject:
        found = unpickled(rest)
        return found.item() if isinstance(found, np.ndarray) and found.shape == () else found
    count = math.prod(shape) * dtype.itemsize
    if len(rest) < count:
        raise DamagedError("an array is shorter than its header says")
    return np.frombuffer(rest[:count], dtype).reshape(shape, order="F" if fortran else "C")
