"""Takes and the cast: where a performance comes from, and what names its content."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mimegen.catalogue import SCORE_SUFFIX, Catalogue, Entry, plain
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.imported import import_character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform
from mimegen.choreography.score import read_score
from mimegen.errors import RequestError
from mimegen.motion.editing import resampled
from mimegen.motion.motion import Motion
from mimegen.paths import data_folder
from mimegen.readers import Recording, read_motion
from mimegen.retarget.transfer import retarget
from mimegen.store import content_key, file_hash

RIGGED_SUFFIXES = {".fbx", ".glb", ".gltf"}


@dataclass(frozen=True)
class Take:
    """One performance of an action: a score with a seed, or a mocap file.

    ``aligned`` and ``misaligned`` name backgrounds; None where nobody said.
    """

    action: str
    name: str
    labels: tuple[str, ...]
    aligned: str | None
    misaligned: str | None
    file: Path
    seed: int
    actor: str
    licence: str

    @property
    def is_score(self) -> bool:
        """Whether the motion is choreographed rather than captured."""
        return self.file.name.endswith(SCORE_SUFFIX)

    @cached_property
    def key(self) -> str:
        """What the motion depends on, apart from code. A mocap file has no seed."""
        if not self.is_score:
            return content_key(file_hash(self.file))
        shared = [*sorted((data_folder() / "mocap").glob("*.yaml")),
                  data_folder() / "rigs" / "skeletons" / "standard.yaml"]
        return content_key([file_hash(file) for file in (self.file, *shared)], self.seed)

    def source_motion(self, fps: float) -> tuple[Motion, Mapping[str, str] | None]:
        """Return the motion at a frame rate and, for mocap, its joints by role if known."""
        if self.is_score:
            return perform(read_score(self.file), self.seed, fps), None
        recording = _recorded(self.file)
        return resampled(recording.motion, fps), recording.roles

    def reading(self) -> dict[str, Any]:
        """Return how a mocap file was understood, for the manifest; nothing for a score."""
        if self.is_score:
            return {}
        recording = _recorded(self.file)
        return {
            "motion_system": recording.system, "motion_fps": recording.motion.fps,
            "motion_unit_m": recording.unit, "motion_unit_found_by": recording.unit_source,
            "motion_up_axis": recording.up_axis, "motion_up_axis_found_by": recording.up_source,
            "motion_notes": list(recording.notes),
        }


def library_take(entry: Entry, take: str | None, seed: int) -> Take:
    """Return a take of the library.

    Raises RequestError, naming file and line, where its score is none.
    """
    action, file = entry.action, entry.take(take)
    read_score(file)
    return Take(
        action=action.id, name=file.name.removesuffix(SCORE_SUFFIX), labels=tuple(action.labels),
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=file, seed=seed, actor="choreography", licence=action.licence,
    )


def user_take(catalogue: Catalogue, file: Path, labels: tuple[str, ...], aligned: str | None,
              misaligned: str | None, licence: str) -> Take:
    """Return a user's own mocap file as a take.

    A label that the library knows lends its backgrounds. Raises RequestError where the file holds
    no motion of one person.
    """
    if not file.is_file():
        raise RequestError(f"{file}: no such file (wanted as --motion)")
    _recorded(file)
    for name in (aligned, misaligned):
        if name is not None:
            catalogue.file("background", name)
    known = None
    for label in labels:
        try:
            known = known or catalogue.action(label).action
        except RequestError:
            continue
    return Take(
        action=plain(labels[0]) if labels else safe_name(file.stem), name=safe_name(file.stem),
        labels=labels or (file.stem,),
        aligned=aligned or (known.aligned_background if known else None),
        misaligned=misaligned or (known.misaligned_background if known else None),
        file=file, seed=0, actor="recorded", licence=licence,
    )


@lru_cache(maxsize=4)
def _recorded(file: Path) -> Recording:
    return read_motion(file)


def safe_name(text: str) -> str:
    """Return text fit for file names: letters, digits, underscores."""
    return re.sub(r"\W+", "_", text).strip("_") or "unnamed"


@dataclass(frozen=True)
class CastMember:
    """A character by where it comes from: a YAML file, a rigged file, or a random seed."""

    name: str
    file: Path | None
    seed: int | None

    @cached_property
    def key(self) -> str:
        """What the character depends on, apart from code."""
        if self.file and self.file.suffix.lower() in RIGGED_SUFFIXES:
            # The file may draw on pictures beside it.
            return content_key(_built(self).fingerprint)
        body = file_hash(data_folder() / "rigs" / "body.npz")
        return content_key(body, self.seed, file_hash(self.file) if self.file else None)

    def check(self) -> None:
        """Raise RequestError where the file is no character, before anything is rendered."""
        if self.file and self.file.suffix.lower() in RIGGED_SUFFIXES:
            _built(self)
        elif self.file:
            read_character(self.file)

    def build(self) -> Character:
        """Build the body and the outfit."""
        if self.file is None:
            return build_character(sample_character(self.seed or 0))
        if self.file.suffix.lower() in RIGGED_SUFFIXES:
            return import_character(self.file)
        return build_character(read_character(self.file))


def cast_member(catalogue: Catalogue, name: str) -> CastMember:
    """Return the character that a name, a file's path or ``random:SEED`` stands for.

    Raises RequestError where there is none, or its file is no character.
    """
    if name.startswith("random:"):
        seed = name.removeprefix("random:")
        if not seed.isdigit():
            raise RequestError(f"character '{name}': random: wants a whole number, as in random:7")
        return CastMember(f"random_{seed}", None, int(seed))
    file = catalogue.file("character", name)
    if file.suffix.lower() not in {*RIGGED_SUFFIXES, ".yaml"}:
        raise RequestError(f"{file}: a character is a .yaml, .fbx, .glb or .gltf file")
    member = CastMember(safe_name(file.stem), file, None)
    member.check()
    return member


@lru_cache(maxsize=4)
def _built(member: CastMember) -> Character:
    return member.build()


@dataclass(frozen=True)
class Casting:
    """A take by a member of the cast."""

    take: Take
    member: CastMember

    def perform(self, fps: float) -> Performance:
        """Build the character and bring the motion onto it."""
        motion, roles = self.take.source_motion(fps)
        try:
            return retarget(motion, _built(self.member), roles)
        except RequestError as problem:
            raise RequestError(f"{self.take.file} on {self.member.name}: {problem}") from problem

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        return {
            "action": self.take.action, "take": self.take.name, "actor": self.take.actor,
            "labels": list(self.take.labels), "avatar": self.member.name,
            "seed": self.take.seed, "licence": self.take.licence,
            "motion_file": self.take.file.name, "motion_sha256": file_hash(self.take.file),
            "motion_kind": "score" if self.take.is_score else self.take.file.suffix.lstrip("."),
            **self.take.reading(),
            "character_file": self.member.file.name if self.member.file else None,
            "character_key": self.member.key,
        }
