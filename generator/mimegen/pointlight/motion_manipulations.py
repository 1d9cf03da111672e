"""Manipulations of time, of the dots in the world, and of the view."""

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.manipulation import Manipulation, OfPeople, Setting, Stage
from mimegen.pointlight.turn import Turn
from mimegen.pointlight.view import View

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class Reversed(OfPeople):
    """The clip played backwards."""

    name, stage = "reversed", "time"
    algorithm = "frames in reverse order (Pavlova et al. 2002)"

    def source_times(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return the same times (F,), in seconds, from last to first."""
        return moments[::-1]


class Speed(Manipulation):
    """The clip at another speed, at the same frame rate."""

    name, stage, main = "speed", "time", "factor"
    algorithm = "uniform time scaling, Catmull-Rom interpolation (Barclay et al. 1978)"
    factor: float = Field(default=0.5, gt=0, le=20)

    def source_times(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return more or fewer times, in seconds, over the span of ``moments`` (F,)."""
        span = moments[-1] - moments[0]
        count = int(np.floor(abs(span) / self.factor * setting.fps + 1e-6)) + 1
        step = np.sign(span) * self.factor / setting.fps
        return np.asarray(moments[0] + step * np.arange(count))


class Warped(OfPeople):
    """Time warp: the clip starts slowly and ends fast (power above 1), or the reverse (below 1)."""

    name, stage, main = "warped", "time", "power"
    algorithm = "moments t become T (t / T) ** power, Catmull-Rom interpolation"
    power: float = Field(default=2.0, gt=0.1, le=10)

    def source_times(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return the same number of times (F,), in seconds, over the same span, unevenly spaced."""
        span = moments[-1] - moments[0]
        share = np.linspace(0, 1, len(moments))
        return np.asarray(moments[0] + span * share**self.power)


class Delayed(OfPeople):
    """One of two performers later (seconds above 0) or earlier (below 0) than the other."""

    name, stage, main = "delayed", "time", "seconds"
    algorithm = ("one performer's motion shifted against the other's by seconds of the display"
                 " (after Neri, Luu & Levi 2006; Manera et al. 2013); cropped: only frames in which"
                 " the motion of both runs; held: the shifted one stands still before the motion"
                 " begins or after it ends")
    seconds: float = Field(default=0.5, ge=-60, le=60)
    who: Literal[1, 2] = 2
    ends: Literal["cropped", "held"] = "cropped"

    def source_times(self, moments: FloatArray, setting: Setting) -> FloatArray:
        """Return the times (F,), in seconds, shifted; the clip's pace goes on beyond its ends."""
        count, shift = len(moments), self.seconds * setting.fps
        pace = np.diff(moments)[[0, -1]] if count > 1 else np.full(2, 1 / setting.fps)
        beyond = abs(shift) + 1
        frames = np.concatenate([[-beyond], np.arange(count), [count - 1 + beyond]])
        times = np.concatenate([[moments[0] - beyond * pace[0]], moments,
                                [moments[-1] + beyond * pace[1]]])
        return np.interp(np.arange(count) - shift, frames, times)


class Local(OfPeople):
    """Local motion only: the performer stays in one place, as on a treadmill."""

    name, stage, main = "local", "world", "remove"
    algorithm = ("the performer's root stays where it was in the first frame"
                 " (BioMotion Toolbox's anchor, van Boxtel & Lu 2013)")
    remove: Literal["horizontal", "all"] = "horizontal"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return the dots without their performer's travel."""
        paths = setting.paths(dots)
        return dots.moved(dots.positions - paths + self.travel(paths))

    def travel(self, roots: FloatArray) -> FloatArray:
        """Return the performers' positions with the removed part of their travel taken away."""
        removed = [1.0, 1.0, 0.0 if self.remove == "horizontal" else 1.0]
        return np.asarray(roots - (roots - roots[:1]) * removed)


class Global(OfPeople):
    """Global motion only: the mean posture travels as one rigid figure."""

    name, stage = "global", "world"
    keeps_steps = False
    algorithm = "mean place of each dot about the root, carried along the root's path"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return dots that keep their mean position relative to the root."""
        paths = setting.paths(dots)
        posture = np.nanmean(dots.positions - paths, axis=0)
        return dots.moved(np.where(np.isfinite(dots.positions), paths + posture, np.nan))


class Exaggerated(OfPeople):
    """Exaggeration (factor above 1) or attenuation (below 1) of deviations from the mean posture.
    """

    name, stage, main = "exaggerated", "world", "factor"
    keeps_steps = False
    algorithm = ("deviations of each dot from its mean place about the root, scaled"
                 " (after Pollick, Fidopiastis & Braden 2001; Troje 2002)")
    factor: float = Field(default=1.5, ge=0, le=10)

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return dots that deviate more, or less, from the mean posture."""
        about = dots.positions - setting.paths(dots)
        posture = np.nanmean(about, axis=0)
        return dots.moved(setting.paths(dots) + posture + self.factor * (about - posture))


class PhaseScrambled(OfPeople):
    """Each dot's motion shifted in time by a random amount of its own; its position and path stay.
    """

    name, stage, main = "phase_scrambled", "world", "rule"
    keeps_steps = False
    algorithm = ("circular shift of each dot's motion about the root by a random number of frames"
                 " (van Boxtel & Lu 2013); fold plays to and fro instead,"
                 " without a jump where the clip ends")
    rule: Literal["circular", "fold"] = "circular"

    def apply(self, dots: DotTracks, setting: Setting) -> DotTracks:
        """Return dots whose motions are out of step."""
        frames = dots.frames
        shifts = setting.rng.integers(1, frames + 1, dots.count)
        order = (np.arange(frames)[:, None] - shifts) % (
            frames if self.rule == "circular" else max(2 * frames - 2, 1))
        order = np.where(order < frames, order, 2 * frames - 2 - order)
        about = np.take_along_axis(dots.positions - setting.paths(dots), order[..., None], axis=0)
        visible = np.take_along_axis(dots.visible, order, axis=0)
        return replace(dots, positions=setting.paths(dots) + about, visible=visible)


class Rotated(OfPeople):
    """The world, or one performer, rotated about an axis: x, y, z, or three numbers."""

    name, stage, main = "rotated", "view", "degrees"
    algorithm = ("rotation of the world about the middle of the clip; of one performer, about the"
                 " mean position of their hips in the clip")
    degrees: float = 90.0
    axis: str = "z"

    @field_validator("axis")
    @classmethod
    def _known(cls, axis: str) -> str:
        try:
            vector = axis_vector(axis)
        except ValueError:
            vector = np.zeros(0)
        if vector.shape != (3,) or not np.linalg.norm(vector) > 0:
            raise ValueError(f"'{axis}' is not an axis; expected x, y, z or three numbers such as"
                             " 1;0;0.5")
        return axis

    @property
    def applied_to(self) -> Stage:
        """The stage: the view, or one performer."""
        return "view" if self.who is None else "person"

    @property
    def rotation(self) -> FloatArray:
        """The rotation (4,)."""
        axis = axis_vector(self.axis)
        return quaternions.from_rotation_vectors(
            np.radians(self.degrees) * axis / np.linalg.norm(axis))

    def see(self, view: View, setting: Setting, frames: int) -> View:
        """Return the view of the turned world."""
        return view.turned(np.tile(self.rotation, (frames, 1)))

    def turn(self, roots: FloatArray) -> Turn:
        """Return the turn of one performer; ``roots`` (F, P, 3) are all performers' positions."""
        assert self.performer is not None, "the world is turned by the view"
        return Turn(self.performer, self.rotation, roots[:, self.performer].mean(axis=0))


def axis_vector(axis: str) -> FloatArray:
    """Return the axis (3,) for a name or text such as ``1;0;0.5``; raises ValueError for others."""
    return np.array(AXES[axis] if axis in AXES else [float(part) for part in axis.split(";")])


class Turning(Manipulation):
    """The view turning around the performer without end."""

    name, stage, main = "turning", "view", "degrees_per_second"
    algorithm = "the camera circles the clip's middle counterclockwise from above at constant speed"
    degrees_per_second: float = 45.0

    def see(self, view: View, setting: Setting, frames: int) -> View:
        """Return the view that turns."""
        angle = -np.radians(self.degrees_per_second) * np.arange(frames) / setting.fps
        return view.turned(quaternions.from_rotation_vectors(angle[:, None] * np.array([0, 0, 1])))
