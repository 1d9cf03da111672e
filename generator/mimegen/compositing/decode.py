"""Read pictures from finished clips, through a pipe from ffmpeg."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.base.frame_selection import picking
from mimegen.base.media import ffmpeg_input


@dataclass(frozen=True)
class VideoFile:
    """A video file: its number of frames, frames per second, width and height in pixels."""

    path: Path
    frames: int
    fps: float
    width: int
    height: int


def read_clip(path: Path) -> VideoFile:
    """Count a clip's frames and read its rate and size.

    Raises RequestError if the file is absent or not a video.
    """
    if not path.is_file():
        raise RequestError(f"{path}: no such clip")
    *params, _, address = ffmpeg_input(path)
    try:
        pictures = imageio_ffmpeg.read_frames(address, input_params=params)
        facts = next(pictures)
        pictures.close()
    except (OSError, RuntimeError, IndexError, StopIteration) as problem:
        raise _broken(path) from problem
    listed = _listed_frames(path)
    frames = _frame_lines(listed)
    if not frames:
        raise _broken(path)
    # ffmpeg takes a GIF's rate from its first frame, but frames last 3 or 4 hundredths at 30 fps.
    fps = (_mean_rate(listed) if path.suffix.lower() == ".gif" else None) or facts["fps"]
    return VideoFile(path, frames, fps, *facts["size"])


def _mean_rate(framecrc: str) -> float | None:
    """Return frames per second by the durations in the output of ffmpeg's framecrc, if it has any.
    """
    tick = re.search(r"^#tb 0: (\d+)/(\d+)$", framecrc, re.MULTILINE)
    lengths = [int(line.split(",")[3]) for line in framecrc.splitlines()
               if not line.startswith("#")]
    if tick is None or not sum(lengths):
        return None
    return len(lengths) * int(tick[2]) / (int(tick[1]) * sum(lengths))


def _listed_frames(path: Path) -> str:
    """Return ffmpeg's list of a video's frames, which it makes without decoding them."""
    done = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *ffmpeg_input(path), "-map", "0:v:0",
         "-c", "copy", "-f", "framecrc", "pipe:1"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout


def _frame_lines(framecrc: str) -> int:
    """Return the number of frames listed in the output of ffmpeg's framecrc."""
    return sum(not line.startswith("#") for line in framecrc.splitlines())


def decoded_clip(path: Path) -> VideoFile:
    """Decode every frame of a clip, on one core, and return its frame count, rate and size.

    Raises RequestError, with the decoder's first message, if any frame does not decode.
    """
    if not path.is_file():
        raise RequestError(f"{path}: no such clip")
    done = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-xerror", "-err_detect", "explode",
         "-threads", "1", *ffmpeg_input(path), "-map", "0:v:0", "-f", "framecrc", "pipe:1"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode or done.stderr.strip():
        output = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        # Remove the "[part @ address]" that ffmpeg's lines begin with.
        reason = re.sub(r"^\[.*?\] ", "", output)
        raise RequestError(f"{path}: does not decode ({reason})")
    found = re.search(r"#tb 0: (\d+)/(\d+).*#dimensions 0: (\d+)x(\d+)", done.stdout, re.DOTALL)
    frames = _frame_lines(done.stdout)
    if found is None or not frames:
        raise _broken(path)
    ticks, per_second, width, height = map(int, found.groups())
    return VideoFile(path, frames, per_second / ticks, width, height)


def read_pictures(clip: VideoFile, numbers: Sequence[int], width: int) -> list[ByteArray]:
    """Return the given frames of a clip, scaled to ``width``, each (h, width, 3) sRGB bytes.

    ``numbers`` must ascend; the first frame is 0. Raises RequestError if the clip is cut off.
    """
    height = round(width * clip.height / clip.width)
    decoded = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", *ffmpeg_input(clip.path),
         "-vf", f"select={picking(numbers)},"
         f"scale={width}:{height}:flags=area+accurate_rnd+full_chroma_int",
         "-fps_mode", "passthrough", "-frames:v", str(len(numbers)),
         "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    ).stdout
    if len(decoded) != len(numbers) * height * width * 3:
        raise _broken(clip.path)
    return list(np.frombuffer(decoded, np.uint8).reshape(-1, height, width, 3))


def clip_pictures(clip: VideoFile) -> Iterator[ByteArray]:
    """Yield every frame of a clip in its original size, each (H, W, 3) sRGB bytes.

    Raises RequestError if the clip is cut off.
    """
    *params, _, address = ffmpeg_input(clip.path)
    pictures = imageio_ffmpeg.read_frames(address, pix_fmt="rgb24", input_params=params)
    next(pictures)
    left = clip.frames
    for picture in pictures:
        left -= 1
        yield np.frombuffer(picture, np.uint8).reshape(clip.height, clip.width, 3)
    if left:
        raise _broken(clip.path)


def _broken(path: Path) -> RequestError:
    return RequestError(f"{path}: not a video, or cut off; render it again")
