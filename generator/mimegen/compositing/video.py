"""Encode finished pictures as an H.264 clip, through a pipe to ffmpeg."""

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import IO

import imageio_ffmpeg
import numpy as np

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import NO_SPACE, RequestError, disk_full
from mimegen.base.files import publishing
from mimegen.base.media import ffmpeg_output
from mimegen.compositing.color import LightArray, Shade, Tint
from mimegen.compositing.compose import Compositor
from mimegen.compositing.planes import Planes, changed_box
from mimegen.store.frames import Frame, read_frame

# Fixed, and not the machine's number of cores, because x264's output depends on the number of
# threads.
ENCODER_THREADS = 2
PRESET = "veryfast"
CRF = 16


@dataclass(frozen=True)
class ClipFacts:
    """Facts about a finished clip: frames, size in pixels, and the SHA-256 of its file."""

    frames: int
    width: int
    height: int
    sha256: str


def write_clip(
    frame_paths: Iterable[Path],
    backdrop_linear: LightArray,
    fps: float,
    target: Path,
    threads: int = 0,
    shadow: float = 1.0,
    tint: Tint | None = None,
    shade: Shade | None = None,
) -> ClipFacts:
    """Compose a shot's frames over a background (H, W, 3), linear light, and encode the clip.

    ``shadow`` is the fraction of the shadow to keep, 0 to 1. The figure's light is multiplied by
    ``tint``; ``shade`` is the light that its shadow takes from the ground.

    The clip is H.264, yuv420p, BT.709, with its index at the start (faststart). The same frames
    give the same bytes. The file appears only when complete. ``threads`` is the number of encoder
    threads, 0 for ENCODER_THREADS; the bytes depend on it.

    Raises ValueError, naming the file, for a damaged frame, FileNotFoundError for an absent one,
    and RequestError (DiskFullError if the disk is full), with ffmpeg's last line, if the clip
    cannot be written.
    """
    compositor = Compositor(backdrop_linear, tint, shade)
    planes = Planes(compositor.empty)
    frames = (_with_shadow(read_frame(path), shadow) for path in frame_paths)
    pictures = (planes.show(compositor.compose(frame), changed_box(frame)) for frame in frames)
    height, width = backdrop_linear.shape[:2]
    return _write(pictures, (width, height), fps, target, threads, "yuv420p")


def write_panned(frame_paths: Iterable[Path], backdrop_linear: LightArray, window: tuple[int, int],
                 corners: Iterable[tuple[int, int]], fps: float, target: Path, shadow: float,
                 tint: Tint | None, shade: Shade | None = None) -> ClipFacts:
    """Do the same as ``write_clip``, but show only a window (width, height).

    ``corners`` are its upper left corners (x, y) in the background, one for each frame.
    """
    whole = composed(frame_paths, backdrop_linear, shadow, tint, shade)
    pictures = (in_window(picture, corner, window)
                for picture, corner in zip(whole, corners, strict=True))
    return write_pictures(pictures, window, fps, target)


def in_window(picture: ByteArray, corner: Sequence[int], window: tuple[int, int]) -> ByteArray:
    """Return the part of a picture (H, W, 3) in a window (width, height) at a corner (x, y)."""
    (left, top), (width, height) = corner, window
    return np.ascontiguousarray(picture[top:top + height, left:left + width])


def write_empty(backdrop_linear: LightArray, frames: int, fps: float, target: Path,
                window: tuple[int, int] | None = None,
                corners: Sequence[tuple[int, int]] = ()) -> ClipFacts:
    """Encode a background (H, W, 3), linear light, without figures, for ``frames`` frames.

    ``window`` and ``corners`` are as in ``write_panned``; without them, all of it is shown. Raises
    the same errors as ``write_pictures``.
    """
    picture = Compositor(backdrop_linear).empty
    if window is None:
        height, width = picture.shape[:2]
        return write_pictures(repeat(picture, frames), (width, height), fps, target)
    shown = (in_window(picture, corner, window) for corner in corners)
    return write_pictures(shown, window, fps, target)


def composed(frame_paths: Iterable[Path], backdrop_linear: LightArray, shadow: float,
             tint: Tint | None, shade: Shade | None) -> Iterator[ByteArray]:
    """Yield the pictures (H, W, 3), sRGB bytes, that ``write_clip`` encodes.

    Raises the same errors as ``write_clip`` for damaged and absent frames.
    """
    compositor = Compositor(backdrop_linear, tint, shade)
    for path in frame_paths:
        yield compositor.compose(_with_shadow(read_frame(path), shadow))


def _with_shadow(frame: Frame, share: float) -> Frame:
    """Return a frame with its shadow multiplied by ``share``."""
    if share == 1.0:
        return frame
    return replace(frame, shadow=np.round(frame.shadow * share).astype(np.uint8))


def write_pictures(pictures: Iterable[ByteArray], size: tuple[int, int], fps: float, target: Path,
                   threads: int = 0, gray: bool = False, crf: int = CRF) -> ClipFacts:
    """Encode finished sRGB pictures (H, W, 3), or (H, W) if ``gray``, as ``write_clip`` does.

    ``size`` is width and height; a higher ``crf`` gives lower quality. The iterator may reuse a
    picture's array once the next one is requested. Raises ValueError if there is no picture, and
    RequestError as ``write_clip`` does.
    """
    return _write(pictures, size, fps, target, threads, "gray" if gray else "rgb24", crf)


def _write(pictures: Iterable[ByteArray], size: tuple[int, int], fps: float, target: Path,
           threads: int, pixels: str, crf: int = CRF) -> ClipFacts:
    (width, height), frames = size, 0
    with publishing(target) as part, \
            _encoder(part, width, height, fps, threads, target, pixels, crf) as pipe:
        for picture in pictures:
            pipe.write(picture.data)
            frames += 1
        if not frames:
            raise ValueError(f"{target}: a clip needs at least one frame")
    with target.open("rb") as clip:
        return ClipFacts(frames, width, height, hashlib.file_digest(clip, "sha256").hexdigest())


@contextmanager
def _encoder(
    part: Path, width: int, height: int, fps: float, threads: int, target: Path,
    pixels: str, crf: int,
) -> Iterator[IO[bytes]]:
    """Start ffmpeg and yield the pipe for raw pictures; the file is complete after the block.

    Raises RequestError if ffmpeg fails.
    """
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            _command(part, width, height, fps, threads or ENCODER_THREADS, pixels, crf),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log,
        )
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                yield pipe
        except BrokenPipeError:
            pass
        except BaseException:
            process.kill()
            raise
        finally:
            status = process.wait()
        if status:
            # ffmpeg ends with the negative of the system's error number, modulo 256.
            if 256 - status in NO_SPACE:
                raise disk_full(f"writing {target} (ffmpeg {_cause(status, log)})")
            raise RequestError(f"{target}: ffmpeg {_cause(status, log)}")


def _cause(status: int, log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    ended = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
    if not lines:
        return ended
    # Remove the "[part @ address]" that ffmpeg's lines begin with.
    reason = re.sub(r"^\[.*?\] ", "", lines[-1].strip())
    return f"{ended}: {reason}"


def _command(part: Path, width: int, height: int, fps: float, threads: int,
             pixels: str, crf: int) -> list[str]:
    rate = Fraction(fps).limit_denominator(1001)
    convert = "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int,"
    tags = "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709"
    sited = ["-chroma_sample_location", "center"] if pixels == "yuv420p" else []
    return [
        imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", pixels, "-s", f"{width}x{height}",
        "-r", f"{rate.numerator}/{rate.denominator}", "-i", "pipe:0",
        "-vf", f"{'' if pixels == 'yuv420p' else convert}format=yuv420p,{tags}", *sited,
        "-c:v", "libx264", "-preset", PRESET,
        "-crf", str(crf), "-threads", str(threads), "-filter_threads", "1",
        "-movflags", "+faststart", "-map_metadata", "-1",
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-f", "mp4", ffmpeg_output(part),
    ]
