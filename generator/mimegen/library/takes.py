"""Takes and the cast: where a performance comes from, and what names its content."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import code_hash, content_key, file_hash
from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.imported.importing import import_character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.action import Action
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.score import read_score
from mimegen.choreography.styles import style_named
from mimegen.library.catalogue import SCORE_SUFFIX, Catalogue, Entry, plain
from mimegen.library.takefile import TAKE_SUFFIX, options_of, read_take_file
from mimegen.motion.editing import resampled
from mimegen.motion.motion import Motion
from mimegen.motion.trimming import Span
from mimegen.pointlight import lights
from mimegen.readers import ReadOptions, Recording, Trim, read_motion
from mimegen.readers.asf_amc import skeleton_file
from mimegen.readers.files import buffers_beside
from mimegen.readers.options import AS_FOUND
from mimegen.readers.partners import both_people, partner_options, placed_together
from mimegen.readers.trimming import cut, span_of
from mimegen.retarget import retarget_scene

RELAXED = "relaxed"
RIGGED_SUFFIXES = {".fbx", ".glb", ".gltf"}
# A motion and, where they are known, its joints by role.
Source = tuple[Motion, Mapping[str, str] | None]


@dataclass(frozen=True)
class Take:
    """One performance of an action: a score with a seed, or a mocap file.

    ``aligned`` and ``misaligned`` name backgrounds; None where nobody said. ``partner`` is the
    file of a second performer who shares clock and world with the first. ``options`` say how
    mocap files are read, ``source`` and ``original_name`` where an imported one came from;
    ``style`` is how a score is performed, None for the seed's own; ``hand_shape`` is that of
    fingers of which mocap says nothing.
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
    partner: Path | None = None
    options: ReadOptions = AS_FOUND
    source: str | None = None
    original_name: str | None = None
    style: str | None = None
    hand_shape: str = RELAXED

    @property
    def is_score(self) -> bool:
        """Whether the motion is choreographed rather than captured."""
        return self.file.name.endswith(SCORE_SUFFIX)

    @cached_property
    def key(self) -> str:
        """What the motion depends on, apart from code. A mocap file has no seed."""
        files = [file_hash(file) for file in self.files]
        if not self.is_score:
            skeletons = [skeleton_file(file, self.options.skeleton if file == self.file else None)
                         for file in self.files if file.suffix.lower() == ".amc"]
            buffers = [buffer for file in self.files for buffer in buffers_beside(file)]
            said = [*skeletons, *buffers, *filter(None, [self.options.mapping])]
            return content_key(files, [file_hash(file) for file in said], self.options.stack,
                               str(self.options.trim), self.hand_shape,
                               *filter(None, [self.options.subject]))
        shared = [*sorted((data_folder() / "mocap").glob("*.yaml")),
                  data_folder() / "rigs" / "skeletons" / "standard.yaml"]
        return content_key(files, [file_hash(file) for file in shared], self.seed, self.style)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of every performer."""
        return (self.file, self.partner) if self.partner else (self.file,)

    @cached_property
    def performers(self) -> int:
        """How many people the take shows."""
        return len(read_score(self.file).parts()) if self.is_score else len(self.files)

    @property
    def version(self) -> list[str]:
        """What tells takes of one name apart in a clip's name.

        Of a score seed and style; of mocap, what files and how much of them is used, in short.
        """
        if not self.is_score:
            return [self.key[:6]]
        return [f"seed{self.seed}", *([self.style] if self.style else [])]

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion in one world frame.

        A score is performed at ``fps``; mocap keeps its own frame rate and has its joints by role.
        """
        if self.is_score:
            scene = perform_scene(read_score(self.file), self.seed, fps, self.style)
            return tuple((motion, None) for motion in scene)
        recordings = self.recordings
        if len(recordings) == 1:
            return ((recordings[0].motion, recordings[0].roles),)
        motions = placed_together(*recordings)
        return tuple((motion, recording.roles)
                     for motion, recording in zip(motions, recordings, strict=True))

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """What the mocap files hold; partners are trimmed alike, by what either of them needs."""
        if self.partner is None:
            return (_recorded(self.file, self.options),)
        whole = replace(self.options, trim=Trim())
        recordings = (_recorded(self.file, whole),
                      _recorded(self.partner, partner_options(self.file, self.partner, whole)))
        spans = [span_of(file, recording, self.options.trim)
                 for file, recording in zip(self.files, recordings, strict=True)]
        start = min(span.first / r.motion.fps for span, r in zip(spans, recordings, strict=True))
        end = max(span.last / r.motion.fps for span, r in zip(spans, recordings, strict=True))
        return tuple(cut(recording, Span(
            round(start * recording.motion.fps),
            min(round(end * recording.motion.fps), recording.motion.frames - 1)))
            for recording in recordings)

    def reading(self) -> dict[str, Any]:
        """Return how a mocap file was understood, for the manifest; nothing for a score."""
        if self.is_score:
            return {}
        recording = self.recordings[0]
        first, last = recording.span or (0, recording.motion.frames - 1)
        return {
            "motion_source": self.source, "motion_original_name": self.original_name,
            "motion_stack": self.options.stack, "motion_subject": self.options.subject,
            "motion_trim": str(self.options.trim),
            "motion_first_frame": first, "motion_last_frame": last,
            "motion_mapping_sha256": file_hash(self.options.mapping) if self.options.mapping
            else None,
            "motion_system": recording.system, "motion_fps": recording.motion.fps,
            "motion_unit_m": recording.unit, "motion_unit_found_by": recording.unit_source,
            "motion_up_axis": recording.up_axis, "motion_up_axis_found_by": recording.up_source,
            "motion_notes": list(recording.notes),
        }


def library_take(entry: Entry, take: str | None, seed: int, style: str | None = None) -> Take:
    """Return a take of the library. Motion capture has no seed and no style.

    Raises RequestError, naming file and line, where its score or take file is none, and for an
    unknown style.
    """
    action, file = entry.action, entry.take(take)
    if not file.name.endswith(SCORE_SUFFIX):
        return _captured(action, file)
    read_score(file)
    if style is not None:
        style_named(style)
    name = file.name.removesuffix(SCORE_SUFFIX)
    action = action.of_take(name)
    return Take(
        action=action.id, name=name, labels=tuple(action.labels),
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=file, seed=seed, actor="choreography", licence=action.licence, style=style,
    )


def _captured(action: Action, file: Path) -> Take:
    """Return a library's take of motion capture; what its file leaves out is the action's."""
    facts = read_take_file(file)
    take = Take(
        action=action.id, name=file.name.removesuffix(TAKE_SUFFIX)
        if file.name.endswith(TAKE_SUFFIX) else file.stem,
        labels=facts.labels or tuple(action.labels),
        aligned=facts.aligned_background or action.aligned_background,
        misaligned=facts.misaligned_background or action.misaligned_background,
        file=file.parent / facts.file, seed=0, actor=facts.actor, licence=facts.licence,
        options=options_of(file, facts), source=facts.source, original_name=facts.original_name,
    )
    take.sources(1.0)
    return take


def user_take(catalogue: Catalogue, file: Path, labels: tuple[str, ...], aligned: str | None,
              misaligned: str | None, licence: str, partner: Path | None = None,
              options: ReadOptions = AS_FOUND) -> Take:
    """Return a user's own mocap file, or two of one scene, as a take; one file may hold both.

    A label that the library knows lends its backgrounds, and its hand shape where it has but one.
    Raises RequestError where a file holds no motion of one person.
    """
    for name in (aligned, misaligned):
        if name is not None:
            catalogue.file("background", name)
    options, partner = both_people(file, partner, options)
    known = None
    for label in labels:
        try:
            known = known or catalogue.action(label).action
        except RequestError:
            continue
    take = Take(
        action=plain(labels[0]) if labels else file.stem, name=file.stem,
        labels=labels or (file.stem,),
        aligned=aligned or (known.aligned_background if known else None),
        misaligned=misaligned or (known.misaligned_background if known else None),
        file=file, seed=0, actor="recorded", licence=licence, partner=partner, options=options,
        hand_shape=known.hand_shapes[0] if known and len(known.hand_shapes) == 1 else RELAXED,
    )
    take.sources(1.0)
    return take


@lru_cache(maxsize=4)
def _recorded(file: Path, options: ReadOptions) -> Recording:
    return read_motion(file, options)


@dataclass(frozen=True)
class CastMember:
    """A character by where it comes from: a YAML file, a rigged file, or a random seed.

    With ``lights`` it is seen as glowing spheres at its joints.
    """

    name: str
    file: Path | None
    seed: int | None
    lights: bool = False

    @cached_property
    def key(self) -> str:
        """What the character depends on, apart from code."""
        if self.lights:
            return content_key("lights", replace(self, lights=False).key,
                               lights.light_set().model_dump(mode="json"),
                               code_hash(Path(lights.__file__)))
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

    ``lights:NAME`` is that character as glowing spheres. Raises RequestError where there is none,
    or its file is no character.
    """
    if name.startswith("lights:"):
        body = cast_member(catalogue, name.removeprefix("lights:"))
        return replace(body, name=f"{body.name}_lights", lights=True)
    if name.startswith("random:"):
        seed = name.removeprefix("random:")
        if not seed.isdigit():
            raise RequestError(f"character '{name}': random: wants a whole number, as in random:7")
        return CastMember(f"random_{seed}", None, int(seed))
    file = catalogue.file("character", name)
    if file.suffix.lower() not in {*RIGGED_SUFFIXES, ".yaml"}:
        raise RequestError(f"{file}: a character is a .yaml, .fbx, .glb or .gltf file")
    member = CastMember(file.stem, file, None)
    member.check()
    return member


@lru_cache(maxsize=4)
def _built(member: CastMember) -> Character:
    return member.build()


@dataclass(frozen=True)
class Casting:
    """A take by members of the cast, one for each of its performers."""

    take: Take
    members: tuple[CastMember, ...]

    @property
    def name(self) -> str:
        """The names of the members."""
        return "_and_".join(member.name for member in self.members)

    def perform(self, fps: float) -> tuple[Performance, ...]:
        """Build the characters and bring the motions onto them, at ``fps``."""
        characters = [_built(member) for member in self.members]
        try:
            scene = retarget_scene(self.take.sources(fps), characters,
                                   hand_shape=self.take.hand_shape)
        except RequestError as problem:
            raise RequestError(f"{self.take.file} on {self.name}: {problem}") from problem
        return tuple(performance if performance.motion.fps == fps else
                     Performance(performance.character, resampled(performance.motion, fps))
                     for performance in scene)

    def seen(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances as they are shown: some by lights, in place of bodies."""
        return tuple(
            Performance(lights.of_lights(performance.character), performance.motion)
            if member.lights else performance
            for member, performance in zip(self.members, scene, strict=True))

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        return {
            "action": self.take.action, "take": self.take.name, "actor": self.take.actor,
            "labels": list(self.take.labels), "avatar": self.members[0].name,
            "seed": self.take.seed, "style": self.take.style, "licence": self.take.licence,
            "motion_file": self.take.file.name, "motion_sha256": file_hash(self.take.file),
            "motion_kind": "score" if self.take.is_score else self.take.file.suffix.lstrip("."),
            **self.take.reading(),
            "character_file": self.members[0].file.name if self.members[0].file else None,
            "character_key": self.members[0].key,
            **self._partner_facts(),
        }

    def _partner_facts(self) -> dict[str, Any]:
        if len(self.members) == 1:
            return {}
        file, member = self.take.files[-1], self.members[1]
        return {
            "partner_avatar": member.name, "partner_motion_file": file.name,
            "partner_motion_sha256": file_hash(file),
            "partner_character_file": member.file.name if member.file else None,
            "partner_character_key": member.key,
        }
