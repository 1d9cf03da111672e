"""Motions that mimegen itself wrote as NumPy archives (``writers/npz.py`` says what they hold)."""

import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.editing import at_rate
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.roles import find_roles

# What NumPy and zipfile raise on damaged archives.
DAMAGED = (OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, MemoryError,
           OverflowError, NotImplementedError, RuntimeError, struct.error, tokenize.TokenError,
           zipfile.BadZipFile, zlib.error)
OFF_BY_THE_GRID = 1e-6
SHAPES = {"names": 1, "parents": 1, "heads": 2, "tails": 2, "fps": 0, "root_positions": 2,
          "rotations": 3}


def read_npz(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a motion as it was written: metres, Z up, where it stood.

    Raises RequestError, one line, for an archive that holds something else.
    """
    if not zipfile.is_zipfile(path):
        raise RequestError(f"{path}: not a NumPy archive, expected a motion that mimegen wrote")
    try:
        with np.load(path, allow_pickle=False) as packed:
            found = {name: packed[name] for name in SHAPES if name in packed.files}
    except DAMAGED as problem:
        raise RequestError(f"{path}: not a NumPy archive of a motion"
                           f" ({str(problem).splitlines()[0] if str(problem) else 'damaged'})"
                           ) from problem
    lacking = [name for name in SHAPES if name not in found]
    if lacking:
        raise RequestError(f"{path}: the array {lacking[0]!r} is missing; expected"
                           f" {', '.join(SHAPES)}")
    motion = _motion(path, found)
    motion = at_rate(motion, options.fps_of_file or motion.fps)
    roles = find_roles(motion.skeleton, file=str(path), mapping=options.mapping)
    return Recording(motion, roles.joints, roles.confidence, "NPZ", "mimegen", 1.0,
                     "the format is in metres", "Z", "the format has Z up", 0.0, (0.0, 0.0), ())


def _motion(path: Path, found: dict[str, NDArray[Any]]) -> Motion:
    for name, dimensions in SHAPES.items():
        array = found[name]
        if array.ndim != dimensions:
            raise RequestError(f"{path}: the array {name!r} has {array.ndim} dimensions,"
                               f" expected {dimensions}")
        if name != "names" and not (np.issubdtype(array.dtype, np.number)
                                    and np.isfinite(array).all()):
            raise RequestError(f"{path}: the array {name!r} contains NaN or infinite values")
    try:
        skeleton = Skeleton(tuple(str(name) for name in found["names"]),
                            found["parents"].astype(np.intp), found["heads"].astype(float),
                            found["tails"].astype(float))
        rotations = found["rotations"].astype(float)
        lengths = np.linalg.norm(rotations, axis=-1, keepdims=True)
        if not np.allclose(lengths, 1.0, atol=1e-3):
            raise ValueError("rotations are not unit quaternions")
        # Ours lie on a grid, a little off length 1, and are read back as they were written.
        exact = np.abs(lengths - 1.0) < OFF_BY_THE_GRID
        return Motion(skeleton, float(found["fps"]), found["root_positions"].astype(float),
                      np.where(exact, rotations, quaternions.normalise(rotations)))
    except (ValueError, IndexError) as problem:
        raise RequestError(f"{path}: {problem}") from problem
