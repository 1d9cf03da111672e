"""How much farther a character travels than the people in a recording."""

from collections.abc import Sequence
from typing import Any

from mimegen.characters.character import Character
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.take import LibraryTake
from mimegen.retarget.transfer import leg_scale, shared_scale


def travel_on_bodies(take: LibraryTake, characters: Sequence[Character]) -> dict[str, Any]:
    """Return ``travel_scale`` of a row: distances on these characters, as multiples of the file's.

    People of one scene share a factor, as in `retarget_scene`. Empty for takes that are no
    recordings.
    """
    if not isinstance(take, RecordedTake):
        return {}
    scales = [leg_scale(recording.motion.skeleton, recording.roles, character)
              for recording, character in zip(take.recordings, characters, strict=True)]
    return {"travel_scale": round(shared_scale(scales), 4)}
