"""The minimal pair that a clip belongs to, as declared in a specification and kept in its row."""

from typing import Any, Literal

from pydantic import Field, ValidationError

from mimegen.base.yaml_file import Strict

# What tells the two clips of a pair, or the answers to a probe, apart.
Needs = Literal["one frame", "several frames"]
ONE: Needs = "one frame"
SEVERAL: Needs = "several frames"


class PairFacts(Strict):
    """The name of a minimal pair, the factor in which its two clips differ, and this clip's value.

    Everything else is the same in both clips. ``needs`` is whether one frame can tell them apart;
    ``pose_gap_m`` is how far poses of one clip are from all poses of the other, if it was measured.
    """

    id: str = Field(min_length=1)
    factor: str = Field(min_length=1)
    value: str = Field(min_length=1)
    needs: Needs | None = None
    pose_gap_m: float | None = None


def pair_of(permutation: Any) -> PairFacts | None:
    """Return the pair in a row's ``permutation``; None if it has none or an invalid one."""
    try:
        return PairFacts.model_validate((permutation or {})["pair"])
    except (KeyError, TypeError, ValidationError):
        return None
