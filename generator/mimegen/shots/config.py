"""Render configs: render_configs/*.yaml as typed values."""

from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from mimegen.base.yaml_file import Strict, read_yaml

Vector = tuple[float, float, float]


class Sampling(Strict):
    """How Cycles samples and cleans one picture."""

    samples: int = Field(ge=1, le=65536)
    min_samples: int = Field(default=0, ge=0)
    adaptive_threshold: float = Field(ge=0)
    max_bounces: int = Field(ge=0, le=64)
    denoise: bool
    denoise_quality: Literal["fast", "balanced", "high"] = "fast"
    denoise_prefilter: Literal["none", "fast", "accurate"] = "none"
    denoise_on_gpu: bool = True
    caustics: bool = False
    light_tree: bool = False
    persistent_data: bool = True


NO_SAMPLING = Sampling(samples=1, adaptive_threshold=0, max_bounces=0, denoise=False)


class FixedCamera(Strict):
    """A camera at one place for every action, turned about Z for the other angles."""

    kind: Literal["fixed"]
    position: Vector
    euler_rad: Vector
    lens_mm: float = Field(gt=0)


class FramedCamera(Strict):
    """A camera that keeps the whole action in view, with ``margin`` as a share of the picture.

    ``azimuth_deg`` is where angle 0 stands: 0 in front of the person, 90 at their left hand.
    With ``head_room_m`` it is a portrait: only what is so near to the first performer's head, in
    metres, is kept in view, and with ``head_only`` their face alone; with ``hand_room_m`` only what
    is so near to the raised hands of all performers, or to all hands where none is raised. One
    that can ``follow`` is nearer and pans with the performers.
    """

    kind: Literal["framed"]
    azimuth_deg: float
    elevation_deg: float = Field(ge=-10, le=80)
    lens_mm: float = Field(gt=0)
    margin: float = Field(ge=0, lt=0.4)
    head_room_m: float | None = Field(default=None, ge=0.15, le=2)
    head_only: bool = False
    hand_room_m: float | None = Field(default=None, ge=0.05, le=1)
    follow: bool = False

    @model_validator(mode="after")
    def _of_one_part(self) -> Self:
        rooms = (self.head_room_m, self.hand_room_m, self.head_only or None)
        if sum(room is not None for room in rooms) > 1:
            raise ValueError("head_room_m, head_only and hand_room_m are mutually exclusive")
        return self

    @property
    def near(self) -> bool:
        """Whether only a part of the performers is kept in view."""
        return self.head_only or self.head_room_m is not None or self.hand_room_m is not None


class WideSun(Strict):
    """Lamps all over a ceiling, as a second sun that is as wide as they are apart."""

    strength: float = Field(ge=0)
    from_deg: tuple[float, float]
    size_deg: float = Field(ge=0, le=90)
    color: Vector = (1.0, 1.0, 1.0)


class Light(Strict):
    """Sun and sky. ``sun_from_deg`` is azimuth (as the camera's) and elevation.

    ``rim_strength`` is a second sun opposite the first, which ``lamps`` stand in for;
    ``ground_share`` is how much of the sky's light the ground reflects onto the figure from below,
    or, with a ``ground_color``, of light of that color. With a ``ground_albedo`` there is a
    real ground instead, which the camera does not see: it reflects sun and sky, less what the
    figure blocks.
    """

    sun_strength: float = Field(ge=0)
    sun_from_deg: tuple[float, float]
    sun_size_deg: float = Field(ge=0, le=90)
    sun_color: Vector = (1.0, 1.0, 1.0)
    lamps: WideSun | None = None
    sky_strength: float = Field(ge=0)
    sky_color: Vector = (1.0, 1.0, 1.0)
    ground_share: float = Field(default=0.5, ge=0, le=1)
    ground_color: Vector | None = None
    rim_strength: float = Field(default=0.0, ge=0)
    ground_albedo: float = Field(default=0.0, ge=0, le=1)


class Shadow(Strict):
    """The figure's shadow on the ground: projected geometry, or Cycles' catcher plane.

    ``cell_m`` is how finely the projected one is worked out.
    """

    kind: Literal["projected", "catcher"]
    strength: float = Field(default=0.6, ge=0, le=1)
    plane_size_m: float = Field(default=50.0, gt=0)
    cell_m: float = Field(default=0.02, ge=0.002, le=0.1)


# Blender's own studio lights.
WorldName = Literal["city", "courtyard", "forest", "interior", "night", "studio", "sunrise",
                    "sunset"]
WORLDS: tuple[str, ...] = get_args(WorldName)


class Photo(Strict):
    """What Cycles adds so that figures look photographed.

    ``world`` is one of Blender's own studio lights; it takes the place of the sky's two colors, at
    the sky's strength. ``hairs`` are how many grow on a head, about: 0 leaves hair as elsewhere.
    The rest is skin: how far red light travels in it, in metres (3.7 mm: Jensen et al. 2001), and
    its pores.
    """

    world: WorldName
    world_turn_deg: float = Field(default=0.0, ge=-360, le=360)
    skin_depth_m: float = Field(default=0.0037, gt=0, le=0.05)
    pores_m: float = Field(default=0.0002, ge=0, le=0.002)
    hairs: int = Field(default=12000, ge=0, le=100000)


class World(Strict):
    """A picture of all that is around figures, which lights them in place of suns and sky.

    ``--light FILE`` makes it. ``turn_deg`` is by how much the picture is turned, counterclockwise
    from above, and ``balance`` what its light is multiplied by, linear red, green, blue: exposure
    and white balance. Its ``file`` is no part of keys and rows: ``sha256`` is.
    """

    picture: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    suffix: Literal[".exr", ".hdr"]
    turn_deg: float
    balance: Vector
    file: Path | None = Field(default=None, exclude=True)


class Shutter(Strict):
    """For how long a picture is exposed, in degrees: 360 are the time from frame to frame.

    ``open_deg`` is that of each row; rows begin one after another, the last ``readout_deg`` after
    the first (rolling shutter). The middle row's middle is the frame's moment.
    """

    open_deg: float = Field(gt=0, le=360)
    readout_deg: float = Field(default=0.0, ge=0, le=360)

    @property
    def frames(self) -> float:
        """How many frames pass from the first row's beginning to the last row's end."""
        return (self.open_deg + self.readout_deg) / 360.0


_OFTEN_ABSENT = frozenset({"photo", "world", "camera_look", "shutter"})


class RenderConfig(Strict):
    """One file of render_configs/.

    ``engine`` is what renders figures and sets: Cycles, or OpenGL, which draws them roughly and
    at once and takes no sampling. ``ground_hides`` what is below it; usually nothing is. A
    ``camera_look`` is that of clips for which none is asked. With a ``shutter``
    Cycles blurs figures that move.
    """

    name: str
    description: str
    width: int = Field(ge=16, le=8192, multiple_of=2)
    height: int = Field(ge=16, le=8192, multiple_of=2)
    fps: float = Field(gt=0, le=240)
    engine: Literal["cycles", "raster"] = "cycles"
    sampling: Sampling = NO_SAMPLING
    set_sampling: Sampling = NO_SAMPLING
    camera: FixedCamera | FramedCamera = Field(discriminator="kind")
    light: Light
    shadow: Shadow
    crop: bool = True
    ground_hides: bool = False
    photo: Photo | None = None
    world: World | None = None
    camera_look: str | None = None
    shutter: Shutter | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler
                                   ) -> dict[str, Any]:
        """Leave out what most configs lack, so that their keys and rows stay."""
        content: dict[str, Any] = handler(self)
        return {name: value for name, value in content.items()
                if value is not None or name not in _OFTEN_ABSENT}

    @model_validator(mode="after")
    def _fits_its_engine(self) -> Self:
        if self.engine == "raster" and self.shadow.kind == "catcher":
            raise ValueError("engine raster draws projected shadows; write 'kind: projected'")
        if self.engine == "raster" and self.photo is not None:
            raise ValueError("engine raster has no photo; write 'engine: cycles'")
        if self.engine == "raster" and self.shutter is not None:
            raise ValueError("engine raster has no motion blur; leave shutter out")
        absent = {"sampling", "set_sampling"} - self.model_fields_set
        if self.engine == "cycles" and absent:
            raise ValueError(f"engine cycles needs {' and '.join(sorted(absent))}")
        return self


def read_config(path: Path) -> RenderConfig:
    """Read a file of render_configs/.

    Raises RequestError naming file, line and key and what was expected there.
    """
    return read_yaml(path, RenderConfig)
