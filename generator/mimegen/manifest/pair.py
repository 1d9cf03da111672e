"""Which minimal pair a clip is one half of: in its declaration, and in its row."""

from pydantic import Field

from mimegen.base.yaml_file import Strict


class PairFacts(Strict):
    """A pair's name, the factor that its halves differ in, and what this half has of it.

    Everything else of both halves is equal.
    """

    id: str = Field(min_length=1)
    factor: str = Field(min_length=1)
    value: str = Field(min_length=1)
