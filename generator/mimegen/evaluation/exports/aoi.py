"""Export areas of interest for eye trackers: where each part of the body is, frame by frame."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.cells import csv_text
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.media import path_within
from mimegen.evaluation.exports.coco import pass_folder, unreadable
from mimegen.evaluation.exports.source import Source
from mimegen.manifest.row import Row

COLUMNS = ("sample_id", "file_name", "frame", "time_s", "performer", "area", "left", "top",
           "width", "height", "pixels")
PERFORMERS = (1, 2)
SIDES = ("left", "right")
# Words in the names of parts, by area; of limbs on each side.
WHOLE = {"head": "head", "torso": "torso"}
LIMBS = ("arm", "hand", "leg", "foot")
Areas = Mapping[str, Sequence[int]]


def write(source: Source, folder: Path) -> None:
    """Write aoi.csv; raises RequestError for clips without body parts and masks."""
    lines = (line for row in source.clips.values() for line in _of_clip(source, row))
    publish(folder / "aoi.csv", csv_text(COLUMNS, lines))


def _of_clip(source: Source, row: Row) -> Iterator[tuple[Any, ...]]:
    parts, masks = (pass_folder(source, row, kind) for kind in ("parts", "mask"))
    if parts is None or masks is None:
        raise RequestError(f"{row.sample_id}: has no body parts and masks; render again with"
                           " --passes parts,mask (no picture is rendered twice)")
    areas = areas_of(_part_numbers(parts / "pass.json"))
    for frame in range(row.frames):
        labels = _picture(parts, f"parts/{frame:06d}.png")
        people = _picture(masks, f"{frame:06d}.png")
        for performer in PERFORMERS:
            own = np.where(people == performer, labels, 0)
            for area, box in boxes(own, areas).items():
                yield (row.sample_id, row.file_name, frame, round(frame / row.fps, 4), performer,
                       area, *box)


def areas_of(parts: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the parts that each area has, from the numbers of parts by name."""
    def numbers(side: str, word: str) -> tuple[int, ...]:
        return tuple(number for name, number in parts.items()
                     if name.startswith(side) and word in name)

    return {"body": tuple(parts.values()),
            **{area: numbers("", word) for area, word in WHOLE.items()},
            **{f"{side}_{limb}": numbers(side, limb) for limb in LIMBS for side in SIDES}}


def _part_numbers(file: Path) -> dict[str, int]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))["parts"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise unreadable(file, problem) from problem


def boxes(labels: NDArray[np.uint8], areas: Areas) -> dict[str, tuple[int, int, int, int, int]]:
    """Return left, top, width, height and number of pixels of each area that is seen.

    ``labels`` (H, W) are the numbers of parts, 0 where there is none.
    """
    found = {}
    for area, numbers in areas.items():
        there = np.isin(labels, tuple(numbers))
        down, across = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
        if len(down):
            found[area] = (int(across[0]), int(down[0]), int(across[-1] - across[0] + 1),
                           int(down[-1] - down[0] + 1), int(there.sum()))
    return found


def _picture(folder: Path, name: str) -> NDArray[np.uint8]:
    file = path_within(folder, name)
    try:
        with Image.open(file) as picture:
            return np.asarray(picture)
    except OSError as problem:
        raise unreadable(file, problem) from problem
