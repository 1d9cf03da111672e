"""Read C3D files: labels and trajectories in the file's own unit and axes.

Format: "The C3D File Format User Guide", Motion Lab Systems (2008). The package ``c3d`` is tried
first: it is pure Python, knows all three byte orders and cannot crash. Files that it refuses go to
``ezc3d``, a C++ library that damaged files can crash, in a separate process with limits.
"""

import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import c3d
import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.base.paths import source_file
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.blender_process import load_answer

# Limits beyond which a file counts as damaged, and seconds that ``ezc3d`` may take.
MAX_POINTS = 5000
MAX_FRAMES = 10_000_000
MAX_ABS_VALUE = 1e6
SECONDS_TO_READ = 20
# Bytes of a block.
BLOCK = 512
# Codes of the parameter section for Intel, DEC and SGI/MIPS.
PROCESSORS = (84, 85, 86)
# Parameters of the POINT group that list labels of values stored as points that are no positions.
NOT_PLACES = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
# Parameters that state which axis points right, and which up, on a screen.
SCREEN = ("X_SCREEN", "Y_SCREEN")
# Rates that differ by less than this fraction are the same, rounded.
SAME_RATE = 0.01
# Beginning of the names of points that have no label in the file.
NUMBERED = "point_"


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The points of a file: ``positions`` (F, M, 3) in its unit and axes, NaN where not seen.

    ``unit`` is the word in the file, or empty. ``screen`` holds the axes that point right and up
    by the file, such as ``+X`` and ``+Z``, or empty texts. ``not_places`` are labels that the file
    declares to be angles, forces, moments, powers or scalars. ``reader`` names the package that
    read the file. ``notes`` tell of contradictions within the file and of assumptions.
    """

    labels: tuple[str, ...]
    positions: FloatArray
    fps: float
    unit: str
    not_places: frozenset[str]
    reader: str
    screen: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()


def read_trajectories(path: Path, fps: float | None = None) -> Trajectories:
    """Read a C3D file of any byte order, integer or float; ``fps`` overrides the file's own rate.

    Raises RequestError, one line, for a file that is missing, not C3D, truncated or damaged.
    """
    _check_head(path)
    try:
        return _checked(path, _by_c3d(path), fps)
    except RequestError:
        raise
    # On damaged input, the package may raise any exception.
    except Exception as problem:
        return _checked(path, _by_ezc3d(path, f"{type(problem).__name__}: {problem}"), fps)


def _check_head(path: Path) -> None:
    """Raise RequestError for a file that is not C3D, before any package reads it."""
    try:
        with path.open("rb") as opened:
            head = opened.read(2)
            opened.seek(BLOCK * (head[0] - 1) if head[:1] > b"\0" else 0)
            parameters = opened.read(4)
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read: {problem.strerror}") from None
    if head[1:] != b"\x50":
        raise RequestError(f"{path}: is not a C3D file, its second byte is not 0x50")
    if len(parameters) < 4 or parameters[3] not in PROCESSORS:
        raise RequestError(f"{path}: has no parameter section in block {head[0]}, where its header"
                           " says; it is damaged")


def _checked(path: Path, found: Trajectories, fps: float | None) -> Trajectories:
    """Return trajectories with impossible and unseen (0, 0, 0) positions as NaN.

    ``fps`` overrides their rate. Raises RequestError if there are no points, frames or rate.
    """
    if not found.labels or not found.positions.size:
        raise RequestError(f"{path}: contains no points, expected marker trajectories")
    if fps is not None:
        found = replace(found, fps=fps)
    if not 1.0 <= found.fps <= 10_000.0:
        raise RequestError(f"{path}: POINT:RATE is {found.fps:g}, expected 1 to 10,000 frames"
                           " per second; give the rate with --fps-of-file")
    if len(found.positions) < 2:
        raise RequestError(f"{path}: has 1 frame, a motion needs at least 2")
    positions = found.positions
    positions[~(np.abs(positions) < MAX_ABS_VALUE).all(axis=-1) | ~positions.any(axis=-1)] = np.nan
    if np.isnan(positions).all():
        raise RequestError(f"{path}: no point is visible in any frame")
    return found


def _by_c3d(path: Path) -> Trajectories:
    """Read with the package ``c3d``, which raises any exception if it fails."""
    with path.open("rb") as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = _CountingReader(opened)
        points, frames = reader.point_used, reader.last_frame - reader.first_frame + 1
        if not (0 < points <= MAX_POINTS and 0 < frames <= MAX_FRAMES):
            raise ValueError(f"{points} points in {frames} frames")
        word = 4 if reader.point_scale < 0 else 2
        if (frames - 1) * points * 4 * word > path.stat().st_size:
            raise RequestError(f"{path}: is shorter than the {frames} frames of {points} points"
                               " that it declares; it is truncated or damaged")
        values = _values(path, reader, frames, points)
        # Some old files have no such group: only their header describes the points.
        group = reader.get("POINT") or {}
        labels = [label for name in ("LABELS", *(f"LABELS{n}" for n in range(2, 22)))
                  if name in group for label in _strings(group.get(name))]
        unit = _strings(group.get("UNITS")) if "UNITS" in group else []
        others = {label for name in NOT_PLACES if name in group
                  for label in _strings(group.get(name))}
        screen = tuple(_word(group, name) for name in SCREEN)
        rate, doubts = _rate(float(reader.point_rate), float(reader.header.frame_rate))
    return Trajectories(_named(labels, points), values[..., :3], rate, unit[0] if unit else "",
                        frozenset(others), "c3d", (screen[0], screen[1]), doubts)


def _word(group: Any, name: str) -> str:
    """Return a parameter's first text, or an empty text if it is missing."""
    found = _strings(group.get(name)) if name in group else []
    return found[0] if found else ""


def _rate(parameter: float, header: float) -> tuple[float, tuple[str, ...]]:
    """Return the rate of POINT:RATE, or the header's if that is not positive, and notes."""
    if not parameter > 0:
        return header, (f"POINT:RATE is {parameter:g}: the header's {header:g} fps are used",)
    if header > 0 and abs(header / parameter - 1) > SAME_RATE:
        return parameter, (f"POINT:RATE is {parameter:g} fps, the header says {header:g}: the first"
                           " is used; give another with --fps-of-file",)
    return parameter, ()


def _values(path: Path, reader: c3d.Reader, frames: int, points: int) -> FloatArray:
    """Return positions and residual (F, P, 4) of every point, NaN where it was not seen.

    Raises RequestError if the file ends before the frames that it declares.
    """
    values = np.empty((frames, points, 4))
    count = 0
    for frame, _ in zip(reader.read_frames(copy=False), range(frames), strict=False):
        values[count] = frame[1][:, :4]
        count += 1
    # Some writers count one frame too many in POINT:FRAMES.
    if count < frames - 1:
        raise RequestError(f"{path}: the file ends after {count} of the {frames} frames that"
                           " it declares; it is truncated")
    values = values[:count]
    values[values[..., 3] < 0] = np.nan
    return values


class _CountingReader(c3d.Reader):  # type: ignore[misc]
    """A reader that counts in Python's integers, since NumPy's 16 bits overflow in sums."""

    @property
    def point_used(self) -> int:
        """The number of points in a frame."""
        return int(super().point_used)

    @property
    def analog_used(self) -> int:
        """The number of analog values in a frame."""
        return int(super().analog_used)

    @property
    def first_frame(self) -> int:
        """The first frame's number; the package's own is wrong beyond 65535."""
        start = self.get("TRIAL:ACTUAL_START_FIELD")
        if start is None:
            return int(self.header.first_frame)
        low, high = start.uint16_array[:2]
        return int(low) + int(high) * 65536

    @property
    def last_frame(self) -> int:
        """The number of the last frame."""
        return int(super().last_frame)


def _strings(parameter: Any) -> list[str]:
    """Return the texts of a character parameter, stripped; damaged letters are replaced."""
    width = parameter.dimensions[0] if parameter.dimensions else 1
    raw = bytes(parameter.bytes)
    return [raw[at : at + width].decode("utf-8", errors="replace").replace("\0", " ").strip()
            for at in range(0, len(raw), max(width, 1))]


def _named(labels: list[str], points: int) -> tuple[str, ...]:
    """Return one label per point; points without one are numbered: ``point_01`` ..."""
    labels = labels[:points] + [""] * (points - len(labels))
    return tuple(label or f"{NUMBERED}{number:02}" for number, label in enumerate(labels, start=1))


def _by_ezc3d(path: Path, problem: str) -> Trajectories:
    """Read with ``ezc3d`` in a separate process; ``problem`` is the error message of ``c3d``."""
    with scratch_folder() as folder:
        target = folder / "points.npz"
        # Run by path, so that the process does not import the rest of the package.
        command = [sys.executable, "-P", str(source_file("mimegen.readers.ezc3d_file")),
                   str(path.resolve()), str(target)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_READ,
                                  check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise RequestError(f"{path}: reading took more than {SECONDS_TO_READ} s; the file is"
                               " damaged") \
                from None
        answer = load_answer(target) if done.returncode == 0 else None
    if answer is None:
        reason = " ".join(problem.split())[:120]
        raise RequestError(f"{path}: cannot be read as C3D ({reason}); its header or parameters"
                           " are damaged, export it again")
    header = answer.header
    positions = answer.arrays["positions"]
    if positions.ndim != 3 or len(header["labels"]) > MAX_POINTS:
        raise RequestError(f"{path}: contains no points, expected marker trajectories")
    return Trajectories(_named(header["labels"], positions.shape[1]), positions,
                        float(header["fps"]),
                        header["unit"], frozenset(header["not_places"]), "ezc3d",
                        tuple(header["screen"]))
