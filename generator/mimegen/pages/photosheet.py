"""Show a person at three distances in a photograph, to check the guess of its camera."""

from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mimegen.characters.character import Character
from mimegen.compositing.background import PhotoLight
from mimegen.compositing.color import bytes_to_linear
from mimegen.compositing.compose import Compositor
from mimegen.library.photos.guess import Guess
from mimegen.motion.quaternions import FloatArray
from mimegen.pages.backgroundsheet import standing
from mimegen.pages.drawn import LABEL, stage_of
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig

WIDTH = 960
# Where people stand: fraction of the picture's width, and of the way from its bottom to the
# horizon.
PLACES = ((0.25, 0.12), (0.72, 0.45), (0.48, 0.7))
LINE = (255, 210, 0)


def photo_sheet(guess: Guess, character: Character, config: RenderConfig,
                light: PhotoLight | None = None) -> Image.Image:
    """Return a photograph with a character drawn at three distances and a line at the horizon.

    Horizon and sizes follow the guessed camera. If the photograph's ``light`` is given, the
    character is lit by it. Raises RequestError if OpenGL is not available.
    """
    camera = guess.camera(WIDTH)
    picture = guess.photo.image.resize((camera.width, camera.height), Image.Resampling.LANCZOS)
    feet = _feet(camera)
    if light is not None and light.sun_from_deg is not None:
        lit = config.light.model_copy(update={"sun_from_deg": light.sun_from_deg})
        config = config.model_copy(update={"light": lit})
    stage = stage_of([standing(character)], config)
    for place in sorted(feet, key=lambda place: -place[1]):
        x, y, z = (np.array(camera.position) - [*place, 0.0]).tolist()
        frame = stage.picture(replace(camera, position=(x, y, z)))
        behind = Compositor(bytes_to_linear(np.asarray(picture)),
                            None if light is None else light.tint)
        picture = Image.fromarray(behind.compose(frame))
    return _labelled(picture, camera, feet)


def _feet(camera: Camera) -> FloatArray:
    """Return the ground X Y (3, 2) where people stand, in metres from the camera's foot."""
    horizon = max(camera.horizon_y, 0.0)
    pixels = np.array([[x * camera.width, camera.height - y * (camera.height - horizon)]
                       for x, y in PLACES])
    return camera.ground_points(pixels)


def _labelled(picture: Image.Image, camera: Camera, feet: FloatArray) -> Image.Image:
    draw = ImageDraw.Draw(picture)
    draw.line([(0, camera.horizon_y), (camera.width, camera.horizon_y)], LINE)
    font = ImageFont.load_default(LABEL)
    draw.text((6, camera.horizon_y + 3), "horizon", LINE, font, stroke_width=2, stroke_fill="black")
    for place in feet:
        x, y, _ = camera.project(np.array([*place, 0.0]))
        draw.text((x, min(y + 4, camera.height - LABEL - 4)), f"{np.hypot(*place):.1f} m", "white",
                  font, anchor="ma", stroke_width=2, stroke_fill="black")
    return picture
