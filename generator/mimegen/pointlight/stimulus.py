"""Carry out a display of a scene: compute the dots in the picture and the facts about them."""

import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.base.seeds import generator
from mimegen.base.spelling import spelled
from mimegen.characters.character import Performance
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.body import BodySurface, hidden_dots, posed_body
from mimegen.pointlight.dots import MASK, DotTracks, sampled
from mimegen.pointlight.manipulation import Manipulation, Setting
from mimegen.pointlight.manipulations import steps_of
from mimegen.pointlight.motion_manipulations import Local
from mimegen.pointlight.picture_manipulations import Masked, first_positions
from mimegen.pointlight.spec import Display, linear_color
from mimegen.pointlight.view import View, camera_view, framed_view
from mimegen.shots.camera import Camera

# The scene's fact that holds when feet stand (``manifest/footfalls.py``); rows hold events instead.
FOOT_CONTACTS = "foot_contacts"


@dataclass(frozen=True, eq=False)
class DotScene:
    """Performers in one world, as dots over the source's frames.

    ``name`` is stable and seeds all random choices. ``roots`` (F, P, 3) are the performers' hips;
    ``stature`` is the standing height of the tallest, in metres. ``bodies`` are the performers'
    bodies, if they have any; ``facts`` are entries for the manifest. ``version`` holds whatever
    else distinguishes scenes of one name, such as the part of a file that is used.
    """

    name: str
    dots: DotTracks
    roots: FloatArray
    fps: float
    stature: float
    bodies: tuple[Performance, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    version: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """The time from the first frame to the last, in seconds."""
        return (self.dots.frames - 1) / self.fps


@dataclass(frozen=True, eq=False)
class Stimulus:
    """A finished display, ready to be drawn or written.

    ``dots`` are in picture coordinates; ``colors`` (D, 3) and ``background`` (3,) are linear RGB;
    ``diameters`` (F, D) are pixels; ``moments`` (F,) are times of the source in seconds. ``room``
    (2,) is as in `Setting`; ``masks`` are the manifest's entries for masks. If ``stride`` is n, the
    stimulus holds every nth frame of the display. ``figure_scale`` is the size of the figures as a
    multiple of the view's: the copies of a crowd are smaller. ``random_choices`` has an entry for
    each manipulation.
    """

    scene: DotScene
    display: Display
    angle_deg: float
    seed: int
    view: View
    dots: DotTracks
    moments: FloatArray
    manipulations: tuple[Manipulation, ...]
    colors: FloatArray
    background: FloatArray
    room: FloatArray
    masks: tuple[dict[str, Any], ...] = ()
    stride: int = 1
    figure_scale: float = 1.0
    random_choices: tuple[dict[str, Any], ...] = ()

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
        plain = "_".join(re.sub(r"[^\w.]+", "_", word) for word in words if word != "dots")
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
                       dots=replace(self.dots, **kept), moments=self.moments[::stride],
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
        """The performers' surfaces at the times that are shown."""
        return _bodies(self.scene, self.moments)

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
    moments = steps.source_times()
    source = moments * scene.fps
    roots = sampled(scene.roots, source)
    dots = _dots_at(scene.dots, source)
    if camera is not None:
        view = camera_view(camera, scene.dots)
    else:
        view = framed_view(display, _framed_dots(scene, steps), scene.stature, angle_deg)
    for step, setting in steps.of("view", roots):
        view = step.see(view, setting, len(moments))
    if display.occlusion == "body":
        hidden = hidden_dots(dots, view, _bodies(scene, moments))
        dots = replace(dots, visible=dots.visible & ~hidden)
    for step in steps.all:
        if step.stage == "world":
            dots, roots = _applied(step, dots, steps.setting(step, roots)), step.travel(roots)
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
    return Stimulus(scene, display, angle_deg, seed, view, dots, moments, tuple(steps.all),
                    colors, background, room, tuple(masks), figure_scale=scale,
                    random_choices=choices)


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
        return step.apply(dots, setting)
    except ValueError as problem:
        raise RequestError(f"manipulation {step.name}: {problem}") from problem


class _Steps:
    """The manipulations of a display in order, each with its own random generator."""

    def __init__(self, scene: DotScene, display: Display, seed: int) -> None:
        self.scene, self.display, self.seed = scene, display, seed
        self.all = steps_of(display)

    def of(self, stage: str, roots: FloatArray) -> list[tuple[Manipulation, Setting]]:
        """Return the manipulations of a stage with their settings."""
        return [(step, self.setting(step, roots)) for step in self.all if step.stage == stage]

    def setting(self, step: Manipulation, roots: FloatArray) -> Setting:
        """Return a manipulation's setting, with its own random generator."""
        namesakes = [other for other in self.all if other.name == step.name]
        number = next(i for i, other in enumerate(namesakes) if other is step)
        rng = generator(self.seed, self.scene.name, step.name, str(number))
        display = self.display
        return Setting(rng, display.fps, display.width, display.height, roots, display.pixels)

    def source_times(self) -> FloatArray:
        """Return the times (F,) of the source that are shown, in seconds."""
        display, duration = self.display, self.scene.duration
        if display.start > duration:
            raise RequestError(f"display: start {display.start:g} s is after the end of the motion"
                               f" ({duration:.2f} s)")
        span = duration - display.start
        if display.duration is not None:
            span = min(span, max(display.duration - 1 / display.fps, 0.0))
        count = int(np.floor(span * display.fps + 1e-6)) + 1
        moments = display.start + np.arange(count) / display.fps
        for step, setting in self.of("time", self.scene.roots):
            moments = step.source_times(moments, setting)
        return moments


def _framed_dots(scene: DotScene, steps: _Steps) -> DotTracks:
    """Return the dots by which the view is framed: the source's, without travel if it is removed.
    """
    dots = scene.dots
    for step, setting in steps.of("world", scene.roots):
        if isinstance(step, Local):
            dots = step.apply(dots, setting)
    return dots


def _dots_at(dots: DotTracks, source: FloatArray) -> DotTracks:
    """Return dots at fractional frame numbers (N,)."""
    return DotTracks.of(dots.names, dots.performers, sampled(dots.positions, source), dots.limbs,
                        dots.trunk)


def _bodies(scene: DotScene, moments: FloatArray) -> tuple[BodySurface, ...]:
    if not scene.bodies:
        raise RequestError("display: occlusion and silhouettes require a body, and these dots have"
                           " none; choose one with --character")
    return tuple(posed_body(body, moments * scene.fps) for body in scene.bodies)


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


def used_dots(stimulus: Stimulus) -> NDArray[np.bool_]:
    """Return a mask (F, D) of the dots that are shown and lie at least partly in the picture."""
    dots, display = stimulus.dots, stimulus.display
    half = stimulus.diameters / 2
    x, y = dots.positions[..., 0], dots.positions[..., 1]
    with np.errstate(invalid="ignore"):
        across = (x > -half) & (x < display.width + half)
        inside = across & (y > -half) & (y < display.height + half)
    return np.asarray(inside & dots.visible & (dots.strengths > 0))


