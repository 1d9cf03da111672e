"""The text of a BVH file: the tree of joints and a table of channel values, in its own units."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray

LARGEST, MOST_JOINTS = 1e6, 1000
COMMON_RATES = (24, 25, 30, 48, 50, 60, 72, 75, 90, 96, 100, 120, 125, 144, 150, 180, 200, 240,
                250, 300, 360, 480, 500, 1000, 24 / 1.001, 30 / 1.001, 60 / 1.001, 120 / 1.001)


@dataclass
class BvhJoint:
    """A joint as the file has it: its parent's number (-1 of the root), offset, end, channels."""

    name: str
    parent: int
    offset: list[float] = field(default_factory=list)
    end: list[float] | None = None
    channels: list[str] = field(default_factory=list)


def hierarchy_of(path: Path, rows: list[str]) -> list[BvhJoint]:
    """Return the joints, parents first; raises RequestError with file and line."""
    tokens = [(word, i + 1) for i, row in enumerate(rows)
              for word in row.replace("{", " { ").replace("}", " } ").split()]
    if not tokens or tokens[0][0] != "HIERARCHY":
        raise RequestError(f"{path}: line 1: expected HIERARCHY, the file is not BVH")
    return _Hierarchy(path, tokens[1:]).read()


class _Hierarchy:
    """Reads the words of the HIERARCHY section one after the other."""

    def __init__(self, path: Path, tokens: list[tuple[str, int]]) -> None:
        self.path, self.tokens, self.at = path, tokens, 0
        self.joints: list[BvhJoint] = []
        self.open: list[int | None] = []

    def read(self) -> list[BvhJoint]:
        while self.at < len(self.tokens):
            word = self._next("ROOT, JOINT, End Site, OFFSET, CHANNELS or }")
            if word in ("ROOT", "JOINT"):
                self._begin_joint(word)
            elif word == "End":
                self._joint()
                self._next("Site")
                self._expect("{")
                self.open.append(None)
            elif word == "OFFSET":
                self._offset()
            elif word == "CHANNELS":
                self._channels()
            elif word == "}" and self.open:
                self.open.pop()
            else:
                self._fail(f"expected ROOT, JOINT, End Site, OFFSET, CHANNELS or }}, not {word!r}")
        self._check()
        return self.joints

    def _check(self) -> None:
        if self.open:
            self._fail("the hierarchy ends inside a joint, expected }; the file is truncated")
        if not self.joints:
            self._fail("expected ROOT, the file has no joints")
        for joint in self.joints:
            if not joint.offset:
                self._fail(f"joint {joint.name!r} has no OFFSET")

    def _fail(self, problem: str) -> NoReturn:
        number = self.tokens[min(self.at, len(self.tokens)) - 1][1] if self.tokens else 1
        raise RequestError(f"{self.path}: line {number}: {problem}")

    def _next(self, expected: str) -> str:
        if self.at >= len(self.tokens):
            self._fail(f"the hierarchy ends where {expected} was expected; the file is truncated")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def _expect(self, wanted: str) -> None:
        if (word := self._next(wanted)) != wanted:
            self._fail(f"expected {wanted}, not {word!r}")

    def _number(self) -> float:
        word = self._next("a number")
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < LARGEST:
            self._fail(f"expected a number within a million, not {word!r}")
        return value

    def _joint(self) -> BvhJoint:
        if not self.open or self.open[-1] is None:
            self._fail("OFFSET, CHANNELS or End Site outside of a joint")
        number = self.open[-1]
        assert number is not None
        return self.joints[number]

    def _begin_joint(self, word: str) -> None:
        words = [self._next("a joint's name")]
        while (part := self._next("{")) != "{":
            words.append(part)
        name = " ".join(words)
        if word == "ROOT" and self.joints:
            self._fail(f"a second ROOT, {name!r}; expected one skeleton: save one person per file")
        if word == "JOINT" and (not self.open or self.open[-1] is None):
            self._fail(f"JOINT {name!r} outside of a ROOT or inside an End Site")
        if any(joint.name == name for joint in self.joints):
            self._fail(f"a second joint is called {name!r}; expected names that differ")
        if len(self.joints) == MOST_JOINTS:
            self._fail(f"more than {MOST_JOINTS} joints, expected the skeleton of one person")
        self.joints.append(BvhJoint(name, -1 if word == "ROOT" else int(self.open[-1] or 0)))
        self.open.append(len(self.joints) - 1)

    def _offset(self) -> None:
        offset = [self._number(), self._number(), self._number()]
        if self.open and self.open[-1] is None:
            parent = next(j for j in reversed(self.open) if j is not None)
            self.joints[parent].end = offset
        else:
            self._joint().offset = offset

    def _channels(self) -> None:
        count, joint = self._next("the number of channels"), self._joint()
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


def table_of(path: Path, rows: list[str], start: int,
           joints: list[BvhJoint]) -> tuple[FloatArray, float, tuple[str, ...]]:
    """Return the channel values (F, C), the frame rate and notes.

    ``start`` is the row of the word MOTION. Raises RequestError with file and line.
    """
    filled = [i for i in range(start + 1, len(rows)) if rows[i].strip()]
    head = " ".join(rows[i].strip() for i in filled[:2])
    match = re.fullmatch(r"Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)", head, re.IGNORECASE)
    if not match:
        raise RequestError(f"{path}: line {start + 2}: expected 'Frames: N' and 'Frame Time: S'"
                           " after MOTION")
    rate = _rate(path, match[2], filled[1] + 1)
    if not re.fullmatch(r"[+-]?\d{1,18}", match[1]):
        raise RequestError(f"{path}: line {filled[0] + 1}: expected a number of frames,"
                           f" not {match[1][:20]!r}")
    declared, lines = int(match[1]), filled[2:]
    if declared < 2 or len(lines) < 2:
        raise RequestError(f"{path}: line {filled[0] + 1}: has {min(declared, len(lines))} frames,"
                           " a motion needs at least 2")
    table = _values(path, rows, lines, joints)
    if len(table) < declared:
        raise RequestError(f"{path}: line {lines[-1] + 1}: the file ends after {len(table)} of the"
                           f" {declared} frames that line {filled[0] + 1} promises;"
                           " it is truncated")
    notes = () if len(table) == declared else (
        f"the file holds {len(table)} frames and declares {declared}: all are used",)
    return table, rate, notes


def _values(path: Path, rows: list[str], lines: list[int], joints: list[BvhJoint]) -> FloatArray:
    names = [joint.name for joint in joints for _ in joint.channels]
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
        table = np.array([[_value(word) for word in row] for row in words])
    wrong = np.argwhere(~(np.abs(table) < LARGEST))
    if len(wrong):
        frame, channel = wrong[0]
        raise RequestError(f"{path}: line {lines[frame] + 1}, joint {names[channel]!r}: expected a"
                           f" number within a million, not {words[frame][channel][:20]!r}")
    return table


def _value(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan


def _rate(path: Path, word: str, line: int) -> float:
    """Return the frame rate; frame times are rounded, so a common rate within that is taken."""
    time = _value(word)
    if not 1e-4 <= time <= 10.0:
        raise RequestError(f"{path}: line {line}: the frame time is {word[:20]!r},"
                           " expected seconds between 0.0001 and 10, such as 0.0333333")
    rate = min(COMMON_RATES, key=lambda r: abs(1 / r - time))
    digits = len(word.partition(".")[2])
    near = abs(1 / rate - time) <= 0.6 * 10.0**-digits and abs(rate * time - 1) < 1e-3
    return float(rate if near else 1 / time)
