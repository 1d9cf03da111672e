"""Base class and types of the parts of a row."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from mimegen.base.names import content_key_text

Number = int | float
Json = dict[str, JsonValue]
ContentKey = Annotated[str, AfterValidator(content_key_text)]


class RowPart(BaseModel):
    """Base class of a part of a row. Fields that newer versions add are kept unchanged."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)
    __pydantic_extra__: Json = Field(init=False)
