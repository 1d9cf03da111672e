"""A row of the manifest as its file has it."""

from typing import Any

CLIP: dict[str, Any] = {
    "sample_id": "walk-a", "file_name": "clips/walk-a.mp4", "action": "walk", "take": "a",
    "actor": "recorded", "labels": ["walking", "a walk"], "avatar": "man", "angle": 90,
    "config_name": "base+blank@90", "background_config": "blank", "background_name": "blank",
    "render_config_name": "preview", "seed": 0, "fps": 24.0, "frames": 48, "width": 640,
    "height": 360, "sha256": "ab" * 32, "shot_key": "cd" * 32,
    "camera": {"position": [1, -9.5, 5.25], "rotation": [1.0, 0, 0, 0], "lens_mm": 50.0,
               "width": 640, "height": 360, "sensor_width_mm": 36.0},
    "light": {"sun_strength": 5.0},
}
