"""Captured faces: ARKit's 52 weights in files of Live Link Face (CSV) and BEAT (JSON).

Live Link Face writes ``Timecode,BlendshapeCount,EyeBlinkLeft,...,TongueOut`` and, after the
weights, head and eyes in radians; a timecode is ``HH:MM:SS:FF.fff``. BEAT (Liu et al. 2022, arXiv
2203.05297) writes ``{"names": [...], "frames": [{"weights": [...], "time": s}, ...]}``.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.errors import RequestError
from mimegen.faces.words import arkit, arkit_name
from mimegen.motion.quaternions import FloatArray

# Larger files are refused: an hour at 60 Hz has about 130 MB.
MAX_BYTES = 400_000_000
MAX_FRAMES = 1_000_000
# Usual frame rates, in frames per second.
RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 100.0, 120.0)
# From this frame number on, the usual rates of recording faces leave only 60 frames per second.
SURE_FRAME = 50
TIMECODE = re.compile(r"(\d{1,3}):(\d{1,2}):(\d{1,2})[:;](\d{1,3}(?:\.\d+)?)")
# A file needs at least this many of the 52 weights; missing weights are 0.
MIN_WEIGHTS = 20
# Files with larger weights are refused; weights between 1 and this are clipped to 1.
MAX_WEIGHT = 4.0


@dataclass(frozen=True, eq=False)
class Captured:
    """A captured face.

    ``moments`` (F,) are times in seconds from 0; ``weights`` (F,) are by ARKit's names.
    """

    moments: FloatArray
    weights: Mapping[str, FloatArray]

    @property
    def duration(self) -> float:
        """Its length in seconds."""
        return float(self.moments[-1])

    @property
    def fps(self) -> float:
        """Its mean frame rate."""
        return (len(self.moments) - 1) / self.duration

    def at(self, moments: FloatArray, leaves_s: float) -> dict[str, FloatArray]:
        """Return values (F,) by word at times ``moments`` (F,), in seconds.

        After its end they fade to 0 within ``leaves_s`` seconds.
        """
        stays = ramp(moments, self.duration + leaves_s, self.duration)
        values = {name: stays * np.interp(moments, self.moments, one)
                  for name, one in self.weights.items()}
        return _with_looks(values, len(moments))


def _with_looks(values: Mapping[str, FloatArray], frames: int) -> dict[str, FloatArray]:
    """Return values with the eyes' weights replaced by angles left and up, in degrees.

    They are means of both eyes.
    """
    none, sizes = np.zeros(frames), arkit().looks

    def size(name: str) -> FloatArray:
        return np.asarray(values.get(name, none) * abs(sizes[name.removesuffix("Left")
                                                             .removesuffix("Right")]))

    left = (size("eyeLookOutLeft") - size("eyeLookInLeft")
            + size("eyeLookInRight") - size("eyeLookOutRight")) / 2
    up = (size("eyeLookUpLeft") - size("eyeLookDownLeft")
          + size("eyeLookUpRight") - size("eyeLookDownRight")) / 2
    kept = {name: value for name, value in values.items() if not name.startswith("eyeLook")}
    return {**kept, "look_left": left, "look_up": up}


def read_captured(path: Path) -> Captured:
    """Read a captured face; raises RequestError, naming the file, if it is not one."""
    try:
        stat = path.stat()
    except OSError as problem:
        raise RequestError(f"{path}: no such file (expected a captured face: CSV of Live Link Face,"
                           " or JSON of BEAT)") from problem
    return _read(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, size: int, _modified: int) -> Captured:
    if path.suffix.lower() not in (".csv", ".json") or not path.is_file():
        raise RequestError(f"{path}: not a captured face; expected a .csv of Live Link Face or a"
                           " .json of BEAT")
    if size > MAX_BYTES:
        raise RequestError(f"{path}: has {size / 1e6:.0f} MB; captured faces have at most"
                           f" {MAX_BYTES / 1e6:.0f} MB")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as problem:
        raise RequestError(f"{path}: is not text (UTF-8)") from problem
    names, moments, weights = (_csv if path.suffix.lower() == ".csv" else _json)(path, text)
    return _checked(path, names, moments, weights)


def _csv(path: Path, text: str) -> tuple[list[str], FloatArray, FloatArray]:
    """Return the names, times (F,) and weights (F, N) in a CSV file of Live Link Face."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if any(map(str.strip, row))]
    except csv.Error as problem:
        raise RequestError(f"{path}: is not a CSV table ({problem})") from problem
    header = [name.strip() for name in rows[0]] if rows else []
    if "Timecode" not in header:
        raise RequestError(f"{path}: line 1: expected columns Timecode, BlendshapeCount,"
                           " EyeBlinkLeft and so on, as Live Link Face writes them")
    body = [row for row in rows[1:] if len(row) >= len(header)]
    if len(body) < len(rows) - 2:
        raise RequestError(f"{path}: {len(rows) - 1 - len(body)} rows have fewer columns than the"
                           f" header ({len(header)})")
    columns = [number for number, name in enumerate(header) if arkit_name(name)]
    moments = _timecodes(path, [row[header.index("Timecode")] for row in body])
    weights = _numbers(path, [[row[column] for column in columns] for row in body])
    return [header[column] for column in columns], moments, weights


def _timecodes(path: Path, codes: Sequence[str]) -> FloatArray:
    """Return timecodes in seconds; the rate is the lowest usual one that has all frame numbers.

    Raises RequestError for a wrong timecode, and if no second ends, so that numbers may be missing.
    """
    found = [TIMECODE.fullmatch(code.strip()) for code in codes]
    for line, one in enumerate(found, 2):
        if one is None:
            raise RequestError(f"{path}: line {line}: expected a timecode as 10:21:07:33.512, got"
                               f" '{codes[line - 2][:40]}'")
    parts = np.array([[float(part) for part in one.groups()] for one in found if one])
    parts = parts.reshape(-1, 4)
    most = float(parts[:, 3].max(initial=0.0))
    if len(parts) > 1 and np.all(parts[:, :3] == parts[0, :3]) and most < SURE_FRAME:
        raise RequestError(f"{path}: lies within one second, so its timecodes do not tell its frame"
                           " rate; record a longer one, or give it as JSON with times")
    rate = next((rate for rate in RATES if rate > np.floor(most)), most + 1)
    return np.asarray(parts @ np.array([3600.0, 60.0, 1.0, 1 / rate]))


def _json(path: Path, text: str) -> tuple[list[str], FloatArray, FloatArray]:
    """Return the names, times (F,) and weights (F, N) in a JSON file of BEAT."""
    try:
        content: Any = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise RequestError(f"{path}: is not JSON") from problem
    names = content.get("names") if isinstance(content, dict) else None
    frames = content.get("frames") if isinstance(content, dict) else None
    if not (isinstance(names, list) and isinstance(frames, list)
            and all(isinstance(frame, dict) for frame in frames)):
        raise RequestError(f"{path}: expected 'names' and 'frames' with 'weights' and 'time', as"
                           " BEAT writes them")
    rows = [frame.get("weights") for frame in frames]
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        raise RequestError(f"{path}: expected {len(names)} weights in every frame, one for each of"
                           " 'names'")
    moments = _numbers(path, [[frame.get("time")] for frame in frames])[:, 0]
    return [str(name) for name in names], moments, _numbers(path, rows)


def _numbers(path: Path, rows: Sequence[Sequence[Any]]) -> FloatArray:
    """Return rows of numbers as an array; raises RequestError if they are not numbers."""
    try:
        numbers = np.array(rows, dtype=float)
    except (TypeError, ValueError) as problem:
        raise RequestError(f"{path}: expected numbers ({problem})") from problem
    return numbers.reshape(len(rows), -1) if rows else np.zeros((0, 1))


def _checked(path: Path, names: Sequence[str], moments: FloatArray, weights: FloatArray
             ) -> Captured:
    """Return the captured face; raises RequestError for implausible times or weights."""
    known = [arkit_name(name) for name in names]
    if sum(name is not None for name in known) < MIN_WEIGHTS:
        raise RequestError(f"{path}: has {sum(name is not None for name in known)} of ARKit's 52"
                           f" weights (eyeBlinkLeft, jawOpen ...); at least {MIN_WEIGHTS} are"
                           " needed")
    if not 2 <= len(moments) <= MAX_FRAMES:
        raise RequestError(f"{path}: has {len(moments)} frames; expected 2 to {MAX_FRAMES}")
    if not (np.isfinite(moments).all() and np.isfinite(weights).all()):
        raise RequestError(f"{path}: contains numbers that are not finite")
    if np.any(np.diff(moments) <= 0):
        frame = int(np.argmax(np.diff(moments) <= 0)) + 1
        raise RequestError(f"{path}: time runs backwards or stands still at frame {frame}")
    if np.abs(weights).max() > MAX_WEIGHT:
        raise RequestError(f"{path}: weights reach {np.abs(weights).max():g}; ARKit's are 0 to 1")
    return Captured(moments - moments[0], {
        name: np.clip(weights[:, number], 0.0, 1.0)
        for number, name in enumerate(known) if name is not None})
