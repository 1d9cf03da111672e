"""Clips: finished videos as declarations."""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from mimegen.base.files import content_key
from mimegen.base.names import path_name
from mimegen.compositing.background import Background
from mimegen.compositing.color import Shade, Tint
from mimegen.faults.showing import Showing, showing
from mimegen.library.casting import Casting
from mimegen.library.places import place, place_key
from mimegen.manifest.row import NOBODY
from mimegen.plan.front import angle_from_front, camera_azimuth, view_azimuth
from mimegen.plan.keys import (
    clearing_code,
    clip_code,
    display_code,
    look_code,
    showing_code,
)
from mimegen.plan.permute.declaration import Permutation
from mimegen.plan.shots import Shot
from mimegen.plan.staging import Filmed, filmed
from mimegen.plan.variants import Variant
from mimegen.pointlight.scenes import chosen_set
from mimegen.pointlight.spec import Display
from mimegen.scenery.clearing import changed
from mimegen.scenery.scenery import Scenery
from mimegen.shots.config import RenderConfig
from mimegen.shots.look import CameraLook, FilmedLook
from mimegen.store.shotfacts import ShotFacts

NAMED = "named"


@dataclass(frozen=True)
class ChosenBackground:
    """The background of a clip: ``kind`` is blank, aligned or misaligned, or ``named``.

    A ``seed`` draws another place of its kind.
    """

    kind: str
    name: str
    file: Path
    seed: int | None = None

    @cached_property
    def background(self) -> Background:
        """The background, as its file has it or as the seed draws it."""
        return place(self.file, self.seed)

    @cached_property
    def key(self) -> str:
        """What is seen of it."""
        return place_key(self.file, self.seed)

    @property
    def word(self) -> str:
        """What stands for it in a clip's name."""
        word = self.name if self.kind == NAMED else self.kind
        return word if self.seed is None else f"{word}:{self.seed}"


@dataclass(frozen=True)
class PlannedClip:
    """One finished video: a shot before a background; perhaps declared as a permutation.

    Where the figure is lit as its place is, its light is multiplied by ``tint``, and
    what its shadow takes of the ground's by ``shade``. A ``camera_look`` shows it as a real camera
    does.
    """

    variant: Variant
    shot: Shot
    chosen: ChosenBackground
    permutation: Permutation | None = None
    tint: Tint | None = None
    shade: Shade | None = None
    camera_look: CameraLook | None = None

    @property
    def background(self) -> Background:
        """The background as its file has it."""
        return self.chosen.background

    @cached_property
    def sample_id(self) -> str:
        """A name that no other clip of any plan has."""
        shot = self.shot
        if self.permutation is not None:
            return _permutation_name(self.permutation, shot.config)
        lit = () if self.tint is None else ("place_light",)
        looks = () if self.camera_look is None else (self.camera_look.name,)
        nobody = (NOBODY,) if self.is_empty else ()
        return path_name(*shot.casting.words, *nobody, self.chosen.word, self.variant.view_word,
                         shot.config.name, *lit, *looks)

    @property
    def is_empty(self) -> bool:
        """Whether the performers are left out, so that only their place is seen."""
        return self.variant.character == NOBODY

    @property
    def view_azimuth_deg(self) -> float:
        """Where the camera stands: 0 is before the first performer, 90 at their left."""
        shot = self.shot
        return view_azimuth(shot.casting.take, camera_azimuth(shot.config) + shot.angle)

    @cached_property
    def key(self) -> str:
        """The content key."""
        faults = [[fault.name, fault.amount] for fault in self.shot.casting.faults
                  if fault.kind.acts_on == "frames"]
        wrong = [faults, showing_code()] if faults else []
        return content_key(self.sample_id, self.shot.key, self.chosen.key,
                           self.shot.rendering.set_key, clip_code(), *wrong,
                           *([] if self.background.set is None else [clearing_code()]),
                           *([] if self.tint is None else [list(self.tint)]),
                           *([] if self.shade is None else [list(self.shade)]),
                           *self.look_key)

    @property
    def look_key(self) -> tuple[object, ...]:
        """What a clip's pixels owe to its camera's look."""
        filmed = self.filmed_look
        return () if filmed is None else (filmed.look.model_dump(mode="json"), filmed.seed,
                                          look_code())

    @property
    def filmed_look(self) -> FilmedLook | None:
        """The camera's look, random alike in all clips of a shot; None without one."""
        if self.camera_look is None:
            return None
        take = self.shot.casting.take
        return FilmedLook(self.camera_look, (take.seed, *take.words, str(self.shot.angle)))

    def showing(self, frames: int) -> Showing:
        """Return which of the shot's ``frames`` are shown, and with how much of the shadow."""
        take = self.shot.casting.take
        return showing(frames, self.shot.config.fps, self.shot.casting.faults, take.seed,
                       *take.words)

    def filmed(self, facts: ShotFacts) -> Filmed:
        """Return how its set is filmed for a shot, of which the store has ``facts``."""
        return filmed(self.chosen.key, self.background.set, facts)

    def scenery(self, filmed: Filmed) -> Scenery | None:
        """Return its set, without what is left out of it; None without a set."""
        scenery = self.background.set
        return None if scenery is None else changed(scenery, filmed.changes)

    def set_key(self, filmed: Filmed) -> str | None:
        """Return the content key of what is seen of its set; None without a set.

        A set of which nothing is changed keeps its own.
        """
        if self.background.set is None or not filmed.changes.changes_anything:
            return None if self.background.set is None else self.chosen.key
        return content_key(self.chosen.key, filmed.changes.seen, clearing_code())

    def still_key(self, filmed: Filmed) -> str | None:
        """Return the content key of the set's still from a camera; None without a set."""
        key = self.set_key(filmed)
        return None if key is None else content_key(
            key, asdict(filmed.camera), self.shot.rendering.set_key)


@dataclass(frozen=True)
class DisplayClip:
    """One finished point-light video: a casting as dots; made without Blender.

    The picture, the frame rate and the view are the render config's, so that dots lie where the
    rendered body has its joints, unless the display has a picture ``of_its_own``.
    """

    variant: Variant
    casting: Casting
    config: RenderConfig
    display: Display
    of_its_own: bool
    permutation: Permutation | None = None

    @cached_property
    def sample_id(self) -> str:
        """A name that no other clip of any plan has."""
        if self.permutation is not None:
            return _permutation_name(self.permutation, self.config)
        words = "_".join(("pointlight", *(self.variant.words or ())))
        return path_name(*self.casting.words, words, self.variant.view_word, self.config.name)

    @cached_property
    def angle(self) -> float:
        """How far the camera is turned from its own place, in degrees."""
        if not self.variant.from_front:
            return self.variant.angle
        return angle_from_front(self.casting.take, self.variant.angle, self._zero_deg)

    @property
    def view_azimuth_deg(self) -> float:
        """Where the camera stands: 0 is before the first performer, 90 at their left."""
        return view_azimuth(self.casting.take, self._zero_deg + self.angle)

    @property
    def _zero_deg(self) -> float:
        return self.display.azimuth_deg if self.of_its_own else camera_azimuth(self.config)

    @cached_property
    def key(self) -> str:
        """The content key: everything that changes pixels."""
        view = None if self.of_its_own else self.config.camera.model_dump(mode="json")
        return content_key(
            self.sample_id, self.casting.key, self.angle,
            self.display.model_dump(mode="json"), view,
            chosen_set(self.display).model_dump(mode="json"), display_code(),
        )


def _permutation_name(permutation: Permutation, config: RenderConfig) -> str:
    return path_name("permutation", permutation.declaration.action, config.name, permutation.name)
