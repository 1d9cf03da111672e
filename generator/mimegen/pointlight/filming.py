"""Film displays of performances: frame rate, camera and video file."""

import math
from pathlib import Path

from mimegen.compositing.video import write_pictures
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import DotScene, Stimulus, make_stimulus
from mimegen.shots.config import RenderConfig
from mimegen.shots.framing import frame_camera

# Least rate at which scores are performed; frames between are interpolated.
MIN_SOURCE_FPS = 60


def source_fps(display: Display, shared: RenderConfig | None = None) -> float:
    """Return the rate to perform at: the display's, or an integer multiple of it.

    A display that shares a render config's camera uses that config's rate, to have the same frames
    as the rendered body.
    """
    if shared is not None:
        return shared.fps
    return display.fps * math.ceil(MIN_SOURCE_FPS / display.fps)


def filmed(scene: DotScene, display: Display, seed: int, angle_deg: float,
           shared: RenderConfig | None = None) -> Stimulus:
    """Return a display of performances, seen by the camera of a render config if one is shared."""
    camera = None if shared is None else frame_camera(scene.bodies, shared, angle_deg)
    return make_stimulus(scene, display, seed, angle_deg, camera)


def write_mp4(stimulus: Stimulus, target: Path) -> None:
    """Write an H.264 clip; the same display gives the same bytes."""
    size = (stimulus.display.width, stimulus.display.height)
    write_pictures(pictures(stimulus), size, stimulus.display.fps, target, gray=stimulus.gray)
