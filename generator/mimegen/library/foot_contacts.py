"""When the feet of takes and of castings stand on the ground."""

from collections.abc import Sequence

from mimegen.base.code import code_key
from mimegen.characters.character import Performance
from mimegen.library.casting import Casting
from mimegen.library.gait_take import GaitTake
from mimegen.library.take import LibraryTake, Source
from mimegen.manifest.footfalls import FootContacts, contacts_of
from mimegen.retarget.soles import feet_standing, performed_standing

# Frames a second below which steps fall between frames.
LEAST_FPS = 20.0


def contacts_code() -> str:
    """Return the key of the code that finds when feet stand."""
    return code_key("mimegen.retarget.soles", "mimegen.manifest.footfalls")


def take_contacts(take: LibraryTake, sources: Sequence[Source]) -> FootContacts | None:
    """Return when the feet of a take's performers, on their own skeletons, stand.

    None if that cannot be told: see `is_tellable`; also if a skeleton has no toes.
    """
    fps, loop = sources[0][0].fps, is_loop(take)
    if not is_tellable(take, fps):
        return None
    found = [feet_standing(motion, roles, loop) for motion, roles in sources]
    known = [standing for standing in found if standing is not None]
    return contacts_of(known, fps, loop) if len(known) == len(found) else None


def cast_contacts(casting: Casting, scene: Sequence[Performance]) -> FootContacts | None:
    """Return when the feet of performances stand; None if that cannot be told."""
    fps, loop = scene[0].motion.fps, is_loop(casting.take)
    if not tells_steps(casting, fps):
        return None
    return contacts_of([performed_standing(one, loop) for one in scene], fps, loop)


def tells_steps(casting: Casting, fps: float) -> bool:
    """Return whether a casting tells when its feet stand: no fault changes motion, body or cast."""
    return not casting.moving_faults and is_tellable(casting.take, fps)


def is_tellable(take: LibraryTake, fps: float) -> bool:
    """Return whether the ground is level and there are enough frames a second to tell steps."""
    return fps >= LEAST_FPS and (not isinstance(take, GaitTake) or take.on_level_ground)


def is_loop(take: LibraryTake) -> bool:
    """Return whether a take's last frame leads into its first, in the same place."""
    return isinstance(take, GaitTake) and take.loop > 0 and take.treadmill
