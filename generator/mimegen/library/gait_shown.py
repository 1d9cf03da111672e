"""The facts of a gait on the body that performs it."""

from typing import Any

from mimegen.characters.character import Character
from mimegen.gait.skeleton import skeleton_of
from mimegen.gait.walker import pace_of
from mimegen.library.gait_take import GaitTake
from mimegen.library.take import LibraryTake
from mimegen.retarget.transfer import leg_scale


def gait_on_body(take: LibraryTake, character: Character) -> dict[str, Any]:
    """Return ``gait`` of a take's facts for a character, whose legs scale speed and step length.

    The cadence stays. Empty for takes that are no gait.
    """
    if not isinstance(take, GaitTake):
        return {}
    scale = leg_scale(skeleton_of(pace_of(take.walker)), None, character)
    gait = take.facts()["gait"]
    return {"gait": gait | {name: round(gait[name] * scale, 4) for name in ("speed", "step_length")}
            | {"body_scale": round(scale, 4)}}
