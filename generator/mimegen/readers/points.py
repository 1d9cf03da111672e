"""Read raw markers in metres, Z up, for point-light displays and for fitting a skeleton."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.similar_names import nearest
from mimegen.markers.handedness import are_mirrored
from mimegen.markers.sets import MarkerSet, find_marker_set
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.c3d_file import NUMBERED, Trajectories, read_trajectories
from mimegen.readers.canonical import BELIEVED, axis_name
from mimegen.readers.files import check_file
from mimegen.readers.kinds import kind_of
from mimegen.readers.markertables import read_marker_csv, read_qualisys
from mimegen.readers.names import common_beginning
from mimegen.readers.trc import read_trc

# Units of length in metres.
UNITS = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "in": 0.0254, "inch": 0.0254, "ft": 0.3048}
# Largest side of the box around one person's markers, in metres: least, greatest and usual.
MIN_SIZE = 0.4
MAX_SIZE = 3.5
USUAL_SIZE = 1.4
UNLABELLED = re.compile(rf"(\*|U_|unl?abell?ed|unidentified|uname\*?|{NUMBERED})[\s_-]*\d*",
                        re.IGNORECASE)
CALCULATED = re.compile(r"\w*(Angles?|Forces?|Moments?|Powers?|GRF)V?", re.IGNORECASE)
# Plug-in Gait writes a segment's axes as four points: origin, anterior, lateral and proximal.
AXIS_ENDS = "OALP"
# Sizes in metres that a stated unit may give to markers of no known set.
ANY_SIZE = (0.02, 20.0)
# Least distance between the stillest points and the middle of all, as a fraction of the markers'
# size, for which it shows the vertical.
LIKELY = 0.1
# Markers stand as high as a person along an axis if they span at least this many metres along it,
# and this many times as much as along the stated vertical.
STANDING = 1.2
WIDER = 1.5
AXIS = re.compile(r"[+-]?[XYZ]", re.IGNORECASE)
# Names that programs give to the markers of any rigid body.
GENERIC = re.compile(r"(marker|m|p|pt|point|body)?[\s_-]*\d+", re.IGNORECASE)
# Two subjects that share this many labels are two people, not a person and a prop.
SHARED_MARKERS = 8
# Fraction of the steps that counts as the stillest.
STILLEST = 0.05
# Rate used to list the people of a file; theirs may be wrong or missing and does not matter.
ANY_RATE = 1.0


@dataclass(frozen=True, eq=False)
class Points:
    """Markers of one take, in metres, Z up; ``positions`` (F, M, 3) are NaN at gaps.

    Ground and heading are those of the file. ``unit`` is metres per file unit, ``up_axis`` the
    file's axis that became Z. ``notes`` tell what was left out, merged or guessed. ``people`` are
    the subjects if the markers belong to several, otherwise empty. ``mirrored`` is True if the file
    held the mirror image.
    """

    labels: tuple[str, ...]
    positions: FloatArray
    fps: float
    unit: float
    unit_source: str
    up_axis: str
    up_source: str
    notes: tuple[str, ...]
    people: tuple[str, ...] = ()
    mirrored: bool = False


def read_points(path: Path, subject: str | None = None, fps: float | None = None) -> Points:
    """Read the markers of a C3D or TRC file or of a table: one ``subject``'s, or all.

    ``fps`` overrides the file's own rate. The labels of a single person lose the subject's prefix,
    those of several people keep it. Split trajectories of one label are joined. Angles, forces,
    calculated axes and, if other points have labels, unlabelled points are left out. Mirrored
    markers are mirrored back. Raises RequestError, one line, for a file that is missing, damaged,
    without markers or without that subject.
    """
    check_file(path)
    found = trajectories_of(path, fps)
    people = _people(found.labels)
    # All people of a file share one up axis, so all their markers help to find it.
    everyone = found.positions[:, _markers(found, found.labels)[0]] if people else None
    if subject is not None:
        found, people = _of_subject(path, found, subject), ()
    labels, kept_apart = (found.labels, ()) if people else _without_prefixes(found.labels)
    keep, notes = _markers(found, labels)
    if not keep.any():
        raise RequestError(f"{path}: contains no markers, only calculated points ({labels[0]} ...)")
    names = [label for label, kept in zip(labels, keep, strict=True) if kept]
    names, positions, joined = _joined(names, found.positions[:, keep])
    # Find the unit by one person, because several may stand further apart than a person is tall.
    one = [not people or name.startswith(f"{people[0]}:") for name in names]
    unit, unit_source, doubts = _unit(found.unit, positions[:, one], names)
    up, up_source, doubts_of_up = _up(positions if everyone is None else everyone, found.screen,
                                      unit)
    turned = positions @ _upright(up).T * unit
    return _unmirrored(Points(
        tuple(names), turned, found.fps, unit, unit_source, axis_name(up), up_source,
        (*found.notes, *notes, *kept_apart, *joined, *_numbered(names), *doubts, *doubts_of_up),
        people))


def _unmirrored(points: Points) -> Points:
    """Return the points, mirrored back and with a note if they are the mirror image of a body's."""
    person = f"{points.people[0]}:" if points.people else ""
    own = {label.removeprefix(person): number for number, label in enumerate(points.labels)
           if label.startswith(person)}
    marker_set = _known_set(tuple(own))
    marks = {number: mark for label, number in own.items()
             if marker_set and (mark := marker_set.landmark(label)) is not None}
    if not are_mirrored(list(marks.values()), points.positions[:, list(marks)]):
        return points
    note = "the file is mirrored: its markers are the mirror image of a body's, as where axes are" \
           " left-handed; they are mirrored back"
    return replace(points, positions=points.positions * [-1.0, 1.0, 1.0], mirrored=True,
                   notes=(*points.notes, note))


def trajectories_of(path: Path, fps: float | None = None) -> Trajectories:
    """Return the points of a C3D or TRC file, or of a table of markers, in its unit and axes."""
    readers = {".trc": read_trc, ".csv": read_marker_csv, ".tsv": read_qualisys}
    return readers.get(kind_of(path), read_trajectories)(path, fps)


def subjects_of(path: Path) -> tuple[str, ...]:
    """Return the names of the people whose markers a C3D file holds; none for a single person.

    Raises RequestError, one line, for a file that is missing or damaged.
    """
    check_file(path)
    return _people(trajectories_of(path, ANY_RATE).labels)


def _people(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the subjects, in the file's order, that share at least ``SHARED_MARKERS`` labels."""
    subjects = _by_subject(labels)
    return tuple(one for one, own in subjects.items() if any(
        len(own & others) >= SHARED_MARKERS for two, others in subjects.items() if two != one))


def _by_subject(labels: tuple[str, ...]) -> dict[str, set[str]]:
    """Return each subject's labels, without its prefix."""
    subjects: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        subject, colon, name = label.rpartition(":")
        if colon:
            subjects[subject].add(name)
    return subjects


def _of_subject(path: Path, found: Trajectories, subject: str) -> Trajectories:
    """Return one subject's trajectories. Raises RequestError if the file does not hold it."""
    subjects = {name.casefold(): name for name in _by_subject(found.labels)}
    name = subjects.get(subject.casefold())
    if name is None:
        near = nearest(subject.casefold(), subjects) or list(subjects)
        held = f"; did you mean {' or '.join(repr(subjects[one]) for one in near[:5])}?" \
            if near else ": its labels name no subjects; leave out --subject"
        raise RequestError(f"{path}: no subject {subject!r}{held}")
    own = np.array([label.rpartition(":")[0] == name for label in found.labels])
    return replace(found, positions=found.positions[:, own],
                   labels=tuple(n for n, mine in zip(found.labels, own, strict=True) if mine))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note if the file has no labels, so that its points are numbered."""
    if not all(name.startswith(NUMBERED) for name in names):
        return ()
    return (f"the file has no labels: its {len(names)} points are numbered ({names[0]} ...)",)


def _without_prefixes(labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove a subject's name: ``Derrick:LFHD`` and ``Derrick_LFHD`` become ``LFHD``.

    A prefix names a subject if it is the only one, if it has as many markers as a body, or if its
    markers are named for positions on a body. Other prefixes name rigid bodies and are kept, as are
    prefixes without which two markers would have the same name. Also return a note on the kept
    prefixes.
    """
    prefixes = _by_subject(labels)
    taken = {label for label in labels if ":" not in label}
    subjects = set()
    for prefix in sorted(prefixes, key=lambda one: -len(prefixes[one])):
        own = prefixes[prefix]
        if (len(prefixes) == 1 or _of_a_body(own)) and not own & taken:
            subjects.add(prefix)
            taken |= own
    bare = tuple(_bare(label) if label.rpartition(":")[0] in subjects else label
                 for label in labels)
    begin = common_beginning(tuple(label for label in bare if not label.startswith(NUMBERED)))
    bodies = [prefix for prefix in prefixes if prefix not in subjects]
    notes = (f"markers are named after the bodies that they are attached to:"
             f" {', '.join(bodies[:4])}{' ...' if len(bodies) > 4 else ''}",) if bodies else ()
    return tuple(label.removeprefix(begin) or label for label in bare), notes


def _bare(label: str) -> str:
    """Return a label without its subject's prefix."""
    return label.rpartition(":")[2].strip() or label


def _of_a_body(names: set[str]) -> bool:
    """Return whether there are as many markers as on a body, or not all names are just numbers."""
    return len(names) >= SHARED_MARKERS or not all(GENERIC.fullmatch(name) for name in names)


def _markers(found: Trajectories, labels: tuple[str, ...]) -> tuple[NDArray[np.bool_], list[str]]:
    """Return a mask (M,) of the points that are markers, and notes on why the others are not."""
    seen = np.isfinite(found.positions[..., 0]).any(axis=0)
    unnamed = np.array([bool(UNLABELLED.fullmatch(label)) for label in labels])
    calculated = np.array([
        own in found.not_places or label in found.not_places
        or bool(CALCULATED.fullmatch(label))
        for own, label in zip(found.labels, labels, strict=True)])
    axes = _axes(labels)
    unnamed &= bool((seen & ~unnamed & ~calculated & ~axes).any())
    notes = []
    for mask, reason in ((axes & seen, "calculated axes of segments, not markers"),
                         (calculated & ~axes & seen,
                          "angles, forces or similar values, not positions"),
                         (unnamed & seen, "without a label"),
                         (~seen, "never seen")):
        names = [label for label, wrong in zip(labels, mask, strict=True) if wrong]
        if names:
            notes.append(f"left out, {reason}: {len(names)} points ({', '.join(names[:3])}"
                         f"{' ...' if len(names) > 3 else ''})")
    return seen & ~unnamed & ~calculated & ~axes, notes


def _axes(labels: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return a mask (M,) of the points that are axes of segments: all four labels are there."""
    known = set(labels)
    return np.array([len(label) > 3 and label[-1] in AXIS_ENDS
                     and {label[:-1] + end for end in AXIS_ENDS} <= known for label in labels])


def _joined(names: list[str],
            positions: FloatArray) -> tuple[list[str], FloatArray, list[str]]:
    """Join trajectories of one label that a tracker split; return labels, positions and notes.

    In frames with several of them, the one that is seen longest counts.
    """
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        by_name[name].append(number)
    if len(by_name) == len(names):
        return names, positions, []
    joined = np.empty((len(positions), len(by_name), 3))
    for column, members in enumerate(by_name.values()):
        seen = np.isfinite(positions[:, members, 0])
        best = members[int(np.argmax(seen.sum(axis=0)))]
        joined[:, column] = positions[:, best]
        for number in members:
            gaps = np.isnan(joined[:, column, 0])
            joined[gaps, column] = positions[gaps, number]
    split = [name for name, members in by_name.items() if len(members) > 1]
    return list(by_name), joined, [f"joined by their labels: the split trajectories of"
                                   f" {len(split)} markers ({', '.join(split[:3])}"
                                   f"{' ...' if len(split) > 3 else ''})"]


def _sampled(positions: FloatArray) -> FloatArray:
    """Return about 500 evenly spaced frames."""
    return positions[:: max(1, len(positions) // 500)]


def _unit(stated: str, positions: FloatArray,
          names: Sequence[str]) -> tuple[float, str, tuple[str, ...]]:
    """Return metres per unit, how it was found, and a doubt if there is one.

    The stated unit counts unless it gives a body no human size, or other markers no possible size;
    then the unit is chosen by the size.
    """
    size = _size(positions)
    unit = UNITS.get(stated.lower().rstrip("s"))
    body = _known_set(tuple(names)) is not None
    least, largest = (MIN_SIZE, MAX_SIZE) if body else ANY_SIZE
    if unit and least <= size * unit <= largest:
        small = f"the markers span {size * unit:.2f} m, which is not the size of a person" \
            if not MIN_SIZE <= size * unit <= MAX_SIZE else ""
        return unit, f"the file says {stated}: the markers span {size * unit:.2f} m", \
            (small,) if small else ()
    says = f"the file says {stated}, which is impossible" if unit else "the file does not say"
    name, found = min(UNITS.items(), key=lambda u: abs(np.log(max(size, 1e-9) * u[1] / USUAL_SIZE)))
    source = f"{says}; in {name} the markers span {size * found:.2f} m"
    wrong = (f"the file says {stated}, in which the markers would span {size * unit:.3g} m: read as"
             f" {name}",) if unit else ()
    return found, source, wrong


def _size(positions: FloatArray) -> float:
    """Return the largest side of the box around the markers (F, M, 3): the 75th percentile."""
    sample = _sampled(positions)
    sample = sample[np.isfinite(sample[..., 0]).any(axis=1)]
    sides = np.nanmax(sample, axis=1) - np.nanmin(sample, axis=1)
    return float(np.percentile(sides.max(axis=1), 75))


def _known_set(labels: tuple[str, ...]) -> MarkerSet | None:
    """Return the marker set of these labels, or None."""
    try:
        return find_marker_set("", labels)
    except RequestError:
        return None


def stood_up(points: Points, direction: FloatArray, source: str) -> Points:
    """Turn points so that the coordinate axis nearest to a ``direction`` (3,) points up.

    ``source`` says how the direction was found.
    """
    largest = int(np.argmax(np.abs(direction)))
    up = np.eye(3)[largest] * np.sign(direction[largest])
    file_up = _upright(_axis(points.up_axis)).T @ up
    return replace(points, positions=points.positions @ _upright(up).T,
                   up_axis=axis_name(file_up), up_source=source)


def _up(positions: FloatArray, screen: tuple[str, str],
        unit: float) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Return the file's up axis (3,), how it was found, and a doubt if there is one.

    The stated axis counts, with two exceptions: a negative one that the markers contradict, and one
    that is level for markers that always stand as high as a person along another axis.
    """
    seen, likely = _seen_up(positions)
    stated = _stated_up(screen)
    if stated is None:
        return seen, "the markers that stand still are below the others", ()
    said = f"the file states {axis_name(stated)} up"
    if seen @ stated == 1.0 or likely < LIKELY:
        return stated, BELIEVED, ()
    if seen @ stated == -1.0 and stated.sum() < 0:
        return seen, "the markers that stand still are below the others", (
            f"{said}, but the markers that stand still are below the others along"
            f" {axis_name(seen)}",)
    if seen @ stated == 0.0 and _stands_along(positions, seen, stated, unit):
        return seen, "the markers stand as high as a person along it", (
            f"{said}, but the markers stand as high as a person along {axis_name(seen)}",)
    return stated, BELIEVED, (
        f"{said}, although the markers that stand still suggest {axis_name(seen)}",)


def _stated_up(screen: tuple[str, str]) -> FloatArray | None:
    """Return the axis (3,) that a file states to point up on a screen, or None.

    If it only states that Z points right, Y is up.
    """
    right, up = (axis.strip().upper() if AXIS.fullmatch(axis.strip()) else "" for axis in screen)
    if up and up[-1] != right[-1:]:
        return _axis(up.removeprefix("+"))
    return _axis("Y") if not up and right[-1:] == "Z" else None


def _stands_along(positions: FloatArray, up: FloatArray, stated: FloatArray, unit: float) -> bool:
    """Return whether markers nearly always span a standing person's height along ``up``.

    They must also span clearly less along the ``stated`` axis.
    """
    sample = _sampled(positions)
    sample = sample[np.isfinite(sample[..., 0]).any(axis=1)]
    sides = np.nanmax(sample, axis=1) - np.nanmin(sample, axis=1)
    high, other = (np.percentile(sides @ np.abs(axis), 10) * unit for axis in (up, stated))
    return bool(high > STANDING and high > WIDER * other)


def _seen_up(positions: FloatArray) -> tuple[FloatArray, float]:
    """Return the axis (3,) nearest to the direction from the stillest points to the middle of all.

    Feet stand still more often than other parts, so this axis points up; labels are not needed.
    Also return the distance along it, as a fraction of the markers' size.
    """
    step = np.linalg.norm(np.diff(positions, axis=0), axis=2)
    there = np.isfinite(positions[..., :1])
    centre = np.where(there, positions, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    seen = np.isfinite(step)
    still = seen & (step <= np.quantile(step[seen], STILLEST)) if seen.any() else seen
    away = (centre[:-1, None] - positions[:-1])[still]
    direction = away.mean(axis=0) if len(away) else np.array([0.0, 0.0, 1.0])
    largest = int(np.argmax(np.abs(direction)))
    up = np.eye(3)[largest] * np.sign(direction[largest])
    return up, float(np.abs(direction).max() / max(_size(positions), 1e-9))


def _axis(name: str) -> FloatArray:
    """Return the coordinate axis (3,) of a name such as ``Z`` or ``-Y``."""
    return np.asarray(np.eye(3)["XYZ".index(name[-1])] * (-1.0 if name.startswith("-") else 1.0))


def _upright(up: FloatArray) -> FloatArray:
    """Return the rotation (3, 3) that turns the file's up axis to Z."""
    if up[2] == 1.0:
        return np.eye(3)
    first = np.array([0.0, 0.0, 1.0]) if up[2] == 0.0 else np.array([1.0, 0.0, 0.0])
    return np.array([np.cross(first, up), first, up])
