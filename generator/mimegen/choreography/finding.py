"""What looks wrong in a motion."""

from typing import Literal, NamedTuple

Kind = Literal[
    "reach", "twist", "wrist", "range", "speed", "contact", "feet", "floor", "balance", "frozen",
    "form", "seen",
]


class Finding(NamedTuple):
    """Something that will look wrong: what, of which part, when (s), how much and the limit."""

    kind: Kind
    part: str
    time: float
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (f"{self.kind}: {self.part} at {self.time:.2f} s: {self.value:.1f} {self.unit}"
                f" (limit {self.limit:g})")
