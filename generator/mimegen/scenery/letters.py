"""Text on a set's boards and signs, as strokes."""

from functools import cache

import numpy as np

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import YamlFile
from mimegen.motion.quaternions import FloatArray

# In font units: height of letters, space between letters, width of a blank, and line spacing.
GRID = 6.0
SPACE = 2.0
BLANK = 2.5
LINE = 9.5


def strokes_of(words: str) -> FloatArray:
    """Return text as straight strokes (N, 2, 2): start and end, each X and Z, in font units.

    The last line's baseline is Z = 0, and lines are centered on X = 0.
    """
    lines = words.split("\n")
    return np.concatenate([_line(line) + np.array([0.0, LINE * (len(lines) - 1 - number)])
                           for number, line in enumerate(lines)])


def _line(line: str) -> FloatArray:
    """Return the strokes (N, 2, 2) of one line, centered on X = 0."""
    at, found = 0.0, [np.zeros((0, 2, 2))]
    for letter in line:
        if letter == " ":
            at += BLANK
            continue
        strokes = _letters()[letter]
        found.append(strokes + np.array([at, 0.0]))
        at += float(strokes[..., 0].max()) + SPACE
    return np.concatenate(found) - [(at - SPACE) / 2, 0.0]


@cache
def _letters() -> dict[str, FloatArray]:
    """Return every letter's strokes (N, 2, 2)."""
    content = YamlFile(data_file("backgrounds/letters/sign.yaml")).content
    return {letter: np.concatenate([_segments(stroke) for stroke in strokes])
            for letter, strokes in content.items()}


def _segments(stroke: str) -> FloatArray:
    points = np.array([[int(point[0]), int(point[1])] for point in stroke.split()], dtype=float)
    return np.stack([points[:-1], points[1:]], axis=1)
