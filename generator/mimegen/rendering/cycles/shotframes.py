"""The frames of a shot, rendered by Cycles."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mimegen.rendering.cycles.render import PictureReader
from mimegen.rendering.cycles.shot import FigureStage
from mimegen.shots.config import RenderConfig
from mimegen.shots.figures import Figure
from mimegen.shots.jobs import FrameDone, ShotJob
from mimegen.shots.publishing import ShotError, publish_frames


def stage_for(figures: Sequence[Figure], config: RenderConfig,
              stage: FigureStage | None, world: Path | None = None) -> FigureStage:
    """Return a stage for the figures: the given one if it suits them, else a new one.

    ``world`` is the file of the config's environment map.

    Raises ShotError, naming the characters, if a new stage cannot be made.
    """
    characters = [figure.character for figure in figures]
    if stage is not None and stage.suits(characters, config):
        return stage
    try:
        return FigureStage(characters, config, world)
    except Exception as problem:
        names = " and ".join(character.name for character in characters)
        raise ShotError(f"{names} on the stage: {type(problem).__name__}: {problem}") from problem


def render_shot(job: ShotJob, figures: Sequence[Figure], stage: FigureStage,
                 reader: PictureReader, send: Callable[[FrameDone], None]) -> None:
    """Publish every missing frame, looping over frames and, within each, over cameras.

    Raises ShotError, naming frame, camera and folder.
    """
    publish_frames(job, partial(_pose, stage, figures), partial(stage.picture, reader=reader),
                   send)


def _pose(stage: FigureStage, figures: Sequence[Figure], frame: int) -> None:
    """Pose figures at a frame's time and, for motion blur, as the shutter opens and closes."""
    shutter = stage.config.shutter
    apart = () if shutter is None else (-shutter.frames / 2, shutter.frames / 2)
    moments = (frame, *(frame + some for some in apart))
    stage.pose(*([figure.columns_at(moment) for figure in figures] for moment in moments))
