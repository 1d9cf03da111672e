"""Acclaim motion: a skeleton (.asf) and its poses (.amc), as in the CMU database.

Format: M. Schafer, "Acclaim ASF/AMC file formats" (University of Wisconsin, 1994), and Meredith and
Maddock, "Motion Capture File Formats Explained" (2001), section 4.3. A bone turns by C M C^-1 on
top of its parent, where C is its ``axis`` and M the product of its degrees of freedom.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.contacts import resting_level
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.files import text_of
from mimegen.readers.house import in_house_convention
from mimegen.readers.names import SIDES
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording

ASSUMED_FPS = 120.0
LARGEST, MOST_BONES = 1e6, 1000
# Metres above the laboratory's floor, which the format has at Y = 0, where ankles rest.
ANKLES_REST = (0.045, 0.125)
TURNS, SHIFTS = ("rx", "ry", "rz"), ("tx", "ty", "tz")


@dataclass
class _Bone:
    """A bone as in the file; ``offset`` is direction times length, ``dof`` lower case."""

    name: str
    offset: FloatArray = field(default_factory=lambda: np.zeros(3))
    axis: FloatArray = field(default_factory=lambda: np.zeros(3))
    order: str = "xyz"
    dof: tuple[str, ...] = ()


@dataclass
class _Skeleton:
    """The skeleton file: the root is bone 0; ``parents`` by name; ``degrees`` for angles."""

    bones: dict[str, _Bone]
    parents: dict[str, str]
    position: FloatArray
    degrees: bool


def read_asf_amc(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a recording from an AMC file and the ASF file that belongs to it.

    That is ``options.skeleton`` or, in the same folder, the ASF file of the same name, of the name
    without its take number (``09_06-run.amc`` has ``09-run.asf``), of what is before an underscore
    or dash, or the only one there is, unless its number is another subject's.
    Raises RequestError, one line with file and line, for files that are missing or damaged.
    """
    if path.suffix.lower() == ".asf":
        raise RequestError(f"{path}: holds a skeleton without motion; give the .amc file")
    rows = _rows(path)
    asf = skeleton_file(path, options.skeleton)
    body = _Asf(asf).read()
    frames, degrees, cut = _frames(path, rows, body)
    motion = _motion(body, frames, degrees)
    notes = (f"the skeleton is of {asf.name}",
             f"the format carries no frame rate: {ASSUMED_FPS:g} fps is assumed, CMU's rate", *cut)
    recording = in_house_convention(path, motion, "ASF/AMC", notes, options)
    return replace(recording, system="Acclaim",
                   notes=(*recording.notes, *_of_another(path, asf, motion, recording)))


def _of_another(path: Path, asf: Path, motion: Motion, recording: Recording) -> tuple[str, ...]:
    """Say what speaks for a skeleton file of another person: numbers in names, legs' length."""
    notes = []
    if _other_subject(path, asf):
        notes.append(f"{asf.name} is of another subject than {path.name}, by their numbers")
    feet = [motion.skeleton.index[recording.roles[f"{side}_foot"]] for side in SIDES]
    upright = motion.global_pose.positions[:, feet][..., [0, 2, 1]] * recording.unit
    level = resting_level(upright, motion.fps)
    if recording.up_axis == "Y" and not ANKLES_REST[0] < level < ANKLES_REST[1]:
        notes.append(f"the ankles rest {level:.2f} m above the file's floor, not"
                     f" {ANKLES_REST[0]:.2f} to {ANKLES_REST[1]:.2f}: {asf.name} may be the"
                     " skeleton of another person")
    return tuple(notes)


def _other_subject(path: Path, asf: Path) -> bool:
    """Say whether numbers at the start of names, as in the CMU database, tell two subjects."""
    numbers = [re.match(r"\d+", file.stem) for file in (path, asf)]
    return None not in numbers and len({int(found[0]) for found in numbers if found}) > 1


def skeleton_file(path: Path, given: Path | None) -> Path:
    """Return the ASF file of an AMC file: the one ``given``, or the one beside it that fits.

    Raises RequestError where none, or none of several, does.
    """
    if given is not None:
        return given
    there = {p.stem.lower(): p for p in sorted(path.parent.iterdir())
             if p.suffix.lower() == ".asf" and p.is_file()}
    stem = path.stem.lower()
    cuts = [mark.start() for mark in re.finditer(r"[_-]", stem)][::-1]
    for name in (stem, re.sub(r"_\d+", "", stem, count=1), *(stem[:cut] for cut in cuts)):
        if name in there:
            return there[name]
    if len(there) == 1 and not _other_subject(path, only := next(iter(there.values()))):
        return only
    found = f"found {', '.join(sorted(p.name for p in there.values())[:4])}" if there \
        else "found none"
    raise RequestError(f"{path}: expected its skeleton beside it, {path.stem}.asf ({found});"
                       " name it with --skeleton FILE")


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the numbers and words of a text file's lines that are no comments."""
    text = text_of(path, "the text of Acclaim motion")
    lines = [(n, line.split("#")[0].split()) for n, line in enumerate(text.split("\n"), start=1)]
    return [(n, words) for n, words in lines if words]


def _numbers(where: str, words: list[str], count: int) -> FloatArray:
    try:
        found = np.array([float(word) for word in words[:count]])
    except ValueError:
        found = np.full(count, np.nan)
    if len(found) != count or not (np.abs(found) < LARGEST).all():
        raise RequestError(f"{where}: expected {count} numbers within a million, not"
                           f" {' '.join(words)[:40]!r}")
    return found


class _Asf:
    """Reads the sections of a skeleton file one after the other."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows, self.at = path, _rows(path), 0
        root = _Bone("root", dof=(*SHIFTS, *TURNS))
        self.body = _Skeleton({"root": root}, {}, np.zeros(3), True)

    def read(self) -> _Skeleton:
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
        """Return the lines up to the next section, each with the place to name in errors."""
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
                self.body.position = _numbers(where, words[1:], 3)
            elif key == "orientation":
                root.axis = _numbers(where, words[1:], 3)

    def _bones(self, _: list[str]) -> None:
        bone, direction, length = _Bone(""), np.zeros(3), 0.0
        for where, words in self._section():
            key = words[0].lower()
            if key == "begin":
                bone, direction, length = _Bone(""), np.zeros(3), 0.0
            elif key == "name" and len(words) > 1:
                bone.name = words[1]
            elif key == "direction":
                direction = _numbers(where, words[1:], 3)
            elif key == "length":
                length = float(_numbers(where, words[1:], 1)[0])
            elif key == "axis":
                bone.axis = _numbers(where, words[1:], 3)
                bone.order = self._order(where, words[4:])
            elif key == "dof":
                bone.dof = self._freedom(where, words[1:])
            elif key == "end":
                self._add(where, bone, direction * length)

    def _add(self, where: str, bone: _Bone, offset: FloatArray) -> None:
        if not bone.name or bone.name in self.body.bones:
            raise RequestError(f"{where}: expected a bone with a name of its own,"
                               f" not {bone.name!r}")
        if len(self.body.bones) > MOST_BONES:
            raise RequestError(f"{where}: more than {MOST_BONES} bones, expected one person")
        bone.offset = offset
        self.body.bones[bone.name] = bone

    def _hierarchy(self, _: list[str]) -> None:
        for where, words in self._section():
            if words[0].lower() in ("begin", "end"):
                continue
            for name in words:
                if name not in self.body.bones:
                    raise RequestError(f"{where}: there is no bone {name!r} in :bonedata")
            for child in words[1:]:
                # Parents come first, so that no circle can be.
                if child in self.body.parents or child == words[0] \
                        or words[0] not in ("root", *self.body.parents):
                    raise RequestError(f"{where}: expected bones below root, each once and"
                                       f" after its parent, not {child!r}")
                self.body.parents[child] = words[0]

    def _freedom(self, where: str, words: list[str]) -> tuple[str, ...]:
        found = tuple(word.lower() for word in words)
        if len(set(found)) != len(found) or not set(found) <= {*TURNS, *SHIFTS, "l"}:
            raise RequestError(f"{where}: expected degrees of freedom such as rx ry rz, each once,"
                               f" not {' '.join(words)[:40]!r}")
        return found

    def _order(self, where: str, words: list[str]) -> str:
        order = "".join(words).lower()
        if sorted(order) != ["x", "y", "z"]:
            raise RequestError(f"{where}: expected an order of axes such as XYZ, not"
                               f" {' '.join(words)[:40]!r}")
        return order


def _frames(path: Path, rows: list[tuple[int, list[str]]],
            body: _Skeleton) -> tuple[dict[str, FloatArray], bool, tuple[str, ...]]:
    """Return the values (F, C) of each bone's degrees of freedom, whether in degrees, and notes."""
    degrees, count = body.degrees, 0
    values: dict[str, list[FloatArray]] = {n: [] for n, bone in body.bones.items() if bone.dof}
    for row, (number, words) in enumerate(rows):
        name, where = words[0], f"{path}: line {number}"
        if name.startswith(":"):
            degrees = {":degrees": True, ":radians": False}.get(name.lower(), degrees)
        elif len(words) == 1 and name.isdigit():
            _check_whole(path, values, count)
            count += 1
        elif count and name in values:
            wanted = len(body.bones[name].dof)
            if len(values[name]) >= count:
                raise RequestError(f"{where}: bone {name!r} is there twice in one frame")
            if len(words) - 1 < wanted and row == len(rows) - 1:
                break
            if len(words) - 1 != wanted:
                raise RequestError(f"{where}: bone {name!r} has {len(words) - 1} values, its"
                                   f" skeleton has {wanted} degrees of freedom")
            values[name].append(_numbers(where, words[1:], wanted))
        elif count:
            raise RequestError(f"{where}: {name[:30]!r} is no bone that moves in the skeleton; the"
                               " skeleton file is of another person, or the line is damaged")
    whole = min((len(table) for table in values.values()), default=0)
    if whole < 2:
        raise RequestError(f"{path}: has {whole} whole frames, a motion needs at least 2")
    cut = (f"the file breaks off in frame {count}, which is left out",) if whole < count else ()
    return {name: np.array(table[:whole]) for name, table in values.items()}, degrees, cut


def _check_whole(path: Path, values: Mapping[str, list[FloatArray]], count: int) -> None:
    missing = [name for name, table in values.items() if len(table) < count]
    if missing:
        raise RequestError(f"{path}: frame {count} has no values for {missing[0]!r}; the file is"
                           " damaged or of another skeleton")


def _motion(body: _Skeleton, values: Mapping[str, FloatArray], degrees: bool) -> Motion:
    """Return the motion; a bone's joint is where it begins, its turn that from the rest pose."""
    skeleton = _rest_pose(body)
    count = len(next(iter(values.values())))
    rotations = np.tile(quaternions.IDENTITY, (count, len(skeleton.names), 1))
    unit, scale = (1.0 if known else 180.0 / np.pi for known in (body.degrees, degrees))
    for number, name in enumerate(skeleton.names):
        bone = body.bones[name]
        axis = quaternions.from_euler(bone.order, bone.axis * unit)
        turns = [(dof[1], column) for column, dof in enumerate(bone.dof) if dof in TURNS]
        if turns:
            # Lower case: about fixed axes, the first one first.
            angles = values[name][:, [column for _, column in turns]] * scale
            moved = quaternions.from_euler("".join(letter for letter, _ in turns), angles)
            rotations[:, number] = quaternions.multiply(
                quaternions.multiply(axis, moved), quaternions.conjugate(axis))
    roots = np.tile(body.position, (count, 1))
    for column, dof in enumerate(body.bones["root"].dof):
        if dof in SHIFTS:
            roots[:, SHIFTS.index(dof)] += values["root"][:, column]
    return Motion(skeleton, ASSUMED_FPS, roots, quaternions.without_flips(rotations))


def _rest_pose(body: _Skeleton) -> Skeleton:
    """Return the skeleton with each bone's joint where its parent's bone ends."""
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
