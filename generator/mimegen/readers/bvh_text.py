"""Parse the text of a BVH file: the tree of joints and the table of channel values."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.gaps import WHY, long_gap
from mimegen.readers.rates import COMMON_RATES
from mimegen.readers.text import number_of, with_decimal_points, without_comments

# Largest number accepted.
MAX_ABS_VALUE = 1e6
MAX_JOINTS = 1000
# Believable frame times in seconds; others are in another unit, or no times.
MIN_FRAME_S = 1e-4
MAX_FRAME_S = 1.0
# Relative differences: up to ROUNDED a common rate may be meant, as 30 fps by 0.033 s; up to SAME
# it needs no note.
ROUNDED = 0.0205
SAME = 1e-3
# Frames that may be missing, as a number or as a fraction (whichever is more), before a file counts
# as truncated.
MISCOUNTED = 2
MISCOUNTED_SHARE = 0.01
# Lines that begin with one of these words hold a name, up to a brace.
NAMED = ("ROOT", "JOINT", "END")
HEAD = re.compile(r"(Frames|Frame\s*Time)\s*:\s*(\S*).*", re.IGNORECASE)


@dataclass
class BvhJoint:
    """A joint as in the file: its parent's number (-1 for the root), offset, end and channels."""

    name: str
    parent: int
    offset: list[float] = field(default_factory=list)
    end: list[float] | None = None
    channels: list[str] = field(default_factory=list)


def parts_of(path: Path, rows: list[str]) -> tuple[list[str], int, tuple[str, ...]]:
    """Return a file's cleaned lines, the index of the line MOTION, and notes.

    Comments and text above HIERARCHY are blanked, so that line numbers stay those of the file.
    Numbers get decimal points. Raises RequestError if HIERARCHY or MOTION is missing.
    """
    rows, notes = with_decimal_points(without_comments(rows, NAMED), NAMED)
    start = _line_of(rows, "MOTION")
    if start is None:
        raise RequestError(f"{path}: has no MOTION line, expected HIERARCHY, then MOTION;"
                           " the file is truncated or not BVH")
    top = _line_of(rows[:start], "HIERARCHY")
    if top is None:
        raise RequestError(f"{path}: line 1: expected HIERARCHY, the file is not BVH")
    above = [row for row in rows[:top] if row.strip()]
    if above:
        notes = (*notes, f"text above HIERARCHY is left out: {above[0].strip()[:40]!r}")
    return [""] * top + rows[top:], start, notes


def _line_of(rows: list[str], word: str) -> int | None:
    """Return the index of the first line that begins with a word, in upper or lower case."""
    return next((number for number, row in enumerate(rows)
                 if row[:200].upper().split()[:1] == [word]), None)


def hierarchy_of(path: Path, rows: list[str]) -> tuple[list[BvhJoint], tuple[str, ...]]:
    """Return the joints, parents first, and notes.

    Raises RequestError, with file and line, if the hierarchy is damaged.
    """
    tokens = [(word, i + 1) for i, row in enumerate(rows)
              for word in row.replace("{", " { ").replace("}", " } ").split()]
    return _Hierarchy(path, tokens[1:]).read()


class _Hierarchy:
    """A parser that reads the HIERARCHY section word by word."""

    def __init__(self, path: Path, tokens: list[tuple[str, int]]) -> None:
        self.path, self.tokens, self.at = path, tokens, 0
        self.joints: list[BvhJoint] = []
        self.open: list[int | None] = []
        self.taken: set[str] = set()
        self.renamed: list[str] = []

    def read(self) -> tuple[list[BvhJoint], tuple[str, ...]]:
        """Return the joints, parents first, and notes."""
        while self.at < len(self.tokens):
            word = self._next("ROOT, JOINT, End Site, OFFSET, CHANNELS or }")
            kind = word.upper()
            if kind in ("ROOT", "JOINT"):
                self._begin_joint(kind)
            elif kind == "END":
                self._begin_end()
            elif kind == "OFFSET":
                self._offset()
            elif kind == "CHANNELS":
                self._channels()
            elif word == "}" and self.open:
                self.open.pop()
            elif not (word == "}" and self._nothing_follows()):
                self._fail(f"expected ROOT, JOINT, End Site, OFFSET, CHANNELS or }}, not {word!r}")
        self._check()
        return self.joints, self._notes()

    def _nothing_follows(self) -> bool:
        """Return whether only closing braces follow, which are ignored."""
        return bool(self.joints) and all(word == "}" for word, _ in self.tokens[self.at:])

    def _notes(self) -> tuple[str, ...]:
        if not self.renamed:
            return ()
        return (f"joints share a name and are numbered:"
                f" {', '.join(map(repr, self.renamed[:4]))}",)

    def _check(self) -> None:
        """Raise RequestError if the hierarchy is incomplete."""
        if self.open:
            self._fail("the hierarchy ends inside a joint, expected }; the file is truncated")
        if not self.joints:
            self._fail("expected ROOT, the file has no joints")
        for joint in self.joints:
            if not joint.offset:
                self._fail(f"joint {joint.name!r} has no OFFSET")

    def _fail(self, problem: str) -> NoReturn:
        """Raise RequestError with the line of the current word."""
        number = self.tokens[min(self.at, len(self.tokens)) - 1][1] if self.tokens else 1
        raise RequestError(f"{self.path}: line {number}: {problem}")

    def _next(self, expected: str) -> str:
        """Return the next word. Raises RequestError at the end of the hierarchy."""
        if self.at >= len(self.tokens):
            self._fail(f"the hierarchy ends where {expected} was expected; the file is truncated")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def _number(self) -> float:
        """Return the next word as a number."""
        word = self._next("a number")
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < MAX_ABS_VALUE:
            self._fail(f"expected a number within a million, not {word!r}")
        return value

    def _joint(self) -> BvhJoint:
        """Return the joint whose braces are open."""
        if not self.open or self.open[-1] is None:
            self._fail("OFFSET, CHANNELS or End Site outside of a joint")
        number = self.open[-1]
        assert number is not None
        return self.joints[number]

    def _words_to_brace(self, expected: str) -> str:
        """Return the words up to the next {, or an empty text if there are none."""
        words = []
        while (part := self._next(expected)) != "{":
            words.append(part)
        return " ".join(words)

    def _begin_end(self) -> None:
        """Begin an End Site, which has a name in some files."""
        self._joint()
        self._words_to_brace("{")
        self.open.append(None)

    def _begin_joint(self, kind: str) -> None:
        """Begin a ROOT or JOINT."""
        name = self._words_to_brace("a joint's name and {") or f"joint {len(self.joints) + 1}"
        if kind == "ROOT" and self.joints:
            self._fail(f"a second ROOT, {name!r}; expected one skeleton: save one person per file")
        if kind == "JOINT" and (not self.open or self.open[-1] is None):
            self._fail(f"JOINT {name!r} outside of a ROOT or inside an End Site")
        if len(self.joints) == MAX_JOINTS:
            self._fail(f"more than {MAX_JOINTS} joints, expected the skeleton of one person")
        parent = -1 if kind == "ROOT" else int(self.open[-1] or 0)
        self.joints.append(BvhJoint(self._own_name(name), parent))
        self.open.append(len(self.joints) - 1)

    def _own_name(self, name: str) -> str:
        """Return a unique name: the first joint of a name keeps it, later ones get a number."""
        own = name
        number = 1
        while own in self.taken:
            number += 1
            own = f"{name} #{number}"
        if own != name:
            self.renamed.append(own)
        self.taken.add(own)
        return own

    def _offset(self) -> None:
        """Read the OFFSET of a joint, or of its End Site."""
        offset = [self._number(), self._number(), self._number()]
        if self.open and self.open[-1] is None:
            parent = next(j for j in reversed(self.open) if j is not None)
            self.joints[parent].end = offset
        else:
            self._joint().offset = offset

    def _channels(self) -> None:
        """Read the CHANNELS of a joint."""
        count = self._next("the number of channels")
        if count == "0" and self.open and self.open[-1] is None:
            return
        joint = self._joint()
        if not count.isdigit() or int(count) > 6:
            self._fail(f"joint {joint.name!r}: expected 0 to 6 channels, not {count!r}")
        if joint.channels:
            self._fail(f"joint {joint.name!r} has CHANNELS twice")
        for _ in range(int(count)):
            channel = self._next("a channel's name").lower()
            if not re.fullmatch(r"[xyz](position|rotation)", channel) or channel in joint.channels:
                self._fail(f"joint {joint.name!r}: expected channels like Xposition or Zrotation,"
                           f" each once, not {channel!r}")
            joint.channels.append(channel)


def table_of(path: Path, rows: list[str], start: int, joints: list[BvhJoint],
             fps: float | None = None) -> tuple[FloatArray, float, tuple[str, ...]]:
    """Return the channel values (F, C), the frame rate and notes.

    ``start`` is the row of the word MOTION; ``fps`` overrides the frame time in the file. Values
    that are not numbers for a short time are NaN. Raises RequestError, with file and line, if the
    table is damaged.
    """
    filled = [i for i in range(start + 1, len(rows)) if rows[i].strip()]
    head = _Head.of(rows, filled)
    rate, rounded = (fps, ()) if fps is not None else _rate(
        path, head.time, head.time_row + 1 or start + 2)
    lines = filled[head.rows:]
    if len(lines) < 2:
        raise RequestError(f"{path}: line {start + 2}: has {len(lines)} frames, a motion needs at"
                           " least 2")
    table = _values(path, rows, lines, joints)
    _refuse_long_gap(path, lines, joints, table, rate)
    return table, rate, (*rounded, *_checked_count(path, head, len(table), lines[-1] + 1))


@dataclass
class _Head:
    """The lines between MOTION and the table, in either order.

    ``count`` and ``time`` are the words after ``Frames:`` and ``Frame Time:``, empty if missing.
    ``time_row`` is the row of the frame time, -1 if missing; ``rows`` is the number of lines.
    """

    count: str = ""
    time: str = ""
    time_row: int = -1
    rows: int = 0

    @classmethod
    def of(cls, rows: list[str], filled: list[int]) -> "_Head":
        """Read the lines for the number of frames and the frame time, if they are there."""
        head = cls()
        for row in filled[:2]:
            found = HEAD.fullmatch(rows[row].strip())
            if not found:
                break
            head.rows += 1
            if found[1].upper() == "FRAMES":
                head.count = found[2]
            else:
                head.time, head.time_row = found[2], row
        return head


def _checked_count(path: Path, head: _Head, held: int, last_line: int) -> tuple[str, ...]:
    """Return a note if the file declares another number of frames than it holds.

    Some writers are off by a few. Raises RequestError if so many are missing that the file must be
    truncated.
    """
    declared = int(head.count) if re.fullmatch(r"[+-]?\d{1,18}", head.count) else None
    if declared is None:
        return (f"the file does not declare how many frames it holds: {held} are used",)
    if declared - held > max(MISCOUNTED, MISCOUNTED_SHARE * declared):
        raise RequestError(f"{path}: line {last_line}: the file ends after {held} of the"
                           f" {declared} frames that it declares; it is truncated: export it again,"
                           " or correct the number")
    if declared == held:
        return ()
    return (f"the file holds {held} frames and declares {declared}: all that it holds are used",)


def _owners(joints: list[BvhJoint]) -> list[str]:
    """Return the name of the joint that each channel belongs to."""
    return [joint.name for joint in joints for _ in joint.channels]


def _values(path: Path, rows: list[str], lines: list[int], joints: list[BvhJoint]) -> FloatArray:
    """Return the channel values (F, C). Raises RequestError, with line and joint, if damaged."""
    names = _owners(joints)
    if not names:
        raise RequestError(f"{path}: no joint has CHANNELS, there is no motion in the file")
    words = [rows[i].split() for i in lines]
    for i, row in zip(lines, words, strict=True):
        if len(row) != len(names):
            cut = "; the file is truncated" if i == lines[-1] and len(row) < len(names) else ""
            raise RequestError(f"{path}: line {i + 1}: has {len(row)} values, the skeleton has"
                               f" {len(names)} channels{cut}")
    try:
        table = np.array([list(map(float, row)) for row in words])
    except ValueError:
        table = np.array([[number_of(word) for word in row] for row in words])
    wrong = np.argwhere(np.abs(table) >= MAX_ABS_VALUE)
    if len(wrong):
        frame, channel = wrong[0]
        raise RequestError(f"{path}: line {lines[frame] + 1}, joint {names[channel]!r}: expected a"
                           f" number within a million, not {words[frame][channel][:20]!r}")
    return table


def _refuse_long_gap(path: Path, lines: list[int], joints: list[BvhJoint], table: FloatArray,
                     rate: float) -> None:
    """Raise RequestError if values are NaN for longer than can be bridged."""
    gap = long_gap(np.isnan(table), rate)
    if gap is not None:
        raise RequestError(f"{path}: line {lines[gap.first] + 1}, joint"
                           f" {_owners(joints)[gap.column]!r}: the gap of invalid values up to line"
                           f" {lines[gap.last] + 1} {WHY}")


def _rate(path: Path, word: str, line: int) -> tuple[float, tuple[str, ...]]:
    """Return the frame rate, a common one if it fits within the rounding of the frame time, and a
    note where rounding makes more than a trifle of it.
    """
    time = number_of(word)
    if not MIN_FRAME_S <= time <= MAX_FRAME_S:
        found = f"the frame time is {word[:20]!r}" if word else "there is no frame time"
        raise RequestError(f"{path}: line {line}: {found}, expected seconds between {MIN_FRAME_S:g}"
                           f" and {MAX_FRAME_S:g}, such as 0.0333333; give the rate with"
                           f" --fps-of-file{_perhaps(time)}")
    digits = len(word.partition(".")[2])
    fitting = [rate for rate in COMMON_RATES if abs(1 / rate - time) <= 0.6 * 10.0**-digits
               and abs(rate * time - 1) <= ROUNDED]
    if not fitting:
        return 1 / time, ()
    near = min(fitting, key=lambda rate: abs(rate * time - 1))
    if abs(near * time - 1) <= SAME:
        return float(near), ()
    # Rates of video are rarer than the whole ones that they are near.
    rate = min(fitting, key=lambda rate: (rate % 1 != 0, abs(rate * time - 1)))
    return float(rate), (f"the frame time of {word} s is rounded: {rate:g} fps is taken; give"
                         " another rate with --fps-of-file",)


def _perhaps(time: float) -> str:
    """Suggest which rate an absurd frame time may mean: milliseconds, or the rate itself."""
    rates = [rate for rate in (1000 / time, time) if 20 <= rate <= 1000] if time > 0 else []
    near = [f"{_common(rate):g}" for rate in rates]
    return f", perhaps {' or '.join(near)}" if near else ""


def _common(rate: float) -> float:
    """Return the nearest common rate within 2 %, or else the rate itself, rounded."""
    nearest = min(COMMON_RATES, key=lambda one: abs(one / rate - 1))
    return nearest if abs(nearest / rate - 1) < 0.02 else round(rate, 3)
