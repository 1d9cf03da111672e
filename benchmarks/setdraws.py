"""How many draws of each set can stand, at once and drawn again.

    python benchmarks/setdraws.py [--seeds 20] [--from 0] [NAME ...]

What is looked for is in mimegen.scenery.checks: things deeper in the performer's room than as
the set was written, in one another by more than 2 cm, and what stands on nothing now.
"""

import argparse
from collections import Counter

from mimegen.base.errors import RequestError
from mimegen.compositing.background import read_background
from mimegen.library.catalogue import Catalogue
from mimegen.scenery.checks import Written, faults
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.variation import one_draw, varied


def draws_of(scenery: Scenery, name: str, seed: int, written: Written) -> str:
    """Return "at once", "again" or "never", and print what is wrong with the first draw."""
    said = faults(one_draw(scenery, f"{name}:{seed}"), written)
    if not said:
        return "at once"
    print(f"  {name}:{seed}: {'; '.join(said)}", flush=True)
    try:
        varied(scenery, name, seed, written)
    except RequestError:
        return "never"
    return "again"


def main() -> None:
    """Print a line for each set and each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    every = Counter[str]()
    for name in options.names or list(catalogue.backgrounds):
        scenery = read_background(catalogue.file("background", name)).set
        if scenery is None or scenery.vary is None:
            continue
        written = Written.of(scenery, scenery.vary)
        found = Counter(draws_of(scenery, name, seed, written)
                        for seed in range(options.first, options.first + options.seeds))
        every += found
        print(f"{name}: {dict(found)}", flush=True)
    print(f"of {every.total()} draws: {dict(every)}")


if __name__ == "__main__":
    main()
