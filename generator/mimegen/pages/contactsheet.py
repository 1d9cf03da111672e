"""Contact sheets: PNG overviews of the frames of clips."""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.compositing.decode import VideoFile, read_clip, read_pictures
from mimegen.manifest.file import clip_path, rows_of
from mimegen.pages.overlay import TruthOverlay, overlays

Overlays = Mapping[Path, TruthOverlay]
CLIP_SUFFIXES = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".gif")
COLUMNS = 4
# Width in pixels of a frame in the grid of one clip, and in the overview of many.
THUMB = 320
ROW_THUMB = 176
CLIPS_ON_A_SHEET = 40
_GAP = 8
_PAPER = (250, 250, 250)
_INK = (40, 40, 44)
_FAINT = (120, 120, 128)


def contact_sheet(source: Path, target: Path | None, frames: int = 12,
                  truth: str | None = None) -> list[Path]:
    """Write contact sheets of ``frames`` evenly spaced frames, and return their files.

    A clip gives a grid with the time of each frame. A folder gives an overview with one row per
    clip and at most 40 clips per sheet; for a request's folder, its ``clips`` are used. ``target``
    is a PNG, or a folder to put it in; by default, the sheet is written beside the clip, or into
    the folder. ``truth`` is a kind of ground truth to draw over the pictures.

    Raises RequestError if the source has no clips, a clip is not a video or is cut off, the
    manifest is invalid or names clips outside of its folder, or the target cannot be written.
    """
    known = {} if truth is None else overlays(source, truth)
    if not source.is_dir():
        sheet = _grid(read_clip(source), frames, known)
        return [_publish(sheet, _file(target, source.with_name(f"{source.stem}.sheet.png")))]
    clips = [clip for clip in _clips_in(source) if not known or clip.resolve() in known]
    first = _file(target, source / "contactsheet.png")
    pages = [clips[start:start + CLIPS_ON_A_SHEET]
             for start in range(0, len(clips), CLIPS_ON_A_SHEET)]
    names = [first, *(first.with_name(f"{first.stem}-{page}{first.suffix}")
                      for page in range(2, len(pages) + 1))]
    titles = _titles(source)
    return [_publish(_overview(page, frames, titles, known), name)
            for page, name in zip(pages, names, strict=True)]


def _clips_in(folder: Path) -> list[Path]:
    for place in (folder, folder / "clips"):
        if place.is_dir():
            clips = sorted((file for file in place.iterdir()
                            if file.suffix.lower() in CLIP_SUFFIXES and file.name[0] != "."),
                           key=_by_numbers)
            if clips:
                return _once(clips)
    raise RequestError(f"{folder}: no clips in this folder ({' '.join(CLIP_SUFFIXES)})")


def _once(clips: list[Path]) -> list[Path]:
    """Return the clips without the GIFs that a video of the same name shows too."""
    videos = {clip.stem for clip in clips if clip.suffix.lower() != ".gif"}
    return [clip for clip in clips if clip.suffix.lower() != ".gif" or clip.stem not in videos]


def _titles(folder: Path) -> dict[Path, str]:
    """Return the names of clips in a request's manifest, by the clips' resolved paths."""
    place = folder.parent if folder.name == "clips" else folder
    return {clip_path(place, row).resolve(): row.plain_id or row.sample_id
            for row in rows_of(place)}


def _by_numbers(file: Path) -> list[tuple[int, str]]:
    """Return a sorting key that orders numbers in names by value: 90 before 180."""
    return [(int(part), "") if part.isdecimal() else (0, part)
            for part in re.split(r"(\d+)", file.name)]


def _file(target: Path | None, usual: Path) -> Path:
    if target is None:
        return usual
    if target.is_dir():
        return target / usual.name
    if not target.suffix:
        return target / usual.name
    if target.suffix.lower() != ".png":
        raise RequestError(f"{target}: a contact sheet is a PNG; name it {target.name}.png")
    return target


def _publish(sheet: Image.Image, target: Path) -> Path:
    packed = io.BytesIO()
    sheet.save(packed, "PNG")
    publish(target, packed.getvalue())
    return target


def _evenly(clip: VideoFile, frames: int) -> list[int]:
    """Return at most ``frames`` evenly spaced frame numbers, from the first to the last."""
    spaced = np.linspace(0, clip.frames - 1, min(frames, clip.frames))
    return [int(number) for number in spaced.round()]


def _pictures(clip: VideoFile, numbers: Sequence[int], width: int, known: Overlays
              ) -> list[ByteArray]:
    """Return frames of a clip, with its ground truth drawn over them if it is in ``known``."""
    pictures = list(read_pictures(clip, numbers, width))
    overlay = known.get(clip.path.resolve())
    if overlay is None:
        return pictures
    return [overlay.over(picture, number)
            for picture, number in zip(pictures, numbers, strict=True)]


def _grid(clip: VideoFile, frames: int, known: Overlays) -> Image.Image:
    numbers = _evenly(clip, frames)
    columns = min(COLUMNS, len(numbers))
    rows = -(-len(numbers) // columns)
    height = round(THUMB * clip.height / clip.width)
    head, step = 44, height + 26
    sheet = Image.new("RGB", (max(columns * (THUMB + _GAP) + _GAP, 640),
                              head + rows * (step + _GAP)), _PAPER)
    draw = ImageDraw.Draw(sheet)
    _write(draw, (_GAP, 12), clip.path.stem, 18, sheet.width - 2 * _GAP)
    for place, picture in enumerate(_pictures(clip, numbers, THUMB, known)):
        left = _GAP + place % columns * (THUMB + _GAP)
        top = head + place // columns * (step + _GAP)
        _paste(sheet, picture, left, top)
        draw.text((left + 2, top + height + 5), _time(clip, numbers[place]), _FAINT, _font(14))
    return sheet


def _overview(files: Sequence[Path], frames: int, titles: Mapping[Path, str],
              known: Overlays) -> Image.Image:
    clips = [read_clip(file) for file in files]
    heights = [round(ROW_THUMB * clip.height / clip.width) for clip in clips]
    head = 28
    sheet = Image.new("RGB", (frames * (ROW_THUMB + _GAP) + _GAP,
                              sum(heights) + len(clips) * (head + _GAP) + _GAP), _PAPER)
    draw = ImageDraw.Draw(sheet)
    top = _GAP
    for clip, height in zip(clips, heights, strict=True):
        facts = f"{clip.frames} frames · {clip.fps:g}/s · {clip.width}x{clip.height}"
        room = draw.textlength(facts, _font(13)) + 3 * _GAP
        title = titles.get(clip.path.resolve(), clip.path.stem)
        _write(draw, (_GAP, top + 3), title, 16, sheet.width - room)
        draw.text((sheet.width - _GAP, top + 5), facts, _FAINT, _font(13), anchor="ra")
        for place, picture in enumerate(_pictures(clip, _evenly(clip, frames), ROW_THUMB,
                                                   known)):
            _paste(sheet, picture, _GAP + place * (ROW_THUMB + _GAP), top + head)
        top += head + height + _GAP
    return sheet


def _time(clip: VideoFile, number: int) -> str:
    return f"{number / clip.fps:.2f} s   frame {number + 1} of {clip.frames}"


def _write(draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: int,
           room: float) -> None:
    """Draw a line of text; if it does not fit, replace its middle by an ellipsis."""
    keep = len(text)
    line = text
    while draw.textlength(line, _font(size)) > room and keep > 8:
        keep -= 1
        line = f"{text[:keep // 2]}…{text[len(text) - keep // 2:]}"
    draw.text(at, line, _INK, _font(size))


def _paste(sheet: Image.Image, picture: ByteArray, left: int, top: int) -> None:
    """Put a picture on the sheet with a thin border, which separates white ones from the paper."""
    thumb = Image.fromarray(picture)
    ImageDraw.Draw(sheet).rectangle(
        (left - 1, top - 1, left + thumb.width, top + thumb.height), outline=(205, 205, 210))
    sheet.paste(thumb, (left, top))


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
