"""Choose wrong answers that give nothing away.

Performances are grouped into blocks of as many as a question has options. All questions of a block
have the same options, and each option is the answer to exactly one of them. So within blocks, each
label is a distractor exactly (options - 1) times as often as it is the answer. Whoever sees only
the options, however clever, is right once in a block: at chance, by design. Performances that fill
no block get distractors one by one, chosen to keep these counts even. Actions of one person and of
two are kept apart, because counting people would tell them apart, and prompts say how many there
are.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import BoolArray
from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.subjects import Subject, misleading_pairs

Costs = NDArray[np.int64]
# MIME excludes the ten labels that are nearest in meaning.
NEAREST = 10
# Cost of a pair that must not share a question.
FORBIDDEN = 10**9
# Most performances that are grouped into blocks at a time; more would take longer without benefit.
AT_A_TIME = 120
# Random orders that are tried for each part and kind of order.
ATTEMPTS = 12
# Costs of a pair, in thousandths of similarity: per letter of difference in length, for a different
# form, and the maximum of a random part.
PER_LETTER = 12
PER_FORM = 150
CHANCE = 200
MEANING = {None: 0, "near": -1, "far": 1}


@dataclass(frozen=True)
class Distractor:
    """A wrong answer and its origin: the block, the set of clips, or the library."""

    text: str
    action: str
    origin: str
    similarity: float


@dataclass(frozen=True)
class Rules:
    """Number of options, wanted nearness in meaning (None: any), whether near labels are barred."""

    options: int
    difficulty: str | None = None
    bar_nearest: bool = True


def chosen_distractors(subjects: Sequence[Subject], library: Sequence[Subject], rules: Rules,
                       seed: int, elsewhere: Collection[str] = ()
                       ) -> dict[str, tuple[Distractor, ...]]:
    """Return each subject's distractors by its name.

    ``library`` holds further actions. They count when the nearest meanings are found, and supply
    distractors if the subjects are too few, except for actions that are answers ``elsewhere``, in
    another split. Raises RequestError if even those are too few.
    """
    pool = _pool(subjects, library)
    meaning = similarities([one.text for one in pool], [one.text for one in pool])
    misleading = misleading_pairs(pool)
    costs = _costs(pool, meaning, misleading, rules, seed)
    costs[:, [one.action in elsewhere for one in pool]] = FORBIDDEN
    found: dict[int, list[int]] = {}
    for people in sorted({one.people for one in subjects}):
        places = [place for place, one in enumerate(subjects) if one.people == people]
        for block in _all_blocks(places, subjects, costs, rules.options, seed):
            found |= {one: [other for other in block if other != one] for one in block}
    blocked = set(found)
    even = Counter(dict.fromkeys(blocked, rules.options - 1))
    for one in range(len(subjects)):
        if one not in found:
            found[one] = _single(one, pool, len(subjects), costs, misleading, rules.options, even)
    origins = ["block", "set", "library"]
    return {pool[one].name: tuple(
        Distractor(pool[other].text, pool[other].action,
                   origins[0 if one in blocked else 1 + (other >= len(subjects))],
                   float(meaning[one, other])) for other in others)
        for one, others in found.items()}


def _costs(pool: Sequence[Subject], meaning: NDArray[np.float64], misleading: BoolArray,
           rules: Rules, seed: int) -> Costs:
    """Return the cost of each pair in one question, as integers, (pool, pool)."""
    length = np.array([len(one.text) for one in pool])
    form = np.array([_form(one.text) for one in pool])
    # One random number per pair, because costs must be symmetric.
    luck = np.triu(generator(seed, "pairs").integers(0, CHANCE, meaning.shape), 1)
    costs = luck + luck.T + PER_LETTER * np.abs(length[:, None] - length)
    costs = costs + PER_FORM * (form[:, None] != form)
    # Similarity counts in thousandths times five, so that meaning outweighs form and length if a
    # difficulty is asked for.
    costs = costs + MEANING[rules.difficulty] * np.round(5000 * meaning).astype(np.int64)
    allowed = misleading & ~_nearest(pool, meaning) if rules.bar_nearest else misleading
    return np.asarray(np.where(allowed, costs, FORBIDDEN), dtype=np.int64)


def excluded_pairs(subjects: Sequence[Subject], library: Sequence[Subject], bar_nearest: bool
                   ) -> Iterator[tuple[Subject, Subject, str]]:
    """Yield pairs of subjects that may not share a question, with the reason as text."""
    pool = _pool(subjects, library)
    meaning = similarities([one.text for one in pool], [one.text for one in pool])
    near, apart = _nearest(pool, meaning), misleading_pairs(pool)
    for one, other in combinations(range(len(subjects)), 2):
        if not apart[one, other]:
            yield pool[one], pool[other], ("are of one semantic group, or share"
                                           " a label or words of it")
        elif bar_nearest and near[one, other]:
            yield pool[one], pool[other], "are near in meaning"


def _pool(subjects: Sequence[Subject], library: Sequence[Subject]) -> list[Subject]:
    """Return the subjects, followed by the library's actions that none of them shows."""
    shown = {subject.action for subject in subjects}
    return [*subjects, *(other for other in library if other.action not in shown)]


def _form(text: str) -> str:
    """Return the form of a label: ``doing`` (as "playing drums") or ``naming`` (as "golf swing").
    """
    first = text.split()[0] if text.split() else ""
    return "doing" if first.endswith("ing") else "naming"


def _nearest(pool: Sequence[Subject], meaning: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which pairs have one among the other's nearest in meaning; equal texts count once."""
    first: dict[str, int] = {}
    for place, one in enumerate(pool):
        first.setdefault(one.text, place)
    places = sorted(first.values())
    row_of = [first[one.text] for one in pool]
    near = np.zeros(meaning.shape, dtype=bool)
    for place in places:
        others = [other for other in places if other != place]
        order = sorted(others, key=lambda other: (-meaning[place, other], pool[other].text))
        near[place, order[:NEAREST]] = True
    # Symmetric, so that a is offered beside b exactly if b may be offered beside a.
    near |= near.T
    return near[np.ix_(row_of, row_of)]


def _all_blocks(some: Sequence[int], subjects: Sequence[Subject], costs: Costs, size: int, seed: int
                ) -> list[list[int]]:
    """Return blocks of some subjects' indices; performances of one action are spread over parts."""
    draw = generator(seed, "blocks")
    turn: Counter[str] = Counter()
    turns = []
    for number in draw.permutation(len(some)):
        place = some[int(number)]
        turn[subjects[place].action] += 1
        turns.append((turn[subjects[place].action], place))
    places = [place for _, place in sorted(turns, key=lambda one: one[0])]
    # Rounded up, so that no part exceeds AT_A_TIME.
    parts = -(-len(places) // AT_A_TIME)
    blocks: list[list[int]] = []
    for part in range(parts):
        blocks += _blocks(places[part::parts], costs, size, draw)
    return blocks


def _blocks(places: list[int], costs: Costs, size: int, draw: np.random.Generator
            ) -> list[list[int]]:
    """Return as many blocks without a forbidden pair as a few attempts find.

    The last indices, further performances of an action if there are any, are those left over.
    """
    best: list[list[int]] = []
    count = len(places) // size
    for order in _orders(places, count * size, draw) if count else ():
        best = max(best, _allowed(_improved(order, costs, size, count), costs), key=len)
        if len(best) == count:
            return best
    # If no attempt filled all blocks, forbidden pairs may lie in each of them. Fewer blocks leave
    # out what does not fit.
    for fewer in range(count - 1, 0, -1):
        for _ in range(ATTEMPTS):
            if len(best) >= fewer:
                return best
            order = [places[one] for one in draw.permutation(len(places))]
            best = max(best, _allowed(_improved(order, costs, size, fewer), costs), key=len)
    return best


def _allowed(blocks: list[list[int]], costs: Costs) -> list[list[int]]:
    """Return the blocks without a forbidden pair."""
    return [block for block in blocks
            if max(costs[one, other] for one, other in combinations(block, 2)) < FORBIDDEN]


def _orders(places: list[int], wanted: int, draw: np.random.Generator) -> Iterator[list[int]]:
    """Yield orders to try: first of the first indices, then, if some are left over, of any."""
    for _ in range(ATTEMPTS):
        yield [places[one] for one in draw.permutation(wanted)]
    for _ in range(ATTEMPTS if wanted < len(places) else 0):
        yield [places[one] for one in draw.permutation(len(places))[:wanted]]


def _improved(order: list[int], costs: Costs, size: int, count: int) -> list[list[int]]:
    """Return ``count`` blocks improved by exchanges, the best exchange first, until none helps.

    What is in no block costs nothing, and is exchanged too.
    """
    pair = costs[np.ix_(order, order)].copy()
    # Pairs of a subject with itself are forbidden; they must not count in its own block.
    np.fill_diagonal(pair, 0)
    every = np.arange(len(order))
    block = np.minimum(every // size, count)
    while True:
        # The cost of each subject in each block, as one matrix product; left over is the last one.
        load = pair @ (block[:, None] == np.arange(count + 1))
        load[:, count] = 0
        own = load[every, block]
        # The present cost of two subjects minus their cost after an exchange. The load of a block
        # counts the pair itself, which an exchange would separate, so it is added back for each.
        counted = (block < count).astype(np.int64)
        gain = own[:, None] + own - load[:, block] - load[:, block].T
        gain += pair * (counted[:, None] + counted)
        # Exchanges within a block change nothing.
        gain[block[:, None] == block] = 0
        one, other = divmod(int(gain.argmax()), len(order))
        if gain[one, other] <= 0:
            break
        block[one], block[other] = block[other], block[one]
    return [[order[place] for place in np.flatnonzero(block == number)]
            for number in range(count)]


def _single(one: int, pool: Sequence[Subject], own: int, costs: Costs, misleading: BoolArray,
            size: int, even: Counter[int]) -> list[int]:
    """Return distractors of a subject outside all blocks: its own set's first, least used first.

    Raises RequestError if there are not enough.
    """
    others = sorted((other for other in range(len(pool)) if costs[one, other] < FORBIDDEN),
                    # Prefer as many people, then the set to the library, then the least used,
                    # then the cheapest.
                    key=lambda other: (pool[other].people != pool[one].people, other >= own,
                                       even[other], costs[one, other], other))
    found: dict[str, int] = {}
    for other in others:
        clashes = not misleading[other, [*found.values()]].all()
        if pool[other].text not in found and not clashes and len(found) < size - 1:
            found[pool[other].text] = other
    if len(found) < size - 1:
        raise RequestError(f"{pool[one].action}: found only {len(found)} of {size - 1} distractors"
                           " outside its semantic group and near meanings; render more actions")
    even.update(found.values())
    return list(found.values())
