"""Replace one of two performers by the partner of another action."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.characters.character import Performance
from mimegen.library.take import LibraryTake, Source
from mimegen.manifest.timeline import PARTNER, PERFORMER, Interval
from mimegen.motion.editing import moved, resampled
from mimegen.motion.motion import Motion
from mimegen.readers.canonical import heading_deg
from mimegen.readers.roles import find_roles

# The manifest's fields of the other take.
_FACTS = ("action", "take", "seed", "motion_file", "motion_sha256")


def check_partner(take: LibraryTake, partner: LibraryTake) -> None:
    """Raise RequestError unless a take of two people can get the partner of another action."""
    if take.performers == 1:
        raise RequestError(f"partner {partner.action}: {take.action} has one performer; expected an"
                           " action of two people, whose second person is replaced")
    if take.action == partner.action:
        raise RequestError(f"partner {partner.action}: is the action itself; expected another one")


def with_other_partner(sources: Sequence[Source], others: Sequence[Source]) -> tuple[Source, ...]:
    """Return the first of two motions, and the last of another take's in the place of the second.

    The last is the partner of an action of two people, or the only person of another action.
    """
    (first, roles), replaced = sources
    other, known = others[-1]
    placed = _in_place_of(_known(*replaced), _known(other, known), first.fps)
    return (first, roles), (placed, known)


def cast_with_other_partner(bodies: Sequence[Performance], others: Sequence[Performance]
                            ) -> tuple[Performance, ...]:
    """Return performances on characters, as ``with_other_partner`` does."""
    first, replaced = bodies
    motion = _in_place_of(_known(replaced.motion, None), _known(others[-1].motion, None),
                          first.motion.fps)
    return first, replace(others[-1], motion=motion)


_Known = tuple[Motion, Mapping[str, str]]


def _known(motion: Motion, roles: Mapping[str, str] | None) -> _Known:
    """Return a motion with its joints by role."""
    return motion, roles or find_roles(motion.skeleton).joints


def _in_place_of(replaced: _Known, other: _Known, fps: float) -> Motion:
    """Return the other motion where the replaced person was, facing as they did at the start.

    The mean places of the hips on the ground agree, over the frames that both last.
    """
    motion = other[0] if other[0].fps == fps else resampled(other[0], fps)
    turned = moved(motion, np.zeros(3), heading_deg(*replaced) - heading_deg(*other))
    frames = slice(min(motion.frames, replaced[0].frames))
    apart = replaced[0].root_positions[frames] - turned.root_positions[frames]
    return moved(turned, apart.mean(axis=0) * [1.0, 1.0, 0.0], 0.0)


def partner_facts(partner: LibraryTake) -> dict[str, Any]:
    """Return the manifest's fields of the take that a partner is from."""
    known = partner.facts()
    return {name: known[name] for name in _FACTS}


def joint_timeline(take: LibraryTake, partner: LibraryTake) -> list[Interval] | None:
    """Return what each performer of two takes does; None if it is unknown of one of them."""
    if take.timeline is None or partner.timeline is None:
        return None
    role = PARTNER if partner.performers > 1 else PERFORMER
    return [*(one for one in take.timeline if one.performer == PERFORMER),
            *(one.model_copy(update={"performer": PARTNER}) for one in partner.timeline
              if one.performer == role)]
