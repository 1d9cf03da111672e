"""Styles in which any score can be performed (mocap/styles.yaml)."""

from collections.abc import Mapping

from pydantic import Field, RootModel

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once


class Style(Strict):
    """One style: factors, 1 if not given, and added values, 0 if not given.

    ``sink`` (of the pelvis) and ``drop`` (of hands in free space) are in centimetres; ``lean``,
    ``head`` and ``shoulders`` are in degrees. ``narrow`` is the fraction by which the feet are
    closer together. A style of ``affect`` is performed only on request; seeds do not draw it.
    """

    affect: bool = False
    time: float = Field(default=1.0, gt=0.3, lt=3)
    size: float = Field(default=1.0, gt=0.3, lt=3)
    angles: float = Field(default=1.0, gt=0, lt=3)
    sink: float = 0.0
    lean: float = 0.0
    head: float = 0.0
    shoulders: tuple[float, float] = (0.0, 0.0)
    drop: float = 0.0
    narrow: float = 0.0

    def mild(self, share: float) -> "Style":
        """Return a ``share`` of the style: 0 is none, 1 all of it."""
        up, forward = self.shoulders
        return Style(
            time=self.time**share, size=self.size**share, angles=self.angles**share,
            sink=self.sink * share, lean=self.lean * share, head=self.head * share,
            shoulders=(up * share, forward * share), drop=self.drop * share,
            narrow=self.narrow * share,
        )

    def sized(self, share: float) -> "Style":
        """Return the style with a ``share`` of its changes of size and angles.

        It is for scores that allow less variation.
        """
        return self.model_copy(update={"size": self.size**share, "angles": self.angles**share})


def styles() -> Mapping[str, Style]:
    """Return the styles by name."""
    return read_yaml_once(data_file("mocap/styles.yaml"), RootModel[dict[str, Style]]).root


def drawn_styles() -> Mapping[str, Style]:
    """Return the styles that seeds draw, by name."""
    return {name: style for name, style in styles().items() if not style.affect}


def style_named(name: str) -> Style:
    """Return a style by its name. Raises RequestError, with near misses, if there is none."""
    if name not in styles():
        raise RequestError(f"no style '{name}'{near_misses(name, styles())}")
    return styles()[name]
