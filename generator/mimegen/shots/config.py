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
    """How Cycles samples and denoises a picture."""

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
    """A camera at the same position for every action, rotated about Z for other angles.

    ``position`` is in metres, ``euler_rad`` are XYZ Euler angles in radians.
    """

    kind: Literal["fixed"]
    position: Vector
    euler_rad: Vector
    lens_mm: float = Field(gt=0)


class FramedCamera(Strict):
    """A camera that keeps the whole action in view, with ``margin`` as a fraction of the picture.

    ``azimuth_deg`` is the azimuth of the camera at angle 0: 0 in front of the person, 90 at their
    left hand. By default all performers are kept in view. With ``head_room_m``, only points within
    this distance of the first performer's head are; with ``head_only``, only that performer's face;
    with ``hand_room_m``, only points within this distance of raised hands, or of all hands if none
    is raised. With ``follow``, the camera is nearer and pans with the performers.
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
    def _check_one_part(self) -> Self:
        rooms = (self.head_room_m, self.hand_room_m, self.head_only or None)
        if sum(room is not None for room in rooms) > 1:
            raise ValueError("head_room_m, head_only and hand_room_m are mutually exclusive")
        return self

    @property
    def near(self) -> bool:
        """Whether only a head, a face or hands are kept in view."""
        return self.head_only or self.head_room_m is not None or self.hand_room_m is not None


class WideSun(Strict):
    """The lamps of a ceiling approximated by a second sun, as wide as the lamps are spread."""

    strength: float = Field(ge=0)
    from_deg: tuple[float, float]
    size_deg: float = Field(ge=0, le=90)
    color: Vector = (1.0, 1.0, 1.0)


class Light(Strict):
    """Sun and sky. ``sun_from_deg`` is the sun's azimuth (as the camera's) and elevation.

    ``rim_strength`` is the strength of a second sun opposite the first; ``lamps`` replace it.
    ``ground_share`` is the strength of the light from below as a fraction of the sky's; its color
    is ``ground_color``, by default the sky's. With a ``ground_albedo``, there is a real ground
    instead, invisible to the camera, that reflects sun and sky except where the figure blocks them.
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
    """The figure's shadow on the ground: projected geometry, or Cycles' shadow catcher.

    ``cell_m`` is the resolution of the projected shadow, ``plane_size_m`` the size of the catcher's
    plane.
    """

    kind: Literal["projected", "catcher"]
    strength: float = Field(default=0.6, ge=0, le=1)
    plane_size_m: float = Field(default=50.0, gt=0)
    cell_m: float = Field(default=0.02, ge=0.002, le=0.1)


# The names of Blender's studio lights.
WorldName = Literal["city", "courtyard", "forest", "interior", "night", "studio", "sunrise",
                    "sunset"]
WORLDS: tuple[str, ...] = get_args(WorldName)


class Photo(Strict):
    """Extra detail in Cycles that makes figures look photographed.

    ``world`` is one of Blender's studio lights; it replaces the sky's two colors, at the sky's
    strength, rotated by ``world_turn_deg``. ``hairs`` is the approximate number of hairs on a head;
    0 keeps the usual hair meshes. ``skin_depth_m`` is how far red light travels in skin (3.7 mm:
    Jensen et al. 2001), ``pores_m`` the depth of the skin's pores.
    """

    world: WorldName
    world_turn_deg: float = Field(default=0.0, ge=-360, le=360)
    skin_depth_m: float = Field(default=0.0037, gt=0, le=0.05)
    pores_m: float = Field(default=0.0002, ge=0, le=0.002)
    hairs: int = Field(default=12000, ge=0, le=100000)


class World(Strict):
    """An environment map that lights figures instead of suns and sky; made by ``--light FILE``.

    The picture is rotated by ``turn_deg``, counterclockwise seen from above, and its linear RGB is
    multiplied by ``balance``, for exposure and white balance. Content keys and manifest rows
    identify it by ``sha256``; ``file`` is not part of them.
    """

    picture: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    suffix: Literal[".exr", ".hdr"]
    turn_deg: float
    balance: Vector
    file: Path | None = Field(default=None, exclude=True)


class Shutter(Strict):
    """The exposure of a picture, in degrees: 360 is the time from one frame to the next.

    Each row is exposed for ``open_deg``. With a rolling shutter, rows start one after another, the
    last one ``readout_deg`` after the first. The middle of the middle row's exposure is the time of
    the frame.
    """

    open_deg: float = Field(gt=0, le=360)
    readout_deg: float = Field(default=0.0, ge=0, le=360)

    @property
    def frames(self) -> float:
        """The time from the start of the first row to the end of the last row, in frames."""
        return (self.open_deg + self.readout_deg) / 360.0


# Fields left out of the serialised config when they are None.
_OFTEN_ABSENT = frozenset({"photo", "world", "camera_look", "shutter"})


class RenderConfig(Strict):
    """One file of render_configs/.

    ``engine`` renders figures and sets: ``cycles``, or ``raster``, which is OpenGL: rough, fast and
    without sampling settings. With ``ground_hides``, the ground hides parts of figures below it.
    ``camera_look`` is the default camera look of clips. With a ``shutter``, Cycles renders figures
    with motion blur.
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
    def _omit_absent(self, handler: SerializerFunctionWrapHandler
                     ) -> dict[str, Any]:
        """Leave out absent optional fields, so that content keys and rows of old configs stay."""
        content: dict[str, Any] = handler(self)
        return {name: value for name, value in content.items()
                if value is not None or name not in _OFTEN_ABSENT}

    @model_validator(mode="after")
    def _check_engine(self) -> Self:
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
