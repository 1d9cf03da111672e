"""Wording of questions about timelines: ``wordings/mimeqa.yaml``, or a user's own."""

from pathlib import Path

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.templates import FOLDER, Templates


class Whereabouts(Strict):
    """Where an object is: held by the person who does ``{step}`` first, or lying."""

    holds: str
    lies: str


class TimelineWording(Templates):
    """Templates, and the texts that are filled into them.

    ``sentences`` are the questions by aspect; those in ``not_open`` make no sense without options.
    ``choices`` are all answers to an aspect, ``whereabouts`` the places where an object can be,
    ``categories`` the category of each aspect, and ``left_out`` the reasons why other categories
    are not asked about.
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

    Raises RequestError naming the file, line and key of the first error.
    """
    return read_yaml(file or FOLDER / "mimeqa.yaml", TimelineWording)
