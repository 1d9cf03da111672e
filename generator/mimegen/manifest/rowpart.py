"""What every part of a row is: typed, and open for what newer versions add."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from mimegen.base.names import content_key_text

Number = int | float
Json = dict[str, JsonValue]
ContentKey = Annotated[str, AfterValidator(content_key_text)]


class RowPart(BaseModel):
    """Facts that stand side by side in a row. What newer versions add is kept as it is."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)
    __pydantic_extra__: Json = Field(init=False)
