"""Published norms of gait (mocap/gait.yaml), interpolated to any speed."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import Field

from mimegen.base.arrays import FloatArray
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Finite, Strict, read_yaml_once

Joint = Literal["hip", "knee", "ankle"]
GRAVITY = 9.81
# Harmonics of the cycle that angles consist of: 95 % of the power of walking lies in the first six
# (Winter 2009); the ankle's push-off needs two more.
HARMONICS = 8
# Outside the measured speeds, angles are extrapolated up to this multiple of the distance between
# the two nearest groups.
MAX_EXTRAPOLATION = 1.2


class LinearNorm(Strict):
    """A value that is linear in the speed (m/s)."""

    at_rest: Finite
    per_speed: Finite

    def at(self, speed: float) -> float:
        """Return the value at a speed in m/s."""
        return self.at_rest + self.per_speed * speed


class Strides(Strict):
    """Strides per minute: factor * (v / stature)^power + per_speed * v."""

    factor: Finite
    power: Finite = 0.0
    per_speed: Finite = 0.0

    def at(self, speed: float, stature: float) -> float:
        """Return strides per minute at a speed in m/s, for a stature in metres."""
        return self.factor * float((speed / stature) ** self.power) + self.per_speed * speed


class PelvisNorms(Strict):
    """The pelvis in a cycle: half ranges of turn, drop and tilt, in degrees.

    They hold at the dimensionless ``pace`` and grow with the pace to the ``power``. ``turn_waves``
    (left hip ahead) and ``drop_waves`` (left hip raised) are amplitudes of cosine and sine at once,
    three and five times the cycle's frequency.
    """

    turn: Finite
    turn_waves: tuple[Finite, ...]
    drop_waves: tuple[Finite, ...]
    drop: Finite
    tilt: Finite
    pace: Finite
    power: Finite


class ArmSwingNorms(Strict):
    """The arms' swing, in degrees and in degrees per m/s of speed.

    Half the swing of the upper arm, its middle, the elbow's least bend and its range, the arm's
    angle ``out``. ``late`` is the arm's delay behind the other side's leg, in cycles.
    """

    swing_at_rest: Finite
    swing_per_speed: Finite
    middle: Finite
    elbow: Finite
    elbow_per_speed: Finite
    out: Finite
    late: Finite


class Thorax(Strict):
    """Half ranges of the thorax' turn, roll and nod, and its mean lean forward, in degrees."""

    turn: Finite
    roll: Finite
    nod: Finite
    lean: Finite


class Growth(Strict):
    """The fractions by which hip and knee move farther for each m/s above ``from_speed``."""

    hip: Finite
    knee: Finite
    from_speed: Finite


class Norms(Strict):
    """The norms of one gait: see mocap/gait.yaml.

    ``curves`` are mean joint angles, in degrees, at even steps of the cycle, by the measured group
    and joint; ``paces`` are the groups' dimensionless speeds.
    """

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

        ``pace`` is v / sqrt(g * leg). Between groups, and up to MAX_EXTRAPOLATION outside, angles
        are linear in it. Where the norms have growth, hip and knee also scale with ``speed`` in
        m/s.
        """
        waves = sum(share * _waves(self.curves[group][joint])
                    for group, share in self._shares(pace).items())
        if self.grows is not None and joint != "ankle":
            grown = 1.0 + getattr(self.grows, joint) * (speed - self.grows.from_speed)
            waves = waves * np.r_[1.0, np.full(HARMONICS, max(grown, 0.3))]
        turns = np.exp(2j * np.pi * phases[:, None] * np.arange(HARMONICS + 1))
        return np.asarray((turns * waves).sum(axis=1).real)

    def pushed_off(self, pace: float) -> float:
        """Return the phase at which the toes leave the floor in the curves, as a fraction."""
        return sum(share * self.toe_off[group] for group, share in self._shares(pace).items())

    def _shares(self, pace: float) -> Mapping[str, float]:
        """Return the weights of the measured groups at a pace; they sum to 1."""
        names = sorted(self.paces, key=lambda name: self.paces[name])
        if len(names) == 1:
            return {names[0]: 1.0}
        values = [self.paces[name] for name in names]
        upper = int(np.clip(np.searchsorted(values, pace), 1, len(names) - 1))
        low, high = values[upper - 1], values[upper]
        share = float(np.clip((pace - low) / (high - low), -MAX_EXTRAPOLATION,
                              1.0 + MAX_EXTRAPOLATION))
        return {names[upper - 1]: 1.0 - share, names[upper]: share}


def _waves(means: tuple[float, ...]) -> FloatArray:
    """Return the mean and the complex harmonics (H + 1,) of values at even steps of a cycle."""
    waves = np.fft.rfft(np.array(means))[: HARMONICS + 1] / len(means)
    return np.asarray(waves * np.r_[1.0, np.full(HARMONICS, 2.0)])


class _NormsFile(Strict):
    walk: Norms
    run: Norms
    runs_from: Finite


def norms_of(kind: Literal["walk", "run"]) -> Norms:
    """Return the published norms of walking or of running."""
    file = _file()
    return file.walk if kind == "walk" else file.run


def runs_from() -> float:
    """Return the speed (m/s) above which people run."""
    return _file().runs_from


def _file() -> _NormsFile:
    return read_yaml_once(data_file("mocap/gait.yaml"), _NormsFile)


def between(values: Mapping[float, float], speed: float) -> float:
    """Return the value interpolated to a speed; outside the known speeds, the nearest value."""
    known = sorted(values)
    return float(np.interp(speed, known, [values[one] for one in known]))
