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
    """Return a stage that holds the figures: the one there is, if it does.

    ``world`` is the file of the config's world.

    Raises ShotError naming the characters.
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
    """Publish every missing frame, frames outer and cameras inner.

    Raises ShotError, naming frame, camera and folder.
    """
    publish_frames(job, partial(_pose, stage, figures), partial(stage.picture, reader=reader),
                   send)


def _pose(stage: FigureStage, figures: Sequence[Figure], frame: int) -> None:
    """Pose figures as they are in a frame, and as the shutter opens and closes about it."""
    shutter = stage.config.shutter
    apart = () if shutter is None else (-shutter.frames / 2, shutter.frames / 2)
    moments = (frame, *(frame + some for some in apart))
    stage.pose(*([figure.columns_at(moment) for figure in figures] for moment in moments))
