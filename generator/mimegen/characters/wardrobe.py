"""Draw hair and clothes of random people from the templates in rigs/people/random.yaml."""

import colorsys
from collections.abc import Mapping
from typing import Any

import numpy as np

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.motion.quaternions import FloatArray

Template = dict[str, Any]


class ShadeRange(Strict):
    """The ranges from which a color's hue, saturation and value are drawn, each 0 to 1."""

    hue: tuple[float, float] = (0.0, 1.0)
    saturation: tuple[float, float]
    value: tuple[float, float]


class Build(Strict):
    """How much muscle and weight a build has; 0.5 is average."""

    muscle: float
    weight: float


class FaceDraw(Strict):
    """The distribution of one shape's strength in random faces.

    It is uniform within ``spread`` of a mean. The mean is ``middle``, plus ``men`` for men or minus
    it for women, plus ``old`` at 80 years, fading in from 35.
    """

    spread: float
    middle: float = 0.0
    men: float = 0.0
    old: float = 0.0


class Outlines(Strict):
    """The outlines of faces, all equally likely, and the range of their strength."""

    kinds: tuple[str, ...]
    strength: tuple[float, float]


class Dyes(Strict):
    """Factors by hue (0 to 1) for a cloth's drawn saturation and value."""

    hue: tuple[float, ...]
    saturation: tuple[float, ...]
    value: tuple[float, ...]


class RandomPeople(Strict):
    """The contents of rigs/people/random.yaml, which explains its parts."""

    builds: dict[str, Build]
    outlines: Outlines
    faces: dict[str, FaceDraw]
    hair: dict[str, Template]
    beards: dict[str, float]
    hair_colors: tuple[str, ...]
    eye_colors: tuple[str, ...]
    shades: dict[str, ShadeRange]
    dyes: Dyes
    shoes: dict[str, Template]
    legs: dict[str, Template]
    tops: dict[str, Template]
    over: dict[str, Template]
    dresses: dict[str, Template]
    extras: dict[str, Template]


def random_people() -> RandomPeople:
    """Return the contents of rigs/people/random.yaml."""
    return read_yaml_once(data_file("rigs/people/random.yaml"), RandomPeople)


def chosen(templates: Mapping[str, Template], male: bool, place: float) -> Template:
    """Return the template at a ``place``, 0 to 1, in the cumulative distribution of all of them.

    The templates' frequencies are their ``often`` values, (women, men).
    """
    often = np.cumsum([template["often"][male] for template in templates.values()])
    number = int(np.searchsorted(often, place * often[-1], side="right"))
    return [*templates.values()][min(number, len(often) - 1)]


def drawn(template: Template, draws: np.random.Generator, hue: float) -> dict[str, Any]:
    """Return a garment or hair drawn from a template; colors are drawn around ``hue``, 0 to 1."""
    found = {name: _value(name, value, draws, hue)
             for name, value in template.items() if name not in ("often", "pattern")}
    if "pattern" in template:
        pattern = drawn(template["pattern"], draws, hue)
        found["pattern"] = {"color": contrasting_color(found["color"], draws)} | pattern
    return found


def _value(name: str, value: Any, draws: np.random.Generator, hue: float) -> Any:
    """Return one value of a template: drawn from a range or a list, or the value itself."""
    if not isinstance(value, list):
        return value
    if not isinstance(value[0], bool) and isinstance(value[0], int | float):
        return float(draws.uniform(*value))
    picked = value[int(draws.integers(len(value)))]
    is_shade = name.endswith("color") and not picked.startswith("#")
    return shade(picked, draws, hue) if is_shade else picked


def shade(name: str, draws: np.random.Generator, hue: float) -> str:
    """Draw a color ``"#rrggbb"`` from a named shade.

    ``hue`` is used if the shade covers all hues; otherwise the hue is drawn from the shade's range.
    """
    spread = random_people().shades[name]
    width = spread.hue[1] - spread.hue[0]
    own = (hue + draws.normal(0, 0.02)) % 1 if width == 1.0 else draws.uniform(*spread.hue)
    dyes = random_people().dyes
    saturation, value = (float(draws.uniform(*drawn_from) * np.interp(own, dyes.hue, dulled))
                         for drawn_from, dulled in ((spread.saturation, dyes.saturation),
                                                    (spread.value, dyes.value)))
    return hex_color(np.array(colorsys.hsv_to_rgb(own, saturation, value)))


def contrasting_color(color: str, draws: np.random.Generator) -> str:
    """Return a color for a pattern on ``color``: much lighter or darker than it."""
    light = float(rgb(color) @ np.array([0.3, 0.6, 0.1]))
    hue = draws.random()
    value = draws.uniform(0.85, 0.95) if light < 0.6 else draws.uniform(0.12, 0.5)
    return hex_color(np.array(colorsys.hsv_to_rgb(hue, draws.choice([0.08, 0.5]), value)))


def rgb(color: str) -> FloatArray:
    """Return the sRGB channels (3,), 0 to 1, of ``"#rrggbb"``."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def hex_color(channels: FloatArray) -> str:
    """Return sRGB channels (3,), 0 to 1, as ``"#rrggbb"``."""
    return "#" + "".join(f"{round(255 * float(c)):02x}" for c in np.clip(channels, 0, 1))
