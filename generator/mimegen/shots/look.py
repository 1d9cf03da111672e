"""Camera looks (render_configs/looks/*.yaml): lens, sensor and shake of a real camera.

This module has the geometry, for pictures and ground truth alike: which position of the pinhole
camera's picture each pixel shows, and the inverse. The lens's distortion uses radii as fractions of
half the picture's diagonal, so that looks suit all picture sizes.
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

# The frequency range of a hand's shake, whose power falls with the square of the frequency.
SHAKE_HZ = (0.2, 8.0)
# Steps of Newton's method; already six have an error of less than a millionth of a pixel.
_STEPS = 8
# The largest radius considered, in half diagonals. Pictures end before it, so the distortion
# polynomial need not be invertible beyond.
_FARTHEST = 1.6


class CameraLook(Strict):
    """One file of render_configs/looks/.

    ``distortion`` are k1 and k2 of Brown's radial model (1966), which maps the radius r of a pixel
    to the radius r (1 + k1 r^2 + k2 r^4) in the pinhole's picture; positive values give barrel
    distortion. ``vignette`` is the fraction of light lost in the corners. ``grain`` and
    ``color_grain`` are standard deviations at middle gray, in units of 1/255, of grains
    ``grain_px`` wide; ``softness_px`` and ``sharpen_px`` are standard deviations of Gaussians. All
    lengths in pixels are for a picture 1280 pixels wide. ``f_number`` is the aperture on a full
    frame sensor; without it everything is sharp. ``handheld_deg`` and ``handheld_roll_deg`` are
    root mean squares of the camera's shake. ``shutter`` gives motion blur if Cycles renders the
    shot. ``crf`` is x264's quality factor; higher is coarser.
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
    def _omit_absent(self, handler: SerializerFunctionWrapHandler
                     ) -> dict[str, Any]:
        """Leave out an absent shutter, so that content keys and rows of such looks stay."""
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
        """Whether the camera shakes as if held by hand."""
        return self.handheld_deg > 0 or self.handheld_roll_deg > 0


def looks() -> Mapping[str, Path]:
    """Return the files of camera looks by name, mimegen's own and those of libraries."""
    return {file.stem: file for file in data_files("render_configs/looks/*.yaml")}


def read_look(path: Path) -> CameraLook:
    """Read a file of render_configs/looks/.

    Raises RequestError naming file, line and key and what was expected there.
    """
    return read_yaml(path, CameraLook)


@dataclass(frozen=True)
class FilmedLook:
    """A look with the seed of its random parts; all clips of a shot share one."""

    look: CameraLook
    seed: tuple[int | str, ...]

    def random(self, *what: int | str) -> np.random.Generator:
        """Return the random generator for one part of the look, named by ``what``."""
        return generator(*self.seed, "camera look", *what)


@dataclass(frozen=True)
class Lens:
    """The mapping from pixels to positions in a pinhole's picture, for each frame.

    The picture is enlarged just enough that no pixel shows anything outside of the pinhole's.
    """

    filmed: FilmedLook
    camera: Camera
    frames: int
    fps: float

    @cached_property
    def path(self) -> FloatArray:
        """The picture's displacement by the hand (F, 3): x and y in pixels, roll in radians."""
        look, focal = self.filmed.look, self.camera.focal_pixels
        size = np.array([focal * np.radians(look.handheld_deg)] * 2
                        + [np.radians(look.handheld_roll_deg)])
        random = self.filmed.random("hand")
        moved = np.stack([_shake(self.frames, self.fps, random) for _ in range(3)], axis=1) * size
        # Rounded, because sines differ in their last bits between machines.
        return np.column_stack([np.round(moved[:, :2], 3), np.round(moved[:, 2], 6)])

    @cached_property
    def changes(self) -> bool:
        """Whether any pixel shows another position than its own in the pinhole's picture."""
        return any(self.filmed.look.distortion) or self.filmed.look.shakes

    @cached_property
    def scale(self) -> float:
        """The size of the visible part as a fraction of the pinhole's picture, 0.2 to 1."""
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
        """Return the positions (..., 2) in the pinhole's picture shown at pixels (..., 2)."""
        away = pixels - self._middle
        bent = away * (self.scale * self._stretch(away))[..., None]
        return self._turned(bent, self.path[frame, 2]) + self._middle + self.path[frame, :2]

    def seen(self, frame: int | NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return the pixels (..., 2) that show positions (..., 2) in the pinhole's picture.

        This is the inverse of ``shown``, by Newton's method. ``frame`` is a single number, or one
        for each position.
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
        """Return the centres (H, W, 2) of all pixels."""
        columns, rows = np.meshgrid(np.arange(self.camera.width) + 0.5,
                                    np.arange(self.camera.height) + 0.5)
        return np.stack([columns, rows], axis=-1)

    def content(self) -> dict[str, object]:
        """Return the parameters with which other programs can repeat the mapping.

        See ``docs/guide/rendering.md``.
        """
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
    """Return the margin that a pinhole's picture needs to have ``margin`` left behind the lens.

    Correcting for distortion enlarges the picture's middle. Shake is not taken into account.
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
    """Return a hand's displacement (F,) with a root mean square of 1 over a long time.

    It is a sum of sine waves whose amplitudes fall with the frequency. So its values do not depend
    on the number of frames.
    """
    hertz = np.geomspace(*SHAKE_HZ, ceil(12 * np.log2(SHAKE_HZ[1] / SHAKE_HZ[0])))
    # With the same number of waves in each octave, amplitudes of f^-1/2 give a power density of
    # f^-2.
    sizes, phases = hertz**-0.5, random.uniform(0, 2 * np.pi, len(hertz))
    sizes *= random.rayleigh(1.0, len(hertz))
    waves = np.sin(2 * np.pi * np.outer(np.arange(frames) / fps, hertz) + phases)
    moved: FloatArray = (waves * (sizes / np.sqrt((hertz**-1.0).sum()))).sum(axis=1)
    return moved
