"""A display as a job for whichever worker is free: filmed, drawn and encoded without Blender."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mimegen.base.files import publish
from mimegen.characters.character import Character, Performance
from mimegen.characters.packing import unpack_character, unpack_performance
from mimegen.pointlight.filming import filmed, write_mp4
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.scenes import scene_of_performances
from mimegen.pointlight.spec import Display
from mimegen.shots.config import RenderConfig
from mimegen.shots.jobs import FigureFiles

OF_CHARACTERS = {"dots_from": "character"}


@dataclass(frozen=True, eq=False)
class DisplayJob:
    """A display of performances, seen from an ``angle`` (degrees), as ``target``.

    ``name``, the scene's, and ``seed`` say what chance does. The camera is that of the render
    config ``shared``, if there is one. What is known of the display then, and the ``moments`` (F,)
    of the source that it shows, in seconds, lies beside the clip as JSON.
    """

    figures: tuple[FigureFiles, ...]
    name: str
    display: Display
    seed: int
    angle: float
    shared: RenderConfig | None
    target: Path

    def run(self) -> None:
        """Publish both; raises RequestError where motion, dots and display do not fit."""
        if not self.figures[0].performance.exists():
            raise FileNotFoundError(f"{self.figures[0].performance} is gone")
        bodies = tuple(_performance(files) for files in self.figures)
        scene = scene_of_performances(self.name, bodies, self.display, OF_CHARACTERS)
        stimulus = filmed(scene, self.display, self.seed, self.angle, self.shared)
        content = {"facts": display_facts(stimulus), "moments": stimulus.moments.tolist()}
        publish(facts_file(self.target), json.dumps(content))
        write_mp4(stimulus, self.target)


def facts_file(target: Path) -> Path:
    """Return where a job says what it made."""
    return target.with_suffix(".json")


def read_facts(target: Path) -> tuple[dict[str, Any], list[float]]:
    """Return what is known of a display that a job made, and the moments that it shows.

    Raises ValueError or OSError where that is damaged or absent.
    """
    content = json.loads(facts_file(target).read_text(encoding="utf-8"))
    return content["facts"], content["moments"]


@lru_cache(maxsize=2)
def _performance(files: FigureFiles) -> Performance:
    return unpack_performance(files.performance.read_bytes(), _character(files.character))


@lru_cache(maxsize=2)
def _character(path: Path) -> Character:
    return unpack_character(path.read_bytes())
