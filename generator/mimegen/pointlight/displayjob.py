"""A display as a job for any free worker: filmed, drawn and encoded without Blender."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.files import publish
from mimegen.characters.character import Character, Performance
from mimegen.characters.packing import unpack_character, unpack_performance
from mimegen.manifest.footfalls import contacts_of
from mimegen.pointlight.filming import filmed, write_mp4
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.scenes import scene_of_performances
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import FOOT_CONTACTS
from mimegen.pointlight.times import ShownTimes
from mimegen.retarget.soles import performed_standing
from mimegen.shots.config import RenderConfig
from mimegen.shots.jobs import FigureFiles

OF_CHARACTERS = {"dots_from": "character"}


@dataclass(frozen=True, eq=False)
class DisplayJob:
    """A display of performances, seen from an ``angle`` (degrees), written to ``target``.

    ``name``, the scene's, and ``seed`` determine all random choices. If a render config ``shared``
    is given, its camera is used. ``faults`` are the records of the performances' faults. The
    display's facts, and the times of the source that it shows, are written beside the clip as JSON.
    """

    figures: tuple[FigureFiles, ...]
    name: str
    display: Display
    seed: int
    angle: float
    shared: RenderConfig | None
    target: Path
    faults: tuple[dict[str, Any], ...] = ()

    def run(self) -> None:
        """Write clip and facts; raises RequestError if motion, dots and display do not fit."""
        if not self.figures[0].performance.exists():
            raise FileNotFoundError(f"{self.figures[0].performance} is gone")
        bodies = tuple(_performance(files) for files in self.figures)
        contacts = contacts_of([performed_standing(body) for body in bodies], bodies[0].motion.fps)
        scene = scene_of_performances(self.name, bodies, self.display,
                                      OF_CHARACTERS | {FOOT_CONTACTS: contacts})
        stimulus = filmed(scene, self.display, self.seed, self.angle, self.shared)
        faults = {"faults": list(self.faults)} if self.faults else {}
        content = {"facts": display_facts(stimulus) | faults,
                   "shared": stimulus.times.shared.tolist(), "own": stimulus.times.own.tolist()}
        publish(facts_file(self.target), json.dumps(content))
        write_mp4(stimulus, self.target)


def facts_file(target: Path) -> Path:
    """Return the file with the facts of a job's clip."""
    return target.with_suffix(".json")


def read_facts(target: Path) -> tuple[dict[str, Any], ShownTimes]:
    """Return the facts of a display that a job made, and the times of the source that it shows.

    Raises ValueError or OSError if the file is damaged or missing.
    """
    content = json.loads(facts_file(target).read_text(encoding="utf-8"))
    return content["facts"], ShownTimes(np.array(content["shared"]), np.array(content["own"]))


@lru_cache(maxsize=2)
def _performance(files: FigureFiles) -> Performance:
    return unpack_performance(files.performance.read_bytes(), _character(files.character))


@lru_cache(maxsize=2)
def _character(path: Path) -> Character:
    return unpack_character(path.read_bytes())
