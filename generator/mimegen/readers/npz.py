"""Read motions that mimegen wrote as NumPy archives (``writers/npz.py`` describes them)."""

import struct
import tokenize
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.editing import at_rate
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.canonical import body_height, with_true_sides
from mimegen.readers.dropouts import without_dropouts
from mimegen.readers.gaps import (
    WHY,
    bridged_positions,
    bridged_rotations,
    gap_notes,
    long_gap,
    missing,
)
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.plausibility import implausibilities, refuse_animals
from mimegen.readers.recording import Recording

# Exceptions of NumPy and zipfile on damaged archives.
DAMAGED = (OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, MemoryError,
           OverflowError, NotImplementedError, RuntimeError, struct.error, tokenize.TokenError,
           zipfile.BadZipFile, zlib.error)
# Quaternions this near to length 1 are kept as they are: rounding put mimegen's own off by less.
OFF_BY_THE_GRID = 1e-6
# The arrays of an archive, with their numbers of dimensions.
SHAPES = {"names": 1, "parents": 1, "heads": 2, "tails": 2, "fps": 0, "root_positions": 2,
          "rotations": 3}
MAY_HAVE_GAPS = ("root_positions", "rotations")


def read_npz(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a motion as it was written: in metres, Z up, at its place and heading.

    Mirrored motion is mirrored back, and frames with lost tracking are bridged. The notes tell of
    that and of everything that is impossible for a body. Raises RequestError, one line, for an
    archive that holds something else, or an animal's motion.
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
    motion, gaps = _motion(path, found, options.fps_of_file)
    motion, roles, sides, mirrored = with_true_sides(path, motion, options)
    motion, bridged = without_dropouts(motion)
    fours = refuse_animals(path, motion, roles.joints, options.mapping is not None)
    doubted = implausibilities(motion, roles.joints, body_height(motion, roles.joints), 0)
    return Recording(motion, roles.joints, roles.confidence, "NPZ", "mimegen", 1.0,
                     "the format is in metres", "Z", "the format has Z up", 0.0, (0.0, 0.0),
                     (*gaps, *sides, *bridged, *fours, *doubted), mirrored=mirrored)


def _motion(path: Path, found: dict[str, NDArray[Any]],
            fps: float | None) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion at ``fps`` or its own rate with gaps bridged, and a note on them."""
    for name, dimensions in SHAPES.items():
        _check(path, name, found[name], dimensions)
    try:
        skeleton = Skeleton(tuple(str(name) for name in found["names"]),
                            found["parents"].astype(np.intp), found["heads"].astype(float),
                            found["tails"].astype(float))
        motion = Motion(skeleton, float(found["fps"]), found["root_positions"].astype(float),
                        found["rotations"].astype(float))
        motion, gaps = _bridged(path, at_rate(motion, fps or motion.fps))
        return replace(motion, rotations=_of_length_one(motion.rotations)), gaps
    except (ValueError, IndexError) as problem:
        raise RequestError(f"{path}: {problem}") from problem


def _check(path: Path, name: str, array: NDArray[Any], dimensions: int) -> None:
    """Raise RequestError for an array with wrong dimensions, no numbers, or infinite values.

    NaN is only allowed in arrays that may have gaps.
    """
    if array.ndim != dimensions:
        raise RequestError(f"{path}: the array {name!r} has {array.ndim} dimensions,"
                           f" expected {dimensions}")
    if name == "names":
        return
    gaps = np.isnan(array) if name in MAY_HAVE_GAPS and array.dtype.kind == "f" else False
    if not (np.issubdtype(array.dtype, np.number) and (np.isfinite(array) | gaps).all()):
        raise RequestError(f"{path}: the array {name!r} contains NaN or infinite values")


def _bridged(path: Path, motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Bridge rotations and positions that are NaN; also return a note.

    Raises RequestError if a gap is too long.
    """
    names, lost_rotations = motion.skeleton.names, missing(motion.rotations)
    lost_positions = missing(motion.root_positions)[:, None]
    lost = lost_rotations.copy()
    lost[:, :1] |= lost_positions
    if not lost.any():
        return motion, ()
    gap = long_gap(lost, motion.fps)
    if gap is not None:
        raise RequestError(f"{path}: joint {names[gap.column]!r}: the gap of NaN from frame"
                           f" {gap.first} to {gap.last} {WHY}")
    positions = bridged_positions(motion.root_positions[:, None], lost_positions)[:, 0]
    return replace(motion, root_positions=positions,
                   rotations=bridged_rotations(motion.rotations, lost_rotations)), \
        gap_notes(names, lost)


def _of_length_one(rotations: FloatArray) -> FloatArray:
    """Normalise rotations (F, J, 4), except those that are within rounding of length 1.

    mimegen writes rounded quaternions, which must be read back unchanged. Raises ValueError if they
    are no unit quaternions.
    """
    lengths = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if not np.allclose(lengths, 1.0, atol=1e-3):
        raise ValueError("rotations are not unit quaternions")
    exact = np.abs(lengths - 1.0) < OFF_BY_THE_GRID
    return np.where(exact, rotations, quaternions.normalise(rotations))
