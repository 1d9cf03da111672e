"""Which minimal pair a clip is one half of: in its declaration, and in its row."""

from typing import Any

from pydantic import Field, ValidationError

from mimegen.base.yaml_file import Strict


class PairFacts(Strict):
    """A pair's name, the factor that its halves differ in, and what this half has of it.

    Everything else of both halves is equal.
    """

    id: str = Field(min_length=1)
    factor: str = Field(min_length=1)
    value: str = Field(min_length=1)


def pair_of(permutation: Any) -> PairFacts | None:
    """Return the pair that a row's ``permutation`` names; None where it names none, or wrongly."""
    try:
        return PairFacts.model_validate((permutation or {})["pair"])
    except (KeyError, TypeError, ValidationError):
        return None
