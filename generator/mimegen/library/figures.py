"""Performances in a store: what workers pose, made once and read by all of them."""

from mimegen.base.files import content_key
from mimegen.library.casting import Casting
from mimegen.stage.figures import publish_figure
from mimegen.stage.jobs import FigureFiles
from mimegen.store.store import Store


def published_figures(casting: Casting, fps: float, store: Store) -> tuple[FigureFiles, ...]:
    """Return the store's files of what is seen of a casting's performers, making absent ones.

    Raises RequestError where the casting cannot be performed.
    """
    files = tuple(_files(casting, number, looks, fps, store)
                  for number, looks in enumerate(casting.looks))
    if not all(file.character.exists() and file.performance.exists() for file in files):
        wait = store.waiter()
        scene = casting.seen(casting.perform(fps, store))
        wait()
        for performance, file in zip(scene, files, strict=True):
            publish_figure(performance, file)
    return files


def _files(casting: Casting, number: int, looks: str, fps: float, store: Store) -> FigureFiles:
    return FigureFiles(store.character(looks),
                       store.performance(content_key(casting.key, fps, number, looks)))
