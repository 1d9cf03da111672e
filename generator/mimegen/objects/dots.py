"""Point-light displays in memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.arrays import ByteArray
from mimegen.manifest.row import Row
from mimegen.motion.quaternions import FloatArray
from mimegen.objects.media import Video
from mimegen.objects.records import data_frame
from mimegen.pages.drawn import tiled
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.presets import read_display
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import Stimulus
from mimegen.production.displays import write_display

if TYPE_CHECKING:
    import pandas

SHEET_FRAMES = 8
SHEET_COLUMNS = 4
# Gray level of the edges between pictures of a contact sheet.
EDGE = 128


def display_named(name: str, manipulations: str | Sequence[str], options: dict[str, Any]
                  ) -> Display:
    """Return a display preset or file with some values changed, and one or more manipulations.

    Raises RequestError for an unknown preset, option or value.
    """
    preset = read_display(name)
    further = (manipulations,) if isinstance(manipulations, str) else tuple(manipulations)
    return changed(preset, manipulations=(*preset.manipulations, *further), **options)


def _edged(picture: ByteArray) -> ByteArray:
    """Return a picture as RGB with a gray edge, which separates it from the next on a sheet."""
    edged = np.full((*picture.shape[:2], 3), EDGE, np.uint8)
    inner = picture if picture.ndim == 3 else picture[..., None]
    edged[1:-1, 1:-1] = inner[1:-1, 1:-1]
    return edged


class Dots:
    """A point-light display: where each dot is in each frame, and how the display was made."""

    def __init__(self, stimulus: Stimulus) -> None:
        self._stimulus = stimulus

    @property
    def names(self) -> tuple[str, ...]:
        """The dots' names, such as ``left_wrist``; mask dots are named too."""
        return tuple(self._stimulus.dots.names)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self._stimulus.display.fps

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        return self._stimulus.display.width, self._stimulus.display.height

    def positions(self) -> FloatArray:
        """Return the dots' positions (frames, dots, 2) in pixels from the top left corner."""
        return np.array(self._stimulus.dots.positions[..., :2])

    def visible(self) -> NDArray[np.bool_]:
        """Return which dots are shown in which frame (frames, dots)."""
        return np.array(self._stimulus.dots.visible)

    def frame(self) -> "pandas.DataFrame":
        """Return a DataFrame with one row per frame and dot: time, position in pixels, visible."""
        shape = (len(self.visible()), len(self.names))
        frame, dot = (part.ravel() for part in np.indices(shape))
        x, y = self.positions().reshape(-1, 2).T
        return data_frame({"frame": number, "time_s": number / self.fps, "name": self.names[place],
                           "x_px": across, "y_px": down, "visible": shown}
                          for number, place, across, down, shown in zip(
                              frame.tolist(), dot.tolist(), x.tolist(), y.tolist(),
                              self.visible().ravel().tolist(), strict=True))

    def frames(self) -> Iterator[ByteArray]:
        """Yield the pictures: sRGB bytes (height, width), or (height, width, 3) if colored."""
        for picture in pictures(self._stimulus):
            yield picture.copy()

    @property
    def record(self) -> dict[str, Any]:
        """Everything that a paper reports about the display, as a manifest row has it."""
        return display_facts(self._stimulus)

    def show(self) -> Image.Image:
        """Return a contact sheet of eight evenly spaced frames, each with its time in seconds."""
        all_frames = list(self.frames())
        chosen = np.unique(np.linspace(0, len(all_frames) - 1, SHEET_FRAMES).round().astype(int))
        return tiled((_edged(all_frames[number]) for number in chosen),
                     [f"{number / self.fps:.2f} s" for number in chosen], SHEET_COLUMNS)

    def preview(self) -> Video:
        """Return the display as a video."""
        return Video.of(self.frames(), self.size, self.fps, gray=self._stimulus.gray)

    def save(self, path: str | Path) -> Row:
        """Write the display as ``mimegen pointlight --out`` does and return its manifest row.

        The ending says what is written: ``.mp4``, ``.gif``, ``.png``, ``.csv``, ``.npz``,
        ``.txt``, or a folder for all of them. Raises RequestError for any other ending.
        """
        return write_display(self._stimulus, Path(path))

    def __repr__(self) -> str:
        frames, count = self._stimulus.dots.visible.shape
        facts = self._stimulus.scene.facts
        shown = ", ".join((self._stimulus.display.name, *self._stimulus.display.manipulations))
        return (f"<Dots: {count} dots, {frames / self.fps:.1f} s, {frames} frames at"
                f" {self.fps:g} fps; {facts.get('action', 'motion')}, {shown}>")
