"""Gait takes: a manner, a path and a walker; each seed draws another walker."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.files import content_key, file_hash
from mimegen.base.seeds import generator
from mimegen.base.spelling import spelled
from mimegen.base.yaml_file import Finite, Strict, read_yaml
from mimegen.gait.course import WalkPath
from mimegen.gait.walker import Walker, manners, pace_of
from mimegen.gait.walking import walk_along, walk_loop
from mimegen.library.keys import gait_code
from mimegen.library.take import RELAXED, Source, TakeDescription, with_speech
from mimegen.manifest.timeline import Interval
from mimegen.motion.editing import at_rate

# Standard deviations of the parameters of a walker drawn by a seed.
DRAWN = {"gender": 0.8, "weight": 0.5, "happy": 0.6, "nervous": 0.4, "age": 0.4, "fatigue": 0.3}
# A seed varies a path that turns: it scales the turn by a factor from TURNS, confines it to a
# fraction of the path from DURING, and lets the direction wander by WANDERS_DEG degrees.
TURNS = (0.6, 1.15)
DURING = (0.4, 0.9)
WANDERS_DEG = 2.0
# Frame rate at which a take's length is computed for its timeline.
TIMELINE_FPS = 100.0
# Options of the path, not of the walker.
PATH_OPTIONS = ("cycles", "direction", "treadmill")


class GaitFile(Strict):
    """One ``<take>.gait.yaml``: a manner, and a path as long as ``cycles`` of the gait.

    ``turn_deg`` turns to the left along the path, or on the spot if ``on_spot``. If ``starts``, the
    walker stands at the beginning; if ``stops``, at the end. On a ``treadmill`` the walker stays in
    place.
    """

    manner: str
    speed: Finite | None = None
    cycles: Finite = Field(default=3.0, gt=0, le=60)
    turn_deg: Finite = 0.0
    on_spot: bool = False
    starts: bool = False
    stops: bool = False
    treadmill: bool = False
    slope_deg: Finite = 0.0


@dataclass(frozen=True, kw_only=True)
class GaitTake(TakeDescription):
    """A walk; ``asked`` are the options that the user gave, by name.

    If ``loop`` is above 0, the take consists of whole cycles and has a multiple of ``loop`` frames
    at ``loop_fps``; its last frame leads into the first.
    """

    seed: int
    asked: tuple[tuple[str, float | str | bool], ...] = ()
    loop: int = 0
    loop_fps: float = 0.0

    @property
    def style(self) -> str | None:
        """The style of affect, if one was requested."""
        style = dict(self.asked).get("style")
        return None if style is None else str(style)

    @cached_property
    def gait_file(self) -> GaitFile:
        """The content of the file. Raises RequestError, naming file, line and key, if invalid."""
        return read_yaml(self.file, GaitFile)

    @cached_property
    def walker(self) -> Walker:
        """The walker, as given by the file and the user; the seed draws all else."""
        asked: dict[str, Any] = {name: value for name, value in self.asked
                                 if name not in PATH_OPTIONS}
        base = Walker(manner=self.gait_file.manner, speed=self.gait_file.speed,
                      slope_deg=self.gait_file.slope_deg, seed=self.seed)
        return replace(base, **(self._drawn() | asked))

    def _drawn(self) -> dict[str, Any]:
        """Return the parameters that this seed draws; seed 0 is the average walker."""
        if self.seed == 0:
            return {}
        rng = generator(self.seed, self.action, self.name, "walker")
        drawn = {name: round(float(rng.normal(0.0, deviation)), 3)
                 for name, deviation in DRAWN.items()}
        drawn["phase"] = round(float(rng.uniform()), 3)
        asked = dict(self.asked)
        return {name: value for name, value in drawn.items() if name not in asked}

    @cached_property
    def path(self) -> WalkPath:
        """The path of the walk."""
        gait_file = self.gait_file
        cycles = float(dict(self.asked).get("cycles", gait_file.cycles))
        path = WalkPath(cycles, gait_file.turn_deg, gait_file.on_spot, gait_file.starts,
                        gait_file.stops)
        on_stairs = manners()[gait_file.manner].steps is not None
        if self.seed == 0 or gait_file.on_spot or self.treadmill or on_stairs:
            return path
        rng = generator(self.seed, self.action, self.name, "way")
        turned = gait_file.turn_deg * float(rng.uniform(*TURNS)) * float(rng.choice([-1.0, 1.0]))
        during = float(rng.uniform(*DURING))
        begins = float(rng.uniform(0.0, 1.0 - during))
        return replace(path, turn_deg=round(turned, 3), turns=(begins, begins + during),
                       wander_deg=WANDERS_DEG, wander_seed=self.seed)

    @property
    def treadmill(self) -> bool:
        """Whether the walker stays in place."""
        return bool(dict(self.asked).get("treadmill", self.gait_file.treadmill))

    @property
    def on_level_ground(self) -> bool:
        """Whether the ground neither slopes nor has stairs."""
        return self.walker.slope_deg == 0 and manners()[self.walker.manner].steps is None

    @property
    def direction_deg(self) -> float:
        """How far the walker is turned to the left, in degrees."""
        return float(dict(self.asked).get("direction", 0.0))

    @cached_property
    def key(self) -> str:
        """The content key of the motion."""
        asked = [list(pair) for pair in self.asked]
        return content_key(file_hash(self.file), self.seed, asked, self.loop, gait_code(),
                           *self.altered_key)

    @property
    def hand_shape(self) -> str:
        """The default hand shape; a gait defines every finger itself."""
        return RELAXED

    @property
    def version(self) -> tuple[str, ...]:
        """The seed and the given options."""
        words = (f"{name}_{_in_name(value)}" for name, value in self.asked)
        return (f"seed{self.seed}", *words, *self.altered_words)

    @property
    def words(self) -> tuple[str, ...]:
        """Action, take, seed and the given options."""
        return self.action, self.name, *self.version

    @property
    def front_deg(self) -> float:
        """The azimuth that the walker faces at the start."""
        return self.seen_front(self.direction_deg)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the take."""
        return (self.file,)

    @property
    def performers(self) -> int:
        """One person walks."""
        return 1

    @cached_property
    def timeline(self) -> list[Interval]:
        """The gait from start to end, and what the face says meanwhile."""
        [(motion, _)] = self.sources(TIMELINE_FPS)
        return with_speech(self, [Interval(kind="action", name=self.action, start_s=0.0,
                                          end_s=round(motion.last_s, 3))])

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return the motion at ``fps``."""
        rate = fps / self.tempo
        if self.loop:
            motion = walk_loop(self.walker, rate, self._loop_frames(rate),
                               max(round(self.path.cycles), 1), self.treadmill, self.direction_deg)
        else:
            motion = walk_along(self.walker, rate, self.path, self.direction_deg, self.treadmill)
        return ((at_rate(motion, fps), None),)

    def _loop_frames(self, rate: float) -> int:
        """Return the frames of each cycle of a loop, a multiple of ``loop``."""
        return max(round(pace_of(self.walker).stride_s * rate / self.loop), 1) * self.loop

    def frames(self, fps: float) -> int:
        """Return the number of frames at a rate; the walk is computed, which is quick."""
        return self.sources(fps)[0][0].frames

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        path = {one.name: getattr(self.path, one.name) for one in fields(self.path)}
        gait = {**self.walker.facts(), **self._loop_facts(), **path, "treadmill": self.treadmill,
                "direction_deg": self.direction_deg}
        return {**self.described(), "seed": self.seed, "style": self.style, "motion_kind": "gait",
                "gait": {**gait, **self._altered(gait), "asked": dict(self.asked)}}

    def _loop_facts(self) -> dict[str, Any]:
        """Return the cadence and step length of a loop, whose cycles are rounded to frames."""
        if not self.loop:
            return {}
        rate = self.loop_fps / self.tempo
        rounded = pace_of(self.walker).lasting(self._loop_frames(rate) / rate).facts()
        return {name: rounded[name] for name in ("cadence", "step_length")}

    def _altered(self, gait: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of a gait that differ at this take's tempo and in the mirror."""
        found: dict[str, Any] = {}
        if self.tempo != 1:
            found |= {"speed": round(gait["speed"] * self.tempo, 4),
                      "cadence": round(gait["cadence"] * self.tempo, 3)}
        if self.mirror:
            found |= {"phase": round((gait["phase"] + 0.5) % 1, 3),
                      "turn_deg": 0.0 - gait["turn_deg"], "direction_deg": self.front_deg}
        return found


def gait_options(given: Mapping[str, Any]) -> tuple[tuple[str, float | str | bool], ...]:
    """Return the options that were given, sorted by name."""
    return tuple((name, float(value) if isinstance(value, int) and not isinstance(value, bool)
                  else value) for name, value in sorted(given.items()) if value is not None)


def _in_name(value: float | str | bool) -> str:
    """Return a value for a file name, without the dash, which separates words: no, minus90."""
    return spelled(value).replace("-", "minus")
