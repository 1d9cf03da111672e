"""Manipulations of single limbs, and of the motion of single dots."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from mimegen.base.arrays import FloatArray
from mimegen.markers.start import bridged
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.manipulation import Manipulation, OfPeople, Setting

# Words that identify a body part's dots by their names.
_HAND = ("wrist", "hand", "knuckle", "thumb", "index", "middle", "ring", "pinky")
_LEG = ("hip", "knee", "ankle", "foot", "heel", "toe")
PARTS = {
    "feet": ("ankle", "foot", "heel", "toe"), "legs": _LEG,
    "arms": ("shoulder", "elbow", *_HAND), "hands": _HAND, "head": ("head",),
    **{f"{side}_leg": tuple(f"{side}_{word}" for word in _LEG) for side in ("left", "right")},
    **{f"{side}_arm": tuple(f"{side}_{word}" for word in ("elbow", *_HAND))
       for side in ("left", "right")},
}
Part = Literal["feet", "legs", "arms", "hands", "head", "left_leg", "right_leg", "left_arm",
               "right_arm"]


def dots_of_part(dots: DotTracks, part: str) -> NDArray[np.bool_]:
    """Return a mask (D,) of the dots of a body part; raises ValueError if there are none."""
    found = np.array([any(word in name for word in PARTS[part]) for name in dots.names])
    found[np.setdiff1d(np.arange(dots.count), dots.own)] = False
    if not found.any():
        raise ValueError(f"no dot belongs to the {part}; dots are {', '.join(dots.names)}")
    return found


class Only(OfPeople):
    """Only the dots of a part of the body: feet, legs, arms, hands, head, left_leg ..."""

    name, stage, main = "only", "picture", "part"
    algorithm = "all other dots of performers are left out"
    part: Part = "feet"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots of the body part and of masks."""
        kept = dots_of_part(dots, self.part)
        kept[np.setdiff1d(np.arange(dots.count), dots.own)] = True
        return dots.chosen(np.flatnonzero(kept))


class Flipped(OfPeople):
    """Part of a figure upside down: every dot of the feet, or of the rest of the body."""

    name, stage, main = "flipped", "picture", "part"
    keeps_steps = False
    algorithm = ("each dot of the part is mirrored about its own mean height, which stays (Troje &"
                 " Westhoff 2006)")
    part: Literal["feet", "body"] = "feet"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots, those of the part mirrored."""
        chosen = dots_of_part(dots, "feet")
        if self.part == "body":
            chosen = ~chosen
            chosen[np.setdiff1d(np.arange(dots.count), dots.own)] = False
        positions = dots.positions.copy()
        heights = positions[:, chosen, 1]
        positions[:, chosen, 1] = 2 * np.nanmean(heights, axis=0) - heights
        return dots.moved(positions)


class OutOfPhase(OfPeople):
    """The dots of a body part play later than the others, by a fraction of the clip."""

    name, stage, main = "out_of_phase", "world", "share"
    keeps_steps = False
    algorithm = ("the part's motion about the root is shifted by a share of the clip, which for a"
                 " walker's loop is one of its cycles (after Bertenthal & Pinto 1994)")
    share: float = Field(default=0.25, ge=0, le=1)
    part: Part = "left_leg"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots, those of the part shifted in time."""
        chosen = dots_of_part(dots, self.part)
        paths = setting.paths(dots)
        about, visible = dots.positions - paths, dots.visible.copy()
        for part in (about, visible):
            part[:, chosen] = np.roll(part[:, chosen], round(self.share * dots.frames), axis=0)
        return replace(dots, positions=paths + about, visible=visible)


class Sines(OfPeople):
    """Every dot moves as a sine of its performer's main frequency."""

    name, stage, main = "sines", "picture", "keep"
    keeps_steps = False
    algorithm = ("each dot's motion becomes its mean and the strongest waves of its Fourier series"
                 " over the clip, the same for all dots of a performer (after Troje 2002)")
    keep: int = Field(default=1, ge=1, le=10)

    @field_validator("keep", mode="before")
    @classmethod
    def _plain(cls, keep: object) -> object:
        return 1 if keep is True else keep

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return dots that move on ellipses, or on sums of ``keep`` waves."""
        positions = dots.positions.copy()
        for person in dots.people:
            positions[:, person, :2] = self._waves(positions[:, person, :2])
        return dots.moved(positions)

    def _waves(self, positions: FloatArray) -> FloatArray:
        waves = np.fft.rfft(_bridged(positions), axis=0)
        power = (np.abs(waves[1:]) ** 2).sum(axis=(1, 2))
        strongest = 1 + np.argsort(-power, kind="stable")[: self.keep]
        kept = np.zeros_like(waves)
        kept[np.r_[0, strongest]] = waves[np.r_[0, strongest]]
        return np.asarray(np.fft.irfft(kept, n=len(positions), axis=0))


def _bridged(positions: FloatArray) -> FloatArray:
    """Return positions (F, D, 2) with gaps of lost markers interpolated linearly."""
    filled = positions.copy()
    for dot in np.flatnonzero(~np.isfinite(positions).all(axis=(0, 2))):
        filled[:, dot] = bridged(positions[:, dot])
    return filled


class Crowd(Manipulation):
    """Copies of the figure beside one another, of which one faces the other way."""

    name, stage, main = "crowd", "picture", "count"
    keeps_steps = False
    algorithm = ("smaller copies on a grid, each at its own moment of the clip; where odd, one that"
                 " is drawn by the seed is mirrored")
    count: int = Field(default=9, ge=2, le=64)
    odd: bool = True
    fill: float = Field(default=0.8, gt=0, le=1)

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return all copies' dots; dots of masks are not changed."""
        own, others = dots.chosen(dots.own), dots.chosen(
            np.setdiff1d(np.arange(dots.count), dots.own))
        columns, size = self._cells(setting)
        low, high = own.box()
        scale = self.scale(dots, setting)
        odd = self._odd_copy(setting)
        shifts = setting.rng.integers(0, own.frames, self.count)
        whole: DotTracks | None = None
        for number in range(self.count):
            middle = size * (np.array([number % columns, number // columns]) + 0.5)
            about = np.roll(own.positions[..., :2] - (low + high) / 2, int(shifts[number]), axis=0)
            about = about * [-1.0 if number == odd else 1.0, 1.0] * scale
            depth = np.roll(own.positions[..., 2:], int(shifts[number]), axis=0)
            positions = np.concatenate([about + middle, depth], axis=-1)
            # Visibility and size (depth) depend on the time within the clip, so they shift with the
            # copy; strength (a fade) belongs to the clip as a whole.
            visible = np.roll(own.visible, shifts[number], axis=0)
            sizes = np.roll(own.sizes, shifts[number], axis=0)
            named = DotTracks(tuple(f"{number + 1}:{name}" for name in own.names), own.performers,
                              own.limbs, own.trunk, positions, visible, sizes, own.strengths)
            whole = named if whole is None else whole.joined(named)
        assert whole is not None, "a crowd has members"
        return whole.joined(others)

    def random_choices(self, setting: Setting) -> dict[str, Any]:
        """Return which copy is mirrored: its number, row and column, each counted from 1."""
        if not self.odd:
            return {}
        odd, columns = self._odd_copy(setting), self._cells(setting)[0]
        return {"odd_copy": odd + 1, "odd_row": odd // columns + 1, "odd_column": odd % columns + 1}

    def _odd_copy(self, setting: Setting) -> int:
        """Return the mirrored copy's number from 0, or -1 if there is none: the first draw."""
        return int(setting.rng.integers(self.count)) if self.odd else -1

    def scale(self, dots: DotTracks, setting: Setting) -> float:
        """Return the size of each copy, as a factor of the figure's."""
        low, high = dots.box()
        return self.fill * float(np.min(self._cells(setting)[1] / np.maximum(high - low, 1e-9)))

    def _cells(self, setting: Setting) -> tuple[int, FloatArray]:
        """Return the columns of the grid, and the width and height (2,) of a cell in pixels."""
        columns = int(np.ceil(np.sqrt(self.count)))
        rows = -(-self.count // columns)
        return columns, np.array([setting.width / columns, setting.height / rows])
