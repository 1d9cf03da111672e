"""Which takes show whether they are played backwards: the measure of the pair factor ``reversed``.

    reversed.py [--every 1] [--from 0]

Prints how far (cm) each action's first take, seed 0, is from all that it does forwards
(``motion/reversal.py``), nearest first, and the share of actions that pairs are made of.
"""

import argparse

from mimegen.base.errors import RequestError
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.plan.permute.suited_takes import MIN_IRREVERSIBLE_M, shown_backwards


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    names = sorted(catalogue.actions)[options.first::options.every]
    takes = [library_take(catalogue.action(name), None, 0) for name in names]
    found = []
    for take in takes:
        if isinstance(take, ScoreTake | RecordedTake):
            try:
                found.append((shown_backwards(take), take.action))
            except RequestError as problem:
                print(problem)
    found.sort()
    for far, action in found:
        print(f"{100 * far:6.1f} cm  {action}")
    passed = sum(far >= MIN_IRREVERSIBLE_M for far, _ in found)
    print(f"{passed} of {len(found)} actions show which way time runs")


if __name__ == "__main__":
    main()
