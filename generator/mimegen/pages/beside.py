"""Show a person's video and a character's performance of it side by side, in time."""

import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.base.media import ffmpeg_input
from mimegen.compositing.background import read_background
from mimegen.compositing.video import write_pictures
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import user_take
from mimegen.pages.drawn import DrawnScene, drawn
from mimegen.plan.front import angle_from_front, camera_azimuth
from mimegen.readers import read_motion
from mimegen.readers.video.landmarks import first_seen_s
from mimegen.shots.config import read_config

CONFIG = "draft"
BACKGROUND = "blank"
# The largest ratio of width to height at which a video is shown.
WIDEST = 2.0


def write_beside(video: Path, landmarks: Path, character: str, out: Path) -> None:
    """Write a clip with a video on the left and a character performing it on the right.

    The character is drawn from the position of the video's camera. ``landmarks`` is the file of
    landmarks found in the video. Raises RequestError if the video cannot be decoded or OpenGL is
    not available.
    """
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", CONFIG))
    take = user_take(catalogue, landmarks, (), None, None, "unknown")
    casting = Casting(take, (cast_member(catalogue, character),))
    scene = DrawnScene(casting.seen(casting.perform(config.fps)), read_background(
        catalogue.file("background", BACKGROUND)), config)
    # In the landmarks' own axes, the video's camera is at the front.
    angle = angle_from_front(take, -read_motion(landmarks).heading, camera_azimuth(config))
    motion = scene.performances[0].motion
    filmed = _pictures(video, first_seen_s(landmarks), motion.fps, config.height)
    first = next(filmed, None)
    if first is None:
        raise RequestError(f"{video}: cannot be decoded")
    made = (picture for picture, in drawn(scene, [angle], range(motion.frames)))
    pairs = (np.ascontiguousarray(np.hstack(pair)) for pair in
             zip(_held(chain([first], filmed)), made, strict=False))
    write_pictures(pairs, (first.shape[1] + config.width, config.height), motion.fps, out)


def _held(pictures: Iterator[ByteArray]) -> Iterator[ByteArray]:
    """Yield pictures, then repeat the last one endlessly."""
    picture: ByteArray | None = None
    for picture in pictures:
        yield picture
    while picture is not None:
        yield picture


def _pictures(video: Path, start_s: float, fps: float, height: int) -> Iterator[ByteArray]:
    """Yield a video's pictures (H, W, 3) from the time ``start_s``, upright as in a player."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-ss", f"{start_s:g}",
               *ffmpeg_input(video), "-vf",
               f"fps={fps:g},scale=w='min(trunc(oh*a/2)*2,{int(WIDEST * height)})':h={height}",
               "-f", "image2pipe", "-c:v", "ppm", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as decoder:
        assert decoder.stdout is not None
        while decoder.stdout.readline().strip() == b"P6":
            wide, high = map(int, decoder.stdout.readline().split())
            decoder.stdout.readline()
            data = decoder.stdout.read(3 * wide * high)
            if len(data) == 3 * wide * high:
                yield np.frombuffer(data, np.uint8).reshape(high, wide, 3)
        decoder.kill()
