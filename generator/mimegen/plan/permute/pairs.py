"""Minimal pairs: two declarations that differ in exactly one factor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.manifest.pair import PairFacts
from mimegen.plan.permute.axes import Freedom
from mimegen.plan.permute.declaration import Declaration
from mimegen.plan.permute.designs import RANDOM, design_of
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.factors import Base, Changes, Factor, Halves
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.planned import members_of, take_of
from mimegen.plan.permute.seen import SeenRows
from mimegen.plan.permute.space import Space
from mimegen.plan.permute.telling import Half, needed_fields

# How often a pair is drawn at most until both halves are without faults.
MAX_TRIED = 60
# Draws of one take before another is chosen: some can never be played at a factor's higher speed.
MAX_TRIED_OF_TAKE = 6
# Axes drawn once for both halves.
DRAWN = frozenset({"seed", "character", "azimuth", "light_azimuth", "light_elevation"})


@dataclass(frozen=True)
class PairDrawing:
    """Draws pairs of one factor from a seed; each pair is the same however many are drawn."""

    catalogue: Catalogue
    drawing: Drawing
    factor: Factor
    seed: int

    def pairs(self, count: int) -> Iterator[tuple[Declaration, Declaration]]:
        """Yield ``count`` pairs. Raises RequestError if no pair without faults is found."""
        item = 0
        for number in range(count):
            pair, item = self._next(number, item)
            yield pair

    def _next(self, number: int, item: int) -> tuple[tuple[Declaration, Declaration], int]:
        """Return a pair of the first item, from ``item`` on, that has one, and the item after it.

        Raises RequestError if ``MAX_TRIED`` draws fail.
        """
        last = ""
        for _ in range(MAX_TRIED // MAX_TRIED_OF_TAKE):
            item = self._showing(item)
            found = self._pair(number, item)
            item += 1
            if not isinstance(found, str):
                return found, item
            last = found
        raise RequestError(f"--factors {self.factor.name}: none of {MAX_TRIED} drawn pairs passed"
                           f" mimegen score lint (the last: {last}); choose other --actions, or"
                           " another --seed")

    def _showing(self, item: int) -> int:
        """Return the first item, from ``item`` on, whose take shows the factor."""
        shows, space = self.factor.shows, self.drawing.space
        if shows is None:
            return item
        for one in range(item, item + MAX_TRIED):
            if shows(space.parts[self.drawing.design.cell(one, 0).part].take):
                return one
        raise RequestError(f"--factors {self.factor.name}: none of {MAX_TRIED} drawn takes suits"
                           f" it ({self.factor.about}); choose other --actions")

    def _pair(self, number: int, item: int) -> tuple[Declaration, Declaration] | str:
        """Return the halves of a pair without faults, or a fault if no draw of the take is."""
        fault = ""
        for attempt in range(MAX_TRIED_OF_TAKE):
            base = self.drawing.draw(item, attempt)
            found = self._halves(base, attempt)
            if found is None:
                fault = f"{base.action}: {self.factor.name} does not apply"
                continue
            first, second = (self._half(base, number, *half) for half in found)
            fault = self._fault(first) or self._fault(second)
            if not fault:
                return self._told(first, second)
        return fault

    def _halves(self, declaration: Declaration, attempt: int) -> Halves | None:
        """Return the values and changes of both halves; None if the take or this draw has none."""
        takes = [part.take for part in self.drawing.space.parts]
        base = Base(self.catalogue, declaration, takes,
                    partial(self._drawn_below, declaration, attempt))
        return self.factor.halves(base) if self.factor.suits(base.take) else None

    def _half(self, base: Declaration, number: int, value: str, changes: Changes) -> Declaration:
        # The name has the seed, so that pairs of several specifications can share a folder.
        name = f"{self.factor.name}-seed{self.seed}-{number:04d}"
        facts = PairFacts(id=name, factor=self.factor.name, value=value)
        return base.model_copy(update={**changes, "pair": facts})

    def _told(self, *halves: Declaration) -> tuple[Declaration, Declaration]:
        """Return the halves with whether one frame can tell them apart."""
        known = [Half(one.pair.value if one.pair else "", take_of(self.catalogue, one),
                      (one.character, one.partner) if one.partner else ())
                 for one in halves]
        needed = needed_fields(known, self.factor.told_by)
        first, second = (one.model_copy(update={"pair": one.pair.model_copy(update=needed)})
                         for one in halves if one.pair)
        return first, second

    def _fault(self, half: Declaration) -> str:
        """Return the first fault that lint finds in a half's take, or an empty text."""
        take = take_of(self.catalogue, half)
        if not isinstance(take, ScoreTake):
            return ""
        people = members_of(self.catalogue, half, take) if "random:" in half.character else ()
        faults = self.drawing.good.findings(take, people)
        return f"{half.action}: {faults[0]}" if faults else ""

    def _drawn_below(self, base: Declaration, attempt: int, below: int) -> int:
        """Return a random integer below a limit, determined by a base and an attempt."""
        name = base.model_dump_json(exclude_none=True)
        return int(generator(self.seed, "pairs", self.factor.name, name, attempt).integers(below))


def pairs_of(catalogue: Catalogue, entries: Sequence[Entry], factor: Factor,
             fixes: Sequence[str], count: int, seed: int
             ) -> Iterator[tuple[Declaration, Declaration]]:
    """Yield ``count`` pairs of a factor, as they are drawn.

    Raises RequestError if no take of the actions suits the factor, and as ``Space.of``.
    """
    suited = [entry for entry in entries
              if any(factor.suits(library_take(entry, name, 0)) for name in entry.takes)]
    if not suited:
        raise RequestError(f"--factors {factor.name}: no take of these actions suits it"
                           f" ({factor.about})")
    freedom = Freedom.of(",".join(sorted(DRAWN - _names(fixes))), fixes)
    space = Space.of(catalogue, suited, freedom, SeenRows(catalogue))
    drawing = Drawing(space, design_of(RANDOM, space, seed), seed, GoodTakes.of_user())
    yield from PairDrawing(catalogue, drawing, factor, seed).pairs(count)


def _names(fixes: Sequence[str]) -> set[str]:
    return {fix.partition("=")[0].strip() for fix in fixes}
