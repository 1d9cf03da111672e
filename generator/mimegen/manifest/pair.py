"""The minimal pair that a clip belongs to, as declared in a specification and kept in its row."""

from typing import Any

from pydantic import Field, ValidationError

from mimegen.base.yaml_file import Strict


class PairFacts(Strict):
    """The name of a minimal pair, the factor in which its two clips differ, and this clip's value.

    Everything else is the same in both clips.
    """

    id: str = Field(min_length=1)
    factor: str = Field(min_length=1)
    value: str = Field(min_length=1)


def pair_of(permutation: Any) -> PairFacts | None:
    """Return the pair in a row's ``permutation``; None if it has none or an invalid one."""
    try:
        return PairFacts.model_validate((permutation or {})["pair"])
    except (KeyError, TypeError, ValidationError):
        return None
