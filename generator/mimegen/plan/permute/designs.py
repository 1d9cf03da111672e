"""Designs: the levels of each clip by its number, whatever the number of clips drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod
from typing import Any

import numpy as np
from allpairspy import AllPairs

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.plan.permute.axes import Value
from mimegen.plan.permute.space import Space, TakeSpace

RANDOM = "random"
PAIRWISE = "pairwise"
FULL = "full"
LATIN = "latin"
# Two axes, each with one of their levels.
Pair = tuple[tuple[str, Value], tuple[str, Value]]
DESIGNS = (RANDOM, PAIRWISE, FULL, LATIN)


@dataclass(frozen=True)
class Cell:
    """The number of a part of the space, and a level of each drawn axis."""

    part: int
    levels: dict[str, Value]


@dataclass(frozen=True)
class Design:
    """A function ``cell`` of a clip's number and redraw count; ``size`` is None if unlimited."""

    name: str
    size: int | None
    cell: Callable[[int, int], Cell]


def design_of(name: str, space: Space, seed: int) -> Design:
    """Return a design by its name."""
    return {RANDOM: _random, PAIRWISE: _pairwise, FULL: _full, LATIN: _latin}[name](space, seed)


def _random(space: Space, seed: int) -> Design:
    """Draw actions in shuffled rounds, everything else independently from the whole grid."""

    def cell(number: int, redraw: int) -> Cell:
        action = _action(space, seed, number)
        parts = space.of_action[action]
        chosen = parts[_drawn(seed, "take", number, redraw, len(parts))]
        part = space.parts[chosen]
        return Cell(chosen, {name: grid[_drawn(seed, name, number, redraw, len(grid))]
                             for name, grid in part.grid.items()})

    return Design(RANDOM, None, cell)


def _action(space: Space, seed: int, number: int) -> str:
    turn, place = divmod(number, len(space.actions))
    order = generator(seed, "permute", "actions", turn).permutation(len(space.actions))
    return space.actions[int(order[place])]


def _drawn(seed: int, name: str, number: int, redraw: int, below: int) -> int:
    return int(generator(seed, "permute", name, number, redraw).integers(below))


def _latin(space: Space, seed: int) -> Design:
    """Balance levels: each action, and each round of actions, has each level equally often."""

    def cell(number: int, redraw: int) -> Cell:
        action, turn = _action(space, seed, number), number // len(space.actions)
        place = space.actions.index(action)
        parts = space.of_action[action]
        chosen = parts[_in_turn(seed, "take", place, turn, len(parts), len(space.actions))]
        own_turn = turn // len(parts)
        return Cell(chosen, {
            name: levels[_in_turn(seed, name, place, own_turn, len(levels), len(space.actions))]
            for name, levels in space.parts[chosen].levels.items()})

    return Design(LATIN, None, cell)


def _in_turn(seed: int, name: str, row: int, turn: int, levels: int, rows: int) -> int:
    """Return an entry of a Latin rectangle: rows are actions, columns are turns."""
    block, column = divmod(turn, levels)
    draw = generator(seed, "permute", "latin", name, block)
    order, shifts = draw.permutation(levels), draw.permutation(rows)
    return int(order[(column + shifts[row]) % levels])


def _full(space: Space, seed: int) -> Design:
    """Draw every cell once in random order, then all again in another."""
    sizes = [prod(map(len, part.levels.values())) for part in space.parts]
    ends, size = np.cumsum(np.array(sizes, dtype=object)), sum(sizes)

    def cell(number: int, redraw: int) -> Cell:
        turn, place = divmod(number, size)
        place = _strided(seed, turn, place, size)
        chosen = int(np.searchsorted(ends, place, side="right"))
        first = int(ends[chosen]) - sizes[chosen]
        return Cell(chosen, _decoded(space.parts[chosen], place - first))

    return Design(FULL, size, cell)


def _strided(seed: int, turn: int, place: int, size: int) -> int:
    """Return the image of a position under a random bijection of the range 0 to ``size``."""
    draw = generator(seed, "permute", "full", turn)
    first, stride = (int(number) % size for number in draw.integers(1, 2**62, 2))
    while gcd(stride, size) != 1:
        stride = stride % size + 1
    return (first + stride * place) % size


def _decoded(part: TakeSpace, place: int) -> dict[str, Value]:
    levels = {}
    for name, values in part.levels.items():
        place, digit = divmod(place, len(values))
        levels[name] = values[digit]
    return levels


def _pairwise(space: Space, seed: int) -> Design:
    """Cover every pair of levels of two axes in at least one clip; takes are an axis too."""
    rows = _covering(space)

    def cell(number: int, redraw: int) -> Cell:
        turn, place = divmod(number, len(rows))
        order = generator(seed, "permute", "pairwise", turn).permutation(len(rows))
        return rows[int(order[place])]

    return Design(PAIRWISE, len(rows), cell)


def _covering(space: Space) -> list[Cell]:
    """Return cells that cover every possible pair of levels."""
    names = list(space.parts[0].levels)
    levels = [list(dict.fromkeys(value for part in space.parts for value in part.levels[name]))
              for name in names]
    if not names:
        return [Cell(number, {}) for number in range(len(space.parts))]

    def possible(row: list[Any]) -> bool:
        part = space.parts[row[0]]
        return all(value in part.levels[name]
                   for name, value in zip(names, row[1:], strict=False))

    found = AllPairs([list(range(len(space.parts))), *levels], filter_func=possible)
    cells = [Cell(row[0], dict(zip(names, row[1:], strict=True))) for row in found]
    return _completed(space, cells)


def _completed(space: Space, cells: list[Cell]) -> list[Cell]:
    """Add cells for the pairs that AllPairs misses because some takes lack some levels."""
    have = _pairs(cells)
    missing = [pair for pair in _wanted(space) if pair not in have]
    while missing:
        cell = _cell_with(space, missing)
        cells.append(cell)
        have = _pairs([cell])
        missing = [pair for pair in missing if pair not in have]
    return cells


def _cell_with(space: Space, missing: Sequence[Pair]) -> Cell:
    """Return a cell with the first of the missing pairs and as many others as fit."""
    number = next(number for number, part in enumerate(space.parts)
                  if missing[0] in _possible_pairs(number, part))
    part, chosen = space.parts[number], dict[str, Value](take=number)
    known = set(_possible_pairs(number, part))
    for pair in missing:
        if pair in known and all(chosen.get(name, value) == value for name, value in pair):
            chosen |= dict(pair)
    return Cell(number, {name: chosen.get(name, values[0]) for name, values in part.levels.items()})


def pairs_covered(space: Space, cells: Sequence[Cell]) -> float:
    """Return the fraction of possible pairs of levels that cells cover; takes are an axis too."""
    wanted, have = _wanted(space), _pairs(cells)
    return sum(pair in have for pair in wanted) / len(wanted) if wanted else 1.0


def _wanted(space: Space) -> list[Pair]:
    return list(dict.fromkeys(pair for number, part in enumerate(space.parts)
                              for pair in _possible_pairs(number, part)))


def _pairs(cells: Sequence[Cell]) -> set[Pair]:
    return {pair for cell in cells
            for pair in combinations([("take", cell.part), *cell.levels.items()], 2)}


def _possible_pairs(number: int, part: TakeSpace) -> list[Pair]:
    axes: list[list[tuple[str, Value]]] = [[("take", number)], *(
        [(name, value) for value in values] for name, values in part.levels.items())]
    return [(one, other) for first, second in combinations(axes, 2)
            for one in first for other in second]


def check_count(design: Design, space: Space, count: int) -> None:
    """Raise RequestError if more clips are wanted than distinct ones exist."""
    if count > space.size:
        raise RequestError(f"{count} clips requested, but only {space.size} distinct ones exist;"
                           " vary more axes, or fix fewer")
