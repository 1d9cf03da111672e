"""Backgrounds that are pictures, made for tests, and the cameras that took them."""

from typing import Any

import yaml
from PIL import Image
from scipy.spatial.transform import Rotation

from mimegen.shots.camera import Camera

FACTS: dict[str, Any] = {
    "name": "hall", "description": "A hall", "licence": "CC0-1.0", "author": "A. Person",
    "source": "made for this test"}
GROUND = ((0.1, 0.6), (0.9, 0.6), (1.0, 1.0), (0.0, 1.0))


def camera_at(position, pitch_deg, lens_mm, width, height):
    """A camera that looks along +Y, down by ``pitch_deg``."""
    x, y, z, w = Rotation.from_euler("x", 90 - pitch_deg, degrees=True).as_quat()
    return Camera(position, (w, x, y, z), lens_mm, width, height)


def picture_file(folder, pixels, **facts):
    Image.fromarray(pixels).save(folder / "hall.png")
    facts = {"file": "hall.png", "horizon": 0.4, "camera_height_m": 1.6,
             "ground": [list(corner) for corner in GROUND]} | facts
    path = folder / "hall.yaml"
    path.write_text(yaml.safe_dump(FACTS | {"picture": facts}))
    return path
