"""How often a fresh take is at fault: takes, seeds and styles drawn by lot, and drawn again.

    draws.py [--seed 0] [--count 200] [--from 0] [--body man | --body any]

Prints each take that lint finds fault with (``choreography/lint.py``) or that does not show what it
must (``choreography/checks.py``, on the standard person or on a ``--body``, ``any`` for random
people each time), then the shares before and after drawing those again, and how many takes kept
which share of their variation.
"""

import argparse
from collections import Counter
from dataclasses import replace

from mimegen.base.seeds import generator
from mimegen.choreography.perform import kept_variation
from mimegen.choreography.styles import styles
from mimegen.library.cast import CastMember, cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.plan.permute.good_takes import GoodTakes

SEEDS, MOST_TRIED = 1_000_000, 10
ANY = "any"
GOOD = GoodTakes.of_user()


def drawn(seed: int, number: int, catalogue: Catalogue) -> ScoreTake:
    """Return the take of a number: every take in turn, in a style or the seed's own."""
    chance = generator(seed, "draws", number)
    takes = [(entry, name) for entry in catalogue.actions.values() for name in sorted(entry.takes)]
    entry, name = takes[number % len(takes)]
    style = [None, *sorted(styles())][int(chance.integers(1 + len(styles())))]
    take = library_take(entry, name, int(chance.integers(1, SEEDS)), style)
    assert isinstance(take, ScoreTake)
    return take


def people_of(seed: int, number: int, asked: str | None, catalogue: Catalogue, again: int = 0
              ) -> tuple[CastMember, ...]:
    """Return two on whom a number's take is looked at: who was asked for, or random people.

    Those are others each time that a take is drawn ``again``, as for permutations.
    """
    chance = generator(seed, "draws", number, "body", *([again] if again else []))
    names = [f"random:{int(chance.integers(1, SEEDS))}" for _ in range(2)] if asked == ANY else [
        asked, asked] if asked else []
    return tuple(cast_member(catalogue, name) for name in names)


def main() -> None:
    """Draw, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--body")
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    at_fault, kinds, left, kept = 0, Counter[str](), 0, Counter[str]()
    for number in range(options.first, options.first + options.count):
        take = drawn(options.seed, number, catalogue)
        people = people_of(options.seed, number, options.body, catalogue)[: take.performers]
        found = GOOD.findings(take, people)
        variation = kept_variation(take.score, take.seed, take.style)
        kept["borrowed" if variation.borrowed_from else f"{variation.share:g}"] += 1
        if not found:
            continue
        at_fault += 1
        kinds.update({one.split(":")[0] for one in found})
        print(take.action, take.name, take.seed, take.style,
              *(f"on {one.name}" for one in people), "; ".join(found), flush=True)
        left += all(GOOD.findings(
            replace(take, seed=take.seed + SEEDS * again),
            people_of(options.seed, number, options.body, catalogue, again)[: take.performers])
            for again in range(1, MOST_TRIED + 1))
    print(f"{options.count} draws: {at_fault} at fault ({100 * at_fault / options.count:.1f} %),"
          f" {dict(kinds)}; after drawing again {left}; shares kept"
          f" {dict(sorted(kept.items(), reverse=True))}")


if __name__ == "__main__":
    main()
