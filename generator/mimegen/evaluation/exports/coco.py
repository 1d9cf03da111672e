"""Export frames with COCO keypoints and, if masks were made, every person's segmentation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.media import path_within
from mimegen.evaluation.exports.media import write_pictures
from mimegen.evaluation.exports.source import Source
from mimegen.manifest.row import Row

Content = dict[str, Any]
# Keypoint files of clips, and the files into which they are merged.
FILES = {"coco17.json": "person_keypoints.json", "wholebody133.json": "person_wholebody.json"}


def write(source: Source, folder: Path) -> None:
    """Write frames/ and annotations/; raises RequestError for clips without keypoints."""
    pictures = {name: write_pictures(source, name, range(row.frames), folder)
                for name, row in source.clips.items()}
    for file, target in FILES.items():
        clips = [_of_clip(source, name, row, file, pictures[name])
                 for name, row in source.clips.items()]
        publish(folder / "annotations" / target, json.dumps(_merged(clips), ensure_ascii=False))


def without_displays(source: Source) -> Source:
    """Return the source without point-light displays, which have no ground truth.

    Raises RequestError if nothing else remains.
    """
    shown = {name: row for name, row in source.clips.items() if row.display_style is None}
    if not shown:
        raise RequestError(f"{source.file}: all clips are point-light displays, which have no"
                           " ground truth")
    return replace(source, clips=shown)


def pass_folder(source: Source, row: Row, kind: str) -> Path | None:
    """Return the folder of a clip's ground truth of a kind; None if it has none.

    Raises RequestError if a symbolic link leads outside the source's folder.
    """
    facts = (row.passes or {}).get(kind)
    return None if facts is None else path_within(source.folder, facts.folder)


def _of_clip(source: Source, name: str, row: Row, file: str, pictures: dict[int, str]) -> Content:
    """Return a clip's annotations, referring to its exported pictures, with segmentations."""
    folder = pass_folder(source, row, "keypoints")
    if folder is None:
        raise RequestError(f"{row.sample_id}: has no keypoints; render again with --passes"
                           " keypoints,mask (no picture is rendered twice)")
    try:
        content: Content = json.loads(path_within(folder, file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise unreadable(folder / file, problem) from problem
    for image in content["images"]:
        image["file_name"] = pictures[image["frame"]]
        image["clip"] = name
    masks = pass_folder(source, row, "mask")
    for annotation in content["annotations"] if masks else ():
        assert masks is not None
        annotation |= _segmentation(masks, annotation["image_id"] - 1, annotation["person"])
    return content


def unreadable(file: Path, problem: Exception) -> RequestError:
    """Return the error for a file of ground truth that cannot be read."""
    return RequestError(f"{file}: cannot be read ({problem}); mimegen verify --repair makes it"
                        " again")


def _segmentation(masks: Path, frame: int, person: int) -> Content:
    """Return a person's mask in a frame as run lengths, and its area in pixels."""
    file = path_within(masks, f"{frame:06d}.png")
    try:
        with Image.open(file) as picture:
            mask = np.asarray(picture) == person
    except OSError as problem:
        raise unreadable(file, problem) from problem
    return {"segmentation": {"counts": run_lengths(mask), "size": [*mask.shape]},
            "area": int(mask.sum())}


def run_lengths(mask: NDArray[np.bool_]) -> list[int]:
    """Return the run lengths off, on, off ... down the columns of a mask (H, W)."""
    flat = mask.ravel(order="F")
    turns = np.flatnonzero(np.diff(flat)) + 1
    ends = [0] * bool(flat[0]) + [*turns.tolist(), len(flat)]
    return [int(length) for length in np.diff([0, *ends])]


def _merged(clips: list[Content]) -> Content:
    """Return the annotations of all clips, with ids made unique."""
    merged: Content = {"info": {"description": "mimegen: controlled video of human action"},
                       "images": [], "annotations": [], "categories": clips[0]["categories"]}
    for clip in clips:
        pictures, persons = len(merged["images"]), len(merged["annotations"])
        merged["images"] += [one | {"id": pictures + one["id"]} for one in clip["images"]]
        merged["annotations"] += [
            one | {"id": persons + one["id"], "image_id": pictures + one["image_id"]}
            for one in clip["annotations"]]
    return merged
