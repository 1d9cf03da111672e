"""A take and who performs it."""

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.base.seeds import generator
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Performance
from mimegen.characters.gazing import gazed_at
from mimegen.characters.living import enlivened
from mimegen.faces.gaze import mirrored_gaze
from mimegen.faults.fault import Fault, FaultRecord
from mimegen.faults.scene import IDENTITY, FaultyScene, first_of_another, with_faults
from mimegen.library.altering import mirrored_scene
from mimegen.library.bodies import body_of
from mimegen.library.cast import CastMember, InLights, RandomPerson, seen, seen_key
from mimegen.library.keys import face_code, fault_code, performance_code
from mimegen.library.reversing import reversed_scene
from mimegen.library.take import LibraryTake, Source
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.performing import performed
from mimegen.store.store import Store

# How many people there are to turn into.
OTHERS = 100_000


@dataclass(frozen=True)
class Casting:
    """A take by members of the cast, one for each of its performers, with faults or without."""

    take: LibraryTake
    members: tuple[CastMember, ...]
    faults: tuple[Fault, ...] = ()

    @cached_property
    def name(self) -> str:
        """The names of the members."""
        return "_and_".join(member.name for member in self.members)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What the names of all its clips begin with."""
        return (self.take.action, self.take.name, *self.take.version, self.name,
                *(fault.word for fault in self.faults))

    @cached_property
    def moving_faults(self) -> tuple[Fault, ...]:
        """The faults of motion, body and cast; those of finished frames are the clip's."""
        return tuple(fault for fault in self.faults if fault.kind.acts_on != "frames")

    @property
    def goes_below(self) -> bool:
        """Whether somebody goes below the ground, which must hide them."""
        return any(fault.kind.below for fault in self.faults)

    def in_turn(self, frames: int) -> tuple[tuple["Casting", NDArray[np.bool_]], ...]:
        """Return the castings that are seen one after the other, each with its frames (F,).

        It is one alone, all the time, but where the first performer turns into another person.
        """
        change = next((fault for fault in self.faults if fault.name == IDENTITY), None)
        if change is None:
            return ((self, np.ones(frames, bool)),)
        faults = tuple(fault for fault in self.faults if fault != change)
        late = np.arange(frames) >= first_of_another(change, frames)
        return ((replace(self, faults=faults), ~late),
                (replace(self, members=(self._other(), *self.members[1:]), faults=faults), late))

    def _other(self) -> CastMember:
        """Draw who the first performer turns into, whatever the amount; in lights as that one."""
        random = generator(self.take.seed, *self.take.words, "fault", IDENTITY)
        number = int(random.integers(OTHERS))
        other = RandomPerson(f"random_{number}", number)
        return InLights(f"{other.name}_lights", other) if isinstance(self.members[0], InLights) \
            else other

    @cached_property
    def key(self) -> str:
        """What the performances depend on, apart from their frame rate."""
        faultless = content_key(self.take.key, [member.key for member in self.members],
                                performance_code())
        return self._with_faults(self._with_face(faultless))

    @cached_property
    def looks(self) -> list[str]:
        """What each performer's looks depend on."""
        return [self._with_faults(self._with_face(seen_key(member))) for member in self.members]

    def _with_face(self, key: str) -> str:
        """Return a key of a body as that of one whose face moves."""
        overlay = self.take.overlay
        return content_key(key, face_code(), *([] if overlay is None else [overlay.facts]))

    @cached_property
    def bodies(self) -> list[str]:
        """What each performer's body depends on, which those in lights have behind them."""
        return [self._with_faults(self._with_face(member.key)) for member in self.members]

    def _with_faults(self, key: str) -> str:
        """Return a key of what is without faults as that of what has them; no fault keeps it."""
        if not self.moving_faults:
            return key
        faults = [[fault.name, fault.amount] for fault in self.moving_faults]
        return content_key(key, faults, self.take.seed, self.take.words, fault_code())

    def perform(self, fps: float, store: Store | None = None) -> tuple[Performance, ...]:
        """Bring the motions onto the characters, at ``fps``, without the faults.

        A store keeps the built characters. Cameras are framed by this, whatever faults there are.
        """
        return _performed(_Playing(self.key, fps, self, store))

    def _perform(self, fps: float, store: Store | None) -> tuple[Performance, ...]:
        characters = [body_of(member, store) for member in self.members]
        try:
            sources = _sources(_Playing(self.take.key, fps, self))
            scene = performed(sources, characters, fps, self.take.hand_shape)
            scene = self._with_living_faces(scene, fps)
            scene = mirrored_scene(scene) if self.take.mirror else scene
            return reversed_scene(scene) if self.take.reverse else scene
        except RequestError as problem:
            raise RequestError(f"{self.take.file} on {self.name}: {problem}") from problem

    def _with_living_faces(self, scene: tuple[Performance, ...],
                           fps: float) -> tuple[Performance, ...]:
        faces = self.take.faces(fps) or ({},) * len(scene)
        rngs = (generator(self.take.seed, *self.take.words, "face", number)
                for number in range(len(scene)))
        others = (None,) * (len(scene) - 1)
        overlays, gazed = (self.take.overlay, *others), (self._gazed_at(scene), *others)
        return tuple(enlivened(performance, values, self.take.semantic_group, rng, overlay, places)
                     for performance, values, rng, overlay, places in zip(
                         scene, faces, rngs, overlays, gazed, strict=True))

    def _gazed_at(self, scene: tuple[Performance, ...]) -> FloatArray | None:
        """Return where (F, 3) the first performer is to look, before anything is mirrored."""
        overlay = self.take.overlay
        if overlay is None or overlay.gaze is None:
            return None
        front = self.take.front_deg
        if self.take.mirror:
            return gazed_at(mirrored_gaze(overlay.gaze), scene, 2 * MIME_AZIMUTH_DEG - front)
        return gazed_at(overlay.gaze, scene, front)

    def standard_places(self, fps: float) -> tuple[FloatArray, ...]:
        """Return where the joints (F, J, 3) of the standard person are in a score, by performer.

        Nothing is returned for motion capture, which is of bodies of any size.
        """
        sources = _sources(_Playing(self.take.key, fps, self))
        places = [motion.global_pose.positions for motion, roles in sources if roles is None]
        if self.take.mirror:
            places = [_mirrored(each) for each in places]
        return tuple(each[::-1] if self.take.reverse else each for each in places)

    def seen(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances as they are shown: with faults, and some by lights."""
        return self.with_faults(tuple(
            Performance(seen(member, performance.character), performance.motion)
            for member, performance in zip(self.members, scene, strict=True)))

    def with_faults(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances with the faults of motion and body."""
        return self._faulty(scene).scene if self.moving_faults else scene

    def fault_records(self, scene: tuple[Performance, ...]) -> tuple[FaultRecord, ...]:
        """Return what the faults of motion and body do to performances."""
        return self._faulty(scene).records

    def _faulty(self, scene: tuple[Performance, ...]) -> FaultyScene:
        return with_faults(scene, self.moving_faults, self.take.seed, *self.take.words)

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


def _mirrored(places: FloatArray) -> FloatArray:
    """Return places (..., 3) as ``mirrored_scene`` has them."""
    turn = quaternions.from_rotation_vectors([0.0, 0.0, np.radians(2 * MIME_AZIMUTH_DEG)])
    return quaternions.rotate(turn, places * np.array([-1.0, 1.0, 1.0]))


@dataclass(frozen=True)
class _Playing:
    """What a scene depends on: another is the same where key and frame rate are."""

    key: str
    fps: float
    casting: Casting = field(compare=False)
    store: Store | None = field(default=None, compare=False)


# A job asks for a casting's scene twice, for its cameras and for its figures, and for the take
# of one body after another.
@lru_cache(maxsize=2)
def _performed(playing: _Playing) -> tuple[Performance, ...]:
    return playing.casting._perform(playing.fps, playing.store)


@lru_cache(maxsize=2)
def _sources(playing: _Playing) -> tuple[Source, ...]:
    return playing.casting.take.sources(playing.fps)
