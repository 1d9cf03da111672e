"""Options with which the user reads a recording: facts that its file does not state."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mimegen.base.errors import RequestError

# The rates (Hz) that --fps-of-file takes.
FPS_OF_FILE = (1.0, 10_000.0)


@dataclass(frozen=True)
class Trim:
    """The part of a take that is used.

    ``kind`` is ``none`` for all of it, ``auto`` to leave out T-poses and idle ends, or ``span``.
    ``first`` and ``last`` of a span are seconds from the take's first frame, or frame numbers from
    0 (``in_frames``), both included; None is the start or the end of the take.
    """

    kind: Literal["none", "auto", "span"] = "none"
    first: float | None = None
    last: float | None = None
    in_frames: bool = False

    def __str__(self) -> str:
        if self.kind != "span":
            return self.kind
        unit = "f" if self.in_frames else ""
        return ":".join("" if end is None else f"{end:g}{unit}" for end in (self.first, self.last))


def parse_trim(text: str) -> Trim:
    """Parse ``auto``, ``none``, ``1.5:7``, ``:7`` (seconds) or ``30f:400f`` (frames).

    Raises RequestError for anything else.
    """
    if text in ("auto", "none"):
        return Trim("auto" if text == "auto" else "none")
    number = r"(\d+(?:\.\d*)?|\.\d+)"
    span = re.fullmatch(rf"(?:{number}(f?))?:(?:{number}(f?))?", text.strip())
    if span and any(span.groups()):
        return _span(text, *span.groups())
    raise RequestError(f"--trim {text}: expected auto, none, or a range in seconds as 1.5:7 or in"
                       " frames as 30f:400f; one end may be left out")


def _span(text: str, first: str | None, first_unit: str | None, last: str | None,
          last_unit: str | None) -> Trim:
    """Return the span of the two ends of a range. Raises RequestError if they do not fit."""
    units = {unit for end, unit in ((first, first_unit), (last, last_unit)) if end}
    if len(units) == 2:
        raise RequestError(f"--trim {text}: mixes seconds and frames; expected both ends in one"
                           " unit, as 1.5:7 or 30f:400f")
    start, end = (float(word) if word else None for word in (first, last))
    if start is not None and end is not None and start >= end:
        raise RequestError(f"--trim {text}: is an empty range; expected the earlier end first, as"
                           " 1.5:7")
    return Trim("span", start, end, units == {"f"})


def take_number(text: str | None) -> int | None:
    """Return the number of a file's take, or None if not given.

    Raises RequestError if the text is not a whole number of up to six digits.
    """
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,6}", text.strip()):
        raise RequestError(f"--take {text}: expected the number of one of the file's takes, from 0")
    return int(text)


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file.

    ``stack`` names one of an FBX file's animation stacks. ``mapping`` is a YAML file of roles and
    bones. ``skeleton`` is the ASF file that belongs to an AMC file. ``trim`` is the part of the
    take that is used. ``subject`` names one of several people in a file. ``fps_of_file`` is the
    rate (Hz) of the recording and overrides the file's own. ``take`` is the number of one of the
    file's takes, from 0. ``smpl_model`` is a file of one of the SMPL body models.
    """

    stack: str | None = None
    mapping: Path | None = None
    skeleton: Path | None = None
    trim: Trim = Trim()
    subject: str | None = None
    fps_of_file: float | None = None
    take: int | None = None
    smpl_model: Path | None = None


# No options: the file alone decides.
AS_FOUND = ReadOptions()
