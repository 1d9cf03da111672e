"""A render config's light as uniform values of shaders, and helpers for setting uniforms."""

from typing import Any, cast

import moderngl
import numpy as np

from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.config import Light

RIM_ELEVATION_DEG = 35.0


def light_values(light: Light) -> dict[str, Any]:
    """Return the shaders' uniform values for suns and sky, with strengths in Blender's units."""
    rim_from, rim = _rim(light)
    sky = light.sky_strength * np.array(light.sky_color)
    return {
        "sun_from": direction_from(*light.sun_from_deg), "rim_from": rim_from, "rim": rim,
        "sun": light.sun_strength * np.array(light.sun_color), "sky": sky,
        "ground": _ground(light, sky),
    }


def _rim(light: Light) -> tuple[FloatArray, FloatArray]:
    """Return the direction to the second sun, the rim light or the lamps, and its strength (3,)."""
    if light.lamps is not None:
        return (direction_from(*light.lamps.from_deg),
                light.lamps.strength * np.array(light.lamps.color))
    return (direction_from(light.sun_from_deg[0] + 180.0, RIM_ELEVATION_DEG),
            np.full(3, light.rim_strength))


def _ground(light: Light, sky: FloatArray) -> FloatArray:
    """Return the light from below: the sky's lower half, or the light that a ground reflects."""
    if light.ground_albedo == 0:
        below = sky if light.ground_color is None else light.sky_strength * np.array(
            light.ground_color)
        return light.ground_share * below
    sun = light.sun_strength * np.sin(np.radians(light.sun_from_deg[1]))
    return np.asarray(light.ground_albedo * (sky + sun / np.pi))


def depth_map(context: moderngl.Context, size: tuple[int, int]) -> moderngl.Texture:
    """Return a depth texture of a width and height, set up for shaders' depth comparison."""
    drawn = context.depth_texture(size)
    drawn.compare_func = "<="
    drawn.repeat_x = drawn.repeat_y = False
    return drawn


def give(program: moderngl.Program, values: dict[str, Any]) -> None:
    """Set a program's uniforms, ignoring values it does not use; matrices are (rows, columns)."""
    for name, value in values.items():
        if name in program:
            array = np.asarray(value, "i4" if isinstance(value, int) else "f4")
            columns = array.T if array.shape == (4, 4) else array
            uniform(program, name).write(np.ascontiguousarray(columns).tobytes())


def uniform(program: moderngl.Program, name: str) -> moderngl.Uniform:
    """Return a program's uniform of this name; raises KeyError if there is none."""
    return cast(moderngl.Uniform, program[name])
