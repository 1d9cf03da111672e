"""Kinds of faults (mocap/faults.yaml), requested amounts, and records of what faults did."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import Field, RootModel

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once


class FaultKind(Strict):
    """A kind of fault: ``most`` is its value at amount 1, in ``unit``.

    A fault that acts on the ``cast`` changes who is seen, not the motion. One that
    ``retimes`` moves events away from the take's times. One that goes ``below`` the ground needs a
    ground that hides what is below it. ``lowers`` is the aspect of quality that suffers.
    """

    says: str
    most: float = Field(gt=0)
    unit: str
    acts_on: Literal["motion", "cast", "frames"]
    lowers: Literal["subject", "completeness", "interaction"]
    retimes: bool = False
    below: bool = False


@dataclass(frozen=True, order=True)
class Fault:
    """A requested fault: its kind's name and an amount above 0 and at most 1."""

    name: str
    amount: float

    @property
    def kind(self) -> FaultKind:
        """The kind of the fault."""
        return fault_kinds()[self.name]

    @property
    def value(self) -> float:
        """The amount in the kind's unit."""
        return self.amount * self.kind.most

    @property
    def word(self) -> str:
        """The word for the fault in a clip's name."""
        return f"{self.name}{self.amount:g}"


@dataclass(frozen=True)
class FaultRecord:
    """What a fault did: the ``intervals``, in seconds of the clip, and the ``joints`` affected."""

    name: str
    amount: float
    value: float
    unit: str
    lowers: str
    intervals: tuple[tuple[float, float], ...]
    joints: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """Return the record as a manifest stores it."""
        return asdict(self) | {"intervals": [list(span) for span in self.intervals],
                               "joints": list(self.joints)}


def record_of(fault: Fault, intervals: Iterable[tuple[float, float]],
              joints: Iterable[str] = ()) -> FaultRecord:
    """Return the record of a fault, with times rounded to the millisecond."""
    rounded = tuple((round(start, 3), round(end, 3)) for start, end in intervals)
    return FaultRecord(fault.name, fault.amount, round(fault.value, 4), fault.kind.unit,
                       fault.kind.lowers, rounded, tuple(joints))


def fault_kinds() -> Mapping[str, FaultKind]:
    """Return the kinds of faults by name. Raises RequestError if their file is invalid."""
    return read_yaml_once(data_file("mocap/faults.yaml"), RootModel[dict[str, FaultKind]]).root


def parse_faults(texts: Iterable[str]) -> tuple[Fault, ...]:
    """Return the faults that texts such as ``float=0.5`` request, sorted by name.

    Amounts of 0 are left out. Raises RequestError for an unknown name, an amount outside 0 to 1,
    and a name given twice.
    """
    faults: dict[str, Fault] = {}
    for text in texts:
        fault = _parsed(text)
        if fault.name in faults:
            raise RequestError(f"--fault {text}: {fault.name} is given twice; give it once")
        faults[fault.name] = fault
    return tuple(faults[name] for name in sorted(faults) if faults[name].amount > 0)


def _parsed(text: str) -> Fault:
    name, _, number = (part.strip() for part in text.partition("="))
    if name not in fault_kinds():
        raise RequestError(f"--fault {text}: no fault '{name}'{near_misses(name, fault_kinds())}")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= 1:
        raise RequestError(f"--fault {text}: expected {name}=AMOUNT with an amount from 0 to 1")
    return Fault(name, amount)
