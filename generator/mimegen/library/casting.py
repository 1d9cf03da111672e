"""A take together with its performers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash, refuse_changed
from mimegen.base.seeds import generator
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Character, Performance
from mimegen.characters.gazing import gazed_at
from mimegen.characters.living import enlivened
from mimegen.faces.gaze import mirrored_gaze
from mimegen.faults.fault import Fault, FaultRecord
from mimegen.faults.scene import IDENTITY, FaultyScene, first_of_another, with_faults
from mimegen.library.altering import mirrored_scene
from mimegen.library.bodies import body_of
from mimegen.library.cast import (
    CastMember,
    InLights,
    RandomPerson,
    facts_of_file,
    refuse_changed_member,
    seen,
    seen_key,
)
from mimegen.library.gait_shown import gait_on_body
from mimegen.library.gait_take import GaitTake
from mimegen.library.keys import face_code, fault_code, performance_code, watching_code
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.reversing import reversed_scene
from mimegen.library.take import LibraryTake, Source
from mimegen.library.travel_scale import travel_on_bodies
from mimegen.library.watched import watched_place
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.performing import performed
from mimegen.store.store import Store

# Number of random people that a performer can turn into (fault ``identity``).
OTHERS = 100_000
# How often a gaze into the camera is aimed, each time at the camera that films the one before.
GLANCES = 3


@dataclass(frozen=True)
class Casting:
    """A take performed by cast members, one for each of its parts, perhaps with faults."""

    take: LibraryTake
    members: tuple[CastMember, ...]
    faults: tuple[Fault, ...] = ()

    @cached_property
    def name(self) -> str:
        """The names of the members, joined."""
        return "_and_".join(member.name for member in self.members)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that the names of all its clips begin with."""
        return (self.take.action, self.take.name, *self.take.version, self.name,
                *(fault.word for fault in self.faults))

    @cached_property
    def moving_faults(self) -> tuple[Fault, ...]:
        """The faults of motion, body and cast; faults of finished frames belong to the clip."""
        return tuple(fault for fault in self.faults if fault.kind.acts_on != "frames")

    @property
    def goes_below(self) -> bool:
        """Whether a performer goes below the ground, which must then hide them."""
        return any(fault.kind.below for fault in self.faults)

    def in_turn(self, frames: int) -> tuple[tuple["Casting", NDArray[np.bool_]], ...]:
        """Return the castings shown one after the other, each with a mask (F,) of its frames.

        There is only one, for all frames, unless the first performer turns into another person.
        """
        change = next((fault for fault in self.faults if fault.name == IDENTITY), None)
        if change is None:
            return ((self, np.ones(frames, bool)),)
        faults = tuple(fault for fault in self.faults if fault != change)
        late = np.arange(frames) >= first_of_another(change, frames)
        return ((replace(self, faults=faults), ~late),
                (replace(self, members=(self._other(), *self.members[1:]), faults=faults), late))

    def _other(self) -> CastMember:
        """Draw the person that the first performer turns into, independently of the fault's amount.

        If the first performer is shown as lights, so is the other person.
        """
        random = generator(self.take.seed, *self.take.words, "fault", IDENTITY)
        number = int(random.integers(OTHERS))
        other = RandomPerson(f"random_{number}", number)
        return InLights(f"{other.name}_lights", other) if isinstance(self.members[0], InLights) \
            else other

    @cached_property
    def key(self) -> str:
        """The content key of the performances, without their frame rate."""
        faultless = content_key(self.take.key, [member.key for member in self.members],
                                performance_code())
        return self._with_faults(self._with_face(faultless))

    @cached_property
    def looks(self) -> list[str]:
        """The content keys of each performer's appearance."""
        return [self._with_faults(self._with_face(seen_key(member))) for member in self.members]

    def _with_face(self, key: str) -> str:
        """Return a body's key extended by what moves its face."""
        overlay = self.take.overlay
        watched = [] if overlay is None or overlay.filmed is None else [watching_code()]
        return content_key(key, face_code(), *([] if overlay is None else [overlay.facts]),
                           *watched)

    @cached_property
    def bodies(self) -> list[str]:
        """The content keys of each performer's body, including those shown as lights."""
        return [self._with_faults(self._with_face(member.key)) for member in self.members]

    def _with_faults(self, key: str) -> str:
        """Return a key extended by the faults of motion and body; unchanged if there are none."""
        if not self.moving_faults:
            return key
        faults = [[fault.name, fault.amount] for fault in self.moving_faults]
        return content_key(key, faults, self.take.seed, self.take.words, fault_code())

    def perform(self, fps: float, store: Store | None = None) -> tuple[Performance, ...]:
        """Retarget the motions to the characters at ``fps``, without the faults.

        Built characters are kept in the store. Cameras are framed on this performance, whatever the
        faults.
        """
        return _performed(_Playing(self.key, fps, self, store))

    def _perform(self, fps: float, store: Store | None) -> tuple[Performance, ...]:
        """Retarget the motions and add the motion of faces; then mirror and reverse on request."""
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
        """Return the performances with faces that blink, gaze and do what take and overlay say.

        A camera that frames the performer moves a little as they turn their head to it, so a gaze
        into it is found by repetition.
        """
        overlay = self.take.overlay
        if overlay is None or overlay.filmed is None:
            return self._alive(scene, fps, self._gazed_at(scene))
        alive = scene
        for _ in range(GLANCES):
            alive = self._alive(scene, fps, self._camera(alive, overlay.filmed))
        return alive

    def _camera(self, scene: tuple[Performance, ...], filmed: str) -> FloatArray:
        """Return the position (F, 3) of the camera that films a scene, before mirroring."""
        place = watched_place(mirrored_scene(scene) if self.take.mirror else scene, filmed)
        place = _mirrored(place) if self.take.mirror else place
        return np.tile(place, (scene[0].motion.frames, 1))

    def _alive(self, scene: tuple[Performance, ...], fps: float, gazed: FloatArray | None
               ) -> tuple[Performance, ...]:
        """Return the performances with their faces; the first performer looks at ``gazed``."""
        faces = self.take.faces(fps) or ({},) * len(scene)
        rngs = (generator(self.take.seed, *self.take.words, "face", number)
                for number in range(len(scene)))
        others = (None,) * (len(scene) - 1)
        overlays, targets = (self.take.overlay, *others), (gazed, *others)
        return tuple(enlivened(performance, values, self.take.semantic_group, rng, overlay, places)
                     for performance, values, rng, overlay, places in zip(
                         scene, faces, rngs, overlays, targets, strict=True))

    def _gazed_at(self, scene: tuple[Performance, ...]) -> FloatArray | None:
        """Return the positions (F, 3) that the first performer looks at, before mirroring."""
        overlay = self.take.overlay
        if overlay is None or overlay.gaze is None:
            return None
        front = self.take.front_deg
        if self.take.mirror:
            return gazed_at(mirrored_gaze(overlay.gaze), scene, 2 * MIME_AZIMUTH_DEG - front)
        return gazed_at(overlay.gaze, scene, front)

    def standard_places(self, fps: float) -> tuple[FloatArray, ...]:
        """Return the joint positions (F, J, 3) of the standard person in a score, by performer.

        Empty for motion capture, whose bodies vary in size.
        """
        sources = _sources(_Playing(self.take.key, fps, self))
        places = [motion.global_pose.positions for motion, roles in sources if roles is None]
        if self.take.mirror:
            places = [_mirrored(each) for each in places]
        return tuple(each[::-1] if self.take.reverse else each for each in places)

    def seen(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances as they are shown: with faults, and as lights where requested."""
        return self.with_faults(tuple(
            Performance(seen(member, performance.character), performance.motion)
            for member, performance in zip(self.members, scene, strict=True)))

    def with_faults(self, scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
        """Return the performances with the faults of motion and body."""
        return self._faulty(scene).scene if self.moving_faults else scene

    def fault_records(self, scene: tuple[Performance, ...]) -> tuple[FaultRecord, ...]:
        """Return records of what the faults of motion and body change in performances."""
        return self._faulty(scene).records

    def _faulty(self, scene: tuple[Performance, ...]) -> FaultyScene:
        return with_faults(scene, self.moving_faults, self.take.seed, *self.take.words)

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the casting."""
        return {**self.take.facts(), **self.cast_facts(), **self._partner_facts()}

    def body_facts(self) -> dict[str, Any]:
        """Return the manifest's fields for a gait or a recording on its performers.

        Empty for other takes, for which no body is built.
        """
        if not isinstance(self.take, GaitTake | RecordedTake):
            return {}
        return self.facts_on([body_of(member, None) for member in self.members])

    def facts_on(self, bodies: Sequence[Character]) -> dict[str, Any]:
        """Return the manifest's fields that depend on the size of the performers' bodies."""
        return gait_on_body(self.take, bodies[0]) | travel_on_bodies(self.take, bodies)

    def cast_facts(self) -> dict[str, Any]:
        """Return the manifest's fields for who performs."""
        facts = facts_of_file(self.members[0]) | {"character_key": self.looks[0]}
        if len(self.members) == 1:
            return facts
        partner = {f"partner_{name}": value for name, value
                   in facts_of_file(self.members[1]).items() if name != "character_source"}
        return facts | partner | {"partner_character_key": self.looks[1]}

    def _partner_facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the second performer's motion; empty without one."""
        if len(self.members) == 1:
            return {}
        file = self.take.files[-1]
        return {"partner_motion_file": file.name, "partner_motion_sha256": file_hash(file)}


def _mirrored(places: FloatArray) -> FloatArray:
    """Return positions (..., 3) mirrored as by ``mirrored_scene``."""
    turn = quaternions.from_rotation_vectors([0.0, 0.0, np.radians(2 * MIME_AZIMUTH_DEG)])
    return quaternions.rotate(turn, places * np.array([-1.0, 1.0, 1.0]))


@dataclass(frozen=True)
class _Playing:
    """The arguments of a cached scene; equal if key and frame rate are equal."""

    key: str
    fps: float
    casting: Casting = field(compare=False)
    store: Store | None = field(default=None, compare=False)


# A job needs a casting's scene twice (for cameras and for figures), and its take for one body after
# another.
@lru_cache(maxsize=2)
def _performed(playing: _Playing) -> tuple[Performance, ...]:
    scene = playing.casting._perform(playing.fps, playing.store)
    for member in playing.casting.members:
        refuse_changed_member(member)
    refuse_changed(playing.casting.take, playing.casting.take.file)
    return scene


@lru_cache(maxsize=2)
def _sources(playing: _Playing) -> tuple[Source, ...]:
    sources = playing.casting.take.sources(playing.fps)
    refuse_changed(playing.casting.take, playing.casting.take.file)
    return sources
