"""Find a person's joints in a video, as a program: ``python -m MODULE VIDEO OUT.json``.

It runs in a separate process, because MediaPipe loads TensorFlow's runtime, and damaged videos can
crash a decoder. Version 0.10.21 includes its models, so nothing is downloaded.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray

from mimegen.base.media import ffmpeg_input

# Frame rate (Hz) at which the video is sampled.
FPS = 30.0
# Height of the pictures in pixels. Larger ones take longer and do not help, because the model
# scales the body to 256 pixels.
HEIGHT = 480
DIGITS = 5


def main() -> None:
    """Write the landmarks of a video as JSON."""
    Path(sys.argv[2]).write_text(json.dumps(estimated(Path(sys.argv[1]))), encoding="utf-8")


def estimated(video: Path) -> dict[str, Any]:
    """Return the landmarks of every frame, an empty list for a frame without a person."""
    import mediapipe

    with mediapipe.solutions.pose.Pose(static_image_mode=False, model_complexity=1) as pose:
        frames = [_landmarks(pose.process(picture)) for picture in _pictures(video)]
    return {"fps": FPS, "estimator": f"MediaPipe {mediapipe.__version__}", "frames": frames}


def _pictures(video: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures (H, W, 3) of a video at ``FPS``, rotated as a player shows them."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", *ffmpeg_input(video),
               "-vf", f"fps={FPS:g},scale=-2:{HEIGHT}", "-f", "image2pipe", "-c:v", "ppm", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as decoder:
        assert decoder.stdout is not None
        while (head := decoder.stdout.readline()).strip() == b"P6":
            width, height = map(int, decoder.stdout.readline().split())
            decoder.stdout.readline()
            data = decoder.stdout.read(3 * width * height)
            if len(data) == 3 * width * height:
                yield np.frombuffer(data, np.uint8).reshape(height, width, 3)
    if head or decoder.returncode:
        sys.exit(f"the video cannot be decoded to its end (status {decoder.returncode})")


def _landmarks(found: Any) -> list[dict[str, float]]:
    """Return the rounded landmarks of a frame in metres, or an empty list."""
    if found.pose_world_landmarks is None:
        return []
    return [{"x": round(one.x, DIGITS), "y": round(one.y, DIGITS), "z": round(one.z, DIGITS),
             "visibility": round(one.visibility, 3)}
            for one in found.pose_world_landmarks.landmark]


if __name__ == "__main__":
    main()
