"""Carry out a display of a scene: compute the dots in the picture and the facts about them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.base.seeds import generator
from mimegen.base.spelling import spelled
from mimegen.characters.character import Performance
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.body import BodySurface, hidden_dots, posed_body
from mimegen.pointlight.dots import MASK, DotTracks
from mimegen.pointlight.manipulation import Manipulation, Setting, applied
from mimegen.pointlight.manipulations import steps_of
from mimegen.pointlight.motion_manipulations import Delayed, Local, Rotated
from mimegen.pointlight.picture_manipulations import Masked, first_positions
from mimegen.pointlight.spec import Display, linear_color
from mimegen.pointlight.times import ShownTimes, sampled_dots, sampled_people
from mimegen.pointlight.turn import Turn
from mimegen.pointlight.view import View, camera_view, framed_view
from mimegen.pointlight.walker_manipulations import Crowd
from mimegen.shots.camera import Camera

# The scene's fact that holds when feet stand (``manifest/footfalls.py``); rows hold events instead.
FOOT_CONTACTS = "foot_contacts"


@dataclass(frozen=True, eq=False)
class DotScene:
    """Performers in one world, as dots over the source's frames.

    ``name`` is stable and seeds all random choices. ``roots`` (F, P, 3) are the performers' hips;
    ``stature`` is the standing height of the tallest, in metres. ``bodies`` are the performers'
    bodies, if they have any; ``facts`` are entries for the manifest. ``version`` holds whatever
    else distinguishes scenes of one name, such as the part of a file that is used. ``partner`` are
    facts of the take that the second performer is from, if it is not the first one's.
    """

    name: str
    dots: DotTracks
    roots: FloatArray
    fps: float
    stature: float
    bodies: tuple[Performance, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    version: tuple[str, ...] = ()
    partner: Mapping[str, Any] | None = None

    @property
    def last_s(self) -> float:
        """The time of the last frame, in seconds; the first is at 0."""
        return (self.dots.frames - 1) / self.fps


@dataclass(frozen=True, eq=False)
class Stimulus:
    """A finished display, ready to be drawn or written.

    ``dots`` are in picture coordinates; ``colors`` (D, 3) and ``background`` (3,) are linear RGB;
    ``diameters`` (F, D) are pixels; ``times`` are those of the source. ``room`` (2,) is as in
    `Setting`; ``masks`` are the manifest's entries for masks; ``turns`` are those of single
    performers. If ``stride`` is n, the stimulus holds every nth frame of the display.
    ``figure_scale`` is the size of the figures as a multiple of the view's: the copies of a crowd
    are smaller. ``random_choices`` has an entry for each manipulation.
    """

    scene: DotScene
    display: Display
    angle_deg: float
    seed: int
    view: View
    dots: DotTracks
    times: ShownTimes
    manipulations: tuple[Manipulation, ...]
    colors: FloatArray
    background: FloatArray
    room: FloatArray
    masks: tuple[dict[str, Any], ...] = ()
    stride: int = 1
    figure_scale: float = 1.0
    random_choices: tuple[dict[str, Any], ...] = ()
    turns: tuple[Turn, ...] = ()

    @property
    def moments(self) -> FloatArray:
        """The times (F,) of the source in seconds, of all who have no times of their own."""
        return self.times.shared

    @property
    def shown(self) -> list[int]:
        """The indices of the performers that have dots."""
        return [int(self.dots.performers[person[0]]) for person in self.dots.people]

    @property
    def scale(self) -> float:
        """The pixels per metre of a figure, at the middle's distance."""
        return self.view.scale * self.figure_scale

    @property
    def name(self) -> str:
        """A name that distinguishes the display from others, usable in file names.

        It ends in six digits of a hash of all settings of the display.
        """
        words = [self.display.style, *self.display.manipulations]
        plain = "_".join(re.sub(r"[^\w.]+", "_", word.replace("=-", "=minus")) for word in words
                         if word != "dots")
        drawn = repr((self.display, self.seed, self.angle_deg, self.scene.facts.get("dots_from"),
                      *self.scene.version))
        digest = hashlib.sha256(drawn.encode()).hexdigest()[:6]
        side = (self.scene.facts.get("grid") or {}).get("azimuth")
        seen = "" if side is None else f"azimuth_{spelled(side).replace('-', 'minus')}"
        words = [self.scene.name, self.display.name, plain, seen, digest]
        return path_name("-".join(filter(None, words)))

    @property
    def dot_diameter(self) -> float:
        """The diameter of a dot of relative size 1, in pixels."""
        return self.display.pixels(self.display.dot_diameter)

    def every(self, stride: int) -> "Stimulus":
        """Return every nth frame, each shown n times as long."""
        parts = ("positions", "visible", "sizes", "strengths")
        kept = {part: getattr(self.dots, part)[::stride] for part in parts}
        display = self.display.model_copy(update={"fps": self.display.fps / stride})
        return replace(self, display=display, view=self.view.every(stride),
                       dots=replace(self.dots, **kept), times=self.times.every(stride),
                       stride=stride)

    @cached_property
    def diameters(self) -> FloatArray:
        """The dots' diameters (F, D) in pixels."""
        return np.asarray(self.dots.sizes * self.dot_diameter)

    @cached_property
    def gray(self) -> bool:
        """Whether all colors, background included, are gray."""
        shown = np.concatenate([self.colors, self.background[None]])
        return bool(np.ptp(shown, axis=1).max() == 0)

    @cached_property
    def bodies(self) -> tuple[BodySurface, ...]:
        """The surfaces of the performers that are shown, at the times that are shown."""
        bodies = _bodies(self.scene, self.times, self.turns)
        return tuple(bodies[person] for person in self.shown)

    def performer_colors(self) -> FloatArray:
        """Return the color (P, 3) of each performer's first dot."""
        return self.colors[[person[0] for person in self.dots.people]]


def make_stimulus(scene: DotScene, display: Display, seed: int = 0, angle_deg: float = 0.0,
                  camera: Camera | None = None) -> Stimulus:
    """Carry out a display of a scene, turned by ``angle_deg`` or seen by the stage's ``camera``.

    The same scene name, display and seed give the same dots. Raises RequestError if a manipulation
    does not fit the dots.
    """
    steps = _Steps(scene, display, seed)
    times = steps.source_times()
    source = times.own * scene.fps
    roots, dots = sampled_people(scene.roots, source), sampled_dots(scene.dots, source)
    turns = steps.turns(roots)
    for turn in turns:
        roots, dots = turn.roots(roots), turn.dots(dots)
    if camera is not None:
        view = camera_view(camera, scene.dots)
    else:
        view = framed_view(display, _framed_dots(scene, steps), scene.stature, angle_deg)
    for step, setting in steps.of("view", roots):
        view = step.see(view, setting, len(source))
    if display.occlusion == "body":
        hidden = _hidden(dots, view, _bodies(scene, times, turns), steps.part_people)
        dots = replace(dots, visible=dots.visible & ~hidden)
    for step in steps.all:
        if step.applied_to == "world":
            dots, roots = _applied(step, dots, steps.setting(step, roots)), _travel(step, roots)
    dots = dots.moved(view.project(dots.positions))
    room = _extent(dots, display)
    masks: list[dict[str, Any]] = []
    scale = 1.0
    for step, setting in steps.of("picture", roots):
        before, known = dots.count, replace(setting, room=room)
        scale *= step.scale(dots, known)
        dots = _applied(step, dots, known)
        if isinstance(step, Masked):
            masks.append(step.facts() | step.measured(known, dots.count - before))
    colors, background = _colors(display, dots, generator(seed, scene.name, "polarity"))
    choices = tuple(step.random_choices(steps.setting(step, roots)) for step in steps.all)
    return Stimulus(scene, display, angle_deg, seed, view, dots, times, tuple(steps.all),
                    colors, background, room, tuple(masks), figure_scale=scale,
                    random_choices=choices, turns=turns)


def _extent(dots: DotTracks, display: Display) -> FloatArray:
    """Return how far (2,) dots come from the picture's middle, upright, inverted or scrambled.

    A scrambled dot starts within the box of all dots and keeps its displacements from there.
    """
    positions = dots.positions[:, dots.own, :2]
    low, high = dots.box()
    start = first_positions(positions)
    down, up = start - np.fmin.reduce(positions), np.fmax.reduce(positions) - start
    half = np.array([display.width, display.height]) / 2
    reach = np.maximum(half - (low - np.nanmax(down, axis=0)), high + np.nanmax(up, axis=0) - half)
    return np.minimum(reach, half)


def _applied(step: Manipulation, dots: DotTracks, setting: Setting) -> DotTracks:
    try:
        return applied(step, dots, setting)
    except ValueError as problem:
        raise RequestError(f"manipulation {step.name}: {problem}") from problem


def _travel(step: Manipulation, roots: FloatArray) -> FloatArray:
    """Return the performers' positions (F, P, 3) after a change of all, or of one of them."""
    changed = step.travel(roots)
    if step.performer is None:
        return changed
    alone = np.arange(roots.shape[1]) == step.performer
    return np.where(alone[:, None], changed, roots)


def _hidden(dots: DotTracks, view: View, bodies: Sequence[BodySurface], parted: bool
            ) -> NDArray[np.bool_]:
    """Return a mask (F, D) of dots behind a body; if people are ``parted``, behind their own."""
    if not parted:
        return hidden_dots(dots, view, bodies)
    hidden = np.zeros(dots.visible.shape, dtype=bool)
    for person, body in zip(dots.people, bodies, strict=True):
        hidden[:, person] = hidden_dots(dots.chosen(person), view, [body])
    return hidden


class _Steps:
    """The manipulations of a display in order, each with its own random generator."""

    def __init__(self, scene: DotScene, display: Display, seed: int) -> None:
        self.scene, self.display, self.seed = scene, display, seed
        self.all = steps_of(display)
        people = scene.roots.shape[1]
        for step in self.all:
            if step.performer is not None and step.performer >= people:
                raise RequestError(f"manipulation {step.name}: who={step.performer + 1}, but"
                                   f" {scene.name} has {counted(people, 'performer')}")

    @property
    def part_people(self) -> bool:
        """Whether one performer's dots leave the place where the other's body could hide them."""
        return any(step.performer is not None and step.applied_to in ("world", "picture")
                   for step in self.all)

    def turns(self, roots: FloatArray) -> tuple[Turn, ...]:
        """Return the turns of single performers, whose positions are ``roots`` (F, P, 3)."""
        found: list[Turn] = []
        for step in self.all:
            if isinstance(step, Rotated) and step.performer is not None:
                found.append(step.turn(roots))
                roots = found[-1].roots(roots)
        return tuple(found)

    def of(self, stage: str, roots: FloatArray) -> list[tuple[Manipulation, Setting]]:
        """Return the manipulations of a stage with their settings."""
        return [(step, self.setting(step, roots)) for step in self.all if step.applied_to == stage]

    def setting(self, step: Manipulation, roots: FloatArray) -> Setting:
        """Return a manipulation's setting, with its own random generator."""
        namesakes = [other for other in self.all if other.name == step.name]
        number = next(i for i, other in enumerate(namesakes) if other is step)
        rng = generator(self.seed, self.scene.name, step.name, str(number))
        display = self.display
        return Setting(rng, display.fps, display.width, display.height, roots, display.pixels)

    def source_times(self) -> ShownTimes:
        """Return the times of the source that are shown.

        Manipulations of one performer's time follow those of all, so they are in seconds of the
        display. Raises RequestError if the times of two performers have none in common.
        """
        shared = self._shared_times()
        own = np.repeat(shared[:, None], self.scene.roots.shape[1], axis=1)
        cropped = []
        for step, setting in self.of("time", self.scene.roots):
            if step.performer is not None:
                own[:, step.performer] = step.source_times(own[:, step.performer], setting)
                if isinstance(step, Delayed) and step.ends == "cropped":
                    cropped.append(step.performer)
        times = ShownTimes(shared, own).within(self.scene.last_s, self.scene.fps, cropped)
        if not len(times.shared):
            lasts = self.scene.dots.frames / self.scene.fps
            raise RequestError("manipulation delayed: in no frame of the display do both performers"
                               f" move, since the motion lasts {lasts:.2f} s; use"
                               " fewer seconds, or ends=held")
        return times

    def _shared_times(self) -> FloatArray:
        """Return the times (F,) of all performers, in seconds, before those of single ones."""
        display, last = self.display, self.scene.last_s
        if display.start > last:
            raise RequestError(f"display: start {display.start:g} s is after the last frame of the"
                               f" motion ({last:.2f} s)")
        span = last - display.start
        if display.duration is not None:
            span = min(span, max(display.duration - 1 / display.fps, 0.0))
        count = int(np.floor(span * display.fps + 1e-6)) + 1
        moments = display.start + np.arange(count) / display.fps
        for step, setting in self.of("time", self.scene.roots):
            if step.performer is None:
                moments = step.source_times(moments, setting)
        return moments


def _framed_dots(scene: DotScene, steps: _Steps) -> DotTracks:
    """Return the dots by which the view is framed: the source's, without travel if it is removed.
    """
    dots = scene.dots
    for step, setting in steps.of("world", scene.roots):
        if isinstance(step, Local) and step.performer is None:
            dots = step.apply(dots, setting)
    return dots


def _bodies(scene: DotScene, times: ShownTimes, turns: Sequence[Turn]) -> tuple[BodySurface, ...]:
    if not scene.bodies:
        raise RequestError("display: occlusion and silhouettes require a body, and these dots have"
                           " none; choose one with --character")
    return tuple(posed_body(body, times.own[:, person] * scene.fps,
                            [turn for turn in turns if turn.performer == person])
                 for person, body in enumerate(scene.bodies))


def _colors(display: Display, dots: DotTracks,
            rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the dots' colors (D, 3) and the background (3,), linear RGB."""
    background = display.background_light()
    colors = np.tile(linear_color(display.color), (dots.count, 1))
    palette = np.array([linear_color(name) for name in display.palette])
    if display.color_by == "performer":
        own = dots.performers != MASK
        colors[own] = palette[dots.performers[own] % len(palette)]
    elif display.color_by == "dot":
        colors = palette[np.arange(dots.count) % len(palette)]
    if display.polarity == "dark":
        colors = np.zeros_like(colors) if display.color_by == "none" else colors
    elif display.polarity == "mixed":
        darker = rng.permutation(np.arange(dots.count) % 2 == 0)
        colors[darker] = 0.0
    return background + display.contrast * (colors - background), background


def share_outside(stimulus: Stimulus) -> float:
    """Return the fraction of the performers' visible dots that lies wholly outside the picture."""
    own = stimulus.dots.own
    shown = stimulus.dots.visible[:, own] & (stimulus.dots.strengths[:, own] > 0)
    return 1 - float(used_dots(stimulus)[:, own].sum() / max(int(shown.sum()), 1))


def shown_height(stimulus: Stimulus) -> float:
    """Return the height in pixels that the dots of the tallest figure cover, averaged over frames.

    Unlike the standing height, it depends on posture, manipulations and the dots shown. Dots
    outside the picture count; lost markers do not.
    """
    heights = stimulus.dots.positions[..., 1]
    extents = [np.fmax.reduce(own, axis=1) - np.fmin.reduce(own, axis=1)
               for own in (heights[:, figure] for figure in _figures(stimulus))]
    tallest = np.fmax.reduce(np.array(extents).reshape(-1, stimulus.dots.frames))
    known = tallest[np.isfinite(tallest)]
    return float(known.mean()) if len(known) else 0.0


def _figures(stimulus: Stimulus) -> list[list[int]]:
    """Return the indices of the dots of each performer, and of each copy in a crowd."""
    dots = stimulus.dots
    crowded = any(isinstance(step, Crowd) for step in stimulus.manipulations)
    figures: dict[tuple[int, str], list[int]] = {}
    for dot in map(int, dots.own):
        # The copies of a crowd begin the names of their dots with their number.
        copy = dots.names[dot].partition(":")[0] if crowded else ""
        figures.setdefault((int(dots.performers[dot]), copy), []).append(dot)
    return [*figures.values()]


def used_dots(stimulus: Stimulus) -> NDArray[np.bool_]:
    """Return a mask (F, D) of the dots that are shown and lie at least partly in the picture."""
    dots, display = stimulus.dots, stimulus.display
    half = stimulus.diameters / 2
    x, y = dots.positions[..., 0], dots.positions[..., 1]
    with np.errstate(invalid="ignore"):
        across = (x > -half) & (x < display.width + half)
        inside = across & (y > -half) & (y < display.height + half)
    return np.asarray(inside & dots.visible & (dots.strengths > 0))


