"""Which frames of a clip are shown, so that every harness shows the same ones."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

from mimegen.base.errors import RequestError
from mimegen.base.files import publishing

_WORD = re.compile(r"(?P<kind>uniform|fps|window):(?P<numbers>\d+(\.\d+)?(:\d+(\.\d+)?)*)")
# MimeQA's and ObservableToM's limits.
MOST = {"fps": 64, "window": 32}
ENDINGS = {"jpeg": "jpg", "png": "png"}


@dataclass(frozen=True)
class Sampling:
    """``uniform:K``; ``fps:F`` or ``fps:F:MOST``; ``window:START:END:F``, in seconds."""

    kind: str
    numbers: tuple[float, ...]

    def window(self, frames: int, fps: float) -> list[float]:
        """Return the span in seconds that frames are taken from, within the clip."""
        length = frames / fps
        if self.kind != "window":
            return [0.0, round(length, 4)]
        start, end = self.numbers[:2]
        return [min(start, length), min(end, length)]

    def frames(self, frames: int, fps: float) -> list[int]:
        """Return the numbers of the frames to show, from 0; each at most once.

        ``uniform`` takes the middle of K equal parts; ``fps`` begins with the first frame, and
        what would be too many are spread evenly instead. Raises RequestError for an empty window.
        """
        if self.kind == "uniform":
            count = int(self.numbers[0])
            return sorted({int((part + 0.5) * frames / count) for part in range(count)})
        start, end = self.window(frames, fps)
        if start >= end:
            raise RequestError(f"the window {self.numbers[0]:g} to {self.numbers[1]:g} s holds"
                               f" nothing of a clip of {frames / fps:.2f} s")
        rate = self.numbers[-1] if self.kind == "window" else self.numbers[0]
        most = int(self.numbers[1]) if self.kind == "fps" and len(self.numbers) > 1 else \
            MOST[self.kind]
        count = max(int((end - start) * rate + 1e-9), 1)
        step = 1 / rate if count <= most else (end - start) / most
        times = [start + number * step for number in range(min(count, most))]
        return sorted({min(int(time * fps + 0.5), frames - 1) for time in times})


def parse_sampling(text: str) -> Sampling | None:
    """Return the sampling that a text says; None for ``video``, the clip as it is.

    Raises RequestError for anything else.
    """
    if text == "video":
        return None
    match = _WORD.fullmatch(text)
    numbers = tuple(map(float, match["numbers"].split(":"))) if match else ()
    counts = {"uniform": (1,), "fps": (1, 2), "window": (3,)}
    if not match or len(numbers) not in counts[match["kind"]] or not _sane(match["kind"], numbers):
        raise RequestError(f"--sampling {text}: expected video, uniform:K, fps:F, fps:F:MOST or"
                           " window:START:END:F, as in uniform:8 or window:2:6:8")
    return Sampling(match["kind"], numbers)


def _sane(kind: str, numbers: tuple[float, ...]) -> bool:
    if kind == "uniform":
        return numbers[0].is_integer() and numbers[0] >= 1
    if kind == "window":
        return numbers[1] > numbers[0] and numbers[2] > 0
    return numbers[0] > 0 and (len(numbers) == 1 or (numbers[1].is_integer() and numbers[1] >= 1))


def write_frames(clip: Path, frames: Sequence[int], folder: Path, kind: str) -> list[Path]:
    """Write frames of a clip as ``00000.jpg`` or ``.png`` into a folder, all of them or none.

    Raises RequestError where the clip cannot be read or has not all of them.
    """
    if folder.exists():
        return sorted(folder.iterdir())
    wanted = "+".join(f"eq(n\\,{number})" for number in frames)
    quality = ["-q:v", "2"] if kind == "jpeg" else []
    with publishing(folder) as part:
        part.mkdir(parents=True)
        done = subprocess.run(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i", clip, "-vf",
             f"select={wanted}", "-fps_mode", "passthrough", *quality,
             part / f"part-%05d.{ENDINGS[kind]}"], capture_output=True, text=True)
        written = sorted(part.iterdir())
        if done.returncode or len(written) != len(frames):
            said = done.stderr.strip().splitlines()
            raise RequestError(f"{clip}: {len(written)} of {len(frames)} frames could be read"
                               f"{': ' + said[0] if said else ''}")
        for file, number in zip(written, frames, strict=True):
            file.rename(part / f"{number:05d}.{ENDINGS[kind]}")
    return sorted(folder.iterdir())
