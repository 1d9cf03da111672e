"""Put two recordings of one scene back where the people stood relative to each other."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import Motion
from mimegen.motion.editing import moved, resampled, trimmed
from mimegen.motion.trimming import Span
from mimegen.readers.options import ReadOptions, Trim
from mimegen.readers.points import subjects_of
from mimegen.readers.recording import Recording
from mimegen.readers.trimming import MIN_FRAMES, cut, span_of

# Direction of the line from the first person to the second, in degrees from +X: with it neither
# hides the other from the front, nor from the azimuth of MIME's camera.
LINE_DEG = 30.0
# Units of the two files that differ by a larger factor, each found by the size of its body, are
# not units of one scene: an adult and a child differ by less.
MAX_UNIT_RATIO = 1.6
# Hips of two people whose median distance, in metres, is smaller are in one place.
MIN_APART_M = 0.15


def both_people(file: Path, partner: Path | None,
                options: ReadOptions) -> tuple[ReadOptions, Path | None]:
    """Return the options to read a file with, and the partner's file or None.

    If no partner and no subject are given and a C3D file holds two people, the options select the
    first of them, and the file is its own partner's file. Raises RequestError if a C3D file is
    missing or damaged.
    """
    if partner is not None or options.subject is not None or file.suffix.lower() != ".c3d":
        return options, partner
    people = subjects_of(file)
    return (replace(options, subject=people[0]), file) if len(people) == 2 else (options, None)


def partner_options(file: Path, partner: Path, options: ReadOptions) -> ReadOptions:
    """Return the options to read the partner's file with, given the ``options`` of ``file``.

    Raises RequestError if both are one file of a format that holds one person.
    """
    if partner == file and file.suffix.lower() != ".c3d":
        raise RequestError(f"{partner}: is given for both people; --partner takes the recording of"
                           " the second person (only a C3D file can hold both)")
    others = [one for one in subjects_of(file) if one != options.subject] if partner == file else []
    return replace(options, skeleton=None, subject=others[0] if others else None)


def cut_to_common_span(files: Sequence[Path], recordings: Sequence[Recording],
                       trim: Trim) -> tuple[Recording, ...]:
    """Cut recordings of one scene to the same time span.

    It covers the spans that ``trim`` selects in each, within the time that they have in common.

    The files share a clock, though each may be read from a different frame on. Raises RequestError
    if ``trim`` asks for frames that a file does not have, or if the two people are never seen at
    the same time.
    """
    spans = [span_of(file, recording, trim)
             for file, recording in zip(files, recordings, strict=True)]
    rates = [recording.motion.fps for recording in recordings]
    begins = [recording.skipped / rate for recording, rate in zip(recordings, rates, strict=True)]
    start = max(*begins, min(begin + span.first / rate for begin, span, rate in zip(
        begins, spans, rates, strict=True)))
    end = min(max(begin + span.last / rate for begin, span, rate in zip(
        begins, spans, rates, strict=True)),
        *(begin + recording.motion.last_s for begin, recording in zip(
            begins, recordings, strict=True)))
    if (end - start) * min(rates) < MIN_FRAMES - 1:
        raise RequestError(f"{files[0]}: the two people are not seen at the same time")
    return tuple(
        cut(recording, Span(round((start - begin) * rate), round((end - begin) * rate)))
        for recording, begin, rate in zip(recordings, begins, rates, strict=True))


def in_common_frame(first: Recording, second: Recording) -> tuple[Motion, Motion]:
    """Return the motions of two people whose files share a clock and a world frame.

    Both get the frame rate of the first and the length of the shorter. Their midpoint, averaged
    over time, is moved over the origin, and at the start the line from the first to the second
    points ``LINE_DEG`` counterclockwise from +X. Raises RequestError if the files cannot be of one
    scene.
    """
    _check(first, second)
    one, two = _as_recorded(first, first.unit), _as_recorded(second, first.unit)
    two = resampled(two, one.fps) if two.fps != one.fps else two
    last = min(one.frames, two.frames) - 1
    one, two = trimmed(one, 0, last), trimmed(two, 0, last)
    apart = (two.root_positions - one.root_positions)[0]
    turn_deg = LINE_DEG - float(np.degrees(np.arctan2(apart[1], apart[0])))
    middle = np.mean((one.root_positions + two.root_positions) / 2, axis=0) * [1, 1, 0]
    return moved(one, -middle, turn_deg), moved(two, -middle, turn_deg)


def doubts_on_placement(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """Return notes if the people's placement is uncertain.

    It is if both are in one place, or if only one of the files is mirrored. If both are mirrored,
    they are mirrored back about the same plane, which keeps their relative placement.
    """
    notes: list[str] = []
    if len({one.mirrored for one in recordings}) > 1:
        notes.append("only one of the two files is mirrored, so they may not share a world frame:"
                     " the people's positions relative to each other are uncertain; check them"
                     " with preview")
    if len(recordings) == 2 and (apart := _apart_m(*recordings)) < MIN_APART_M:
        notes.append(f"the two people are in one place, their hips {apart:.2f} m apart: the files"
                     " may not be of one scene")
    return tuple(notes)


def _apart_m(first: Recording, second: Recording) -> float:
    """Return the median horizontal distance of the hips, in metres, over the common frames."""
    one, two = (_as_recorded(each, first.unit).root_positions[:, :2] for each in (first, second))
    frames = min(len(one), len(two))
    return float(np.median(np.linalg.norm(one[:frames] - two[:frames], axis=1)))


def _check(first: Recording, second: Recording) -> None:
    """Raise RequestError if two files have different up axes, or units of different scenes."""
    if first.up_axis != second.up_axis:
        raise RequestError(f"--partner has {second.up_axis} up but --motion has {first.up_axis}:"
                           " the files do not share a world frame")
    ratio = second.unit / first.unit
    if max(ratio, 1 / ratio) > MAX_UNIT_RATIO:
        raise RequestError(f"--partner has units of {second.unit:.3g} m but --motion has units of"
                           f" {first.unit:.3g} m, by the sizes of the bodies: the files are not of"
                           " one scene; convert one of them to the other's unit")


def _as_recorded(recording: Recording, unit: float) -> Motion:
    """Return the motion at its place and heading in the file, Z up, with ``unit`` metres per unit.

    One unit is used for all people of a scene, whatever unit each one's size suggests.
    """
    scale = unit / recording.unit
    motion = recording.motion
    there = motion.root_positions + np.array([*recording.origin, 0.0])
    sized = Motion(motion.skeleton.scaled(scale), motion.fps, there * scale, motion.rotations)
    return moved(sized, np.zeros(3), recording.heading)

