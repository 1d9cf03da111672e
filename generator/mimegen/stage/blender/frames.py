"""The frames of a shot: figures posed, pictures taken, packed and published."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from mimegen.base.files import publish
from mimegen.stage.blender.render import PictureReader
from mimegen.stage.blender.shot import FigureStage
from mimegen.stage.config import RenderConfig
from mimegen.stage.devices import kind_of_cpu
from mimegen.stage.figures import Figure
from mimegen.stage.jobs import FrameDone, ShotJob
from mimegen.stage.skinning import joint_columns
from mimegen.store.frames import frame_to_bytes
from mimegen.store.makers import note_maker


class ShotError(Exception):
    """Something went wrong with one frame; the text says with which."""


def stage_for(figures: Sequence[Figure], config: RenderConfig,
               stage: FigureStage | None) -> FigureStage:
    """Return a stage that holds the figures: the one there is, if it does.

    Raises ShotError naming the characters.
    """
    characters = [figure.character for figure in figures]
    if stage is not None and stage.suits(characters, config):
        return stage
    try:
        return FigureStage(characters, config)
    except Exception as problem:
        names = " and ".join(character.name for character in characters)
        raise ShotError(f"{names} on the stage: {type(problem).__name__}: {problem}") from problem


def render_shot(job: ShotJob, figures: Sequence[Figure], stage: FigureStage,
                 reader: PictureReader, send: Callable[[FrameDone], None]) -> None:
    """Publish every missing frame, frames outer and cameras inner.

    Raises ShotError, naming frame, camera and folder.
    """
    cpu = kind_of_cpu()
    for frame in np.flatnonzero(job.missing.any(axis=1)):
        columns = [
            joint_columns(figure.character.skeleton, figure.positions[frame, None],
                          figure.rotations[frame, None])
            for figure in figures
        ]
        started = time.perf_counter()
        stage.pose(columns)
        for camera in np.flatnonzero(job.missing[frame]):
            try:
                picture = stage.picture(job.cameras[camera], reader)
                note_maker(job.folders[camera], cpu)
                publish(job.frame_file(int(frame), int(camera)), frame_to_bytes(picture))
            except Exception as problem:
                where = f"frame {frame} from camera {camera} of {job.folders[camera]}"
                raise ShotError(f"{where}: {type(problem).__name__}: {problem}") from problem
            ended = time.perf_counter()
            send(FrameDone(int(camera), int(frame), ended - started))
            started = ended
