"""Read NTU RGB+D ``.skeleton`` files: joints of Kinect v2 in metres, Y up, 30 frames per second.

Format: the Matlab reader of shahroudy/NTURGB-D. Lines: the number of frames; for each frame, the
number of bodies; for each body, ten numbers, the number of joints (25), and for each joint eleven
numbers, of which the first three are its position, and its tracking state.
"""

from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.tracked import Tracked, recording_of_tracked
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.text import text_of

JOINTS = 25
MAX_FRAMES = 1_000_000
MAX_BODIES = 20
# Tracking state of a joint that was not seen.
UNTRACKED = "0"


def read_ntu(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person from an NTU RGB+D skeleton file.

    Raises RequestError, with the line, if it is not such a file.
    """
    rows = text_of(path, "the text of an NTU RGB+D skeleton file").rows
    at = 0

    def line(expected: str) -> list[str]:
        nonlocal at
        if at >= len(rows):
            raise RequestError(f"{path}: ends at line {at}, expected {expected}")
        at += 1
        return rows[at - 1].split()

    def whole(expected: str, most: int) -> int:
        cells = line(expected)
        if len(cells) != 1 or not cells[0].isdigit() or int(cells[0]) > most:
            raise RequestError(f"{path}: line {at}: expected {expected}")
        return int(cells[0])

    frames = whole("the number of frames", MAX_FRAMES)
    if frames > len(rows):
        raise RequestError(f"{path}: line 1: says {frames} frames, more than it has lines")
    people: dict[str, FloatArray] = {}
    for frame in range(frames):
        for _ in range(whole("the number of bodies", MAX_BODIES)):
            body = (line("a body") or [""])[0]
            if whole("the number of joints, 25", 100) != JOINTS:
                raise RequestError(f"{path}: line {at}: expected 25 joints")
            positions = people.setdefault(body, np.full((frames, JOINTS, 3), np.nan))
            for joint in range(JOINTS):
                positions[frame, joint] = _place(path, line("a joint"), at)
    return recording_of_tracked(path, Tracked("NTU RGB+D", "kinect2", "Y", people, 30.0), options)


def _place(path: Path, cells: list[str], number: int) -> list[float]:
    """Return a joint's position, NaN if it was not tracked."""
    try:
        place = [float(cell) for cell in cells[:3]]
    except ValueError:
        place = []
    if len(place) != 3 or len(cells) < 3:
        raise RequestError(f"{path}: line {number}: expected the numbers of a joint")
    return [np.nan] * 3 if cells[-1] == UNTRACKED or not all(map(np.isfinite, place)) else place
