"""Systems of second order, beside scipy's."""

from itertools import count

import numpy as np
import pytest
from scipy.signal import bilinear, lfilter, lfilter_zi

from mimegen.base import recursion
from mimegen.base.recursion import WORTH_IMPORTING, SecondOrder
from mimegen.choreography.timing import Follow, _followed


@pytest.mark.parametrize(("hertz", "damping"), [(0.9, 0.75), (4.0, 0.6), (11.0, 1.1)])
@pytest.mark.parametrize("earlier", [0, WORTH_IMPORTING])
def test_what_follows_does_so_as_by_scipy_to_the_last_bit(
        monkeypatch: pytest.MonkeyPatch, hertz: float, damping: float, earlier: int) -> None:
    monkeypatch.setattr(recursion, "_earlier", count(earlier))
    values, turn = np.random.default_rng(1).random((200, 5)), 2 * np.pi * hertz
    up, down = bilinear([turn**2], [1.0, 2 * damping * turn, turn**2], 120.0)
    state = lfilter_zi(up, down)[:, None] * values[:1]
    wanted, _ = lfilter(up, down, values, axis=0, zi=state)
    follow = Follow(lead=0.0, hertz=hertz, damping=damping)
    _followed.cache_clear()
    assert (follow.followed(values, 120.0) == wanted).all()


def test_what_is_at_rest_stays_there() -> None:
    system = SecondOrder(np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.6, 0.4]))
    held = np.full((20, 2), 3.0)
    assert np.allclose(system.filtered(held, system.still[:, None] * held[:1]), 3.0)
