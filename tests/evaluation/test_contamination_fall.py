"""The fall from seen to unseen: what is compared, and its score test at every edge."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from mimegen.evaluation.contamination.answers import estimate, falls_of
from mimegen.evaluation.contamination.fall import ExposureArms, Fall
from mimegen.evaluation.contamination.mixed import mixed_logistic
from mimegen.evaluation.statistics import cluster_bootstrap
from test_contamination import answers_of


def test_like_is_compared_with_like() -> None:
    # Seen clips are mostly of the easy action: pooled, they look 40 points better.
    rows = [(1.0, True, 0, 0)] * 8 + [(1.0, False, 0, 0)] * 2
    rows += [(0.0, True, 1, 0)] * 2 + [(0.0, False, 1, 0)] * 6
    answers = answers_of(rows)
    assert answers.arm(True).score.mean() - answers.arm(False).score.mean() > 0.4
    assert estimate(answers, falls_of(answers)).value == 0


def test_variants_of_one_arm_are_compared_with_each_other_alone() -> None:
    rows = [(1.0, True, 0, 0), (0.0, False, 0, 0), (1.0, True, 0, 1), (1.0, False, 0, 2),
            (1.0, True, 1, 0), (1.0, False, 1, 0), (0.0, True, 1, 1), (1.0, True, 2, 0)]
    falls = falls_of(answers_of(rows))
    assert falls.fall.tolist() == [0.5, 0] and falls.weight.tolist() == [1.0, 0.5]
    assert falls.used.tolist() == [True] * 6 + [False] * 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.booleans(), st.integers(0, 4),
                          st.integers(0, 2)), min_size=1, max_size=60), st.randoms())
def test_changing_the_arms_turns_the_fall_around(rows: list[tuple[float, bool, int, int]],
                                                 random: Any) -> None:
    """Neither the order of rows nor that of arms tells anything."""
    falls = falls_of(answers_of(rows))
    turned = [(score, not seen, action, variant) for score, seen, action, variant in rows]
    random.shuffle(turned)
    other = falls_of(answers_of(turned))
    assert other.fall == pytest.approx(-falls.fall) and other.weight == pytest.approx(falls.weight)


def test_all_right_is_no_certainty() -> None:
    rows = [(1.0, seen, action, 0) for seen in (True, False) for action in range(10)] * 4
    answers = answers_of(rows)
    found = estimate(answers, falls_of(answers))
    low, high = found.interval()
    # Were the fall f, then f were wrong of 40 answers: f = z sqrt(f (1 - f) / 40).
    assert found.p() == 1 and high == pytest.approx(3.8415 / 43.8415, abs=1e-4) and low == -high
    assert cluster_bootstrap(falls_of(answers).fall, falls_of(answers).weight, 0.95) is None
    assert mixed_logistic(answers) is None


def test_falls_that_are_all_alike_are_no_certainty() -> None:
    """Each action has one right answer of two in both arms: clusters would be sure."""
    answers = answers_of((float(right), seen, action, 0) for seen in (True, False)
                         for action in range(5) for right in (0, 1))
    found = estimate(answers, falls_of(answers))
    # Of ten answers in each arm five are right: sqrt(2 / 2 / 2 / 10).
    assert found.value == 0 and found.se == pytest.approx(0.2236, abs=1e-4)
    assert found.p_outside(0.05) > 0.4 and found.df == np.inf


@settings(deadline=None)
@given(st.tuples(st.integers(0, 30), st.integers(1, 9)), st.tuples(st.integers(0, 30),
                                                                   st.integers(1, 9)),
       st.floats(-0.9, 0.9))
def test_a_fall_is_tried_by_its_likeliest_shares(seen: tuple[int, int], unseen: tuple[int, int],
                                                 fall: float) -> None:
    """The closed form is what a search for the greatest likelihood finds."""
    asked = (float(sum(seen)), float(sum(unseen)))
    arms = ExposureArms((seen[0] / asked[0], unseen[0] / asked[1]), asked)

    def unlikely(share: float) -> float:
        chances = zip((*seen, *unseen), (share + fall, 1 - share - fall, share, 1 - share),
                      strict=True)
        return -sum(count * np.log(max(chance, 1e-300)) for count, chance in chances)

    found = optimize.minimize_scalar(unlikely, bounds=(max(0, -fall), min(1, 1 - fall)),
                                     method="bounded", options={"xatol": 1e-11})
    share, other = float(found.x), float(found.x) + fall
    assert arms.variance_at(fall) == pytest.approx(
        other * (1 - other) / asked[0] + share * (1 - share) / asked[1], abs=1e-4)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.5, 1), st.floats(0, 0.02),
       st.integers(3, 400))
def test_interval_test_and_equivalence_agree(seen: float, unseen: float, design: float,
                                             excess: float, number: int) -> None:
    found = Fall(ExposureArms((seen, unseen), (float(number), 2.0 * number)), design, excess, 9.0)
    low, high = found.interval()
    assert -1 <= low <= found.value <= high <= 1
    if min(abs(low), abs(high)) > 1e-6:
        assert (found.p() < 0.05) == (not low <= 0 <= high)
    low, high = found.interval(0.9)
    if min(abs(low + 0.05), abs(high - 0.05)) > 1e-6:
        assert (found.p_outside(0.05) < 0.05) == (low > -0.05 and high < 0.05)


def test_near_certainty_no_fall_is_said_no_more_often_than_once_in_twenty() -> None:
    """All right when seen, 5 % wrong when unseen, which is the margin: 100 answers an arm."""
    rng = np.random.default_rng(3)
    said = []
    for _ in range(400):
        rows = [(1.0, True, cell // 10, cell % 10) for cell in range(100)]
        rows += [(float(rng.random() < 0.95), False, cell // 10, cell % 10) for cell in range(100)]
        answers = answers_of(rows)
        said.append(estimate(answers, falls_of(answers)).p_outside(0.05) < 0.05)
    assert 0 < np.mean(said) < 0.07
