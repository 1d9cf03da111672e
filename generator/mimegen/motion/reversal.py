"""Measure whether a movement looks different when played backwards."""

import numpy as np

from mimegen.motion.quaternions import FloatArray

# Length (s) of the steps by which movements are compared.
STEP_S = 0.4
# Total time (s) for which a movement must be impossible in reverse for viewers to notice.
SEEN_S = 0.5


def irreversibility(places: FloatArray, fps: float) -> float:
    """Return how much (m) a movement (F, J, 3) played backwards differs from the movement itself.

    A step is a pair of poses ``STEP_S`` apart; played backwards, its poses are swapped. For each
    backward step the nearest forward step is found; the distance of two steps is that of their
    furthest joint. The result is a distance that is reached or exceeded by backward steps lasting
    ``SEEN_S`` in total. It is 0 for a movement that retraces its own path, in any order and any
    number of times.
    """
    apart = min(max(round(STEP_S * fps), 1), len(places) - 1)
    first, last = places[:len(places) - apart], places[apart:]
    nearest = [_furthest_joint(first - end, last - begin).min()
               for begin, end in zip(first, last, strict=True)]
    return float(np.sort(nearest)[-min(round(SEEN_S * fps), len(nearest))])


def _furthest_joint(*offsets: FloatArray) -> FloatArray:
    """Return for each step the largest length among all joints' offsets (S, J, 3)."""
    return np.asarray(np.max([np.linalg.norm(each, axis=-1).max(axis=-1) for each in offsets],
                             axis=0))
