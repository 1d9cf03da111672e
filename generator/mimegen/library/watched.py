"""The camera of a render config as a performer's target: where it stands during a performance."""

import json
from collections.abc import Sequence

from pydantic import TypeAdapter

from mimegen.characters.character import Performance
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.config import FixedCamera, FramedCamera, RenderConfig
from mimegen.shots.framing import camera_place

_CAMERA: TypeAdapter[FixedCamera | FramedCamera] = TypeAdapter(FixedCamera | FramedCamera)


def camera_text(config: RenderConfig) -> str:
    """Return all that decides where a config's camera stands, as JSON."""
    return json.dumps({"camera": config.camera.model_dump(mode="json"), "width": config.width,
                       "height": config.height}, sort_keys=True)


def watched_place(scene: Sequence[Performance], text: str) -> FloatArray:
    """Return the position (3,) of the camera that a text from ``camera_text`` describes.

    It is that of angle 0.
    """
    content = json.loads(text)
    camera = _CAMERA.validate_json(json.dumps(content["camera"]))
    return camera_place(scene, camera, (content["width"], content["height"]))
