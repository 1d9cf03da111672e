"""A render config's light as what the shaders take."""

from typing import Any, cast

import moderngl
import numpy as np

from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.config import Light

RIM_ELEVATION_DEG = 35.0


def light_values(light: Light) -> dict[str, Any]:
    """Return the shaders' uniform values for suns and sky; strengths as Blender has them."""
    azimuth = light.sun_from_deg[0]
    sky = light.sky_strength * np.array(light.sky_color)
    return {
        "sun_from": direction_from(*light.sun_from_deg), "sun": np.full(3, light.sun_strength),
        "rim_from": direction_from(azimuth + 180.0, RIM_ELEVATION_DEG),
        "rim": np.full(3, light.rim_strength), "sky": sky, "ground": _ground(light, sky),
    }


def _ground(light: Light, sky: FloatArray) -> FloatArray:
    """Return the light from below: the sky's lower half, or what a real ground reflects."""
    if light.ground_albedo == 0:
        return light.ground_share * sky
    sun = light.sun_strength * np.sin(np.radians(light.sun_from_deg[1]))
    return np.asarray(light.ground_albedo * (sky + sun / np.pi))


def give(program: moderngl.Program, values: dict[str, Any]) -> None:
    """Set those of the uniform values that a program uses; matrices are (rows, columns)."""
    for name, value in values.items():
        if name in program:
            array = np.asarray(value, "i4" if isinstance(value, int) else "f4")
            columns = array.T if array.shape == (4, 4) else array
            uniform(program, name).write(np.ascontiguousarray(columns).tobytes())


def uniform(program: moderngl.Program, name: str) -> moderngl.Uniform:
    """Return a program's uniform value; raises KeyError for what is none."""
    return cast(moderngl.Uniform, program[name])
