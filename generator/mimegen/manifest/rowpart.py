"""What every part of a row is: typed, and open for what newer versions add."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Number = int | float
Json = dict[str, JsonValue]


class RowPart(BaseModel):
    """Facts that stand side by side in a row. What newer versions add is kept as it is."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)
    __pydantic_extra__: Json = Field(init=False)
