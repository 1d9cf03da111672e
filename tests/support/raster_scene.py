"""What tests of the raster engine draw: a body, a config, a room."""

from dataclasses import replace
from typing import Any

import numpy as np

from bodies import capsule_character, wandering_motion
from mimegen.base.paths import data_folder
from mimegen.characters.character import Character, Performance
from mimegen.shots.config import RenderConfig, read_config

BODY = capsule_character(16, 12)


def draft(**changes: object) -> RenderConfig:
    content = read_config(data_folder() / "render_configs" / "draft.yaml").model_dump()
    return RenderConfig.model_validate(content | {"width": 160, "height": 90} | changes)


def performance(body: Character = BODY, seed: int = 3) -> Performance:
    return Performance(body, wandering_motion(body.skeleton, 3, seed, 0.3))


def standing(body: Character, y: float) -> Performance:
    still = wandering_motion(body.skeleton, 1, 1, 0.0)
    places = np.array([[0.0, y, still.root_positions[0, 2]]])
    return Performance(body, replace(still, root_positions=places))


ROOM: dict[str, Any] = {
    "sky": {"zenith": "#3f7fca", "horizon": "#b9d8ee", "ground": "#808080", "strength": 0.6},
    "sun": {"strength": 2.0, "size_deg": 2.0},
    "materials": {"floor": {"color": "#808080"}, "red": {"color": "#d02020"},
                  "lamp": {"color": "#00ff00", "glow": 1.0}},
    "floors": [{"material": "floor"}],
}
