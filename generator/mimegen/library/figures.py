"""Performances in a store: made once, then read by all workers."""

from collections.abc import Callable, Sequence

from mimegen.base.files import content_key
from mimegen.characters.character import Performance
from mimegen.library.casting import Casting
from mimegen.shots.figures import publish_figure
from mimegen.shots.jobs import FigureFiles
from mimegen.store.store import Store

_Scene = tuple[Performance, ...]


def published_figures(casting: Casting, fps: float, store: Store) -> tuple[FigureFiles, ...]:
    """Return the store's files of a casting's performers as shown, making missing ones.

    Raises RequestError if the casting cannot be performed.
    """
    return _published(casting, casting.looks, casting.seen, fps, store)


def published_bodies(casting: Casting, fps: float, store: Store) -> tuple[FigureFiles, ...]:
    """Return the store's files of a casting's bodies, even of performers shown as lights.

    Missing files are made. Raises RequestError if the casting cannot be performed.
    """
    return _published(casting, casting.bodies, casting.with_faults, fps, store)


def _published(casting: Casting, keys: Sequence[str], shown: Callable[[_Scene], _Scene],
               fps: float, store: Store) -> tuple[FigureFiles, ...]:
    """Return the store's files of performers; perform the casting if any file is missing."""
    files = tuple(_files(casting, number, key, fps, store) for number, key in enumerate(keys))
    if not all(file.character.exists() and file.performance.exists() for file in files):
        wait = store.waiter()
        scene = shown(casting.perform(fps, store))
        wait()
        for performance, file in zip(scene, files, strict=True):
            publish_figure(performance, file)
    return files


def _files(casting: Casting, number: int, key: str, fps: float, store: Store) -> FigureFiles:
    return FigureFiles(store.character(key),
                       store.performance(content_key(casting.key, fps, number, key)))
