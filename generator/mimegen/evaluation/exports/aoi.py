"""Export areas of interest for eye trackers: where each part of the body is, frame by frame."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.media import path_within
from mimegen.evaluation.exports.coco import pass_folder, unreadable
from mimegen.evaluation.exports.source import Source
from mimegen.groundtruth.parts import PARTS
from mimegen.manifest.row import Row

COLUMNS = ("sample_id", "file_name", "frame", "time_s", "performer", "area", "left", "top",
           "width", "height", "pixels")
PERFORMERS = (1, 2)
_SIDES = ("left", "right")


def _areas() -> dict[str, tuple[int, ...]]:
    """Return the numbers of DensePose's parts by area of interest."""
    def numbers(side: str, word: str) -> tuple[int, ...]:
        return tuple(number for number, name in enumerate(PARTS, 1)
                     if name.startswith(side) and word in name)

    limbs = {f"{side}_{word}": numbers(side, word)
             for word in ("arm", "hand", "leg", "foot") for side in _SIDES}
    return {"body": tuple(range(1, len(PARTS) + 1)), "head": numbers("", "head"),
            "torso": numbers("", "torso"), **limbs}


AREAS = _areas()


def write(source: Source, folder: Path) -> None:
    """Write aoi.csv; raises RequestError for clips without body parts and masks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in source.clips.values():
        writer.writerows(_of_clip(source, row))
    publish(folder / "aoi.csv", text.getvalue())


def _of_clip(source: Source, row: Row) -> Iterator[tuple[Any, ...]]:
    parts, masks = (pass_folder(source, row, kind) for kind in ("parts", "mask"))
    if parts is None or masks is None:
        raise RequestError(f"{row.sample_id}: has no body parts and masks; render again with"
                           " --passes parts,mask (no picture is rendered twice)")
    for frame in range(row.frames):
        labels = _picture(parts, f"parts/{frame:06d}.png")
        people = _picture(masks, f"{frame:06d}.png")
        for performer in PERFORMERS:
            own = np.where(people == performer, labels, 0)
            for area, box in boxes(own).items():
                yield (row.sample_id, row.file_name, frame, round(frame / row.fps, 4), performer,
                       area, *box)


def boxes(labels: NDArray[np.uint8]) -> dict[str, tuple[int, int, int, int, int]]:
    """Return left, top, width, height and number of pixels of each area that is seen.

    ``labels`` (H, W) are the numbers of DensePose's parts, 0 where there is none.
    """
    found = {}
    for area, numbers in AREAS.items():
        there = np.isin(labels, numbers)
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
