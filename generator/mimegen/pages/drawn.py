"""Draw performances with OpenGL in this process, without workers or store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.characters.character import Character, Performance
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.background import Background
from mimegen.compositing.color import srgb_to_linear
from mimegen.compositing.compose import Compositor
from mimegen.compositing.video import in_window
from mimegen.motion import Motion
from mimegen.rendering.opengl.context import context_of_process, telling
from mimegen.rendering.opengl.scenery import draw_set
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.scenery.clearing import changed, needed_changes
from mimegen.scenery.floorplan import LaidSet
from mimegen.scenery.job import SetJob
from mimegen.scenery.sweeping import swept_by
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.shots.figures import Figure
from mimegen.shots.follow import Offsets, following, follows
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns

# Font size of labels, in pixels.
LABEL = 13
COLUMNS = 4


def opengl_is_here() -> bool:
    """Return whether this machine can draw with OpenGL."""
    try:
        context_of_process()
    except RequestError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class DrawnScene:
    """Performers whose motions share one time axis, a background, and the config to draw them."""

    performances: Sequence[Performance]
    background: Background
    config: RenderConfig

    def view(self, angle_deg: float) -> "_View":
        """Return the view from a variant's angle."""
        camera = frame_camera(self.performances, self.config, angle_deg)
        return _View(*following(camera, self.performances, self.config)) \
            if follows(self.config) else _View(camera)


@dataclass(frozen=True, eq=False)
class _View:
    """A camera; of one that follows, also the upper left corners (F, 2) of the part it shows."""

    camera: Camera
    corners: Offsets | None = None

    def shown(self, picture: ByteArray, frame: int, config: RenderConfig) -> ByteArray:
        """Return the part of a whole picture (H, W, 3) that a frame shows."""
        if self.corners is None:
            return picture
        return in_window(picture, self.corners[frame], (config.width, config.height))


def drawn(scene: DrawnScene, angles_deg: Sequence[float], frames: Iterable[int]
          ) -> Iterator[list[ByteArray]]:
    """Yield, for every frame, the finished sRGB pictures (H, W, 3), one from each angle.

    Raises RequestError if OpenGL is not available or fails.
    """
    context = context_of_process()
    views = [scene.view(angle) for angle in angles_deg]
    with telling(context):
        stage = stage_of(scene.performances, scene.config)
        behind = [Compositor(_backdrop(context, scene, view.camera, angle))
                  for view, angle in zip(views, angles_deg, strict=True)]
        for frame in frames:
            stage.pose(columns_at(scene.performances, frame))
            yield [view.shown(compositor.compose(stage.picture(view.camera)), frame, scene.config)
                   for compositor, view in zip(behind, views, strict=True)]


def stage_of(performances: Sequence[Performance], config: RenderConfig) -> RasterStage:
    """Return a stage with the performers, posed as in their first frame.

    Raises RequestError if OpenGL is not available.
    """
    stage = RasterStage(context_of_process(), [each.character for each in performances], config)
    stage.pose(columns_at(performances, 0))
    return stage


def _backdrop(context: moderngl.Context, scene: DrawnScene, camera: Camera, angle_deg: float
              ) -> NDArray[np.float32]:
    if scene.background.set is None:
        return backdrop(scene.background, camera, None, angle_deg)
    swept = swept_by([performance.motion for performance in scene.performances])
    changes = needed_changes(LaidSet(scene.background.set), swept, camera)
    with scratch_folder() as folder:
        still = Path(folder) / "still.png"
        draw_set(context, SetJob(changed(scene.background.set, changes), camera, scene.config,
                                 still))
        return backdrop(scene.background, camera, still)


def drawing(figures: Sequence[tuple[Character, Motion]], config: RenderConfig,
            behind: tuple[int, int, int]) -> Callable[[int, Camera], Image.Image]:
    """Return a function that draws figures in a frame, given by number, from a camera.

    The background is the sRGB color ``behind``, 0 to 255. Raises RequestError if OpenGL is not
    available or, when drawing, fails.
    """
    performances = [Performance(character, motion) for character, motion in figures]
    context = context_of_process()
    stage = RasterStage(context, [character for character, _ in figures], config)
    color = srgb_to_linear(np.array(behind) / 255)

    def draw(frame: int, camera: Camera) -> Image.Image:
        """Return the picture of a frame from a camera."""
        plain = np.tile(color, (camera.height, camera.width, 1)).astype(np.float32)
        with telling(context):
            stage.pose(columns_at(performances, frame))
            return Image.fromarray(Compositor(plain).compose(stage.picture(camera)))

    return draw


def columns_at(performances: Sequence[Performance], frame: int) -> list[NDArray[np.float32]]:
    """Return each performer's joint columns (4 J, 3) in a frame, for posing a stage."""
    figures = [Figure.of(performance) for performance in performances]
    return [joint_columns(figure.character.skeleton, figure.positions[frame, None],
                          figure.rotations[frame, None]) for figure in figures]


def drawn_sheet(scene: DrawnScene, angle_deg: float, frames: int) -> Image.Image:
    """Return a contact sheet of evenly spaced frames, each with its time in seconds."""
    motion = scene.performances[0].motion
    numbers = np.unique(np.linspace(0, motion.frames - 1, frames).round().astype(int))
    pictures = (picture for picture, in drawn(scene, [angle_deg], numbers))
    return tiled(pictures, [f"{number / motion.fps:.2f} s" for number in numbers], COLUMNS)


def tiled(pictures: Iterable[ByteArray], labels: Sequence[str], columns: int) -> Image.Image:
    """Return a sheet of pictures (H, W, 3) of the same size, each with its label in the corner.

    They are arranged row by row in ``columns`` columns.
    """
    sheet = Image.new("RGB", (1, 1))
    for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        height, width = picture.shape[:2]
        if number == 0:
            across = min(columns, len(labels))
            sheet = Image.new("RGB", (across * width, -(-len(labels) // across) * height), "white")
        left, top = number % columns * width, number // columns * height
        sheet.paste(Image.fromarray(picture), (left, top))
        ImageDraw.Draw(sheet).text((left + 6, top + 4), label, "white",
                                   ImageFont.load_default(LABEL), stroke_width=2,
                                   stroke_fill="black")
    return sheet
