"""Cut a recording to the part that is used."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import quaternions
from mimegen.motion.editing import moved, trimmed
from mimegen.motion.trimming import Span, trim_bounds
from mimegen.readers.canonical import heading_deg
from mimegen.readers.options import Trim
from mimegen.readers.recording import Recording

# Fewest frames of a motion.
MIN_FRAMES = 2


def span_of(path: Path, recording: Recording, trim: Trim) -> Span:
    """Return the frames of a recording that ``trim`` selects.

    Raises RequestError if they do not lie within the recording.
    """
    motion = recording.motion
    if trim.kind == "none":
        return Span(0, motion.frames - 1)
    if trim.kind == "auto":
        return trim_bounds(motion, recording.roles)
    rate = 1.0 if trim.in_frames else motion.fps
    first = 0 if trim.first is None else round(trim.first * rate)
    last = motion.frames - 1 if trim.last is None else round(trim.last * rate)
    if last == motion.frames and not trim.in_frames:
        # The end of the last frame, which is the length that users see.
        last -= 1
    if last > motion.frames - 1 or last - first + 1 < MIN_FRAMES:
        raise RequestError(
            f"{path}: --trim {trim} is outside the motion of {motion.frames} frames"
            f" (0f:{motion.frames - 1}f), {motion.duration:.2f} s long")
    return Span(first, last)


def cut(recording: Recording, span: Span) -> Recording:
    """Cut a recording to these frames; its new start is over the origin and faces -Y.

    The new ``heading`` and ``origin`` still give the performer's placement in the file.
    """
    whole = recording.motion
    if (span.first, span.last) == (0, whole.frames - 1):
        return recording
    motion = trimmed(whole, span.first, span.last)
    turn = heading_deg(motion, recording.roles)
    motion = moved(motion, np.zeros(3), -turn)
    shift = motion.root_positions[0] * [1.0, 1.0, 0.0]
    back = quaternions.from_rotation_vectors([0.0, 0.0, -np.radians(turn)])
    origin = shift + quaternions.rotate(back, [*recording.origin, 0.0])
    why = f" ({', '.join(span.reasons)})" if span.reasons else ""
    if recording.skipped:
        why += f"; 0 is the file's frame {recording.skipped}"
    return replace(
        recording, motion=moved(motion, -shift, 0.0), heading=recording.heading + turn,
        origin=(float(origin[0]), float(origin[1])), span=(span.first, span.last),
        bridged=_within(recording, span),
        notes=(*recording.notes, f"frames {span.first} to {span.last} of {whole.frames} are used,"
                                 f" {span.first / whole.fps:.2f} to {span.last / whole.fps:.2f}"
                                 f" s{why}"))


def _within(recording: Recording, span: Span) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the parts of bridged gaps within the span, in frames from its start."""
    found = {}
    for joint, gaps in recording.bridged.items():
        inside = tuple((max(a, span.first) - span.first, min(b, span.last) - span.first)
                       for a, b in gaps if a <= span.last and b >= span.first)
        if inside:
            found[joint] = inside
    return found
