"""The expected quality order of clips that differ only in the amount of a fault."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from mimegen.base.files import content_key
from mimegen.faults.fault import fault_kinds
from mimegen.plan.permute.axes import FAULT_AMOUNT
from mimegen.plan.permute.declaration import Declaration


def expected_orders(declarations: Sequence[Declaration]) -> Iterator[dict[str, Any]]:
    """Yield each series of clips that differ only in the amount of a fault, least first.

    ``numbers`` are the clips' declarations, counted from 0; ``lowers`` is the quality dimension
    that falls along the series. A single amount makes no series.
    """
    series: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for number, declared in enumerate(declarations):
        if declared.fault_amount is not None:
            content = declared.content()
            del content[FAULT_AMOUNT]
            series[content_key(content)].append((declared.fault_amount, number))
    for members in series.values():
        amounts, numbers = zip(*sorted(members), strict=True)
        one = declarations[numbers[0]]
        if len(numbers) > 1 and one.fault is not None:
            yield {"action": one.action, "take": one.take, "fault": one.fault,
                   "lowers": fault_kinds()[one.fault].lowers, "numbers": list(numbers),
                   "amounts": list(amounts)}
