"""A take and who performs it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.characters.character import Performance
from mimegen.library.bodies import body_of
from mimegen.library.cast import CastMember, seen, seen_key
from mimegen.library.keys import performance_code
from mimegen.library.take import Take
from mimegen.retarget.performing import performed
from mimegen.store.store import Store


@dataclass(frozen=True)
class Casting:
    """A take by members of the cast, one for each of its performers."""

    take: Take
    members: tuple[CastMember, ...]

    @cached_property
    def name(self) -> str:
        """The names of the members."""
        return "_and_".join(member.name for member in self.members)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What the names of all its clips begin with."""
        return self.take.action, self.take.name, *self.take.version, self.name

    @cached_property
    def key(self) -> str:
        """What the performances depend on, apart from their frame rate."""
        return content_key(self.take.key, [member.key for member in self.members],
                           performance_code())

    @cached_property
    def looks(self) -> list[str]:
        """What each performer's looks depend on."""
        return [seen_key(member) for member in self.members]

    def perform(self, fps: float, store: Store | None = None) -> tuple[Performance, ...]:
        """Bring the motions onto the characters, at ``fps``; a store keeps the built ones."""
        characters = [body_of(member, store) for member in self.members]
        try:
            return performed(self.take.sources(fps), characters, fps, self.take.hand_shape)
        except RequestError as problem:
            raise RequestError(f"{self.take.file} on {self.name}: {problem}") from problem

    def seen(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances as they are shown: some by lights, in place of bodies."""
        return tuple(
            Performance(seen(member, performance.character), performance.motion)
            for member, performance in zip(self.members, scene, strict=True))

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        return {
            **self.take.facts(), "avatar": self.members[0].name,
            "character_file": self.members[0].file.name if self.members[0].file else None,
            "character_key": self.looks[0], **self._partner_facts(),
        }

    def _partner_facts(self) -> dict[str, Any]:
        if len(self.members) == 1:
            return {}
        file, member = self.take.files[-1], self.members[1]
        return {
            "partner_avatar": member.name, "partner_motion_file": file.name,
            "partner_motion_sha256": file_hash(file),
            "partner_character_file": member.file.name if member.file else None,
            "partner_character_key": self.looks[1],
        }
