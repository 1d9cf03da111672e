"""What is published of gait: mocap/gait.yaml as typed values, at any speed."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import Field

from mimegen.base.arrays import FloatArray
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Finite, Strict, read_yaml_once

Joint = Literal["hip", "knee", "ankle"]
JOINTS: tuple[Joint, ...] = ("hip", "knee", "ankle")
GRAVITY = 9.81
# Waves a cycle that angles are made of: 95 % of the power of walking lies in the first six
# (Winter 2009); the ankle's push-off wants two more.
HARMONICS = 8
# Outside of the speeds that were measured, angles change on as far as this (share of the way
# between two groups).
BEYOND = 1.2


class LinearNorm(Strict):
    """A value that grows evenly with speed (m/s)."""

    at_rest: Finite
    per_speed: Finite

    def at(self, speed: float) -> float:
        """Return the value at a speed in m/s."""
        return self.at_rest + self.per_speed * speed


class Strides(Strict):
    """Strides a minute: factor * (v / stature)^power + per_speed * v."""

    factor: Finite
    power: Finite = 0.0
    per_speed: Finite = 0.0

    def at(self, speed: float, stature: float) -> float:
        """Return strides a minute at a speed in m/s, of somebody so tall (m)."""
        return self.factor * float((speed / stature) ** self.power) + self.per_speed * speed


class PelvisNorms(Strict):
    """The pelvis in a cycle: half ranges in degrees at a dimensionless pace, by its power.

    The waves are cosine and sine of once, three and five times the cycle, of which turn (the left
    hip ahead) and drop (the left hip raised) are made.
    """

    turn: Finite
    turn_waves: tuple[Finite, ...]
    drop_waves: tuple[Finite, ...]
    drop: Finite
    tilt: Finite
    pace: Finite
    power: Finite


class ArmSwingNorms(Strict):
    """Half the swing of the upper arm, its middle, the elbow's least bend and range, in degrees.

    ``late`` is by how much of a cycle arms are later than the other side's leg.
    """

    swing_at_rest: Finite
    swing_per_speed: Finite
    middle: Finite
    elbow: Finite
    elbow_per_speed: Finite
    out: Finite
    late: Finite


class Thorax(Strict):
    """Half the thorax' turn, roll and nod, and its lean forward, in degrees."""

    turn: Finite
    roll: Finite
    nod: Finite
    lean: Finite


class Growth(Strict):
    """By which share hip and knee move further for each m/s above a speed."""

    hip: Finite
    knee: Finite
    from_speed: Finite


class Norms(Strict):
    """One gait: see mocap/gait.yaml. ``curves`` are means at even steps of the cycle."""

    paces: dict[str, Finite]
    toe_off: dict[str, Finite]
    standing_tilt: Finite
    curves: dict[str, dict[Joint, tuple[Finite, ...]]]
    stance: LinearNorm
    strides_per_minute: Strides
    rise: dict[Finite, Finite] = Field(default_factory=dict)
    sway: dict[Finite, Finite]
    pelvis: PelvisNorms
    arms: ArmSwingNorms
    thorax: Thorax
    width: Finite
    toe_out: Finite
    speed: Finite
    grows: Growth | None = None

    def curve(self, joint: Joint, pace: float, speed: float, phases: FloatArray) -> FloatArray:
        """Return a joint's angle (F,) in degrees at phases (F,) of the cycle.

        ``pace`` is v / sqrt(g * leg); between groups, and a little beyond, angles change evenly.
        """
        waves = sum(share * _waves(self.curves[group][joint])
                    for group, share in self._shares(pace).items())
        if self.grows is not None and joint != "ankle":
            grown = 1.0 + getattr(self.grows, joint) * (speed - self.grows.from_speed)
            waves = waves * np.r_[1.0, np.full(HARMONICS, max(grown, 0.3))]
        turns = np.exp(2j * np.pi * phases[:, None] * np.arange(HARMONICS + 1))
        return np.asarray((turns * waves).sum(axis=1).real)

    def pushed_off(self, pace: float) -> float:
        """Return when, as a share of the cycle, the toes leave the floor in the curves."""
        return sum(share * self.toe_off[group] for group, share in self._shares(pace).items())

    def _shares(self, pace: float) -> Mapping[str, float]:
        """Return how much each group counts at a pace."""
        names = sorted(self.paces, key=lambda name: self.paces[name])
        if len(names) == 1:
            return {names[0]: 1.0}
        values = [self.paces[name] for name in names]
        upper = int(np.clip(np.searchsorted(values, pace), 1, len(names) - 1))
        low, high = values[upper - 1], values[upper]
        share = float(np.clip((pace - low) / (high - low), -BEYOND, 1.0 + BEYOND))
        return {names[upper - 1]: 1.0 - share, names[upper]: share}


def _waves(means: tuple[float, ...]) -> FloatArray:
    """Return mean and harmonics (H + 1,), complex, of values at even steps of a cycle."""
    waves = np.fft.rfft(np.array(means))[: HARMONICS + 1] / len(means)
    return np.asarray(waves * np.r_[1.0, np.full(HARMONICS, 2.0)])


class _NormsFile(Strict):
    walk: Norms
    run: Norms
    runs_from: Finite


def norms_of(kind: Literal["walk", "run"]) -> Norms:
    """Return what is published of walking or of running."""
    file = _file()
    return file.walk if kind == "walk" else file.run


def runs_from() -> float:
    """Return the speed (m/s) above which people run."""
    return _file().runs_from


def _file() -> _NormsFile:
    return read_yaml_once(data_file("mocap/gait.yaml"), _NormsFile)


def between(values: Mapping[float, float], speed: float) -> float:
    """Return the value at a speed between two that are known; beyond them the nearer one's."""
    known = sorted(values)
    return float(np.interp(speed, known, [values[one] for one in known]))
