"""Faults of finished frames: the order in which they are shown, and the shadow's strength."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mimegen.base.seeds import generator
from mimegen.base.spans import spans
from mimegen.faults.fault import Fault, FaultRecord, record_of

SHADOW_MISSING = "shadow_missing"
# Number of pieces that a clip is cut into, and the range of durations of a freeze, in seconds.
STEPS = 10
STUCK_S = (0.15, 0.5)


@dataclass(frozen=True)
class Showing:
    """The frames (F,) of a shot that a clip shows, the shadow's strength, the faults' records."""

    frames: NDArray[np.intp]
    shadow: float
    records: tuple[FaultRecord, ...]


def showing(frames: int, fps: float, faults: Sequence[Fault], *seed: int | str) -> Showing:
    """Return what a clip shows of a shot of ``frames`` frames; all of them if there is no fault.

    ``seed`` and a fault's name determine where it acts, whatever its amount.
    """
    known = {fault.name: fault for fault in faults}
    shown, records, shadow = np.arange(frames), [], 1.0
    for name, change in (("wrong_order", _reordered), ("frame_drops", _stuck),
                         ("cut_off", _cut_off)):
        if name in known:
            shown, record = change(shown, fps, known[name], generator(*seed, "fault", name))
            records.append(record)
    if SHADOW_MISSING in known:
        shadow = 1 - known[SHADOW_MISSING].value
        records.append(record_of(known[SHADOW_MISSING], [(0.0, len(shown) / fps)]))
    return Showing(shown, shadow, tuple(records))


Changed = tuple[NDArray[np.intp], FaultRecord]


def _reordered(shown: NDArray[np.intp], fps: float, fault: Fault,
               random: np.random.Generator) -> Changed:
    """Exchange the positions of some of the clip's pieces; each of them changes its position.

    Whole pieces move, at least two. The record's value is the fraction that moves.
    """
    edges = np.round(np.linspace(0, len(shown), STEPS + 1)).astype(int)
    steps = [shown[start:end] for start, end in pairwise(edges)]
    moved = random.permutation(STEPS)[: max(2, round(fault.value * STEPS))].tolist()
    order = list(range(STEPS))
    for here, there in zip(moved, [*moved[1:], moved[0]], strict=True):
        order[here] = there
    facts = []
    start = 0
    for place, step in enumerate(order):
        end = start + len(steps[step])
        if place != step:
            facts.append((start / fps, end / fps))
        start = end
    return np.concatenate([steps[step] for step in order]), replace(
        record_of(fault, facts), value=len(moved) / STEPS)


def _stuck(shown: NDArray[np.intp], fps: float, fault: Fault,
           random: np.random.Generator) -> Changed:
    """Freeze the picture at random times, until the fault's fraction of frames is not shown.

    The last freeze ends as soon as this is reached.
    """
    frozen = np.zeros(len(shown), dtype=bool)
    wanted = max(1, round(fault.value * len(shown)))
    for start in random.permutation(np.arange(1, len(shown))):
        if frozen.sum() == wanted:
            break
        long = max(1, round(random.uniform(*STUCK_S) * fps))
        moving = start + np.flatnonzero(~frozen[start : start + long])
        frozen[moving[: wanted - frozen.sum()]] = True
    source = np.maximum.accumulate(np.where(frozen, 0, np.arange(len(shown))))
    return shown[source], record_of(
        fault, [(start / fps, end / fps) for start, end in spans(frozen)])


def _cut_off(shown: NDArray[np.intp], fps: float, fault: Fault,
             random: np.random.Generator) -> Changed:
    """Cut off the end of the clip."""
    kept = max(1, round((1 - fault.value) * len(shown)))
    return shown[:kept], record_of(fault, [(kept / fps, len(shown) / fps)])
