"""Lay clips and pictures into an export under opaque names."""

import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.question import Question
from mimegen.evaluation.sampling import parse_sampling, write_frames

VIDEOS = (".mp4", ".mov")
# A clip's opaque name and the numbers of the frames shown of it; empty for the whole clip.
View = tuple[str, tuple[int, ...]]


def link_clip(source: Source, name: str, folder: Path, kinds: tuple[str, ...] = VIDEOS) -> str:
    """Put a clip into a folder; return its path relative to that folder's parent.

    Raises RequestError if the clip is missing or not a video of these kinds.
    """
    clip = source.clip(name)
    if clip.suffix.lower() not in kinds:
        raise RequestError(f"{clip}: expected a file that ends in {' or '.join(kinds)}, the only"
                           " formats that the program reads; for pictures, make the questions with"
                           " --sampling")
    folder.mkdir(parents=True, exist_ok=True)
    _link_or_copy(clip, folder / name)
    return f"{folder.name}/{name}"


def views(question: Question, source: Source) -> list[View]:
    """Return what a question shows: its examples' clips, then its own clip or clips.

    Empty for a question of text alone.
    """
    if question.condition == "text":
        return []
    sampling = parse_sampling(question.sampling or "video")
    rows = [source.clips[example.clip] for example in question.examples]
    frames = [tuple(sampling.frames(row.frames, row.fps)) if sampling else () for row in rows]
    names = [example.clip for example in question.examples]
    own = [(one.clip, tuple(one.frames or ())) for one in question.shown]
    return [*zip(names, frames, strict=True), *own]


def write_media(source: Source, folder: Path, kinds: tuple[str, ...] = VIDEOS
                ) -> dict[View, list[str]]:
    """Put what questions show into a folder: clips, or pictures if frames are sampled.

    Returns for each view its paths in the folder, in the order shown. Raises RequestError for a
    clip that cannot be read or is not a video of these kinds.
    """
    wanted: defaultdict[str, set[tuple[int, ...]]] = defaultdict(set)
    for question in source.questions:
        for name, frames in views(question, source):
            wanted[name].add(frames)
    shown = {}
    for name, choices in sorted(wanted.items()):
        numbers = sorted({number for frames in choices for number in frames})
        pictures = write_pictures(source, name, numbers, folder) if numbers else {}
        for frames in choices:
            shown[name, frames] = [pictures[number] for number in frames] or \
                [link_clip(source, name, folder / "clips", kinds)]
    return shown


def _link_or_copy(file: Path, target: Path) -> None:
    """Hard-link a file, which takes no space, or copy it if the file system cannot."""
    try:
        os.link(file.resolve(), target)
    except OSError:
        shutil.copyfile(file, target)


def write_pictures(source: Source, name: str, numbers: Sequence[int], folder: Path
                   ) -> dict[int, str]:
    """Write frames of a clip as JPEG files; return their paths by frame number."""
    place = folder / "frames" / Path(name).stem
    pictures = write_frames(source.clip(name), numbers, place, "jpeg")
    return {int(file.stem): file.relative_to(folder).as_posix() for file in pictures}
