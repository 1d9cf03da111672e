"""Find where people in a clip look, from its ground truth, as far as viewers could tell.

The line of sight is the mean of both eyes' directions. A person looks at a target within a few
degrees of it and does not look at one far off it; between these limits nothing is claimed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.vectors import unit_or_nan

Array = NDArray[np.float64]
# Targets in the order of the wordings: the first three are objects or people, the others
# directions.
TARGETS = ("camera", "other", "hands", "down", "up", "left", "right")
CAMERA, OTHER, HANDS, DOWN, UP, LEFT, RIGHT = range(len(TARGETS))
POINT_TARGETS = (CAMERA, OTHER, HANDS)
# The answer if it is unclear where a person looks.
UNKNOWN_TARGET = -1
# COCO's value for a landmark that is labelled and visible.
VISIBLE = 2
SIDES = ("left", "right")
HAND = ("wrist", "middle1", "thumb4", "index4", "middle4")
BODY = ("eye", "shoulder", "hip")
NEEDED = {"nose"} | {f"{side}_{part}" for side in SIDES for part in ("ear", *HAND, *BODY)}


@dataclass(frozen=True)
class GazeLimits:
    """Limits within which a person clearly looks at a target, and beyond which clearly not.

    From a picture, people judge whether they are looked at to within about five degrees and other
    targets to within about ten, so the limits for looking elsewhere are wider.
    """

    at_deg: float = 8.0            # angle between the line of sight and a target
    off_deg: float = 22.0
    at_camera_deg: float = 5.0
    down_deg: float = 30.0         # below the horizontal
    not_down_deg: float = 12.0
    up_deg: float = 25.0
    not_up_deg: float = 8.0
    aside_deg: float = 40.0        # out of the plane that cuts the picture into left and right
    not_aside_deg: float = 15.0
    level_deg: float = 20.0        # highest pitch, up or down, of a look to the side
    head_deg: float = 35.0         # highest angle from head's direction to line of sight
    least_s: float = 0.8           # shortest look that is asked about
    apart: float = 0.06            # between two people, as a fraction of picture width


LIMITS = GazeLimits()


@dataclass(frozen=True)
class GazeSpan:
    """A person looks at one target from ``start`` to ``end`` (frames), and clearly not at others.
    """

    person: int
    target: int
    start: int
    end: int
    clearly_not_at: frozenset[int]


@dataclass(frozen=True, eq=False)
class GazeTrack:
    """What is known about the gaze of N people in F frames.

    ``answers`` (F, N) are indices of targets, or ``UNKNOWN_TARGET``. ``states`` (F, N, T) are 1 at
    a target, -1 off it and 0 between. ``picture_x`` (F, N) are horizontal positions, from 0 at the
    picture's left edge to 1 at its right.
    """

    answers: NDArray[np.intp]
    states: NDArray[np.intp]
    picture_x: Array
    fps: float

    @classmethod
    def of(cls, path: Path, fps: float) -> "GazeTrack | None":
        """Read a clip's keypoints.npz; None if it does not contain gaze.

        Raises RequestError if it cannot be read.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files if name in _ARRAYS}
        except (OSError, EOFError, ValueError, KeyError, BadZipFile) as problem:
            raise RequestError(f"{path}: cannot be read ({problem}); render the pass again with"
                               " --passes keypoints") from problem
        if len(arrays) < len(_ARRAYS) or not {*map(str, arrays["names"])} >= NEEDED:
            return None
        return cls.by(_Scene.of(arrays), fps)

    @classmethod
    def by(cls, scene: "_Scene", fps: float) -> "GazeTrack":
        """Compute the gaze of the people in a scene."""
        states = np.where(scene.is_known[..., None], scene.states(), 0)
        width = float(scene.size[0])
        hips = (scene.pixels["left_hip"] + scene.pixels["right_hip"])[..., 0] / 2
        return cls(_answers(states), states, hips / width, fps)

    def spans(self) -> Iterator[GazeSpan]:
        """Yield every look that is long enough, by person, the longest first."""
        for person in range(self.answers.shape[1]):
            found = [one for one in self._runs(person)
                     if one.end - one.start >= LIMITS.least_s * self.fps]
            yield from sorted(found, key=lambda one: one.start - one.end)

    def _runs(self, person: int) -> Iterator[GazeSpan]:
        """Yield the spans of frames in which the answer for a person stays the same."""
        own = self.answers[:, person]
        edges = [0, *(np.flatnonzero(np.diff(own)) + 1), len(own)]
        for start, end in pairwise(map(int, edges)):
            if own[start] != UNKNOWN_TARGET:
                off = (self.states[start:end, person] < 0).all(axis=0)
                yield GazeSpan(person, int(own[start]), start, end,
                               frozenset(map(int, np.flatnonzero(off))))

    def side(self, person: int, start: int = 0, end: int | None = None) -> int | None:
        """Return 0 for a person alone, 1 for the left one of two, 2 for the right; None if unclear.
        """
        people = self.picture_x.shape[1]
        if people == 1:
            return 0
        if people > len(SIDES):
            return None
        apart = self.picture_x[start:end, person] - self.picture_x[start:end, 1 - person]
        if (apart <= -LIMITS.apart).all():
            return 1
        return 2 if (apart >= LIMITS.apart).all() else None

    def seconds(self, person: int, target: int) -> tuple[float, float]:
        """Return for how many seconds a person looks at a target, and for how many it is unclear.
        """
        own = self.states[:, person, target]
        return float((own > 0).sum() / self.fps), float((own == 0).sum() / self.fps)


_ARRAYS = ("names", "world", "pixels", "visibility", "gaze", "rotation", "translation", "width",
           "height")


@dataclass(frozen=True, eq=False)
class _Scene:
    """Landmarks by name: ``world`` (F, N, 3), ``pixels`` (F, N, 2) and ``visible`` (F, N).

    ``gaze_directions`` (F, N, 3) are the directions of the lines of sight.
    """

    world: dict[str, Array]
    pixels: dict[str, Array]
    visible: dict[str, NDArray[np.bool_]]
    gaze_directions: Array
    rotation: Array
    translation: Array
    size: tuple[int, int]

    @classmethod
    def of(cls, arrays: dict[str, NDArray[np.generic]]) -> "_Scene":
        """Return the scene in the arrays of keypoints.npz."""
        number = {str(name): place for place, name in enumerate(arrays["names"])}

        def named(key: str) -> dict[str, Array]:
            return {name: arrays[key][:, :, number[name]].astype(float) for name in NEEDED}

        return cls(named("world"), named("pixels"),
                   {name: one == VISIBLE for name, one in named("visibility").items()},
                   unit_or_nan(arrays["gaze"].astype(float).sum(axis=2)),
                   arrays["rotation"].astype(float), arrays["translation"].astype(float),
                   (int(arrays["width"]), int(arrays["height"])))

    @property
    def eyes(self) -> Array:
        """The midpoint between the eyes (F, N, 3)."""
        return (self.world["left_eye"] + self.world["right_eye"]) / 2

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether an eye is visible and the head points roughly where the eyes look."""
        ahead = self.world["nose"] - (self.world["left_ear"] + self.world["right_ear"]) / 2
        # Viewers judge gaze by the head if the eyes are turned far out of it, so nothing is asked
        # then.
        agree = _angle(ahead, self.gaze_directions) <= LIMITS.head_deg
        shown = [self._shown(f"{side}_eye") for side in SIDES]
        return np.asarray(agree & np.any(shown, axis=0))

    def _shown(self, name: str) -> NDArray[np.bool_]:
        inside = ((self.pixels[name] >= 0) & (self.pixels[name] < self.size)).all(axis=-1)
        return np.asarray(inside & self.visible[name])

    def states(self) -> NDArray[np.intp]:
        """Return 1 at a target, -1 off it and 0 between (F, N, T)."""
        limits = LIMITS
        # The camera's position in the world, from the world-to-camera rotation and translation.
        camera = -self.rotation.T @ self.translation
        pitch = _degrees(self.gaze_directions[..., 2])
        # Relative to the picture's plane, not the person: questions ask for the viewer's left and
        # right.
        aside = _degrees(self.gaze_directions @ self.rotation[0])
        level = np.abs(pitch) <= limits.level_deg
        columns = [
            _within(_angle(camera - self.eyes, self.gaze_directions), limits.at_camera_deg,
                    limits.off_deg),
            self._other_person_states(),
            _within(self._nearest(HAND, self.world), limits.at_deg, limits.off_deg),
            _beyond(-pitch, limits.down_deg, limits.not_down_deg),
            _beyond(pitch, limits.up_deg, limits.not_up_deg),
            *(np.minimum(one := _beyond(sign * aside, limits.aside_deg, limits.not_aside_deg),
                         np.where(level | (one < 0), 1, 0)) for sign in (-1, 1))]
        return np.stack(columns, axis=-1)

    def _other_person_states(self) -> NDArray[np.intp]:
        """Return the state of the other person as a target; 0 (unknown) for a person alone."""
        if self.gaze_directions.shape[1] != len(SIDES):
            return np.zeros(self.gaze_directions.shape[:2], np.intp)
        swapped = {name: points[:, ::-1] for name, points in self.world.items()}
        return _within(self._nearest((*BODY, *HAND), swapped), LIMITS.at_deg, LIMITS.off_deg)

    def _nearest(self, parts: Sequence[str], places: dict[str, Array]) -> Array:
        """Return the angle (F, N) from the line of sight to the nearest of some landmarks, degrees.
        """
        return np.asarray(np.min([_angle(places[f"{side}_{part}"] - self.eyes, self.gaze_directions)
                                  for side in SIDES for part in parts], axis=0))


def _answers(states: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the target (F, N): the only one of the first three, or a direction if none."""
    alone = states.shape[1] != len(SIDES)
    things = states[..., POINT_TARGETS]
    settled = (things != 0) | (np.array(POINT_TARGETS) == OTHER) & alone
    # Unless each of the first three is clearly a target or clearly not, the answer is unknown.
    known, at = settled.all(axis=-1), (things > 0).sum(axis=-1)
    towards = states[..., len(POINT_TARGETS):] > 0
    thing = np.where(at == 1, (things > 0).argmax(axis=-1), UNKNOWN_TARGET)
    direction = np.where(towards.any(axis=-1), len(POINT_TARGETS) + towards.argmax(axis=-1),
                         UNKNOWN_TARGET)
    return np.where(known, np.where(at == 0, direction, thing), UNKNOWN_TARGET)


def _within(angle: Array, at: float, off: float) -> NDArray[np.intp]:
    return np.where(angle <= at, 1, np.where(angle >= off, -1, 0))


def _beyond(angle: Array, at: float, off: float) -> NDArray[np.intp]:
    return np.where(angle >= at, 1, np.where(angle <= off, -1, 0))


def _angle(directions: Array, others: Array) -> Array:
    return _degrees((unit_or_nan(directions) * unit_or_nan(others)).sum(axis=-1), np.arccos)


def _degrees(share: Array, inverse: np.ufunc = np.arcsin) -> Array:
    return np.asarray(np.degrees(inverse(np.clip(share, -1, 1))))
