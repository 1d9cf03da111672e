"""How many examples hypothesis draws, as the profile of the run has it: few in make quick."""

from hypothesis import settings

# What hypothesis draws where nothing else is said.
USUAL = 100
FEWEST = 3


def examples(count: int) -> int:
    """Return a test's own number of examples, fewer where the profile draws fewer than usual."""
    drawn = settings().max_examples
    return max(min(count, FEWEST), count * drawn // USUAL)
