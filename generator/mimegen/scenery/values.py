"""Kinds of values that all parts of a set are written in."""

from typing import Annotated

from pydantic import Field

HexColor = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", description="sRGB, #rrggbb")]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Point2 = tuple[float, float]
