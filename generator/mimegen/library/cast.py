"""The cast: characters from YAML files, random seeds and rigged files."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from mimegen.base.errors import RequestError
from mimegen.base.files import (
    Stamp,
    changed_since,
    content_key,
    file_hash,
    refuse_changed,
    stamp,
)
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.imported.importing import import_character
from mimegen.characters.kept import kept_character
from mimegen.characters.redressing import redressed
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.library.catalogue import Catalogue
from mimegen.library.keys import clothes_code, figure_code, lights_code
from mimegen.pointlight import lights

# The default second performer for a first performer, and for all others. Beside a spacesuit, a
# person in plain sight would give the action away.
PARTNERS = {"woman": "man", "spacesuit": "spacesuit"}
PARTNER = "woman"
RIGGED_SUFFIXES = {".fbx", ".glb", ".gltf", ".vrm"}


class CastMember(Hashable, Protocol):
    """A character that can perform a part."""

    @property
    def name(self) -> str:
        """Its name in the names of clips."""

    @property
    def file(self) -> Path | None:
        """The file that describes it, if there is one."""

    @property
    def file_sha256(self) -> str | None:
        """The SHA-256 of the file, as it was when the key was computed; None without a file."""

    @property
    def key(self) -> str:
        """The content key of its body, to which motions are retargeted."""

    def build(self) -> Character:
        """Return the body that motions are retargeted to. Raises RequestError if that fails."""


@dataclass(frozen=True)
class DescribedPerson:
    """A person described by a YAML file."""

    name: str
    file: Path

    @cached_property
    def file_sha256(self) -> str:
        """The SHA-256 of the file, as it was when the key was computed."""
        return file_hash(self.file)

    @cached_property
    def key(self) -> str:
        """The content key of the character."""
        return content_key(self.file_sha256, figure_code())

    def build(self) -> Character:
        """Build body and outfit, or read them from the user's cache."""
        # Not by ``key``: the file may have been edited since that was computed.
        sha256, spec = file_hash(self.file), read_character(self.file)
        if file_hash(self.file) != sha256:
            raise changed_since(self.file)
        return kept_character(content_key(sha256, figure_code()), lambda: build_character(spec))


@dataclass(frozen=True)
class RandomPerson:
    """A person drawn by a seed, in clothes drawn by the same seed or by another."""

    name: str
    seed: int
    clothes: int | None = None

    @property
    def file(self) -> None:
        """None: a random person has no file."""
        return None

    @property
    def file_sha256(self) -> None:
        """None, as there is no file."""
        return None

    @cached_property
    def key(self) -> str:
        """The content key of the character."""
        if self.clothes is None:
            return content_key(self.seed, figure_code())
        return content_key(self.seed, self.clothes, figure_code(), clothes_code())

    def build(self) -> Character:
        """Build body and outfit."""
        return build_character(sample_character(self.seed) if self.clothes is None
                               else redressed(self.seed, self.clothes))


@dataclass(frozen=True)
class RiggedFigure:
    """A user's own rigged file."""

    name: str
    file: Path
    file_sha256: str

    @cached_property
    def key(self) -> str:
        """The content key of the character, which may depend on image files beside its own."""
        return content_key(built(self).fingerprint)

    def build(self) -> Character:
        """Read the figure."""
        return import_character(self.file)


@dataclass(frozen=True)
class InLights:
    """Another cast member, shown as glowing spheres at the joints."""

    name: str
    body: CastMember

    @property
    def file(self) -> Path | None:
        """The file of the body."""
        return self.body.file

    @property
    def file_sha256(self) -> str | None:
        """The SHA-256 of the body's file."""
        return self.body.file_sha256

    @property
    def key(self) -> str:
        """The key of the body, to which motions are retargeted."""
        return self.body.key

    def build(self) -> Character:
        """Build the body."""
        return self.body.build()


def refuse_changed_member(member: CastMember) -> None:
    """Raise RequestError if a member's file was changed after its key was computed."""
    # Lights have the key of the body that they replace, which is cached there.
    refuse_changed(member.body if isinstance(member, InLights) else member, member.file)


def seen_key(member: CastMember) -> str:
    """Return the content key of a member's appearance."""
    if not isinstance(member, InLights):
        return member.key
    return content_key("lights", member.key, lights_code())


def seen(member: CastMember, body: Character) -> Character:
    """Return a member's body as it is shown."""
    return lights.of_lights(body) if isinstance(member, InLights) else body


def facts_of_file(member: CastMember) -> dict[str, Any]:
    """Return the manifest's fields that a member's file decides, whatever else it shares its key.

    They are name and file; for a rigged figure its source and the notes of its import, too.
    """
    facts: dict[str, Any] = {"avatar": member.name,
                             "character_file": member.file.name if member.file else None,
                             "character_sha256": member.file_sha256}
    body = member.body if isinstance(member, InLights) else member
    if isinstance(body, RiggedFigure):
        figure = built(body)
        facts |= {"character_source": figure.source, "character_notes": list(figure.notes)}
    return facts


def cast_member(catalogue: Catalogue, name: str) -> CastMember:
    """Return the character for a name, a file's path or ``random:SEED``.

    ``random:SEED:CLOTHES`` is that person in clothes drawn by another seed, and ``lights:NAME`` is
    that character as glowing spheres. Raises RequestError if there is no such character or its file
    holds none.
    """
    if name.startswith("lights:"):
        body = cast_member(catalogue, name.removeprefix("lights:"))
        return InLights(f"{body.name}_lights", body)
    if name.startswith("random:"):
        return _random_person(name)
    file = catalogue.file("character", name)
    if file.suffix.lower() in RIGGED_SUFFIXES:
        figure = RiggedFigure(file.stem, file, file_hash(file))
        built(figure)
        return figure
    if file.suffix.lower() != ".yaml":
        raise RequestError(f"{file}: expected a .yaml, .fbx, .glb, .gltf or .vrm file; PLY, OBJ and"
                           " STL meshes have no skeleton")
    read_character(file)
    return DescribedPerson(file.stem, file)


def _random_person(name: str) -> RandomPerson:
    seed, colon, clothes = name.removeprefix("random:").partition(":")
    if not seed.isdigit() or (colon and not clothes.isdigit()):
        raise RequestError(f"character '{name}': expected random: and a whole number, as in"
                           " random:7, or two, as in random:7:12 (clothes of seed 12)")
    return RandomPerson(name.replace(":", "_"), int(seed), int(clothes) if colon else None)


def partner_of(name: str) -> str:
    """Return the name of the default second performer in a scene with ``name``.

    It is another character, except for spacesuits; the partner of ``random:SEED`` is the next
    random person of the other sex.
    """
    if name.startswith("lights:"):
        return f"lights:{partner_of(name.removeprefix('lights:'))}"
    seed = name.removeprefix("random:").partition(":")[0]
    if seed == name or not seed.isdigit():
        return PARTNERS.get(Path(name).stem, PARTNER)
    male = sample_character(int(seed)).phenotype.sex > 0.5
    return next(f"random:{other}" for other in count(int(seed) + 1)
                if (sample_character(other).phenotype.sex > 0.5) != male)


def built(member: CastMember) -> Character:
    """Return a member's body, built once until the member's file is written again."""
    return _built(member, written(member))


def written(member: CastMember) -> Stamp | None:
    """Return what changes when a member's file is written again; None without a file."""
    return None if member.file is None else stamp(member.file)


@lru_cache(maxsize=4)
def _built(member: CastMember, written: Stamp | None) -> Character:
    del written
    return member.build()
