"""Backgrounds by name, or by name and a seed that varies the set."""

from functools import lru_cache
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import Stamp, content_key, stamp
from mimegen.compositing.background import (
    Background,
    background_key,
    read_background,
    visible_content,
)
from mimegen.scenery.checks import Written
from mimegen.scenery.shared import shared_files
from mimegen.scenery.variation import varied


def load_background(path: Path, seed: int | None) -> Background:
    """Return a background, varied by a ``seed`` if given.

    Raises RequestError as ``read_background``, and for a seed if nothing can vary.
    """
    if seed is None:
        return read_background(path)
    return _drawn(path, seed, _written(path))


def loaded_background_key(path: Path, seed: int | None) -> str:
    """Return the content key of what a background shows.

    Raises RequestError as ``load_background``.
    """
    if seed is None:
        return background_key(path)
    return _drawn_key(path, seed, _written(path))


def _written(path: Path) -> tuple[Stamp | None, ...]:
    return tuple(stamp(file) for file in (path, *shared_files(path)))


@lru_cache(maxsize=256)
def _drawn(path: Path, seed: int, written: tuple[Stamp | None, ...]) -> Background:
    """Return a background with its set varied by a seed; cached by the files' stamps."""
    background = read_background(path)
    if background.set is None:
        raise RequestError(f"background {path.stem}:{seed}: only sets take a seed, and this is a"
                           " color or a picture; leave the seed out")
    as_written = _as_written(path, written)
    if as_written is None:
        raise RequestError(f"background {path.stem}:{seed}: {path.stem} has nothing to vary; leave"
                           " the seed out, or add 'vary' to its set")
    return background.model_copy(update={
        "set": varied(background.set, path.stem, seed, as_written)})


@lru_cache(maxsize=32)
def _as_written(path: Path, written: tuple[Stamp | None, ...]) -> Written | None:
    """Return the properties of a set as written, common to all seeds; None if it cannot vary."""
    scenery = read_background(path).set
    return Written.of(scenery, scenery.vary) if scenery and scenery.vary else None


@lru_cache(maxsize=4096)
def _drawn_key(path: Path, seed: int, written: tuple[Stamp | None, ...]) -> str:
    return content_key(visible_content(_drawn(path, seed, written)))
