"""Transitions: bring a performer's tracks to where the next action begins."""

from collections.abc import Iterable
from typing import cast

from mimegen.choreography.hands import hangs
from mimegen.choreography.score import HandKey, PelvisKey
from mimegen.scenes.parts import HANDS
from mimegen.scenes.postures import Tracks
from mimegen.scenes.sheet import KeySheet

# Time to get ready for an action: in general, if both feet step one after the other, and for
# sitting down or standing up. The first foot and the gaze arrive after FIRST_FOOT_S.
READY_S = 0.9
STEPPING_S = 1.2
SITTING_S = 1.8
FIRST_FOOT_S = 0.45
# Hanging hands arrive at their targets this long after the body, which has inertia.
REACHING_S = 0.25
# A change of the pelvis' height by more than SITS_CM is sitting down or standing up; below
# SEATED_CM the performer sits.
SITS_CM = 20.0
SEATED_CM = -25.0


def seated(sheet: KeySheet) -> bool:
    """Return whether a performer is seated now."""
    return (cast(PelvisKey, sheet.now["pelvis"]).up or 0.0) < SEATED_CM


def lead(sheet: KeySheet, wanted: Tracks) -> float:
    """Return the time, in seconds, that tracks need to get from their state to ``wanted``."""
    later = REACHING_S if _reaches(sheet, wanted) else 0.0
    up = cast(PelvisKey, wanted.get("pelvis", sheet.now["pelvis"])).up or 0.0
    if abs(up - (cast(PelvisKey, sheet.now["pelvis"]).up or 0.0)) > SITS_CM:
        return later + SITTING_S
    return later + (STEPPING_S if len(sheet.stepping(wanted)) > 1 else READY_S)


def _reaches(sheet: KeySheet, wanted: Tracks) -> bool:
    """Return whether hands that hang now are wanted elsewhere."""
    now, then = (all(hangs(cast(HandKey, keys[track])) for track in HANDS if track in keys)
                 for keys in (sheet.now, wanted))
    return now and not then


def prepare(sheet: KeySheet, begin: float, arrives: float, wanted: Tracks,
             line: int) -> None:
    """Add keys that bring tracks to ``wanted`` at ``arrives``; feet step one after the other."""
    if arrives > begin:
        sheet.hold(begin, line)
    feet = sheet.stepping(wanted)
    if len(feet) > 1 and arrives > begin:
        early: Iterable[str] = (feet[0], "gaze")
        sheet.put(begin + FIRST_FOOT_S, {track: wanted[track] for track in early
                                         if track in wanted}, line)
    if arrives - begin > READY_S + REACHING_S / 2 and _reaches(sheet, wanted):
        sheet.put(arrives - REACHING_S, {track: key for track, key in wanted.items()
                                         if track not in HANDS}, line)
    sheet.put(arrives, wanted, line)
