"""Composing and encoding a clip, as a job for any free worker."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.background import Background
from mimegen.compositing.camera_look import defocused, looked
from mimegen.compositing.color import LightArray, Shade, Tint
from mimegen.compositing.compose import Compositor
from mimegen.compositing.video import (
    composed,
    write_clip,
    write_empty,
    write_panned,
    write_pictures,
)
from mimegen.shots.camera import Camera
from mimegen.shots.look import FilmedLook, Lens
from mimegen.store.frames import frame_name


@dataclass(frozen=True, eq=False)
class ClipJob:
    """Make the clip ``target`` of a shot's frames in ``folder``, in order, over a background.

    ``shadow`` is the fraction of the shadow to keep, 0 to 1. ``still`` is the rendered picture if
    the background is a set, ``angle_deg`` the variant's angle. The figure's light is multiplied by
    ``tint``; ``shade`` is the light that its shadow takes from the ground. With a ``window``
    (width, height), only that part of the camera's picture is shown; ``pan`` is its upper left
    corner in every frame. An ``empty`` clip shows the background only, for the same length. A
    ``look`` is applied to the finished pictures; it requires a camera that does not pan.
    """

    folder: Path
    frames: tuple[int, ...]
    shadow: float
    background: Background
    camera: Camera
    still: Path | None
    fps: float
    target: Path
    angle_deg: float = 0.0
    tint: Tint | None = None
    window: tuple[int, int] | None = None
    pan: tuple[tuple[int, int], ...] = ()
    shade: Shade | None = None
    empty: bool = False
    look: FilmedLook | None = None

    def run(self) -> None:
        """Publish the clip; raises the same errors as ``backdrop`` and ``write_clip``.

        Raises FileNotFoundError if the frames' folder is gone.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder} is gone")
        files = (self.folder / frame_name(number) for number in self.frames)
        scene = backdrop(self.background, self.camera, self.still, self.angle_deg)
        if self.look is not None:
            self._write_looked(files, scene, self.look)
            return
        if self.empty:
            write_empty(scene, len(self.frames), self.fps, self.target, self.window, self.pan)
            return
        if self.window is not None:
            write_panned(files, scene, self.window, self.pan, self.fps, self.target, self.shadow,
                         self.tint, self.shade)
            return
        write_clip(files, scene, self.fps, self.target, shadow=self.shadow,
                   tint=self.tint, shade=self.shade)

    def _write_looked(self, files: Iterable[Path], scene: LightArray, look: FilmedLook) -> None:
        if self.still is not None and look.look.f_number is not None:
            scene = defocused(scene, self.camera, look.look.f_number)
        lens = Lens(look, self.camera, len(self.frames), self.fps)
        pictures = repeat(Compositor(scene).empty, len(self.frames)) if self.empty else composed(
            files, scene, self.shadow, self.tint, self.shade)
        write_pictures(looked(pictures, lens), (self.camera.width, self.camera.height), self.fps,
                       self.target, crf=look.look.crf)
