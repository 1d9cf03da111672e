"""Getting ready: from where a performer's tracks are to where what comes next begins."""

from collections.abc import Iterable
from typing import cast

from mimegen.choreography.hands import hangs
from mimegen.choreography.score import HandKey, PelvisKey
from mimegen.scenes.parts import HANDS
from mimegen.scenes.postures import Tracks
from mimegen.scenes.sheet import KeySheet

# How long it takes to get ready for an action: at all, with both feet stepping one after another,
# sitting down and up. The first foot is there, the eyes are, after so long.
READY_S = 0.9
STEPPING_S = 1.2
SITTING_S = 1.8
FIRST_FOOT_S = 0.45
# Hands that hang come so much after the body, which has its inertia, to what they reach for.
REACHING_S = 0.25
# Who gets up and down so far (cm) sits; lower than this they are seated.
SITS_CM = 20.0
SEATED_CM = -25.0


def seated(sheet: KeySheet) -> bool:
    """Say whether a performer sits now."""
    return (cast(PelvisKey, sheet.now["pelvis"]).up or 0.0) < SEATED_CM


def lead(sheet: KeySheet, wanted: Tracks) -> float:
    """Return how long it takes to get from where everything is to where it is wanted."""
    later = REACHING_S if _reaches(sheet, wanted) else 0.0
    up = cast(PelvisKey, wanted.get("pelvis", sheet.now["pelvis"])).up or 0.0
    if abs(up - (cast(PelvisKey, sheet.now["pelvis"]).up or 0.0)) > SITS_CM:
        return later + SITTING_S
    return later + (STEPPING_S if len(sheet.stepping(wanted)) > 1 else READY_S)


def _reaches(sheet: KeySheet, wanted: Tracks) -> bool:
    """Say whether hands that hang now are wanted elsewhere."""
    now, then = (all(hangs(cast(HandKey, keys[track])) for track in HANDS if track in keys)
                 for keys in (sheet.now, wanted))
    return now and not then


def prepare(sheet: KeySheet, begin: float, arrives: float, wanted: Tracks,
             line: int) -> None:
    """Bring all tracks to where they are wanted; feet step one after the other."""
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
