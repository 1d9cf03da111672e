"""Measures of movement that benchmarks/naturalness.py compares takes by."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinematics
from examples import examples

FPS = 240.0


def reach(seconds=1.0, metres=0.4, fps=FPS):
    """A minimum-jerk reach along X (Flash and Hogan 1985)."""
    t = np.linspace(0.0, 1.0, round(seconds * fps) + 1)
    points = np.zeros((len(t), 3))
    points[:, 0] = metres * (10 * t**3 - 15 * t**4 + 6 * t**5)
    return points


@given(st.floats(0.5, 3.0), st.floats(0.05, 2.0))
@settings(max_examples=examples(30), deadline=None)
def test_dimensionless_jerk_of_a_minimum_jerk_reach_is_known(seconds, metres):
    found = kinematics.log_dimensionless_jerk(reach(seconds, metres), FPS)
    assert found == pytest.approx(-np.log(204.8), abs=0.08)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(20), deadline=None)
def test_noise_makes_rougher_and_filtering_smoother(seed):
    points = reach(fps=60.0)
    noise = np.random.default_rng(seed).normal(0.0, 0.002, points.shape)
    clean, noisy, again = (
        kinematics.log_dimensionless_jerk(p, 60.0)
        for p in (points, points + noise, kinematics.smoothed(points + noise, 60.0)))
    assert noisy < again < clean


def test_smoothing_keeps_what_is_slow_and_delays_nothing():
    t = np.arange(240) / 60.0
    slow, fast = np.sin(2 * np.pi * t), np.sin(2 * np.pi * 20 * t)
    kept = kinematics.smoothed((slow + fast)[:, None], 60.0)[30:-30, 0]
    assert np.abs(kept - slow[30:-30]).max() < 0.05


def test_spectral_arc_length_falls_with_every_submovement_and_not_with_tempo():
    once = kinematics.speeds(reach(), FPS)
    slower = kinematics.speeds(reach(seconds=2.0), FPS)
    twice = np.concatenate([once, np.zeros(60), once])
    length = kinematics.spectral_arc_length
    assert length(once, FPS) == pytest.approx(-1.41, abs=0.03)
    assert length(slower, FPS) == pytest.approx(length(once, FPS), abs=0.03)
    assert length(twice, FPS) < length(once, FPS) - 0.3


def test_profile_of_a_minimum_jerk_reach():
    found = kinematics.profile(kinematics.speeds(reach(), FPS))
    assert found.peak_ratio == pytest.approx(1.875, abs=0.02)
    assert found.skewness == pytest.approx(0.0, abs=1e-3)
    assert found.bell == pytest.approx(1.0, abs=1e-3)


def test_profile_of_an_early_peak_is_skewed():
    t = np.linspace(0.0, 1.0, 200)
    early = t * (1 - t) ** 4
    assert kinematics.profile(early).skewness > 0.2
    assert kinematics.profile(early[::-1]).skewness < -0.2
    assert kinematics.profile(early).bell < 0.9


def test_movements_lie_between_deep_minima():
    one = reach(seconds=0.5)
    path = np.concatenate([one, one[::-1], one])
    found = kinematics.movements(kinematics.speeds(path, FPS))
    assert [piece.stop - piece.start for piece in found] == pytest.approx([121] * 3, abs=3)


def test_movements_leave_out_tremor_and_what_the_clip_cuts_off():
    half = kinematics.speeds(reach(), FPS)[100:]
    assert kinematics.movements(half) == []
    assert kinematics.movements(0.01 * np.sin(np.arange(300)) ** 2) == []


def test_submovements_are_counted_within_a_movement():
    whole = kinematics.speeds(reach(), FPS)
    assert kinematics.submovements(whole) == 1
    ripple = 1 + 0.3 * np.sin(2 * np.pi * 5 * np.arange(len(whole)) / len(whole))
    assert kinematics.submovements(whole * ripple) > 2


def test_sway_has_its_frequency_and_speed():
    t = np.arange(1200) / 60.0
    path = 0.02 * np.stack([np.sin(2 * np.pi * 0.5 * t), np.zeros_like(t)], axis=1)
    assert kinematics.sway_frequency(path, 60.0) == pytest.approx(0.5, abs=0.05)
    speed = 0.02 * 2 * np.pi * 0.5 / np.sqrt(2)
    assert kinematics.band_speed(path, 60.0, 0.2, 1.0) == pytest.approx(speed, rel=0.05)
    assert kinematics.band_speed(path, 60.0, 3.0, 10.0) < 0.01 * speed


def test_correlation_and_stillness():
    rng = np.random.default_rng(1)
    signal = rng.normal(size=500)
    assert kinematics.correlation(signal, 3 * signal + 1) == pytest.approx(1.0)
    assert kinematics.correlation(signal, np.ones(500)) == 0.0
    speed = np.array([[0.0, 0.0], [0.0, 0.2], [0.05, 0.05], [0.3, 0.3]])
    assert kinematics.still_share(speed, 0.1) == 0.5


def test_what_does_not_move_has_no_smoothness():
    rest = np.zeros((50, 3))
    assert np.isnan(kinematics.log_dimensionless_jerk(rest, 60.0))
    assert np.isnan(kinematics.spectral_arc_length(np.zeros(50), 60.0))
    assert kinematics.sway_frequency(rest, 60.0) == 0.0


def test_parts_that_lag_are_less_together():
    speed = kinematics.speeds(reach(fps=60.0), 60.0)
    same = np.stack([speed, 2 * speed, speed], axis=1)
    lagging = np.stack([speed, np.roll(speed, 10), np.roll(speed, 20)], axis=1)
    assert kinematics.togetherness(same) == pytest.approx(1.0)
    assert kinematics.togetherness(lagging) < 0.8
