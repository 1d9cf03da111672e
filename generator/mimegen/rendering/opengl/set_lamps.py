"""A set's lamps as the shaders' values, and divided into parts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import MAX_DIRECT_LAMPS
from mimegen.rendering.opengl.set_colors import linear
from mimegen.scenery.layout import world_from_set
from mimegen.scenery.light import Lamp
from mimegen.scenery.scenery import Scenery

# Larger lamps are divided into parts of this size, in metres, but into no more than
# ``MAX_LAMP_PARTS``. ``HIDDEN_PART_M`` is the finer size for computing what blocks lamps.
LAMP_PART_M = 1.5
HIDDEN_PART_M = 0.7
MAX_LAMP_PARTS = 64


def lamp_values(scenery: Scenery) -> dict[str, Any]:
    """Return the first lamps as the shaders' uniform values, in world coordinates.

    These are each lamp's centre, direction, two vectors from the centre to its sides, its radiance,
    and the numbers of parts along its sides: 16 in all, as nearly square as possible.
    """
    matrix = world_from_set(scenery)
    lamps = _by_power(scenery)[:MAX_DIRECT_LAMPS]
    table, counts = np.zeros((MAX_DIRECT_LAMPS, 5, 3)), np.ones((MAX_DIRECT_LAMPS, 2))
    for number, lamp in enumerate(lamps):
        start, direction, side, other = _frame(lamp, matrix)
        longer = np.clip(np.round(np.log2(lamp.size[0] / lamp.size[1]) / 2), -2, 2)
        counts[number] = 2.0 ** (2 + longer), 2.0 ** (2 - longer)
        radiance = lamp.watts * linear(lamp.color) / (np.pi * lamp.size[0] * lamp.size[1])
        table[number] = (start, direction, lamp.size[0] / 2 * side, lamp.size[1] / 2 * other,
                         radiance)
    names = ("lamp_at", "lamp_way", "lamp_side", "lamp_other", "lamp_light")
    return {"lamps": len(lamps), "lamp_parts": counts} | dict(
        zip(names, table.swapaxes(0, 1), strict=True))


def _by_power(scenery: Scenery) -> list[Lamp]:
    return sorted(scenery.lamps, key=lambda lamp: -lamp.watts)


def lamp_parts(scenery: Scenery, size: float = LAMP_PART_M
               ) -> tuple[FloatArray, NDArray[np.int64]]:
    """Divide lamps into parts (L, 10); return these and the numbers (L,) of their lamps.

    Sides of parts are at most ``size`` metres, or longer if there would be too many parts. Lamps
    are numbered by decreasing power. A part has a position, direction, power (RGB) and area.
    """
    matrix, size = world_from_set(scenery), _part_size(scenery, size)
    lamps = [_parts(lamp, matrix, size) for lamp in _by_power(scenery)]
    return np.reshape([part for parts in lamps for part in parts], (-1, 10)), np.repeat(
        np.arange(len(lamps)), [len(parts) for parts in lamps])


def _part_size(scenery: Scenery, size: float) -> float:
    """Return ``size``, enlarged until the first lamps have at most ``MAX_LAMP_PARTS`` parts."""
    lamps = _by_power(scenery)[:MAX_DIRECT_LAMPS]
    while sum(int(np.prod(_counts(lamp, size))) for lamp in lamps) > MAX_LAMP_PARTS:
        size *= 1.2
    return size


def _counts(lamp: Lamp, part_m: float) -> list[int]:
    """Return the number of parts along each of a lamp's two sides."""
    return [int(np.ceil(size / part_m)) for size in lamp.size]


def _frame(lamp: Lamp, matrix: FloatArray) -> tuple[FloatArray, ...]:
    """Return a lamp's centre, its direction and the directions of its two sides, each (3,)."""
    start, end = ((matrix @ [*point, 1.0])[:3] for point in (lamp.at, lamp.to))
    direction = unit(end - start)
    is_vertical = abs(direction[2]) > 0.999
    side = np.array([1.0, 0.0, 0.0]) if is_vertical else unit(np.cross(direction, [0, 0, 1]))
    return start, direction, side, np.cross(direction, side)


def _parts(lamp: Lamp, matrix: FloatArray, part_m: float) -> list[FloatArray]:
    start, direction, side, other = _frame(lamp, matrix)
    counts = _counts(lamp, part_m)
    shares = [(np.arange(count) + 0.5) / count - 0.5 for count in counts]
    parts = counts[0] * counts[1]
    power = lamp.watts * linear(lamp.color) / parts
    area = lamp.size[0] * lamp.size[1] / parts
    return [
        np.array([*start + x * lamp.size[0] * side + y * lamp.size[1] * other,
                  *direction, *power, area])
        for x in shares[0] for y in shares[1]
    ]
