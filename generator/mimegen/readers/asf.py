"""Read skeletons from Acclaim's ASF files: bones with directions, axes and degrees of freedom."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.text import number_of, text_of, with_decimal_points, without_comments

MAX_ABS_VALUE = 1e6
MAX_BONES = 1000
# Rotational and translational degrees of freedom.
TURNS = ("rx", "ry", "rz")
SHIFTS = ("tx", "ty", "tz")


@dataclass
class AsfBone:
    """A bone as in the file; ``offset`` is direction times length, ``dof`` lower case."""

    name: str
    offset: FloatArray = field(default_factory=lambda: np.zeros(3))
    axis: FloatArray = field(default_factory=lambda: np.zeros(3))
    order: str = "xyz"
    dof: tuple[str, ...] = ()


@dataclass
class AsfSkeleton:
    """A skeleton file.

    ``bones`` are by name, the root first; ``parents`` maps a bone to its parent. ``position`` (3,)
    is the root's at rest. ``degrees`` is False if angles are in radians.
    """

    bones: dict[str, AsfBone]
    parents: dict[str, str]
    position: FloatArray
    degrees: bool


def rows_of(path: Path) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """Return line number and words of each line of a text file, without comments, and notes."""
    rows, coded = text_of(path, "the text of Acclaim motion")
    rows, plain = with_decimal_points(without_comments(rows), (":",))
    lines = [(n, row.split()) for n, row in enumerate(rows, start=1)]
    return [(n, words) for n, words in lines if words], (*coded, *plain)


def numbers_of(where: str, words: list[str], count: int, gaps: bool = False) -> FloatArray:
    """Return the first ``count`` words as numbers.

    With ``gaps``, NaN is allowed. Raises RequestError that begins with ``where`` if there are too
    few numbers, or if one is too large.
    """
    try:
        found = np.array([float(word) for word in words[:count]])
    except ValueError:
        found = np.array([number_of(word) for word in words[:count]])
    fine = np.abs(found) < MAX_ABS_VALUE
    if len(found) != count or not (fine.all() or (gaps and (fine | np.isnan(found)).all())):
        raise RequestError(f"{where}: expected {count} numbers within a million, not"
                           f" {' '.join(words)[:40]!r}")
    return found


def read_asf(path: Path) -> tuple[AsfSkeleton, tuple[str, ...]]:
    """Read a skeleton file; return the skeleton and notes.

    Raises RequestError, with file and line, if it is damaged.
    """
    rows, notes = rows_of(path)
    return _Asf(path, rows).read(), notes


class _Asf:
    """A parser that reads a skeleton file section by section."""

    def __init__(self, path: Path, rows: list[tuple[int, list[str]]]) -> None:
        self.path, self.rows, self.at = path, rows, 0
        root = AsfBone("root", dof=(*SHIFTS, *TURNS))
        self.body = AsfSkeleton({"root": root}, {}, np.zeros(3), True)

    def read(self) -> AsfSkeleton:
        """Read all known sections. Raises RequestError if bones or hierarchy are missing."""
        sections = {":units": self._units, ":root": self._root, ":bonedata": self._bones,
                    ":hierarchy": self._hierarchy}
        while self.at < len(self.rows):
            _, words = self.rows[self.at]
            self.at += 1
            section = sections.get(words[0].lower())
            if section is not None:
                section(words)
        if len(self.body.bones) < 2 or not self.body.parents:
            raise RequestError(f"{self.path}: has no :bonedata or no :hierarchy, expected the"
                               " skeleton of one person")
        return self.body

    def _section(self) -> list[tuple[str, list[str]]]:
        """Return the words of each line up to the next section, with file and line for errors."""
        found = []
        while self.at < len(self.rows) and not self.rows[self.at][1][0].startswith(":"):
            number, words = self.rows[self.at]
            found.append((f"{self.path}: line {number}", words))
            self.at += 1
        return found

    def _units(self, _: list[str]) -> None:
        for _where, words in self._section():
            if words[0].lower() == "angle" and len(words) > 1:
                self.body.degrees = words[1].lower().startswith("deg")

    def _root(self, _: list[str]) -> None:
        root = self.body.bones["root"]
        for where, words in self._section():
            key = words[0].lower()
            if key == "order":
                root.dof = self._freedom(where, words[1:])
            elif key == "axis":
                root.order = self._order(where, words[1:])
            elif key == "position":
                self.body.position = numbers_of(where, words[1:], 3)
            elif key == "orientation":
                root.axis = numbers_of(where, words[1:], 3)

    def _bones(self, _: list[str]) -> None:
        """Read the section of bones; an offset is direction times length."""
        bone, direction, length = AsfBone(""), np.zeros(3), 0.0
        for where, words in self._section():
            key = words[0].lower()
            if key == "begin":
                bone, direction, length = AsfBone(""), np.zeros(3), 0.0
            elif key == "name" and len(words) > 1:
                bone.name = words[1]
            elif key == "direction":
                direction = numbers_of(where, words[1:], 3)
            elif key == "length":
                length = float(numbers_of(where, words[1:], 1)[0])
            elif key == "axis":
                bone.axis = numbers_of(where, words[1:], 3)
                bone.order = self._order(where, words[4:])
            elif key == "dof":
                bone.dof = self._freedom(where, words[1:])
            elif key == "end":
                self._add(where, bone, direction * length)

    def _add(self, where: str, bone: AsfBone, offset: FloatArray) -> None:
        """Add a bone. Raises RequestError for a repeated name, or too many bones."""
        if not bone.name or bone.name in self.body.bones:
            raise RequestError(f"{where}: expected a bone with a unique name, not {bone.name!r}")
        if len(self.body.bones) > MAX_BONES:
            raise RequestError(f"{where}: more than {MAX_BONES} bones, expected one person")
        bone.offset = offset
        self.body.bones[bone.name] = bone

    def _hierarchy(self, _: list[str]) -> None:
        """Read the section of lines with a bone and its children."""
        for where, words in self._section():
            if words[0].lower() in ("begin", "end"):
                continue
            for name in words:
                if name not in self.body.bones:
                    raise RequestError(f"{where}: unknown bone {name!r}; expected one of :bonedata")
            for child in words[1:]:
                # Parents must come first, which excludes circles.
                if child in self.body.parents or child == words[0] \
                        or words[0] not in ("root", *self.body.parents):
                    raise RequestError(f"{where}: expected bones below root, each once and"
                                       f" after its parent, not {child!r}")
                self.body.parents[child] = words[0]

    def _freedom(self, where: str, words: list[str]) -> tuple[str, ...]:
        """Return degrees of freedom in lower case. Raises RequestError if they are not valid."""
        found = tuple(word.lower() for word in words)
        if len(set(found)) != len(found) or not set(found) <= {*TURNS, *SHIFTS, "l"}:
            raise RequestError(f"{where}: expected degrees of freedom such as rx ry rz, each once,"
                               f" not {' '.join(words)[:40]!r}")
        return found

    def _order(self, where: str, words: list[str]) -> str:
        """Return an order of axes in lower case. Raises RequestError if it is not valid."""
        order = "".join(words).lower()
        if sorted(order) != ["x", "y", "z"]:
            raise RequestError(f"{where}: expected an order of axes such as XYZ, not"
                               f" {' '.join(words)[:40]!r}")
        return order


def rest_pose(body: AsfSkeleton) -> Skeleton:
    """Return the skeleton at rest: each bone begins where its parent ends."""
    names = ["root", *body.parents]
    index = {name: number for number, name in enumerate(names)}
    parents = np.array([-1, *(index[body.parents[name]] for name in names[1:])])
    heads, tails = np.zeros((2, len(names), 3))
    for number, name in enumerate(names):
        if number:
            heads[number] = tails[parents[number]]
        tails[number] = heads[number] + body.bones[name].offset
    tails[0] = heads[1:][parents[1:] == 0].mean(axis=0)
    return Skeleton(tuple(names), parents, heads, tails)
