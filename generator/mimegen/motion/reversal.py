"""How far a movement shows which way time runs."""

import numpy as np

from mimegen.motion.quaternions import FloatArray

# A movement is compared in steps of this length, seconds.
STEP_S = 0.4
# For how long, all together, a movement must be impossible the other way for viewers to see it.
SEEN_S = 0.5


def irreversibility(places: FloatArray, fps: float) -> float:
    """Return how far (m) joints (F, J, 3) that move backwards are from all that they do forwards.

    A step is where the joints are, and where they are ``STEP_S`` later. Backwards it begins where
    it ended. Its distance is that of the joint that is furthest off in the step forwards that
    is nearest. Steps that begin in ``SEEN_S``, all together, are at least as far as what is
    returned: 0 for a movement that goes back as it came, in whatever order and however often.
    """
    apart = min(max(round(STEP_S * fps), 1), len(places) - 1)
    first, last = places[:len(places) - apart], places[apart:]
    nearest = [_furthest_joint(first - end, last - begin).min()
               for begin, end in zip(first, last, strict=True)]
    return float(np.sort(nearest)[-min(round(SEEN_S * fps), len(nearest))])


def _furthest_joint(*offsets: FloatArray) -> FloatArray:
    """Return the largest of all joints' offsets (S, J, 3), by step."""
    return np.asarray(np.max([np.linalg.norm(each, axis=-1).max(axis=-1) for each in offsets],
                             axis=0))
