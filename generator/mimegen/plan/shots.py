"""Declarations of shots: foreground renders."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, cast

from mimegen.base.blender import blender_version
from mimegen.base.files import content_key
from mimegen.characters.character import Performance
from mimegen.characters.expression import has_face
from mimegen.library.cast import InLights
from mimegen.library.casting import Casting
from mimegen.library.foot_contacts import cast_contacts, contacts_code
from mimegen.manifest.timeline import PARTNER, PERFORMER
from mimegen.plan.keys import (
    drawn_shot_code,
    drawn_still_code,
    shot_code,
    still_code,
    sweeping_code,
)
from mimegen.scenery.sweeping import swept_by
from mimegen.shots.camera import Camera
from mimegen.shots.config import Light, RenderConfig
from mimegen.shots.follow import following, follows
from mimegen.shots.framing import frame_camera
from mimegen.store.shotfacts import CameraRecord, ShotFacts

# Fields of a render config that do not change a figure's pixels.
_NOT_IN_KEYS: Any = dict.fromkeys(
    ("name", "description", "set_sampling", "engine", "camera_look"), True) | {
    "world": {"picture"}}


@dataclass(frozen=True, eq=False)
class Rendering:
    """A render config on a kind of device, shared by all shots of a plan.

    ``light`` replaces the config's light for figures only.
    """

    config: RenderConfig
    device: str
    light: Light | None = None

    @cached_property
    def figures_config(self) -> RenderConfig:
        """The render config for figures, with their own light if they have one."""
        if self.light is None:
            return self.config
        return self.config.model_copy(update={"light": self.light})

    @cached_property
    def key(self) -> str:
        """The content key of all that it contributes to a shot's pixels."""
        config = self.figures_config.model_dump(mode="json", exclude=_NOT_IN_KEYS)
        if self.config.engine == "raster":
            return content_key(config, drawn_shot_code())
        return content_key(config, self.device, blender_version(), shot_code())

    @cached_property
    def set_key(self) -> str:
        """The content key of all that it contributes to a set's pixels, without the camera."""
        if self.config.engine == "raster":
            return content_key(self.config.light.model_dump(mode="json"), drawn_still_code())
        return content_key(
            self.config.set_sampling.model_dump(mode="json"),
            self.config.light.model_dump(mode="json"), self.device, blender_version(),
            still_code(),
        )


@dataclass(frozen=True)
class Shot:
    """One foreground render: a casting from one angle, without a background."""

    casting: Casting
    angle: float
    rendering: Rendering

    @property
    def title(self) -> str:
        """The shot's name in messages."""
        return f"{' '.join(self.casting.words)} @{self.angle:g}"

    @property
    def config(self) -> RenderConfig:
        """The render config."""
        return self.rendering.config

    @property
    def figures_config(self) -> RenderConfig:
        """The render config of the figures; the ground hides performers who go below it."""
        config = self.rendering.figures_config
        return config.model_copy(update={"ground_hides": True}) if self.casting.goes_below \
            else config

    @cached_property
    def key(self) -> str:
        """The content key: it covers everything that changes pixels."""
        return content_key(self.casting.key, self.casting.looks, self.angle, self.rendering.key)

    def facts(self, scene: tuple[Performance, ...]) -> ShotFacts:
        """Return what the store records of the shot before it is rendered."""
        performance = scene[0]
        return cast(ShotFacts, {
            **self.casting.facts(),
            **self.casting.facts_on([one.character for one in scene]),
            "angle": int(self.angle) if self.angle.is_integer() else self.angle,
            "frames": performance.motion.frames,
            "fps": self.config.fps,
            "width": self.config.width,
            "height": self.config.height,
            **self._filmed(scene),
            "swept": self._swept(scene),
            "feet": {"code": contacts_code(), "contacts": cast_contacts(self.casting, scene)},
            **self._fault_facts(scene),
            **self._hidden_faces(scene),
            "character_height_m": round(performance.character.height, 4),
            "character_source": performance.character.source,
            "character_licence": performance.character.licence,
            **_partner_rights(scene),
            "device": self.rendering.device,
            "blender_version": None if self.config.engine == "raster" else blender_version(),
        })

    def _filmed(self, scene: tuple[Performance, ...]) -> dict[str, Any]:
        """Return the camera, and the pan of one that follows the performers."""
        camera = frame_camera(scene, self.config, self.angle)
        if not follows(self.config):
            return {"camera": asdict(camera)}
        wide, offsets = following(camera, scene, self.config)
        return {"camera": asdict(wide), "pan": {"left": offsets[:, 0].tolist(),
                                                "top": offsets[:, 1].tolist()}}

    def _swept(self, scene: tuple[Performance, ...]) -> dict[str, Any]:
        """Return the floor area that performers cover, and the key of the code that computed it."""
        swept = swept_by([performance.motion for performance in scene],
                         self.casting.standard_places(self.config.fps))
        return {"code": sweeping_code(), **swept.content()}

    def _hidden_faces(self, scene: tuple[Performance, ...]) -> dict[str, Any]:
        """Return the performers whose faces cannot be seen to move; empty if there are none."""
        hidden = [who for who, one, member in zip((PERFORMER, PARTNER), scene,
                                                  self.casting.members, strict=False)
                  if isinstance(member, InLights) or not has_face(one.character)]
        return {"faces_hidden": hidden} if hidden else {}

    def _fault_facts(self, scene: tuple[Performance, ...]) -> dict[str, Any]:
        if not self.casting.moving_faults:
            return {}
        return {"faults": [record.content() for record in self.casting.fault_records(scene)]}


def _partner_rights(scene: tuple[Performance, ...]) -> dict[str, str]:
    """Return the source and licence of the second performer's body; empty without one."""
    return {} if len(scene) == 1 else {
        "partner_character_source": scene[1].character.source,
        "partner_character_licence": scene[1].character.licence}


def has_route(facts: ShotFacts) -> bool:
    """Return whether a shot's facts hold the floor area, as computed by the current code."""
    return "swept" in facts and facts["swept"].get("code") == sweeping_code()


def has_contacts(facts: ShotFacts) -> bool:
    """Return whether a shot's facts hold when feet stand, as found by the current code."""
    return "feet" in facts and facts["feet"].get("code") == contacts_code()


def camera_of(facts: ShotFacts) -> Camera:
    """Return the camera in a shot's facts."""
    return camera_from(facts["camera"])


def camera_from(recorded: CameraRecord) -> Camera:
    """Return a camera from its recorded fields."""
    fields: dict[str, Any] = {**recorded}
    return Camera(**fields | {name: tuple(fields[name]) for name in ("position", "rotation")})
