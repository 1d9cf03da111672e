"""Pictures and videos that a notebook shows inline."""

import base64
from collections.abc import Iterable
from pathlib import Path

from mimegen.base.arrays import ByteArray
from mimegen.base.files import publish, scratch_folder
from mimegen.compositing.video import write_pictures


class Video:
    """A finished H.264 video in memory. A notebook plays it inline."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    @classmethod
    def of(cls, pictures: Iterable[ByteArray], size: tuple[int, int], fps: float,
           gray: bool = False) -> "Video":
        """Encode sRGB pictures (H, W, 3), or (H, W) if ``gray``; ``size`` is (width, height)."""
        with scratch_folder() as folder:
            target = folder / "video.mp4"
            write_pictures(pictures, size, fps, target, gray=gray)
            return cls(target.read_bytes())

    def save(self, path: str | Path) -> Path:
        """Write the video to an ``.mp4`` file and return its path."""
        publish(Path(path), self.content)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Video: {len(self.content) / 1e6:.2f} MB of H.264; .save(PATH) writes an MP4>"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.content).decode()
        return (f'<video controls loop style="max-width:100%" src="data:video/mp4;base64,{data}">'
                "</video>")
