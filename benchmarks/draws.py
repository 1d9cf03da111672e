"""How often a fresh take is at fault: takes, seeds and styles drawn by lot, and drawn again.

    draws.py [--seed 0] [--count 200] [--from 0] [--body man | --body any]

Prints each take that lint finds fault with (``choreography/lint.py``) or that does not show what it
must (``choreography/checks.py``, on the standard person or on a ``--body``, ``any`` for a random
person each time), then the shares before and after drawing those again, and how many takes kept
which share of their variation.
"""

import argparse
from collections import Counter
from dataclasses import replace

from mimegen.base.seeds import generator
from mimegen.choreography.checks import missed
from mimegen.choreography.perform import LOOKED_AT_FPS, share_of
from mimegen.choreography.styles import styles
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
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


def body_of(seed: int, number: int, asked: str | None) -> str | None:
    """Return on whom a number's take is looked at: who was asked for, or a random person."""
    chance = generator(seed, "draws", number, "body")
    return f"random:{int(chance.integers(1, SEEDS))}" if asked == ANY else asked


def findings(take: ScoreTake, catalogue: Catalogue, body: str | None) -> list[str]:
    """Return what is wrong with a take, on a body where one is named."""
    found = GOOD.findings(take)
    if found or body is None:
        return found
    scene = Casting(take, (cast_member(catalogue, body),) * take.performers).perform(LOOKED_AT_FPS)
    motions = [performance.motion for performance in scene]
    return [str(one) for one in missed(motions, take.score, take.seed, take.style)]


def main() -> None:
    """Draw, look, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--body")
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    at_fault, kinds, left, kept = 0, Counter[str](), 0, Counter[float]()
    for number in range(options.first, options.first + options.count):
        take = drawn(options.seed, number, catalogue)
        body = body_of(options.seed, number, options.body)
        found = findings(take, catalogue, body)
        kept[share_of(take.score, take.seed, take.style)] += 1
        if not found:
            continue
        at_fault += 1
        kinds.update({one.split(":")[0] for one in found})
        on = f"on {body}" if body else ""
        print(take.action, take.name, take.seed, take.style, on, "; ".join(found), flush=True)
        again = (replace(take, seed=take.seed + SEEDS * (1 + at)) for at in range(MOST_TRIED))
        left += all(findings(other, catalogue, body) for other in again)
    print(f"{options.count} draws: {at_fault} at fault ({100 * at_fault / options.count:.1f} %),"
          f" {dict(kinds)}; after drawing again {left}; shares kept"
          f" {dict(sorted(kept.items(), reverse=True))}")


if __name__ == "__main__":
    main()
