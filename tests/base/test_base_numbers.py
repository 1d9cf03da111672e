"""Easing, vectors, angles, spans, sRGB and seeds: what every room above counts on."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.angles import wrapped_deg
from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk, ramp, smoothstep, soft_excess, softly_limited
from mimegen.base.seeds import generator
from mimegen.base.spans import spans
from mimegen.base.srgb import decoded, encoded
from mimegen.base.vectors import direction_from, lengths, unit, unit_or_nan
from mimegen.motion.limbs import middle_joint

SHARES = np.linspace(0.0, 1.0, 1001)


@pytest.mark.parametrize("ease", [smoothstep, minimum_jerk])
def test_easing_goes_from_0_to_1_evenly_about_the_middle_and_rests_at_the_ends(
        ease: Callable[[FloatArray], FloatArray]) -> None:
    way = ease(SHARES)
    assert way[0] == 0 and way[-1] == 1 and (np.diff(way) > 0).all()
    assert way + way[::-1] == pytest.approx(np.ones(1001))
    assert np.diff(way)[[0, -1]] == pytest.approx([0, 0], abs=1e-5)


def test_minimum_jerk_has_the_bell_of_speed_that_people_have() -> None:
    speed = np.gradient(minimum_jerk(SHARES), SHARES)
    assert speed.max() == pytest.approx(1.875, abs=1e-3) and np.argmax(speed) == 500
    assert np.gradient(speed, SHARES)[[0, -1]] == pytest.approx([0, 0], abs=0.1)


def test_a_ramp_may_rise_or_fall() -> None:
    assert ramp([1.0, 2.0, 2.5, 4.0, 5.0], 2.0, 4.0) == pytest.approx([0, 0, 0.15625, 1, 1])
    assert ramp([1.0, 2.0, 3.0, 4.0, 5.0], 4.0, 2.0) == pytest.approx([1, 1, 0.5, 0, 0])


@given(st.floats(1e-3, 10), st.floats(0, 100))
def test_what_is_over_a_limit_is_let_through_less_and_less(room: float, over: float) -> None:
    through = float(soft_excess(np.array(over), room))
    assert 0 <= through <= min(room, over) + 1e-12  # rounding of 1 - exp(-tiny), in metres
    assert float(soft_excess(np.array(room * 1e-6), room)) == pytest.approx(room * 1e-6, rel=1e-4)


def test_short_vectors_stay_and_long_ones_keep_their_direction() -> None:
    short, long = np.array([[0.001, 0.0, 0.0]]), np.array([[0.0, 30.0, 40.0]])
    assert softly_limited(short, 1.0) == pytest.approx(short, rel=1e-5)
    assert softly_limited(long, 2.0) == pytest.approx(np.array([[0.0, 1.2, 1.6]]))
    assert softly_limited(np.zeros((1, 3)), 2.0) == pytest.approx(np.zeros((1, 3)))


def test_unit_vectors_keep_zero_or_say_that_there_is_none() -> None:
    vectors = np.array([[0.0, 3.0, 4.0], [0.0, 0.0, 0.0]])
    assert lengths(vectors) == pytest.approx([5, 0])
    assert unit(vectors) == pytest.approx(np.array([[0.0, 0.6, 0.8], [0.0, 0.0, 0.0]]))
    assert unit_or_nan(vectors)[0] == pytest.approx([0, 0.6, 0.8])
    assert np.isnan(unit_or_nan(vectors)[1]).all()


def test_directions_are_in_front_at_the_left_hand_and_above() -> None:
    assert direction_from(0, 0) == pytest.approx([0, -1, 0])
    assert direction_from(90, 0) == pytest.approx([1, 0, 0])
    assert direction_from(37, 90) == pytest.approx([0, 0, 1], abs=1e-12)
    assert direction_from(0, 30) == pytest.approx([0, -(3**0.5) / 2, 0.5])


def test_the_middle_joint_is_where_both_bones_end() -> None:
    along, aside = middle_joint(3.0, 4.0, np.array([5.0, 9.0]))
    assert np.hypot(along[0], aside[0]) == pytest.approx(3)
    assert np.hypot(5 - along[0], aside[0]) == pytest.approx(4)
    assert aside[1] == 0


def test_generators_depend_on_every_seed_and_name_and_their_order() -> None:
    parts: list[tuple[int | str, ...]] = [
        (1,), (2,), ("a",), (1, "a"), (1, "b"), (2, "a"), (1, "a", "b"), (1, "b", "a")]
    drawn = {float(generator(*own).random()) for own in parts}
    assert len(drawn) == len(parts)
    assert generator(1, "a").random() == generator(1, "a").random()


def test_streams_are_those_that_takes_have_always_been_made_with() -> None:
    assert generator(7).random() == np.random.default_rng(7).random()
    assert generator(3, "golf").random(2).tolist() == [0.7758803361509338, 0.6241058072210767]


@pytest.mark.parametrize(("degrees", "same"), [
    (0.0, 0.0), (179.0, 179.0), (180.0, -180.0), (-180.0, -180.0), (190.0, -170.0),
    (-541.0, 179.0)])
def test_angles_are_brought_within_half_a_turn(degrees: float, same: float) -> None:
    assert wrapped_deg(degrees) == same
    assert wrapped_deg(np.array([degrees, same])) == pytest.approx([same, same])


@given(st.lists(st.booleans(), max_size=12))
def test_spans_are_the_runs_of_true_flags(flags: list[bool]) -> None:
    found = list(spans(np.array(flags, dtype=bool)))
    assert {i for start, end in found for i in range(start, end)} == {
        i for i, flag in enumerate(flags) if flag}
    assert all(start < end for start, end in found)
    assert all(after > end for (_, end), (after, _) in pairwise(found))


def test_srgb_is_the_curve_of_its_standard_both_ways() -> None:
    # IEC 61966-2-1: the knee, middle gray and white; float32 stays what it is.
    assert decoded(np.array([0.0, 0.04045, 0.5, 1.0])) == pytest.approx(
        [0.0, 0.0031308, 0.2140411, 1.0], abs=1e-7)
    values = np.linspace(0, 1, 256)
    assert encoded(decoded(values)) == pytest.approx(values, abs=1e-6)
    assert encoded(values.astype(np.float32)).dtype == np.float32
