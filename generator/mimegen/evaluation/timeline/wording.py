"""How timelines are asked about: ``wordings/mimeqa.yaml``, or a user's own."""

from pathlib import Path

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.templates import FOLDER, Templates


class Whereabouts(Strict):
    """Where a thing is: held by who does ``{step}`` first, or lying."""

    holds: str
    lies: str


class TimelineWording(Templates):
    """Templates, and what goes into them.

    ``sentences`` ask for an aspect, ``not_open`` are those that make no sense where nothing is
    offered to choose from. ``choices`` are all that can be answered to an aspect, ``whereabouts``
    where a thing can be, ``categories`` say where it belongs, ``left_out`` why others are not
    asked for.
    """

    frames: str
    sentences: dict[str, str]
    not_open: tuple[str, ...] = ()
    choices: dict[str, tuple[str, ...]]
    places: tuple[str, ...]
    nothing: str
    whereabouts: Whereabouts
    categories: dict[str, str]
    left_out: dict[str, str]


def read_wording(file: Path | None) -> TimelineWording:
    """Return a user's wording, or MimeQA's.

    Raises RequestError naming file, line and key of the first thing that is wrong.
    """
    return read_yaml(file or FOLDER / "mimeqa.yaml", TimelineWording)
