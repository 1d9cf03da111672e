"""Manipulations of dots in the picture."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import MASK, DotTracks
from mimegen.pointlight.manipulation import (
    ALL_STYLES,
    Manipulation,
    OfPeople,
    Setting,
    uniform_in,
)
from mimegen.pointlight.spec import Area, DotStyle, Length, area_sides


class Inverted(OfPeople):
    """The display upside down."""

    name, stage = "inverted", "picture"
    only_on = ALL_STYLES
    algorithm = ("flip about the picture's horizontal middle line (Sumi 1984); of one performer,"
                 " about the middle height of their own dots in the clip")

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots flipped."""
        return dots.moved(dots.positions * [1, -1, 1] + [0, 2 * setting.middle[1], 0])


class Mirrored(OfPeople):
    """The display with left and right exchanged."""

    name, stage = "mirrored", "picture"
    only_on = ALL_STYLES
    algorithm = ("flip about the picture's vertical middle line; of one performer, about the middle"
                 " of the width of their own dots in the clip")

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots mirrored."""
        return dots.moved(dots.positions * [-1, 1, 1] + [2 * setting.middle[0], 0, 0])


class Scrambled(OfPeople):
    """Spatial scramble: every dot keeps its own motion but starts at another position."""

    name, stage, main = "scrambled", "picture", "rule"
    keeps_steps = False
    algorithm = ("uniform: start places drawn uniformly within the box of the clip's dots, as far"
                 " as the whole path stays in the picture (Grossman et al. 2000; van Boxtel & Lu"
                 " 2013); permuted: start places exchanged among a performer's dots, which keeps"
                 " the first frame's places")
    rule: Literal["uniform", "permuted"] = "uniform"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return dots whose paths are shifted, each by its own constant amount."""
        positions = dots.positions.copy()
        for person in dots.people:
            start = first_positions(positions[:, person, :2])
            if self.rule == "permuted":
                target = start[_derangement(setting.rng, len(person))]
            else:
                target = _uniform_starts(positions[:, person, :2], start, setting)
            positions[:, person, :2] += target - start
        return dots.moved(positions)


def first_positions(positions: FloatArray) -> FloatArray:
    """Return the first position (D, 2) at which each dot is seen."""
    first = np.isfinite(positions).all(axis=-1).argmax(axis=0)
    return np.asarray(positions[first, np.arange(positions.shape[1])])


def _derangement(rng: np.random.Generator, count: int) -> NDArray[np.intp]:
    """Return a random permutation in which, with two or more items, none keeps its position."""
    order = rng.permutation(count)
    # A single cycle through a random order moves every item.
    result = np.empty(count, dtype=np.intp)
    result[order] = np.roll(order, 1)
    return result


def _uniform_starts(positions: FloatArray, start: FloatArray, setting: Setting) -> FloatArray:
    low, high = np.nanmin(positions, axis=(0, 1)), np.nanmax(positions, axis=(0, 1))
    reach_low = start - np.nanmin(positions, axis=0)
    reach_high = np.nanmax(positions, axis=0) - start
    size = np.array([setting.width, setting.height])
    fit_low, fit_high = np.maximum(low, reach_low), np.minimum(high, size - reach_high)
    fits = fit_low <= fit_high
    fit_low, fit_high = np.where(fits, fit_low, low), np.where(fits, fit_high, high)
    return np.asarray(fit_low + setting.rng.random(start.shape) * (fit_high - fit_low))


class LimitedLifetime(OfPeople):
    """Dots that live for a few frames and then appear at another point of the body."""

    name, stage, main = "limited_lifetime", "picture", "frames"
    algorithm = ("limbs: each dot sits at a random point of a random limb (by length), then at"
                 " another (Beintema & Lappe 2002); joints: it hops to a joint that is free"
                 " (Neri, Morrone & Burr 1998; van Boxtel & Lu 2013); ages begin at random")
    frames: int = Field(default=2, ge=1)
    rule: Literal["limbs", "joints"] = "limbs"
    count: int | None = Field(default=None, ge=1)
    synchronous: bool = False

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return as many dots per performer (or ``count``), each with lives of ``frames`` frames.
        """
        parts = [dots.chosen(np.flatnonzero(dots.performers == MASK))]
        for person in dots.people:
            one = dots.chosen(person)
            if self.rule == "joints":
                parts.append(self._on_joints(one, setting.rng))
            else:
                parts.append(self._on_limbs(one, setting.rng))
        whole = parts[1]
        for part in [*parts[2:], parts[0]]:
            whole = whole.joined(part)
        return whole

    def _lives(self, dots: DotTracks, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the number of the life (F, count) that each dot is in; lives are counted from 0.
        """
        ages = np.zeros(count, int) if self.synchronous else rng.integers(0, self.frames, count)
        return np.asarray((np.arange(dots.frames)[:, None] + ages) // self.frames)

    def _on_limbs(self, dots: DotTracks, rng: np.random.Generator) -> DotTracks:
        if not len(dots.limbs):
            raise ValueError("this dot set defines no limbs; use limited_lifetime/rule=joints")
        count = self.count or dots.count
        lives = self._lives(dots, count, rng)
        a, b = dots.limbs.T
        lengths = np.nanmean(np.linalg.norm(
            (dots.positions[:, a] - dots.positions[:, b])[..., :2], axis=-1), axis=0)
        shape = (int(lives.max()) + 1, count)
        limb = rng.choice(len(a), shape, p=lengths / lengths.sum())
        share = rng.random(shape)
        each = np.arange(count)
        limb, share = limb[lives, each], share[lives, each]
        frames = np.arange(dots.frames)[:, None]
        start, end = dots.positions[frames, a[limb]], dots.positions[frames, b[limb]]
        nearer = np.where(share < 0.5, a[limb], b[limb])
        return _hopping(dots, start + share[..., None] * (end - start), nearer, frames)

    def _on_joints(self, dots: DotTracks, rng: np.random.Generator) -> DotTracks:
        count = self.count or max(1, dots.count // 2)
        if count >= dots.count:
            raise ValueError("too many dots: rule=joints needs a free joint; use at most"
                             f" {dots.count - 1} dots")
        lives = self._lives(dots, count, rng)
        joint = np.empty((dots.frames, count), dtype=np.intp)
        joint[0] = rng.permutation(dots.count)[:count]
        for frame in range(1, dots.frames):
            joint[frame] = joint[frame - 1]
            old = np.flatnonzero(lives[frame] != lives[frame - 1])
            for dot in rng.permutation(old):
                free = np.setdiff1d(np.arange(dots.count), joint[frame])
                joint[frame, dot] = rng.choice(free)
        frames = np.arange(dots.frames)[:, None]
        return _hopping(dots, dots.positions[frames, joint], joint, frames)


def _hopping(dots: DotTracks, positions: FloatArray, nearest: NDArray[np.intp],
             frames: NDArray[np.intp]) -> DotTracks:
    """Return anonymous dots at ``positions`` (F, N, 3) that look like those of the nearest joints.
    """
    count = positions.shape[1]
    return DotTracks(
        tuple(f"sample{number + 1}" for number in range(count)),
        np.full(count, dots.performers[0]), dots.limbs[:0], dots.trunk[:0], positions,
        dots.visible[frames, nearest], dots.sizes[frames, nearest], dots.strengths[frames, nearest],
    )


class Masked(Manipulation):
    """Additional dots around and behind the performers'.

    ``density`` (dots per square degree) overrides ``count``. The mask fills a rectangle about the
    picture's middle. Its ``area`` is either a size with a unit (``200px``, ``6deg``,
    ``300x200px``), or a factor of the room that the performers' dots take upright, inverted and
    scrambled, limited by the picture. So it is the same for these conditions of a performance.
    """

    name, stage, main = "masked", "picture", "count"
    only_on = ("dots",)
    algorithm = ("scrambled: copies of randomly chosen dots' motions from random places (Cutting,"
                 " Moore & Morrison 1988); linear: straight paths in random directions at the"
                 " dots' median speed; static: standing dots; flicker: new places every frame;"
                 " all wrap around in the masked area, a rectangle about the picture's middle")
    version = 2
    count: int = Field(default=60, ge=1, le=5000)
    density: float | None = Field(default=None, gt=0)
    kind: Literal["scrambled", "linear", "static", "flicker"] = "scrambled"
    area: Area = 1.0

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the performers' dots followed by the mask's."""
        low, high = self.region(setting)
        count = self.count
        if self.density is not None:
            degree = setting.pixels("1deg")
            count = max(1, round(self.density * float(np.prod((high - low) / degree))))
        start = uniform_in(setting.rng, low, high, count)
        flat = start + self._paths(dots, count, low, high, setting.rng)
        flat = low + (flat - low) % (high - low)
        depth = np.zeros((*flat.shape[:2], 1))
        mask = DotTracks.of(tuple(f"mask{number + 1}" for number in range(count)),
                            np.full(count, MASK), np.concatenate([flat, depth], axis=-1))
        return dots.joined(mask)

    def region(self, setting: Setting) -> tuple[FloatArray, FloatArray]:
        """Return the upper left and lower right corner (2,) of the masked area, in pixels.

        Raises ValueError if an area with a unit is larger than the picture.
        """
        size = np.array([setting.width, setting.height], float)
        if not isinstance(self.area, str):
            half = np.minimum(np.maximum(setting.room, 1.0) * self.area, size / 2)
        else:
            half = np.array([setting.pixels(side) for side in area_sides(self.area)]) / 2
        if (half > size / 2 + 1e-6).any():
            raise ValueError(f"area {self.area} is larger than the picture,"
                             f" {setting.width}x{setting.height} pixels")
        return size / 2 - half, size / 2 + half

    def measured(self, setting: Setting, count: int) -> dict[str, Any]:
        """Return the manifest's entries for the masked area with ``count`` dots: size and density.
        """
        low, high = self.region(setting)
        degrees = (high - low) / setting.pixels("1deg")
        return {"area_px": [round(float(side), 3) for side in high - low],
                "area_deg": [round(float(side), 4) for side in degrees], "dots": count,
                "dots_per_square_degree": round(count / float(np.prod(degrees)), 5)}

    def _paths(self, dots: DotTracks, count: int, low: FloatArray, high: FloatArray,
               rng: np.random.Generator) -> FloatArray:
        """Return the displacement (F, count, 2) of each mask dot from its start."""
        own = dots.positions[:, dots.own, :2]
        if self.kind == "scrambled":
            donors = rng.integers(0, len(dots.own), count)
            paths = own[:, donors] - first_positions(own)[donors]
            return np.asarray(np.where(np.isfinite(paths), paths, 0.0))
        if self.kind == "static":
            return np.zeros((dots.frames, count, 2))
        if self.kind == "flicker":
            return np.asarray(rng.random((dots.frames, count, 2)) * (high - low))
        speed = 0.0
        if dots.frames > 1:
            speed = float(np.nanmedian(np.linalg.norm(np.diff(own, axis=0), axis=-1)))
        angle = rng.random(count) * 2 * np.pi
        step = speed * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.asarray(np.arange(dots.frames)[:, None, None] * step)


class Jittered(OfPeople):
    """Every dot displaced at random, with a new displacement in each frame or every few frames."""

    name, stage, main = "jittered", "picture", "sd"
    algorithm = "independent Gaussian displacement in x and y of each dot, held for some frames"
    sd: Length = "3px"
    hold: int = Field(default=1, ge=1)

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots displaced."""
        draws = -(-dots.frames // self.hold)
        noise = setting.rng.normal(0, setting.pixels(self.sd), (draws, dots.count, 2))
        positions = dots.positions.copy()
        positions[..., :2] += np.repeat(noise, self.hold, axis=0)[:dots.frames]
        return dots.moved(positions)


class Displaced(OfPeople):
    """Every dot displaced at random, equally in all frames: noise in the figure's form."""

    name, stage, main = "displaced", "picture", "sd"
    keeps_steps = False
    algorithm = "one Gaussian displacement in x and y of each dot for the whole clip"
    sd: Length = "10px"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots displaced."""
        positions = dots.positions.copy()
        positions[..., :2] += setting.rng.normal(0, setting.pixels(self.sd), (dots.count, 2))
        return dots.moved(positions)


class Without(OfPeople):
    """Dots left out: by name (``head;left_wrist``), a number at random, or one whole performer."""

    name, stage, main = "without", "picture", "dots"
    algorithm = ("dots left out by name, performers' dots drawn at random without replacement, or"
                 " all dots of one performer")
    version = 2
    dots: str = ""
    count: int = Field(default=0, ge=0)

    @property
    def leaves_out(self) -> int | None:
        """The index of the performer who is left out as a whole, if any."""
        return None if self.dots or self.count else self.performer

    @property
    def styles(self) -> tuple[DotStyle, ...]:
        """The styles in which it is seen: all, if a whole performer is left out."""
        return super().styles if self.leaves_out is None else ALL_STYLES

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the remaining dots."""
        if self.leaves_out is not None:
            return dots.chosen(np.zeros(0, dtype=np.intp))
        gone = [name for name in self.dots.split(";") if name]
        bare = [name.partition(":")[2] or name for name in dots.names]
        unknown = [name for name in gone if name not in bare and name not in dots.names]
        if unknown:
            raise ValueError(f"no dot '{unknown[0]}'; expected one of {', '.join(dots.names)}")
        kept = np.array([name not in gone and short not in gone
                         for name, short in zip(dots.names, bare, strict=True)])
        if self.count:
            own = np.intersect1d(np.flatnonzero(kept), dots.own)
            kept[setting.rng.permutation(own)[:self.count]] = False
        if not kept[dots.own].any():
            raise ValueError("no dot is left; leave out fewer")
        return dots.chosen(np.flatnonzero(kept))


class DepthSized(Manipulation):
    """Dots that are larger the nearer they are."""

    name, stage, main = "depth_sized", "picture", "distance_m"
    only_on = ("dots",)
    algorithm = "diameter times D / (D + depth beyond the figure's middle)"
    distance_m: float = Field(default=3.0, gt=0)

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots sized by depth."""
        depth = np.maximum(np.nan_to_num(dots.positions[..., 2]), -0.9 * self.distance_m)
        return replace(dots, sizes=dots.sizes * self.distance_m / (self.distance_m + depth))


class Faded(Manipulation):
    """The display faded in and out."""

    name, stage = "faded", "picture"
    only_on = ALL_STYLES
    algorithm = "contrast ramps linearly from and to nothing"
    seconds_in: float = Field(default=0.5, ge=0)
    seconds_out: float = Field(default=0.5, ge=0)

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots with ramps of contrast."""
        moments = np.arange(dots.frames) / setting.fps
        rise = moments / self.seconds_in if self.seconds_in else np.ones(dots.frames)
        fall = moments[::-1] / self.seconds_out if self.seconds_out else np.ones(dots.frames)
        ramp = np.clip(np.minimum(rise, fall), 0, 1)
        return replace(dots, strengths=dots.strengths * ramp[:, None])
