"""Figures as a worker poses them, read from where they are published."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mimegen.base.files import publish_first
from mimegen.characters.character import Character, Performance
from mimegen.characters.packing import (
    pack_character,
    pack_performance,
    unpack_character,
    unpack_performance,
)
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.jobs import FigureFiles


@dataclass(frozen=True, eq=False)
class Figure:
    """A character in every pose of a shot: ``positions`` (F, J, 3), ``rotations`` (F, J, 4)."""

    character: Character
    positions: FloatArray
    rotations: FloatArray

    @staticmethod
    def of(performance: Performance) -> "Figure":
        """Return the figure that a performance shows."""
        pose = performance.motion.global_pose
        return Figure(performance.character, pose.positions, pose.rotations)


def publish_figure(performance: Performance, files: FigureFiles) -> None:
    """Publish what is seen of a performer where it is not there yet."""
    publish_first(files.character, pack_character(performance.character))
    publish_first(files.performance, pack_performance(performance))


@lru_cache(maxsize=4)
def read_figure(files: FigureFiles) -> Figure:
    """Read a figure; raises OSError or ValueError for files that are absent or damaged."""
    character = _read_character(files.character)
    return Figure.of(unpack_performance(files.performance.read_bytes(), character))


@lru_cache(maxsize=4)
def _read_character(path: Path) -> Character:
    return unpack_character(path.read_bytes())
