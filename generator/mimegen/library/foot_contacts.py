"""When the feet of takes and of castings stand on the ground."""

from collections.abc import Sequence

from mimegen.base.code import code_key
from mimegen.characters.character import Performance
from mimegen.library.casting import Casting
from mimegen.library.gait_take import GaitTake
from mimegen.library.take import LibraryTake, Source
from mimegen.manifest.footfalls import FootContacts, contacts_of
from mimegen.retarget.soles import feet_standing, performed_standing


def contacts_code() -> str:
    """Return the key of the code that finds when feet stand."""
    return code_key("mimegen.retarget.soles", "mimegen.manifest.footfalls")


def take_contacts(take: LibraryTake, sources: Sequence[Source]) -> FootContacts | None:
    """Return when the feet of a take's performers, on their own skeletons, stand.

    None if that cannot be told: the ground is not level, or a skeleton has no toes.
    """
    if not is_level(take):
        return None
    loop = is_loop(take)
    found = [feet_standing(motion, roles, loop) for motion, roles in sources]
    known = [standing for standing in found if standing is not None]
    return contacts_of(known, sources[0][0].fps, loop) if len(known) == len(found) else None


def cast_contacts(casting: Casting, scene: Sequence[Performance]) -> FootContacts | None:
    """Return when the feet of performances stand; None if that cannot be told.

    It cannot if a fault changes motion, body or cast, or if the ground is not level.
    """
    if casting.moving_faults or not is_level(casting.take):
        return None
    loop = is_loop(casting.take)
    return contacts_of([performed_standing(one, loop) for one in scene], scene[0].motion.fps, loop)


def is_level(take: LibraryTake) -> bool:
    """Return whether a take's ground is level: gaits may climb slopes and stairs."""
    return not isinstance(take, GaitTake) or take.on_level_ground


def is_loop(take: LibraryTake) -> bool:
    """Return whether a take's last frame leads into its first, in the same place."""
    return isinstance(take, GaitTake) and take.loop > 0 and take.treadmill
