"""Limit how much and how often browsers may send."""

from collections import OrderedDict
from dataclasses import dataclass, field

# In bytes.
MAX_REQUEST = 16 * 1024


@dataclass
class Limit:
    """A token bucket for each key: ``most`` requests at once, ``a_second`` in the long run.

    The ``keys`` most recent buckets are remembered; any other key starts with a full one.
    """

    most: float
    a_second: float
    keys: int = 10_000
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, key: str, now: float) -> float:
        """Take a token and return 0, or return the seconds until one is available."""
        left, before = self._left.pop(key, (self.most, now))
        # A clock that is set back must not take tokens away.
        left = min(self.most, left + max(now - before, 0.0) * self.a_second)
        allowed = left >= 1
        self._left[key] = (left - allowed, now)
        while len(self._left) > self.keys:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.a_second
