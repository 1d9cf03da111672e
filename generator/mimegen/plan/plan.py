"""Everything a request needs: castings, shots, clips, each with a content key.

Keys are hashes of declarations, files' bytes and code, never of computed arrays, so that a plan is
made in a moment and says what is already in the store.
"""

import importlib.metadata
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import code_hash, content_key, file_hash
from mimegen.base.names import path_name
from mimegen.characters.character import Performance
from mimegen.compositing.background import Background, read_background
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import Casting, CastMember, Take, cast_member
from mimegen.plan.variants import BACKGROUNDS, CAST, PARTNERS, Variant
from mimegen.pointlight.scenes import chosen_set
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.words import worded_display
from mimegen.stage.camera import Camera
from mimegen.stage.config import RenderConfig
from mimegen.stage.framing import frame_camera

_PACKAGE = Path(__file__).parents[1]
_SHOT_ROOMS = ("motion", "readers", "choreography", "characters", "retarget", "stage")
_DISPLAY_ROOMS = (*_SHOT_ROOMS, "pointlight", "compositing", "production/displays.py")
# Of the picture's height; what the literature's displays have, by and large.
DOT_SHARE = 0.014


@cache
def _code(*rooms: str) -> str:
    return code_hash(*(_PACKAGE / room for room in rooms))


@cache
def blender_version() -> str:
    """Return the version of the installed bpy, without importing it."""
    return importlib.metadata.version("bpy")


@dataclass(frozen=True)
class Shot:
    """One foreground render: a casting from one angle, without a background."""

    casting: Casting
    angle: float
    config: RenderConfig
    device: str

    @cached_property
    def key(self) -> str:
        """The content key: everything that changes pixels."""
        config = self.config.model_dump(
            mode="json", exclude={"name", "description", "set_sampling"}
        )
        return content_key(
            self.casting.take.key, [member.key for member in self.casting.members],
            self.angle, config, self.device, blender_version(), _code(*_SHOT_ROOMS),
        )

    def facts(self, scene: tuple[Performance, ...]) -> dict[str, Any]:
        """Return what the store records of the shot before it is rendered."""
        performance = scene[0]
        return {
            **self.casting.facts(),
            "angle": int(self.angle) if self.angle.is_integer() else self.angle,
            "frames": performance.motion.frames,
            "fps": self.config.fps,
            "width": self.config.width,
            "height": self.config.height,
            "camera": asdict(frame_camera(scene, self.config, self.angle)),
            "character_height_m": round(performance.character.height, 4),
            "character_source": performance.character.source,
            "character_licence": performance.character.licence,
            "device": self.device,
            "blender_version": blender_version(),
        }


def camera_of(facts: dict[str, Any]) -> Camera:
    """Return the camera that a shot's facts hold."""
    camera = facts["camera"]
    return Camera(**camera | {name: tuple(camera[name]) for name in ("position", "rotation")})


@dataclass(frozen=True)
class Clip:
    """One finished video: a shot before a background."""

    variant: Variant
    shot: Shot
    background_config: str
    background_name: str
    background_file: Path

    @cached_property
    def background(self) -> Background:
        """The background as its file has it."""
        return read_background(self.background_file)

    @cached_property
    def _background_key(self) -> str:
        files = [self.background_file]
        if self.background.picture is not None:
            files.append(self.background.picture.file)
        return content_key([file_hash(file) for file in files])

    @cached_property
    def sample_id(self) -> str:
        """A name that no other clip of any plan has."""
        take, shot = self.shot.casting.take, self.shot
        background = (self.background_name if self.background_config == "named"
                      else self.background_config)
        return path_name(take.action, take.name, *take.version, shot.casting.name, background,
                         f"{shot.angle:g}", shot.config.name)

    @cached_property
    def key(self) -> str:
        """The content key."""
        return content_key(self.sample_id, self.shot.key, self._background_key,
                           self.shot.config.set_sampling.model_dump(mode="json"),
                           _code("compositing"))

    def still_key(self, camera: Camera) -> str | None:
        """Return the content key of the set's still from a camera; None without a set."""
        if self.background.set is None:
            return None
        config = self.shot.config
        return content_key(
            self._background_key, asdict(camera), config.set_sampling.model_dump(mode="json"),
            config.light.model_dump(mode="json"), self.shot.device, blender_version(),
            _code("stage"),
        )


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

    @cached_property
    def sample_id(self) -> str:
        """A name that no other clip of any plan has."""
        take = self.casting.take
        words = "_".join(("pointlight", *(self.variant.words or ())))
        return path_name(take.action, take.name, *take.version, self.casting.name, words,
                         f"{self.variant.angle:g}", self.config.name)

    @cached_property
    def key(self) -> str:
        """The content key: everything that changes pixels."""
        view = None if self.of_its_own else self.config.camera.model_dump(mode="json")
        return content_key(
            self.sample_id, self.casting.take.key, [member.key for member in self.casting.members],
            self.variant.angle, self.display.model_dump(mode="json"), view,
            chosen_set(self.display).model_dump(mode="json"), _code(*_DISPLAY_ROOMS),
        )


@dataclass(frozen=True)
class Plan:
    """The clips of a request, and what was left out of a group and why."""

    clips: tuple[Clip, ...]
    left_out: tuple[str, ...]
    displays: tuple[DisplayClip, ...] = ()

    @cached_property
    def shots(self) -> tuple[Shot, ...]:
        """The shots that the clips share, each once, castings together."""
        return tuple({clip.shot.key: clip.shot for clip in self.clips}.values())

    def by_casting(self) -> Iterator[tuple[Casting, list[Shot]]]:
        """Yield every casting with its shots."""
        castings = {shot.casting: None for shot in self.shots}
        for casting in castings:
            yield casting, [shot for shot in self.shots if shot.casting == casting]


def make_plan(catalogue: Catalogue, takes: Iterable[Take], variants: list[Variant],
              config: RenderConfig, device: str, performer: str | None,
              partner: str | None = None) -> Plan:
    """Return the plan of all variants of all takes.

    ``performer`` names a character to stand in for ``base``, ``partner`` one to play the second
    person of every scene. Raises RequestError for a cell that
    was asked for by name and needs a background which the take does not have.
    """
    clips: list[Clip] = []
    left_out: list[str] = []
    displays: list[DisplayClip] = []
    for take in takes:
        for variant in variants:
            if variant.words is not None:
                members = _members(catalogue, take, variant, performer, partner)
                displays.append(_display_clip(variant, Casting(take, members), config))
                continue
            name = _background_name(take, variant)
            if name is None:
                problem = (f"{take.action}: {variant} needs to know a background;"
                           f" say --{variant.background} NAME ({', '.join(catalogue.backgrounds)})")
                if not variant.from_group:
                    raise RequestError(problem)
                left_out.append(problem)
                continue
            members = _members(catalogue, take, variant, performer, partner)
            shot = Shot(Casting(take, members), variant.angle, config, device)
            clip = Clip(variant, shot, variant.background if variant.background in BACKGROUNDS
                        else "named", name, catalogue.file("background", name))
            clips.append(clip)
    _check_backgrounds(clips)
    return Plan(tuple({clip.sample_id: clip for clip in clips}.values()), tuple(left_out),
                tuple({clip.sample_id: clip for clip in displays}.values()))


def _display_clip(variant: Variant, casting: Casting, config: RenderConfig) -> DisplayClip:
    base = Display(name="pointlight", description="dots where the body's joints are",
                   dot_diameter=f"{DOT_SHARE * config.height:.4g}px")
    display, of_its_own = worded_display(variant.words or (), base)
    if not of_its_own:
        display = changed(display, width=config.width, height=config.height, fps=config.fps)
    return DisplayClip(variant, casting, config, display, of_its_own)


def _background_name(take: Take, variant: Variant) -> str | None:
    return {"aligned": take.aligned, "misaligned": take.misaligned}.get(
        variant.background, variant.background)


def _members(catalogue: Catalogue, take: Take, variant: Variant, performer: str | None,
             partner: str | None) -> tuple[CastMember, ...]:
    name = CAST.get(variant.character, variant.character)
    if variant.character == "base" and performer is not None:
        name = performer
    if take.performers == 1:
        return (cast_member(catalogue, name),)
    return cast_member(catalogue, name), cast_member(catalogue, partner or PARTNERS.get(name, name))


def _check_backgrounds(clips: list[Clip]) -> None:
    """Read every background before anything is rendered, so that errors come first."""
    for file in sorted({clip.background_file for clip in clips}):
        read_background(file)
