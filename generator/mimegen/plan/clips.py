"""Declarations of clips: the finished videos of a plan."""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from mimegen.base.files import content_key
from mimegen.base.names import path_name
from mimegen.compositing.background import Background
from mimegen.compositing.color import Shade, Tint
from mimegen.faults.showing import Showing, showing
from mimegen.library.casting import Casting
from mimegen.library.places import load_background, loaded_background_key
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

    A ``seed`` draws a variation of the background's set.
    """

    kind: str
    name: str
    file: Path
    seed: int | None = None

    @cached_property
    def background(self) -> Background:
        """The background as described in its file, or as varied by the seed."""
        return load_background(self.file, self.seed)

    @cached_property
    def key(self) -> str:
        """The content key of what is visible of the background."""
        return loaded_background_key(self.file, self.seed)

    @property
    def word(self) -> str:
        """The word for the background in a clip's name."""
        word = self.name if self.kind == NAMED else self.kind
        return word if self.seed is None else f"{word}:{self.seed}"


@dataclass(frozen=True)
class PlannedClip:
    """One finished video: a shot in front of a background.

    ``permutation`` is the declaration that the clip comes from, if any. If the figure is lit by its
    background, ``tint`` multiplies the figure's light and ``shade`` describes how its shadow
    darkens the ground. ``camera_look`` makes the clip look as if a real camera had filmed it.
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
        """The background of the clip."""
        return self.chosen.background

    @cached_property
    def sample_id(self) -> str:
        """The clip's name, unique across all plans."""
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
        """Whether the performers are left out, so that only the background is visible."""
        return self.variant.character == NOBODY

    @property
    def view_azimuth_deg(self) -> float:
        """The camera's azimuth: 0 is in front of the first performer, 90 at their left."""
        shot = self.shot
        return view_azimuth(shot.casting.take, camera_azimuth(shot.config) + shot.angle)

    @cached_property
    def key(self) -> str:
        """The content key of the clip."""
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
        """The parts of the content key that stand for the camera look; empty without one."""
        filmed = self.filmed_look
        return () if filmed is None else (filmed.look.model_dump(mode="json"), filmed.seed,
                                          look_code())

    @property
    def filmed_look(self) -> FilmedLook | None:
        """The camera look with its random seed, the same in all clips of a shot; None if none."""
        if self.camera_look is None:
            return None
        take = self.shot.casting.take
        return FilmedLook(self.camera_look, (take.seed, *take.words, str(self.shot.angle)))

    def showing(self, frames: int) -> Showing:
        """Return which of the shot's ``frames`` the clip shows, and the opacity of the shadow."""
        take = self.shot.casting.take
        return showing(frames, self.shot.config.fps, self.shot.casting.faults, take.seed,
                       *take.words)

    def filmed(self, facts: ShotFacts) -> Filmed:
        """Return how the clip's set is filmed, given the store's ``facts`` of its shot."""
        return filmed(self.chosen.key, self.background.set, facts)

    def scenery(self, filmed: Filmed) -> Scenery | None:
        """Return the clip's set without objects removed for the performers; None without a set."""
        scenery = self.background.set
        return None if scenery is None else changed(scenery, filmed.changes)

    def set_key(self, filmed: Filmed) -> str | None:
        """Return the content key of what is visible of the clip's set; None without a set.

        A set without changes keeps its own key.
        """
        if self.background.set is None or not filmed.changes.changes_anything:
            return None if self.background.set is None else self.chosen.key
        return content_key(self.chosen.key, filmed.changes.seen, clearing_code())

    def still_key(self, filmed: Filmed) -> str | None:
        """Return the content key of the clip's still of its set; None without a set."""
        key = self.set_key(filmed)
        return None if key is None else content_key(
            key, asdict(filmed.camera), self.shot.rendering.set_key)


@dataclass(frozen=True)
class DisplayClip:
    """One finished point-light video: a casting shown as dots, made without Blender.

    Picture size, frame rate and view are those of the render config, so that dots coincide with the
    joints of the rendered body, unless the display defines its own camera and picture
    (``has_own_camera``).
    """

    variant: Variant
    casting: Casting
    config: RenderConfig
    display: Display
    has_own_camera: bool
    permutation: Permutation | None = None

    @cached_property
    def sample_id(self) -> str:
        """The clip's name, unique across all plans."""
        if self.permutation is not None:
            return _permutation_name(self.permutation, self.config)
        words = "_".join(("pointlight", *(self.variant.words or ())))
        return path_name(*self.casting.words, words, self.variant.view_word, self.config.name)

    @cached_property
    def angle(self) -> float:
        """How far the camera is turned from its position at angle 0, in degrees."""
        if not self.variant.from_front:
            return self.variant.angle
        return angle_from_front(self.casting.take, self.variant.angle, self._zero_deg)

    @property
    def view_azimuth_deg(self) -> float:
        """The camera's azimuth: 0 is in front of the first performer, 90 at their left."""
        return view_azimuth(self.casting.take, self._zero_deg + self.angle)

    @property
    def _zero_deg(self) -> float:
        return self.display.azimuth_deg if self.has_own_camera else camera_azimuth(self.config)

    @cached_property
    def key(self) -> str:
        """The content key: it covers everything that changes pixels."""
        view = None if self.has_own_camera else self.config.camera.model_dump(mode="json")
        return content_key(
            self.sample_id, self.casting.key, self.angle,
            self.display.model_dump(mode="json"), view,
            chosen_set(self.display).model_dump(mode="json"), display_code(),
        )


def _permutation_name(permutation: Permutation, config: RenderConfig) -> str:
    return path_name("permutation", permutation.declaration.action, config.name, permutation.name)
