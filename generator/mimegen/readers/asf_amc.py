"""Read Acclaim motion: a skeleton (.asf) and its poses (.amc), as in the CMU database.

Format: M. Schafer, "Acclaim ASF/AMC file formats" (University of Wisconsin, 1994), and Meredith and
Maddock, "Motion Capture File Formats Explained" (2001), section 4.3. A bone turns by C M C^-1 on
top of its parent, where C is its ``axis`` and M the product of its degrees of freedom.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import resting_level
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.asf import (
    SHIFTS,
    TURNS,
    AsfSkeleton,
    numbers_of,
    read_asf,
    rest_pose,
    rows_of,
)
from mimegen.readers.canonical import canonical_recording
from mimegen.readers.gaps import (
    WHY,
    bridged_positions,
    bridged_rotations,
    gap_notes,
    long_gap,
    missing,
)
from mimegen.readers.names import SIDES
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording

# Frame rate (Hz) assumed, because the format has none; CMU's files have it.
ASSUMED_FPS = 120.0
# Least and greatest height in metres of resting ankles above the floor (Y = 0 in the format).
ANKLES_REST = (0.045, 0.125)


def read_asf_amc(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a recording from an AMC file and the ASF file that belongs to it.

    The ASF file is ``options.skeleton``, or the one that ``skeleton_file`` finds beside the AMC
    file. Raises RequestError, one line with file and line, for files that are missing or damaged.
    """
    if path.suffix.lower() == ".asf":
        raise RequestError(f"{path}: contains a skeleton without motion; expected the .amc file")
    rows, plain = rows_of(path)
    asf = skeleton_file(path, options.skeleton)
    body, plain_too = read_asf(asf)
    frames, degrees, cut = _frames(path, rows, body)
    motion, gaps = _motion(path, body, frames, degrees, options.fps_of_file or ASSUMED_FPS)
    assumed = () if options.fps_of_file else (
        f"the format has no frame rate: {ASSUMED_FPS:g} fps is assumed, as in CMU's files; give"
        " another with --fps-of-file",)
    notes = (f"the skeleton is from {asf.name}", *dict.fromkeys((*plain, *plain_too)), *assumed,
             *cut, *gaps)
    recording = canonical_recording(path, motion, "ASF/AMC", notes, options)
    return replace(recording, system="Acclaim",
                   notes=(*recording.notes, *_of_another(path, asf, motion, recording)))


def _of_another(path: Path, asf: Path, motion: Motion, recording: Recording) -> tuple[str, ...]:
    """Return notes if the skeleton file seems to be another person's.

    Signs are the numbers in the files' names, and ankles that rest too high or too low.
    """
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
    """Return whether two names begin with different numbers: subjects in the CMU database."""
    numbers = [re.match(r"\d+", file.stem) for file in (path, asf)]
    return None not in numbers and len({int(found[0]) for found in numbers if found}) > 1


def skeleton_file(path: Path, given: Path | None) -> Path:
    """Return the ASF file of an AMC file: the one ``given``, or one in the same folder.

    These are tried in order: the same name, the name without its take number (``09_06-run.amc`` has
    ``09-run.asf``), the part of the name before an underscore or dash, and the only ASF file there,
    unless its number is another subject's. Raises RequestError if none fits.
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
    raise RequestError(f"{path}: expected its skeleton next to it, {path.stem}.asf ({found}); give"
                       " it with --skeleton FILE")


def _frames(path: Path, rows: list[tuple[int, list[str]]],
            body: AsfSkeleton) -> tuple[dict[str, FloatArray], bool, tuple[str, ...]]:
    """Return the values (F, C) of each bone's degrees of freedom, their unit, and notes.

    The unit is True for degrees, False for radians.
    """
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
                raise RequestError(f"{where}: bone {name!r} occurs twice in one frame")
            if len(words) - 1 < wanted and row == len(rows) - 1:
                break
            if len(words) - 1 != wanted:
                raise RequestError(f"{where}: bone {name!r} has {len(words) - 1} values, its"
                                   f" skeleton has {wanted} degrees of freedom")
            values[name].append(numbers_of(where, words[1:], wanted, gaps=True))
        elif count:
            raise RequestError(f"{where}: {name[:30]!r} is not a moving bone of the skeleton; the"
                               " skeleton file belongs to another person, or the line is damaged")
    whole = min((len(table) for table in values.values()), default=0)
    if whole < 2:
        raise RequestError(f"{path}: has {whole} whole frames, a motion needs at least 2")
    cut = ((f"the file ends in the middle of frame {count}, which is left out",)
           if whole < count else ())
    return {name: np.array(table[:whole]) for name, table in values.items()}, degrees, cut


def _check_whole(path: Path, values: Mapping[str, list[FloatArray]], count: int) -> None:
    """Raise RequestError if a bone has no values in frame ``count``."""
    missing = [name for name, table in values.items() if len(table) < count]
    if missing:
        raise RequestError(f"{path}: frame {count} has no values for {missing[0]!r}; the file is"
                           " damaged or belongs to another skeleton")


def _motion(path: Path, body: AsfSkeleton, values: Mapping[str, FloatArray], degrees: bool,
            fps: float) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion with gaps bridged, and a note on them.

    A joint is at the beginning of its bone; rotations are measured from the rest pose.
    """
    skeleton = rest_pose(body)
    lost = _gaps(path, skeleton.names, values, fps)
    values = {name: np.nan_to_num(table) for name, table in values.items()}
    count = len(lost)
    rotations = np.tile(quaternions.IDENTITY, (count, len(skeleton.names), 1))
    unit, scale = (1.0 if known else 180.0 / np.pi for known in (body.degrees, degrees))
    for number, name in enumerate(skeleton.names):
        bone = body.bones[name]
        axis = quaternions.from_euler(bone.order, bone.axis * unit)
        turns = [(dof[1], column) for column, dof in enumerate(bone.dof) if dof in TURNS]
        if turns:
            # Lower case means rotations about fixed axes, the first letter's first.
            angles = values[name][:, [column for _, column in turns]] * scale
            moved = quaternions.from_euler("".join(letter for letter, _ in turns), angles)
            rotations[:, number] = quaternions.multiply(
                quaternions.multiply(axis, moved), quaternions.conjugate(axis))
    roots = np.tile(body.position, (count, 1))
    for column, dof in enumerate(body.bones["root"].dof):
        if dof in SHIFTS:
            roots[:, SHIFTS.index(dof)] += values["root"][:, column]
    roots = bridged_positions(roots[:, None], lost[:, :1])[:, 0]
    turned = quaternions.without_flips(bridged_rotations(rotations, lost))
    return Motion(skeleton, fps, roots, turned), gap_notes(skeleton.names, lost)


def _gaps(path: Path, names: Sequence[str], values: Mapping[str, FloatArray],
          fps: float) -> BoolArray:
    """Return a mask (F, J) of the bones that have a NaN among their values.

    Raises RequestError if such a gap is too long.
    """
    lost = np.zeros((len(next(iter(values.values()))), len(names)), bool)
    for number, name in enumerate(names):
        if name in values:
            lost[:, number] = missing(values[name])
    gap = long_gap(lost, fps)
    if gap is not None:
        raise RequestError(f"{path}: bone {names[gap.column]!r}: the gap of invalid values from"
                           f" frame {gap.first} to {gap.last} {WHY}")
    return lost
