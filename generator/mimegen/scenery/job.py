"""What the main process asks of the stage for a set: typed, picklable, no bpy."""

from dataclasses import dataclass
from pathlib import Path

from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig


@dataclass(frozen=True, eq=False)
class SetJob:
    """One still of a procedural set without anybody in it, published as a PNG at ``target``."""

    scenery: Scenery
    camera: Camera
    config: RenderConfig
    target: Path
