"""Takes of gait: a manner, a direction and a walker; each seed draws another walker."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.files import content_key, file_hash
from mimegen.base.seeds import generator
from mimegen.base.spelling import spelled
from mimegen.base.yaml_file import Finite, Strict, read_yaml_once
from mimegen.gait.course import Way
from mimegen.gait.walker import Walker, manners, pace_of
from mimegen.gait.walking import looped, walked
from mimegen.library.keys import gait_code
from mimegen.library.take import RELAXED, Described, Source
from mimegen.manifest.timeline import Interval
from mimegen.motion.editing import at_rate

# A walker drawn by a seed: standard deviations of knobs, and of the speed as a share.
DRAWN = {"gender": 0.8, "weight": 0.5, "happy": 0.6, "nervous": 0.4, "age": 0.4, "fatigue": 0.3}
SPEED_SD = 0.06
# What a seed makes of a way that turns: a share of the turn, during a share of the way; and by how
# much directions wander, in degrees.
TURNS = (0.6, 1.15)
DURING = (0.4, 0.9)
WANDERS_DEG = 2.0
# How finely the length of a take is known to its timeline.
TIMELINE_FPS = 100.0
# What is said of the way, not of the walker.
OF_THE_WAY = ("cycles", "direction", "treadmill")


class GaitFile(Strict):
    """One ``<take>.gait.yaml``: a manner, and the way that is gone, ``cycles`` of the gait long.

    ``turn_deg`` turns to the left along the way, or on the spot; who ``starts`` stands first, who
    ``stops`` stands at last; on a ``treadmill`` nobody travels.
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
class GaitTake(Described):
    """A walk. ``asked`` are the options that the user gave, by name.

    Above 0, ``loop`` makes whole cycles of a multiple of so many frames, of which the last leads
    into the first.
    """

    seed: int
    asked: tuple[tuple[str, float | str | bool], ...] = ()
    loop: int = 0

    @property
    def style(self) -> str | None:
        """The style of affect, where one was asked for."""
        style = dict(self.asked).get("style")
        return None if style is None else str(style)

    @cached_property
    def gait_file(self) -> GaitFile:
        """What the file says. Raises RequestError naming file, line and key."""
        return read_yaml_once(self.file, GaitFile)

    @cached_property
    def walker(self) -> Walker:
        """Who walks: as the file and the user say, the rest drawn by the seed."""
        asked: dict[str, Any] = {name: value for name, value in self.asked
                                 if name not in OF_THE_WAY}
        base = Walker(manner=self.gait_file.manner, speed=self.gait_file.speed,
                      slope_deg=self.gait_file.slope_deg, seed=self.seed)
        return replace(base, **(self._drawn() | asked))

    def _drawn(self) -> dict[str, Any]:
        """Return the knobs that this seed draws; seed 0 is the walker in the middle."""
        if self.seed == 0:
            return {}
        rng = generator(self.seed, self.action, self.name, "walker")
        drawn = {name: round(float(rng.normal(0.0, deviation)), 3)
                 for name, deviation in DRAWN.items()}
        drawn["phase"] = round(float(rng.uniform()), 3)
        asked = dict(self.asked)
        return {name: value for name, value in drawn.items() if name not in asked}

    @cached_property
    def way(self) -> Way:
        """The way that is gone."""
        gait_file = self.gait_file
        cycles = float(dict(self.asked).get("cycles", gait_file.cycles))
        way = Way(cycles, gait_file.turn_deg, gait_file.on_spot, gait_file.starts, gait_file.stops)
        on_stairs = manners()[gait_file.manner].steps is not None
        if self.seed == 0 or gait_file.on_spot or self.treadmill or on_stairs:
            return way
        rng = generator(self.seed, self.action, self.name, "way")
        turned = gait_file.turn_deg * float(rng.uniform(*TURNS)) * float(rng.choice([-1.0, 1.0]))
        during = float(rng.uniform(*DURING))
        begins = float(rng.uniform(0.0, 1.0 - during))
        return replace(way, turn_deg=round(turned, 3), turns=(begins, begins + during),
                       wander_deg=WANDERS_DEG, wander_seed=self.seed)

    @property
    def treadmill(self) -> bool:
        """Whether the walker stays where they are."""
        return bool(dict(self.asked).get("treadmill", self.gait_file.treadmill))

    @property
    def direction_deg(self) -> float:
        """How far the walker is turned to the left."""
        return float(dict(self.asked).get("direction", 0.0))

    @cached_property
    def key(self) -> str:
        """What the motion depends on."""
        asked = [list(pair) for pair in self.asked]
        return content_key(file_hash(self.file), self.seed, asked, self.loop, gait_code(),
                           *self.altered_key)

    @property
    def hand_shape(self) -> str:
        """Gait says what every finger does."""
        return RELAXED

    @property
    def version(self) -> tuple[str, ...]:
        """The seed and what was asked for."""
        words = (f"{name}_{_in_name(value)}" for name, value in self.asked)
        return (f"seed{self.seed}", *words, *self.altered_words)

    @property
    def words(self) -> tuple[str, ...]:
        """Action, take, seed and what was asked for."""
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
        """The gait, from the first moment to the last: nothing else happens."""
        [(motion, _)] = self.sources(TIMELINE_FPS)
        return [Interval(kind="action", name=self.action, start_s=0.0,
                         end_s=round(motion.duration, 3))]

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return the motion at ``fps``."""
        rate = fps / self.tempo
        if self.loop:
            each = pace_of(self.walker).stride_s * rate / self.loop
            motion = looped(self.walker, rate, max(round(each), 1) * self.loop,
                            max(round(self.way.cycles), 1), self.treadmill, self.direction_deg)
        else:
            motion = walked(self.walker, rate, self.way, self.direction_deg, self.treadmill)
        return ((at_rate(motion, fps), None),)

    def frames(self, fps: float) -> int:
        """Return how many frames it has at a rate: walking is quickly done."""
        return self.sources(fps)[0][0].frames

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        way = {one.name: getattr(self.way, one.name) for one in fields(self.way)}
        return {**self.described(), "seed": self.seed, "style": self.style, "motion_kind": "gait",
                "gait": {**self.walker.facts(), **way, "treadmill": self.treadmill,
                         "direction_deg": self.direction_deg, "asked": dict(self.asked)}}


def gait_options(given: Mapping[str, Any]) -> tuple[tuple[str, float | str | bool], ...]:
    """Return the options that were given, in order of their names."""
    return tuple((name, float(value) if isinstance(value, int) and not isinstance(value, bool)
                  else value) for name, value in sorted(given.items()) if value is not None)


def _in_name(value: float | str | bool) -> str:
    """Return a value as names of files have it, where a dash parts words: no, minus90."""
    return spelled(value).replace("-", "minus")
