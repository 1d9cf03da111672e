"""Apply faults of motion and body to a scene, one after another, and record each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mimegen.base.seeds import generator
from mimegen.characters.character import Performance
from mimegen.faults import bodies, movement
from mimegen.faults.acting import Acting
from mimegen.faults.fault import Fault, FaultRecord, record_of
from mimegen.motion import Motion, quaternions
from mimegen.motion.rounding import rounded

# Faults of the first performer alone, in the order in which they are applied.
FIRST_ALONE: Mapping[str, Callable[[Acting], movement.Faulty]] = {
    "foot_slide": movement.foot_slide, "float": movement.float_,
    "sink": movement.sink, "joint_backwards": movement.joint_backwards,
    "head_turned": movement.head_turned, "twitches": movement.twitches,
    "frozen_limb": movement.frozen_limb,
    "hand_through_body": movement.hand_through_body, "limb_stretched": bodies.limb_stretched,
    "swelling": bodies.swelling, "fingers_missing": bodies.fingers_missing,
    "fingers_extra": bodies.fingers_extra, "scale_wrong": bodies.scale_wrong,
}
IDENTITY = "identity_change"
# The fault of time comes first, so that the intervals of all others are in the clip's time.
ORDER = ("speed_warped", *FIRST_ALONE)
# Frequency of the speed's changes from fast to slow and back.
WARPS_HZ = 0.5


@dataclass(frozen=True)
class FaultyScene:
    """Performances with faults, and the record of each fault."""

    scene: tuple[Performance, ...]
    records: tuple[FaultRecord, ...]


def with_faults(scene: Sequence[Performance], faults: Sequence[Fault],
                *seed: int | str) -> FaultyScene:
    """Return a scene whose first performer has the faults; a fault of time applies to all.

    ``seed`` and a fault's name determine which joint it takes and when it acts, whatever its
    amount. A change of identity leaves the motion as it is and is only recorded here. Faults that
    act on frames are ignored. Raises RequestError if the body cannot have a fault.
    """
    performers, records = list(scene), []
    known = {fault.name: fault for fault in faults}
    for fault in (known[name] for name in ORDER if name in known):
        acting = Acting(performers[0], fault, generator(*seed, "fault", fault.name))
        if fault.name == "speed_warped":
            performers, record = _warped(performers, acting)
        else:
            performers[0], record = FIRST_ALONE[fault.name](acting)
        records.append(record)
    if IDENTITY in known:
        records.append(_replaced(known[IDENTITY], scene[0].motion))
    return FaultyScene(tuple(_rounded(performance) for performance in performers), tuple(records))


def first_of_another(fault: Fault, frames: int) -> int:
    """Return the first of ``frames`` frames in which the first performer is another person."""
    return max(1, min(frames - 1, frames - round(fault.value * frames)))


def _replaced(fault: Fault, motion: Motion) -> FaultRecord:
    start = first_of_another(fault, motion.frames) / motion.fps
    return record_of(fault, [(start, motion.frames / motion.fps)])


def _rounded(performance: Performance) -> Performance:
    return Performance(performance.character, rounded(performance.motion))


def _warped(performers: Sequence[Performance], acting: Acting
            ) -> tuple[list[Performance], FaultRecord]:
    """Make time run faster and slower by turns; the clip's first and last frames stay."""
    last = acting.motion.frames - 1
    swings = max(1, round(acting.seconds * WARPS_HZ))
    share = np.linspace(0.0, 1.0, last + 1)
    sign = acting.random.choice([-1.0, 1.0])
    swing = np.sin(2 * np.pi * swings * share) / (2 * np.pi * swings)
    moments = last * np.clip(share + sign * acting.fault.value * swing, 0.0, 1.0)
    return [Performance(one.character, _at(one.motion, moments)) for one in performers], (
        acting.record())


def _at(motion: Motion, moments: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Motion:
    """Return the motion interpolated at times (F,), counted in frames."""
    before = np.minimum(moments.astype(int), motion.frames - 1)
    after = np.minimum(before + 1, motion.frames - 1)
    share = (moments - before)[:, None]
    root = motion.root_positions
    turns = quaternions.slerp(motion.rotations[before], motion.rotations[after], share)
    return Motion(motion.skeleton, motion.fps, root[before] + share * (root[after] - root[before]),
                  quaternions.without_flips(turns))
