"""How a real camera shows what a pinhole sees: lens, sensor, hand; render_configs/looks/*.yaml.

Geometry is here: which place of the pinhole's picture each pixel shows, and back. Pictures and
ground truth share it. Lengths are shares of half the picture's diagonal, so that looks suit all
sizes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from mimegen.base.paths import data_files
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.config import Shutter

# Hands shake at these frequencies, with a power that falls with the square of the frequency.
SHAKE_HZ = (0.2, 8.0)
# Steps of Newton's method; six leave less than a millionth of a pixel.
_STEPS = 8
# Beyond it nothing is in the picture, and the lens's polynomial need not hold.
_FARTHEST = 1.6


class CameraLook(Strict):
    """One file of render_configs/looks/.

    ``distortion`` are k1 and k2 of Brown's radial model (1966), from what is seen to the pinhole's
    picture: r (1 + k1 r^2 + k2 r^4); above 0 is a barrel. ``vignette`` is the share of light that
    is lost in the corners. ``grain`` and ``color_grain`` are standard deviations at middle gray, of
    255, of blobs ``grain_px`` wide; ``softness_px`` and ``sharpen_px`` are deviations of Gaussians
    in a picture of 1280 pixels' width. ``f_number`` is that of a full frame; without it all is
    sharp. ``handheld_deg`` and ``handheld_roll_deg`` are how far the camera shakes, root mean
    square. What moves is blurred by its ``shutter``, if Cycles renders it.
    ``crf`` is x264's: higher is coarser.
    """

    name: str
    description: str = ""
    distortion: tuple[float, float] = (0.0, 0.0)
    vignette: float = Field(default=0.0, ge=0, le=0.9)
    softness_px: float = Field(default=0.0, ge=0, le=10)
    sharpen: float = Field(default=0.0, ge=0, le=3)
    sharpen_px: float = Field(default=1.0, gt=0, le=10)
    grain: float = Field(default=0.0, ge=0, le=40)
    color_grain: float = Field(default=0.0, ge=0, le=40)
    grain_px: float = Field(default=0.0, ge=0, le=5)
    contrast: float = Field(default=0.0, ge=-0.5, le=0.5)
    saturation: float = Field(default=1.0, ge=0, le=2)
    f_number: float | None = Field(default=None, ge=0.7, le=64)
    handheld_deg: float = Field(default=0.0, ge=0, le=3)
    handheld_roll_deg: float = Field(default=0.0, ge=0, le=5)
    shutter: Shutter | None = None
    crf: int = Field(default=16, ge=0, le=51)

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler
                                   ) -> dict[str, Any]:
        """Leave out a shutter that is not there, so that keys and rows of such looks stay."""
        content: dict[str, Any] = handler(self)
        return {name: value for name, value in content.items()
                if name != "shutter" or value is not None}

    @model_validator(mode="after")
    def _can_be_turned_round(self) -> "CameraLook":
        first, second = self.distortion
        radius = np.linspace(0, _FARTHEST, 200)
        if (1 + 3 * first * radius**2 + 5 * second * radius**4 <= 0.05).any() or abs(first) > 1:
            raise ValueError(f"distortion {first:g}, {second:g}: two places would be seen at one"
                             " pixel; use smaller numbers")
        return self

    @property
    def shakes(self) -> bool:
        """Whether the camera is held by hand."""
        return self.handheld_deg > 0 or self.handheld_roll_deg > 0


def looks() -> Mapping[str, Path]:
    """Return the files of camera looks, mimegen's and libraries', by name."""
    return {file.stem: file for file in data_files("render_configs/looks/*.yaml")}


def read_look(path: Path) -> CameraLook:
    """Read a file of render_configs/looks/.

    Raises RequestError naming file, line and key and what was expected there.
    """
    return read_yaml(path, CameraLook)


@dataclass(frozen=True)
class FilmedLook:
    """A look with the seed of what is random in it; one for all clips of a shot."""

    look: CameraLook
    seed: tuple[int | str, ...]

    def random(self, *what: int | str) -> np.random.Generator:
        """Return the generator of something random in it."""
        return generator(*self.seed, "camera look", *what)


@dataclass(frozen=True)
class Lens:
    """What each pixel shows of a pinhole's picture, frame by frame.

    The picture is enlarged just so much that no pixel shows what lies outside the pinhole's.
    """

    filmed: FilmedLook
    camera: Camera
    frames: int
    fps: float

    @cached_property
    def path(self) -> FloatArray:
        """How far the hand moves the picture (F, 3): x and y in pixels, roll in radians."""
        look, focal = self.filmed.look, self.camera.focal_pixels
        size = np.array([focal * np.radians(look.handheld_deg)] * 2
                        + [np.radians(look.handheld_roll_deg)])
        random = self.filmed.random("hand")
        moved = np.stack([_shake(self.frames, self.fps, random) for _ in range(3)], axis=1) * size
        # Transforms differ in their last bits between machines.
        return np.column_stack([np.round(moved[:, :2], 3), np.round(moved[:, 2], 6)])

    @cached_property
    def changes(self) -> bool:
        """Whether any pixel shows another place than its own."""
        return any(self.filmed.look.distortion) or self.filmed.look.shakes

    @cached_property
    def scale(self) -> float:
        """By how much what is seen is smaller than the pinhole's picture."""
        half = np.array([self.camera.width, self.camera.height]) / 2
        along = np.linspace(-1, 1, 101)
        border = np.concatenate([np.stack([along, side * np.ones(101)], axis=1)[:, order]
                                 for side in (-1, 1) for order in ([0, 1], [1, 0])]) * half
        bent = border * self._stretch(border)[:, None]
        shift = np.abs(self.path[:, :2]).max(axis=0)
        turned = float(np.abs(self.path[:, 2]).max())
        reach = np.abs(bent) + np.abs(bent[:, ::-1]) * np.sin(turned)
        return float(((half - shift - 0.5) / reach.max(axis=0)).min().clip(0.2, 1.0)) \
            if self.changes else 1.0

    def shown(self, frame: int, pixels: FloatArray) -> FloatArray:
        """Return the places (..., 2) of the pinhole's picture that are shown at pixels (..., 2)."""
        away = pixels - self._middle
        bent = away * (self.scale * self._stretch(away))[..., None]
        return self._turned(bent, self.path[frame, 2]) + self._middle + self.path[frame, :2]

    def seen(self, frame: int | NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return at which pixels (..., 2) places (..., 2) of the pinhole's picture are seen.

        The inverse of ``shown``, by Newton's method. ``frame`` is one number, or one a place.
        """
        moved = self.path[frame]
        away = self._turned(places - self._middle - moved[..., :2], -moved[..., 2]) / self.scale
        wanted = np.linalg.norm(away, axis=-1) / self._half_diagonal
        first, second = self.filmed.look.distortion
        radius = np.minimum(wanted, _FARTHEST)
        for _ in range(_STEPS):
            squared = radius**2
            value = radius * (1 + squared * (first + second * squared)) - wanted
            slope = 1 + squared * (3 * first + 5 * second * squared)
            radius = np.clip(radius - value / slope, 0.0, _FARTHEST)
        share = np.divide(radius, wanted, out=np.ones_like(wanted), where=wanted > 1e-12)
        seen: FloatArray = away * share[..., None] + self._middle
        return seen

    def pixels(self) -> FloatArray:
        """Return the middles (H, W, 2) of all pixels."""
        columns, rows = np.meshgrid(np.arange(self.camera.width) + 0.5,
                                    np.arange(self.camera.height) + 0.5)
        return np.stack([columns, rows], axis=-1)

    def content(self) -> dict[str, object]:
        """Return what programs need to do the same: see ``docs/guide/rendering.md``."""
        return {"look": self.filmed.look.name, "distortion": list(self.filmed.look.distortion),
                "radius_px": self._half_diagonal, "scale": self.scale,
                "path": self.path.tolist() if self.filmed.look.shakes else []}

    @property
    def _middle(self) -> FloatArray:
        return np.array([self.camera.width, self.camera.height]) / 2

    @property
    def _half_diagonal(self) -> float:
        return float(np.hypot(self.camera.width, self.camera.height) / 2)

    def _stretch(self, away: FloatArray) -> FloatArray:
        squared = (away**2).sum(axis=-1) / self._half_diagonal**2
        first, second = self.filmed.look.distortion
        return np.asarray(1 + squared * (first + second * squared))

    @staticmethod
    def _turned(places: FloatArray, roll: float | FloatArray) -> FloatArray:
        cos, sin = np.cos(roll), np.sin(roll)
        return np.stack([cos * places[..., 0] - sin * places[..., 1],
                         sin * places[..., 0] + cos * places[..., 1]], axis=-1)


def margin_through(look: CameraLook, size: tuple[int, int], margin: float) -> float:
    """Return the margin that a pinhole's picture needs, so that a lens leaves ``margin`` of it.

    A lens that bends lines enlarges the picture's middle; what the hand does is not reckoned with.
    """
    steady = look.model_copy(update={"handheld_deg": 0.0, "handheld_roll_deg": 0.0})
    camera = Camera((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), 50.0, *size)
    lens, half = Lens(FilmedLook(steady, ()), camera, 1, 1.0), np.array(size) / 2
    along = np.linspace(-1, 1, 101)
    share = 1.0
    for axis in (0, 1):
        border = np.ones((101, 2))
        border[:, 1 - axis] = along
        kept = lens.shown(0, half + border * half * (1 - 2 * margin)) - half
        share = min(share, float((kept[:, axis] / half[axis]).min()))
    return round(max((1 - share) / 2, margin), 4)


def _shake(frames: int, fps: float, random: np.random.Generator) -> FloatArray:
    """Return a hand's movement (F,) with a root mean square of 1 over a long time.

    It is a sum of waves whose amplitude falls with their frequency, so that it does not depend on
    how many frames there are.
    """
    hertz = np.geomspace(*SHAKE_HZ, ceil(12 * np.log2(SHAKE_HZ[1] / SHAKE_HZ[0])))
    # As many waves an octave everywhere: an amplitude of f^-1/2 gives a power of f^-2 a hertz.
    sizes, phases = hertz**-0.5, random.uniform(0, 2 * np.pi, len(hertz))
    sizes *= random.rayleigh(1.0, len(hertz))
    waves = np.sin(2 * np.pi * np.outer(np.arange(frames) / fps, hertz) + phases)
    moved: FloatArray = (waves * (sizes / np.sqrt((hertz**-1.0).sum()))).sum(axis=1)
    return moved
