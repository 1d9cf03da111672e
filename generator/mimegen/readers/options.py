"""What a person says about a recording that its file does not say itself."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mimegen.base.errors import RequestError

# The rates (Hz) that --fps-of-file takes.
FPS_OF_FILE = (1.0, 10_000.0)


@dataclass(frozen=True)
class Trim:
    """Which part of a take is used: all of it, what is no T-pose or idle end, or a span.

    ``first`` and ``last`` are seconds from the take's first frame, or frame numbers from 0
    (``in_frames``), both included; None is the take's own end.
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
    """Return what ``auto``, ``none``, ``1.5:7``, ``:7`` (seconds) or ``30f:400f`` (frames) says.

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
    """Return the number of a file's take. Raises RequestError where it is none."""
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,6}", text.strip()):
        raise RequestError(f"--take {text}: expected the number of one of the file's takes, from 0")
    return int(text)


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file: ``stack`` names one of an FBX file's animation stacks, ``mapping`` is a
    YAML file of roles and bones, ``skeleton`` the ASF file that belongs to an AMC file, ``trim``
    says which part of the take is used, ``subject`` names one of the people in a C3D file,
    ``fps_of_file`` is the rate (Hz) at which the file was recorded, whatever the file says,
    ``take`` the number of one of a file's takes, from 0, and ``smpl_model`` a model file of SMPL's.
    """

    stack: str | None = None
    mapping: Path | None = None
    skeleton: Path | None = None
    trim: Trim = Trim()
    subject: str | None = None
    fps_of_file: float | None = None
    take: int | None = None
    smpl_model: Path | None = None


AS_FOUND = ReadOptions()
