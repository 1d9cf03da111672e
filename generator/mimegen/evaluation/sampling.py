"""Choose the frames of a clip to show, so that every harness shows the same ones."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.base.frame_selection import picking
from mimegen.base.media import ffmpeg_input, ffmpeg_pattern

_WORD = re.compile(r"(?P<kind>uniform|middle|fps|window):(?P<numbers>\d+(\.\d+)?(:\d+(\.\d+)?)*)")
# Most frames of a sampling: the limits of MimeQA and of ObservableToM.
MOST = {"fps": 64, "window": 32}
# ActPLD cuts this fraction off both ends of a clip, where poses belong to no action.
IDLE_SHARE = 0.1
ENDINGS = {"jpeg": "jpg", "png": "png"}
# Largest side of a frame, in pixels.
LARGEST = 4096
# Height of the time written on pictures, as a fraction of the picture's height.
STAMP_SHARE = 0.06


@dataclass(frozen=True)
class FrameSampling:
    """``uniform:K``, ``middle:K``, ``fps:F`` or ``fps:F:MOST``, ``window:START:END:F`` (seconds).
    """

    kind: str
    numbers: tuple[float, ...]

    @property
    def is_part(self) -> bool:
        """Whether the frames are of a part of the clip, not spread over all of it."""
        return self.kind in ("middle", "window")

    def window(self, frames: int, fps: float) -> list[float]:
        """Return the start and end in seconds of the part that frames are taken from."""
        length = frames / fps
        if self.kind != "window":
            return [0.0, round(length, 4)]
        start, end = self.numbers[:2]
        return [min(start, length), min(end, length)]

    def frames(self, frames: int, fps: float) -> list[int]:
        """Return the numbers of the frames to show, from 0, each at most once.

        ``uniform`` takes the middle of each of K equal parts. ``middle`` takes K consecutive frames
        at the middle of the clip, without a tenth at either end (ActPLD takes eight). ``fps``
        starts with the first frame; if there would be too many, they are spread evenly instead.
        Raises RequestError for an empty window.
        """
        if self.kind == "middle":
            return _middle(int(self.numbers[0]), frames)
        if self.kind == "uniform":
            count = int(self.numbers[0])
            # The middles of equal parts, to avoid the first frame, in which nothing has happened,
            # and the last.
            return sorted({int((part + 0.5) * frames / count) for part in range(count)})
        start, end = self.window(frames, fps)
        if start >= end:
            raise RequestError(f"the window {self.numbers[0]:g} to {self.numbers[1]:g} s contains"
                               f" no frame of a clip of {frames / fps:.2f} s")
        rate = self.numbers[-1] if self.kind == "window" else self.numbers[0]
        most = int(self.numbers[1]) if self.kind == "fps" and len(self.numbers) > 1 else \
            MOST[self.kind]
        # The small addition keeps a frame that rounding would put just beyond the end.
        count = max(int((end - start) * rate + 1e-9), 1)
        step = 1 / rate if count <= most else (end - start) / most
        times = [start + number * step for number in range(min(count, most))]
        return sorted({min(int(time * fps + 0.5), frames - 1) for time in times})


def refuse_part(sampling: FrameSampling | None, text: str, questions: str) -> None:
    """Raise RequestError if a sampling shows a part of clips and questions are about all of them.
    """
    if sampling is not None and sampling.is_part:
        raise RequestError(f"--sampling {text} shows a part of each clip, but {questions} are about"
                           " all of it; use video, uniform:K or fps:F")


def _middle(count: int, frames: int) -> list[int]:
    """Return consecutive frames at the middle of the clip without its idle ends."""
    idle = int(frames * IDLE_SHARE)
    first = max(idle + (frames - 2 * idle - count) // 2, 0)
    return [*range(first, min(first + count, frames))]


def parse_sampling(text: str) -> FrameSampling | None:
    """Return the sampling described by a text; None for ``video``, the whole clip.

    Raises RequestError for anything else.
    """
    if text == "video":
        return None
    match = _WORD.fullmatch(text)
    numbers = tuple(map(float, match["numbers"].split(":"))) if match else ()
    counts = {"uniform": (1,), "middle": (1,), "fps": (1, 2), "window": (3,)}
    if not match or len(numbers) not in counts[match["kind"]] or not _sane(match["kind"], numbers):
        raise RequestError(f"--sampling {text}: expected video, uniform:K, middle:K, fps:F,"
                           " fps:F:MOST or window:START:END:F, as in uniform:8 or window:2:6:8")
    return FrameSampling(match["kind"], numbers)


def _sane(kind: str, numbers: tuple[float, ...]) -> bool:
    """Whether the numbers of a sampling are in range."""
    if kind in ("uniform", "middle"):
        return numbers[0].is_integer() and numbers[0] >= 1
    if kind == "window":
        return numbers[1] > numbers[0] and numbers[2] > 0
    return numbers[0] > 0 and (len(numbers) == 1 or (numbers[1].is_integer() and numbers[1] >= 1))


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Return ``512x512`` as width and height in pixels. Raises RequestError for anything else."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(16 <= side <= LARGEST for side in size):
        raise RequestError(f"--size {text}: expected WIDTHxHEIGHT of 16 to {LARGEST} pixels, as in"
                           " 512x512")
    return size


def write_frames(clip: Path, frames: Sequence[int], folder: Path, kind: str,
                 size: tuple[int, int] | None = None, stamp_fps: float | None = None
                 ) -> list[Path]:
    """Write frames of a clip as ``00000.jpg`` or ``.png`` into a folder, all of them or none.

    Frames are fitted into ``size``. With ``stamp_fps``, the clip's frame rate, their time is
    written into a corner. Raises RequestError if the clip cannot be read or lacks some of the
    frames, and if the folder exists and its files are not exactly these.
    """
    with scratch_folder(folder.parent) as scratch:
        made = scratch / "frames"
        made.mkdir()
        _write_frames(clip, frames, made, ENDINGS[kind], size, stamp_fps)
        if not folder.exists():
            made.rename(folder)
        # Names do not tell: the clip, the size or the stamp may have changed since.
        elif _contents(folder) != _contents(made):
            raise RequestError(f"{folder}: contains other frames of this clip; choose another"
                               " folder")
    return sorted(folder.iterdir())


def _write_frames(clip: Path, frames: Sequence[int], folder: Path, ending: str,
                  size: tuple[int, int] | None, stamp_fps: float | None) -> None:
    written = _read_frames(clip, frames, folder, ending, size)
    for file, number in zip(written, frames, strict=True):
        if stamp_fps is not None:
            _stamp(file, f"{number / stamp_fps:.2f} s")
        file.rename(folder / f"{number:05d}.{ending}")


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file in a folder, by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _read_frames(clip: Path, frames: Sequence[int], folder: Path, ending: str,
                 size: tuple[int, int] | None) -> list[Path]:
    """Return the files of frames, fitted into ``size`` with black bars where necessary."""
    filters = [f"select={picking(frames)}"]
    if size is not None:
        w, h = size
        filters += [f"scale={w}:{h}:force_original_aspect_ratio=decrease",
                    f"pad={w}:{h}:(ow-iw)/2:(oh-ih)/2"]
    quality = ["-q:v", "2"] if ending == "jpg" else []
    done = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", *ffmpeg_input(clip), "-vf",
         ",".join(filters), "-fps_mode", "passthrough", *quality,
         ffmpeg_pattern(folder, f"part-%05d.{ending}")],
        capture_output=True, text=True)
    written = sorted(folder.iterdir())
    if done.returncode or len(written) != len(frames):
        output = done.stderr.strip().splitlines()
        raise RequestError(f"{clip}: {len(written)} of {len(frames)} frames could be read"
                           f"{': ' + output[0] if output else ''}")
    return written


def _stamp(file: Path, text: str) -> None:
    """Write a text on black into the upper left corner of a picture."""
    with Image.open(file) as opened:
        picture = opened.convert("RGB")
    font = ImageFont.load_default(max(round(STAMP_SHARE * picture.height), 10))
    draw = ImageDraw.Draw(picture)
    left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
    edge = (bottom - top) // 2
    draw.rectangle((0, 0, right - left + 2 * edge, bottom - top + 2 * edge), fill="black")
    draw.text((edge - left, edge - top), text, fill="white", font=font)
    # PNG ignores the quality.
    picture.save(file, quality=95)
