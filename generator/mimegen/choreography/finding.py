"""Findings of lint: single faults of a motion."""

from typing import Literal, NamedTuple

Kind = Literal[
    "reach", "twist", "wrist", "range", "speed", "contact", "feet", "floor", "balance", "frozen",
    "form", "seen",
]


class Finding(NamedTuple):
    """A fault that viewers will notice: its kind, body part, time in seconds, value and limit."""

    kind: Kind
    part: str
    time: float
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (f"{self.kind}: {self.part} at {self.time:.2f} s: {self.value:.1f} {self.unit}"
                f" (limit {self.limit:g})")
