"""Permutations drawn for tests: the space, draws alone, and the command."""

import os
import signal
from collections.abc import Sequence
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from click.testing import Result

from mimegen.library.cast import CastMember
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.plan.clips import ChosenBackground
from mimegen.plan.permute.axes import Freedom
from mimegen.plan.permute.declaration import Declaration
from mimegen.plan.permute.designs import design_of
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.seen import SeenRows
from mimegen.plan.permute.space import Space
from mimegen.shots.config import RenderConfig
from running import invoke

CATALOGUE = Catalogue.with_libraries(())
ACTIONS = ("boxing", "basketball_shot", "shake_hands", "playing_violin", "deadlift")


class AllGood(GoodTakes):
    """Draws alone are looked at, not takes and views."""

    def findings(self, take: ScoreTake, people: Sequence[CastMember] = ()) -> list[str]:
        return []

    def place_findings(self, chosen: ChosenBackground, config: RenderConfig, angle_deg: float
                       ) -> list[str]:
        return []


def space_of(actions: tuple[str, ...] = ACTIONS, names: str | None = None,
             fixes: tuple[str, ...] = (), seen: SeenRows | None = None) -> Space:
    return Space.of(CATALOGUE, [CATALOGUE.action(name) for name in actions],
                    Freedom.of(names, fixes), seen or SeenRows(CATALOGUE))


# Nothing changes a space, and half of a draw's time is reading the backgrounds of a new one.
known_space = cache(space_of)


def drawn(count: int, design: str = "random", seed: int = 1, fresh: bool = False, **of: Any
          ) -> list[Declaration]:
    """Draws, from a space that other tests use too unless a ``fresh`` one is asked for."""
    space = space_of(**of) if fresh or "seen" in of else known_space(**of)
    drawing = Drawing(space, design_of(design, space, seed), seed, AllGood(Path("none")))
    return list(drawing.declarations(count))


def people_who_pray(good: GoodTakes) -> Drawing:
    """A drawing that processes of their own can make, of a short take."""
    space = known_space(("pray",), "seed,character")
    return Drawing(space, design_of("random", space, 1), 1, good)


def killed(good: GoodTakes) -> Drawing:
    """What processes that are killed make of it."""
    if parent_process():
        os.kill(os.getpid(), signal.SIGKILL)
    return people_who_pray(good)


def permute(*arguments: str | Path | int) -> Result:
    return invoke("permute", *arguments)
