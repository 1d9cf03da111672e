"""Which faults there are, and how much of one is wanted."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import Field, RootModel

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once


class FaultKind(Strict):
    """A kind of fault: ``most`` is what amount 1 means, in ``unit``.

    One that acts on the ``cast`` changes who is seen, and no motion. One that ``retimes`` lets
    things happen at other times than the take says; one that goes ``below`` the ground needs it to
    hide things.
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
    """So much of a kind of fault: ``amount`` is more than 0 and at most 1."""

    name: str
    amount: float

    @property
    def kind(self) -> FaultKind:
        """What the amount means and where it acts."""
        return fault_kinds()[self.name]

    @property
    def value(self) -> float:
        """How much it is in the kind's unit."""
        return self.amount * self.kind.most

    @property
    def word(self) -> str:
        """What stands for it in a clip's name."""
        return f"{self.name}{self.amount:g}"


@dataclass(frozen=True)
class FaultRecord:
    """What a fault did: in ``intervals``, seconds of the clip, to these ``joints``."""

    name: str
    amount: float
    value: float
    unit: str
    lowers: str
    intervals: tuple[tuple[float, float], ...]
    joints: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """Return it as a manifest says it."""
        return asdict(self) | {"intervals": [list(span) for span in self.intervals],
                               "joints": list(self.joints)}


def record_of(fault: Fault, intervals: Iterable[tuple[float, float]],
              joints: Iterable[str] = ()) -> FaultRecord:
    """Return the record of a fault, times to the millisecond."""
    rounded = tuple((round(start, 3), round(end, 3)) for start, end in intervals)
    return FaultRecord(fault.name, fault.amount, round(fault.value, 4), fault.kind.unit,
                       fault.kind.lowers, rounded, tuple(joints))


def fault_kinds() -> Mapping[str, FaultKind]:
    """Return the kinds of faults by name. Raises RequestError for a file that is wrong."""
    return read_yaml_once(data_file("mocap/faults.yaml"), RootModel[dict[str, FaultKind]]).root


def parse_faults(texts: Iterable[str]) -> tuple[Fault, ...]:
    """Return the faults that texts as ``float=0.5`` name, by name; amounts of 0 are no fault.

    Raises RequestError for an unknown name, an amount outside of 0 to 1, and a name said twice.
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
