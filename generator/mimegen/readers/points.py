"""Raw markers in the house's units and axes: what point-light displays draw and solving needs."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.c3d_file import NUMBERED, Trajectories, read_trajectories
from mimegen.readers.files import check_file
from mimegen.readers.names import common_beginning

UNITS = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "in": 0.0254, "inch": 0.0254, "ft": 0.3048}
# The largest side of the box around one person's markers, in metres, and what is usual.
LEAST_SIZE, LARGEST_SIZE, USUAL_SIZE = 0.4, 3.5, 1.4
UNLABELLED = re.compile(rf"(\*|U_|unl?abell?ed|unidentified|uname\*?|{NUMBERED})[\s_-]*\d*",
                        re.IGNORECASE)
CALCULATED = re.compile(r"\w*(Angles?|Forces?|Moments?|Powers?|GRF)V?", re.IGNORECASE)
# Plug-in Gait writes a segment's axes as four points: origin, anterior, lateral and proximal.
AXIS_ENDS = "OALP"
# Two subjects that share so many labels are two people, not a person and a prop.
SHARED_MARKERS = 8
STILLEST = 0.05
# Who is in a file does not depend on its rate, which may be wrong.
ANY_RATE = 1.0


@dataclass(frozen=True, eq=False)
class Points:
    """Markers of one take, in metres, Z up; ``positions`` (F, M, 3) are NaN at gaps.

    The ground and the facing are the file's own. ``unit`` is metres per file unit, ``up_axis``
    the file's axis that became Z. ``notes`` say what was left out, merged or guessed. ``people``
    are the subjects in the file whose markers these are, where they are several's.
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


def read_points(path: Path, subject: str | None = None, fps: float | None = None) -> Points:
    """Read the markers of a C3D file, labelled or not: a ``subject``'s, or all there are.

    ``fps`` goes before the file's own rate.
    Labels of one person are without the subject's prefix, those of several keep it; split
    trajectories of one label are joined; angles, forces, calculated axes and (where there are
    labels) unlabelled points are left out.
    Raises RequestError, one line, for a file that is missing, damaged, without markers or without
    that subject.
    """
    check_file(path)
    found = read_trajectories(path, fps)
    people = _people(found.labels)
    # People of one file stand in one world, however still one of them is.
    everyone = found.positions[:, _markers(found, found.labels)[0]] if people else None
    if subject is not None:
        found, people = _of_subject(path, found, subject), ()
    labels = found.labels if people else _without_prefix(found.labels)
    keep, notes = _markers(found, labels)
    if not keep.any():
        raise RequestError(f"{path}: holds no markers, only calculated points ({labels[0]} ...)")
    names = [label for label, kept in zip(labels, keep, strict=True) if kept]
    names, places, joined = _joined(names, found.positions[:, keep])
    # Several people are wider apart than anybody is tall.
    one = [not people or name.startswith(f"{people[0]}:") for name in names]
    unit, unit_source = _unit(found.unit, places[:, one])
    up, up_axis, up_source = _up(places if everyone is None else everyone)
    turned = places @ _upright(up).T * unit
    return Points(tuple(names), turned, found.fps, unit, unit_source, up_axis, up_source,
                  (*notes, *joined, *_numbered(names)), people)


def subjects_of(path: Path) -> tuple[str, ...]:
    """Return the names of the people whose markers a C3D file holds; none for a single person.

    Raises RequestError, one line, for a file that is missing or damaged.
    """
    check_file(path)
    return _people(read_trajectories(path, ANY_RATE).labels)


def _people(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the subjects, in the file's order, who carry markers of the same names."""
    subjects = _by_subject(labels)
    return tuple(one for one, own in subjects.items() if any(
        len(own & others) >= SHARED_MARKERS for two, others in subjects.items() if two != one))


def _by_subject(labels: tuple[str, ...]) -> dict[str, set[str]]:
    """Return the labels of each subject, without its prefix."""
    subjects: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        subject, colon, name = label.rpartition(":")
        if colon:
            subjects[subject].add(name)
    return subjects


def _of_subject(path: Path, found: Trajectories, subject: str) -> Trajectories:
    """Return one subject's trajectories; raises RequestError where the file does not hold it."""
    subjects = {name.casefold(): name for name in _by_subject(found.labels)}
    name = subjects.get(subject.casefold())
    if name is None:
        near = get_close_matches(subject.casefold(), subjects, n=3, cutoff=0.5) or list(subjects)
        held = f"; did you mean {' or '.join(repr(subjects[one]) for one in near[:5])}?" \
            if near else ": its labels name none; leave out --subject"
        raise RequestError(f"{path}: holds no subject {subject!r}{held}")
    own = np.array([label.rpartition(":")[0] == name for label in found.labels])
    return replace(found, positions=found.positions[:, own],
                   labels=tuple(n for n, mine in zip(found.labels, own, strict=True) if mine))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Say that a file's points have numbers for labels, where it names none of them."""
    if not all(name.startswith(NUMBERED) for name in names):
        return ()
    return (f"the file has no labels: its {len(names)} points are numbered ({names[0]} ...)",)


def _without_prefix(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Take off the subject's name: ``Derrick:LFHD`` and ``Derrick_LFHD`` are ``LFHD``."""
    bare = tuple(label.rpartition(":")[2].strip() or label for label in labels)
    begin = common_beginning(tuple(label for label in bare if not label.startswith(NUMBERED)))
    return tuple(label.removeprefix(begin) or label for label in bare)


def _markers(found: Trajectories, labels: tuple[str, ...]) -> tuple[NDArray[np.bool_], list[str]]:
    """Say which points (M,) are markers, and why the others are none."""
    seen = np.isfinite(found.positions[..., 0]).any(axis=0)
    unnamed = np.array([bool(UNLABELLED.fullmatch(label)) for label in labels])
    calculated = np.array([
        own in found.not_places or label in found.not_places
        or bool(CALCULATED.fullmatch(label))
        for own, label in zip(found.labels, labels, strict=True)])
    axes = _axes(labels)
    unnamed &= bool((seen & ~unnamed & ~calculated & ~axes).any())
    notes = []
    for mask, reason in ((axes & seen, "calculated axes of segments, no markers"),
                         (calculated & ~axes & seen, "angles, forces or the like, no places"),
                         (unnamed & seen, "without a label"),
                         (~seen, "never seen")):
        names = [label for label, wrong in zip(labels, mask, strict=True) if wrong]
        if names:
            notes.append(f"left out, {reason}: {len(names)} points ({', '.join(names[:3])}"
                         f"{' ...' if len(names) > 3 else ''})")
    return seen & ~unnamed & ~calculated & ~axes, notes


def _axes(labels: tuple[str, ...]) -> NDArray[np.bool_]:
    known = set(labels)
    return np.array([len(label) > 3 and label[-1] in AXIS_ENDS
                     and {label[:-1] + end for end in AXIS_ENDS} <= known for label in labels])


def _joined(names: list[str],
            places: FloatArray) -> tuple[list[str], FloatArray, list[str]]:
    """Join trajectories of one label that a tracker split; where several are seen, the longest."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        by_name[name].append(number)
    if len(by_name) == len(names):
        return names, places, []
    joined = np.empty((len(places), len(by_name), 3))
    for column, members in enumerate(by_name.values()):
        seen = np.isfinite(places[:, members, 0])
        best = members[int(np.argmax(seen.sum(axis=0)))]
        joined[:, column] = places[:, best]
        for number in members:
            gaps = np.isnan(joined[:, column, 0])
            joined[gaps, column] = places[gaps, number]
    split = [name for name, members in by_name.items() if len(members) > 1]
    return list(by_name), joined, [f"joined, of one label: the split trajectories of"
                                   f" {len(split)} markers ({', '.join(split[:3])}"
                                   f"{' ...' if len(split) > 3 else ''})"]


def _sampled(places: FloatArray) -> FloatArray:
    return places[:: max(1, len(places) // 500)]


def _unit(stated: str, places: FloatArray) -> tuple[float, str]:
    """Return metres per unit: what the file says, unless the body would have no human size."""
    sample = _sampled(places)
    sample = sample[np.isfinite(sample[..., 0]).any(axis=1)]
    sides = np.nanmax(sample, axis=1) - np.nanmin(sample, axis=1)
    size = float(np.percentile(sides.max(axis=1), 75))
    unit = UNITS.get(stated.lower().rstrip("s"))
    if unit and LEAST_SIZE <= size * unit <= LARGEST_SIZE:
        return unit, f"the file says {stated}: the markers span {size * unit:.2f} m"
    says = f"the file says {stated}, which cannot be" if unit else "the file does not say"
    name, unit = min(UNITS.items(), key=lambda u: abs(np.log(max(size, 1e-9) * u[1] / USUAL_SIZE)))
    return unit, f"{says}; in {name} the markers span {size * unit:.2f} m"


def stood_up(points: Points, direction: FloatArray, source: str) -> Points:
    """Return points turned so that the axis nearest to a ``direction`` (3,) in them points up.

    ``source`` says how the direction was found.
    """
    largest = int(np.argmax(np.abs(direction)))
    up = np.eye(3)[largest] * np.sign(direction[largest])
    file_up = _upright(_axis(points.up_axis)).T @ up
    return replace(points, positions=points.positions @ _upright(up).T,
                   up_axis=_axis_name(file_up), up_source=source)


def _up(places: FloatArray) -> tuple[FloatArray, str, str]:
    """Find the file's vertical: from where the stillest points are to the middle of all.

    Feet stand still more often than anything else, whatever the labels say.
    """
    step = np.linalg.norm(np.diff(places, axis=0), axis=2)
    there = np.isfinite(places[..., :1])
    centre = np.where(there, places, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    seen = np.isfinite(step)
    still = seen & (step <= np.quantile(step[seen], STILLEST)) if seen.any() else seen
    away = (centre[:-1, None] - places[:-1])[still]
    direction = away.mean(axis=0) if len(away) else np.array([0.0, 0.0, 1.0])
    largest = int(np.argmax(np.abs(direction)))
    up = np.eye(3)[largest] * np.sign(direction[largest])
    return up, _axis_name(up), "what stands still is below the rest"


def _axis_name(up: FloatArray) -> str:
    """Return ``-Y`` for an axis (3,) that points along the negative Y."""
    return f"{'-' if up.sum() < 0 else ''}{'XYZ'[int(np.argmax(np.abs(up)))]}"


def _axis(name: str) -> FloatArray:
    """Return the axis (3,) that has a name."""
    return np.asarray(np.eye(3)["XYZ".index(name[-1])] * (-1.0 if name.startswith("-") else 1.0))


def _upright(up: FloatArray) -> FloatArray:
    """Return the rotation (3, 3) that turns the file's up axis to Z."""
    if up[2] == 1.0:
        return np.eye(3)
    first = np.array([0.0, 0.0, 1.0]) if up[2] == 0.0 else np.array([1.0, 0.0, 0.0])
    return np.array([np.cross(first, up), first, up])
