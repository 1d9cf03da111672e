import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gait_measures import leg_angles, on_floor, places, published, soles
from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.gait.course import WalkPath
from mimegen.gait.walker import KNOBS, Walker, manners, pace_of
from mimegen.gait.walking import walk_along, walk_loop
from mimegen.motion import Motion

FPS = 100.0
SPEEDS = st.floats(0.6, 4.5)


def with_knob(walker, knob, z):
    return replace(walker, **{knob: z})


def cycle(walker, fps=FPS, **how):
    return walk_loop(walker, fps, treadmill=False, **how)


@pytest.mark.parametrize("speed", [1.0, 1.3, 1.6])
def test_joint_angles_of_walking_are_the_published_ones(speed):
    walker = Walker(speed=speed)
    motion = walk_loop(walker, 100 / pace_of(walker).stride_s, frames=100)
    for joint, found in leg_angles(motion)._asdict().items():
        mean, deviation = published(speed)[joint].T
        inside = np.abs(found[::4] - mean) <= deviation
        assert inside.mean() >= 0.9, (joint, (found[::4] - mean).round(1))


@pytest.mark.parametrize("speed", [1.0, 1.3, 1.6])
def test_steps_of_walking_are_those_of_published_regressions(speed):
    motion = cycle(Walker(speed=speed), fps=400.0, cycles=2)
    feet = {side: on_floor(motion, side) for side in ("Left", "Right")}
    stance = np.mean([on.mean() for on in feet.values()])
    double = (feet["Left"] & feet["Right"]).mean()
    # Kirtley, Whittle & Jefferson (1985).
    share = 0.642 - 0.035 * speed
    assert stance == pytest.approx(share, rel=0.05)
    assert double == pytest.approx(2 * share - 1, abs=0.05 * share)
    # Grieve & Gear (1966), of somebody 1.7332 m tall.
    steps = 2 * 64.8 * (speed / 1.7332) ** 0.57
    pace = pace_of(Walker(speed=speed))
    assert 120 / pace.stride_s == pytest.approx(steps, rel=0.05)
    lands = [places(motion, f"{side}Foot")[np.flatnonzero(np.diff(on.astype(int)) == 1)[:1] + 20, 0]
             for side, on in feet.items()]
    length = abs(lands[0][0, 1] - lands[1][0, 1]) % pace.stride
    assert min(length, pace.stride - length) == pytest.approx(60 * speed / steps, rel=0.05)


@pytest.mark.parametrize(("speed", "rise"), [(0.7, 0.0274), (1.6, 0.0483)])
def test_the_body_rises_and_falls_as_published(speed, rise):
    # Orendurff et al. (2004), of the centre of mass, with one standard deviation (0.5, 0.9 cm).
    height = places(walk_loop(Walker(speed=speed), FPS), "Hips")[:, 0, 2]
    assert np.ptp(height) == pytest.approx(rise, abs=0.009)


def test_running_has_a_flight_and_walking_does_not():
    for speed, flies in ((1.9, False), (2.2, True), (3.5, True)):
        motion = cycle(Walker(speed=speed), fps=300.0, cycles=2)
        air = ~on_floor(motion, "Left") & ~on_floor(motion, "Right")
        assert (air.mean() > 0.05) == flies, (speed, air.mean())


def test_flight_is_ballistic():
    motion = cycle(Walker(manner="run", speed=3.5), fps=300.0, cycles=2)
    air = ~on_floor(motion, "Left") & ~on_floor(motion, "Right")
    inside = air & np.roll(air, 6) & np.roll(air, -6)
    falls = np.gradient(np.gradient(places(motion, "Hips")[:, 0, 2])) * 300.0**2
    assert np.median(falls[inside]) == pytest.approx(-9.81, rel=0.15)


@pytest.mark.slow
@given(SPEEDS, st.integers(24, 150), st.floats(0, 1), st.floats(-2, 2), st.booleans())
@settings(max_examples=25, deadline=None)
def test_loops_lead_into_themselves(speed, frames, phase, z, treadmill):
    walker = Walker(manner="run" if speed > 2.05 else "walk", speed=speed, phase=phase, happy=z)
    once, twice = (walk_loop(walker, 60.0, frames, cycles, treadmill) for cycles in (1, 2))
    assert once.frames == frames and twice.frames == 2 * frames
    shift = twice.root_positions[frames] - twice.root_positions[0]
    again = twice.global_pose.positions[frames:] - shift
    assert np.abs(again - once.global_pose.positions).max() < 1e-4


@pytest.mark.slow
@given(st.sampled_from(sorted(set(manners()) - {"skip"})), st.sampled_from(KNOBS),
       st.floats(-3, 3), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_feet_stand_where_they_are_put(manner, knob, z, seed):
    motion = walk_along(with_knob(Walker(manner=manner, seed=seed), knob, z), FPS, WalkPath(4.0))
    for side in ("Left", "Right"):
        ball = places(motion, f"{side}ToeBase")[:, 0]
        flat = soles(motion, side)[:, 0]
        both = np.stack([ball, flat], axis=1)
        still = (np.linalg.norm(np.gradient(both, axis=0), axis=-1) * FPS < 0.004).all(axis=1)
        assert still.mean() > 0.05, "a foot stands for a while"
        for start, end in zip(*np.flatnonzero(np.diff(np.r_[0, still, 0])).reshape(-1, 2).T,
                              strict=True):
            run = both[start:end]
            assert np.abs(run - run[0]).max() < 1e-3


@pytest.mark.slow
@given(SPEEDS, st.floats(-3, 3))
@settings(max_examples=15, deadline=None)
def test_nothing_goes_below_the_floor(speed, z):
    motion = walk_loop(Walker(manner="run" if speed > 2.05 else "walk", speed=speed, weight=z), FPS)
    lowest = min(soles(motion, side)[..., 2].min() for side in ("Left", "Right"))
    assert lowest > -0.012


@pytest.mark.parametrize("way", [
    WalkPath(4.0, starts=True, stops=True), WalkPath(4.0, turn_deg=90), WalkPath(3.0, turn_deg=-180,
                                                                                 on_spot=True),
    WalkPath(5.0, turn_deg=120, starts=True, stops=True),
    WalkPath(6.0, turn_deg=-60, wander_deg=4.0, wander_seed=3)])
def test_ways_start_turn_and_stop_without_a_snap(way):
    motion = walk_along(Walker(), 120.0, way)
    places_ = motion.global_pose.positions
    jerk = np.linalg.norm(np.diff(places_, n=2, axis=0), axis=-1).max() * 120.0**2
    assert jerk < 350.0, "no joint is thrown"
    if way.starts:
        first = np.linalg.norm(places_[12] - places_[0], axis=-1).max()
        assert first < 0.04
    if way.turn_deg:
        ahead = motion.global_pose.rotations[-1, 0]
        turned = np.rad2deg(2 * np.arctan2(ahead[3], ahead[0]))
        assert (turned - way.turn_deg + 180) % 360 - 180 == pytest.approx(0, abs=8)


def test_backwards_is_walked_with_the_back_ahead():
    motion = walk_along(Walker(speed=-1.0), FPS, WalkPath(3.0))
    assert motion.root_positions[-1, 1] - motion.root_positions[0, 1] == pytest.approx(
        1.0 * motion.last_s, rel=0.1)


@pytest.mark.parametrize(("manner", "sign"), [("stairs_up", 1), ("stairs_down", -1)])
def test_stairs_are_stood_on(manner, sign):
    walker = Walker(manner=manner)
    motion = walk_along(walker, FPS, WalkPath(4.0))
    steps = manners()[manner].steps
    assert steps is not None
    rise = motion.root_positions[-1, 2] - motion.root_positions[0, 2]
    assert rise == pytest.approx(sign * 8 * 0.17, abs=0.12)
    ball = places(motion, "LeftToeBase")[:, 0]
    stands = np.linalg.norm(np.gradient(ball, axis=0), axis=1) * FPS < 0.02
    levels = np.unique((ball[stands, 2] / 0.01).round())
    assert np.diff(levels[np.r_[True, np.diff(levels) > 2]]) == pytest.approx(34, abs=2)


@pytest.mark.parametrize(("knob", "up", "down"), [
    ("happy", "rise", "head"), ("weight", "width", "arm_swing"), ("gender", "sway", "pelvis_drop"),
    ("nervous", "elbow", "arm_swing"), ("age", "lean", "pitch"), ("fatigue", "lean", "lift"),
    ("intoxicated", "sway", "speed")])
def test_knobs_do_what_is_written_of_them(knob, up, down):
    low, high = (pace_of(with_knob(Walker(), knob, z)) for z in (-2.0, 2.0))
    assert getattr(high, up) > getattr(low, up)
    assert getattr(high, down) < getattr(low, down)


@pytest.mark.parametrize(("knob", "z", "shoulders", "hips"), [
    ("gender", 2.0, 1.07, 0.94), ("gender", -2.0, 0.93, 1.06), ("weight", 2.0, 1.0, 1.10)])
def test_knobs_widen_the_body_as_written(knob, z, shoulders, hips):
    """A factor grows by its share for each standard deviation of the knob."""
    plain, shaped = (walk_loop(Walker(manner="walk", speed=1.3, **{knob: z * on}), 30.0, 30)
                     for on in (0, 1))

    def width(motion: Motion, joint: str) -> float:
        # Hips keep their distance in every pose; shoulders only at rest.
        where = motion.global_pose.positions[0] if joint == "UpLeg" else motion.skeleton.heads
        left, right = (where[motion.skeleton.index[side + joint]] for side in ("Left", "Right"))
        return float(np.linalg.norm(left - right))

    for joint, factor in (("UpLeg", hips), ("Arm", shoulders)):
        assert width(shaped, joint) / width(plain, joint) == pytest.approx(factor, abs=0.006)


def test_ten_seconds_are_performed_in_a_moment():
    walk_along(Walker(), 60.0, WalkPath(2.0))
    begin = time.process_time()
    walk_along(Walker(happy=1.0, speed=1.25), 60.0, WalkPath(9.2))
    assert time.process_time() - begin < 0.3


@pytest.mark.parametrize(("wrong", "said"), [
    ({"manner": "wlak"}, "walk"), ({"speed": 20.0}, "speed"), ({"happy": 9.0}, "happy"),
    ({"style": "glad"}, "style"), ({"speed": 1.0, "cadence": 100.0, "step_length": 0.5}, "two of")])
def test_what_nobody_can_do_is_refused(wrong, said):
    with pytest.raises(RequestError, match=said):
        Walker(**wrong)


def test_walkers_have_habits_of_their_own_and_loops_have_none() -> None:
    def elbows(motion: Motion) -> tuple[FloatArray, FloatArray]:
        places = motion.global_pose.positions
        found = []
        for side in ("Left", "Right"):
            arm, fore, hand = (places[:, motion.skeleton.index[f"{side}{name}"]]
                               for name in ("Arm", "ForeArm", "Hand"))
            one, other = arm - fore, hand - fore
            cosine = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(
                other, axis=1)
            found.append(np.degrees(np.arccos(cosine)))
        return found[0], found[1]

    loop = elbows(walk_loop(Walker(seed=3), 30.0))
    assert abs(loop[0].mean() - loop[1].mean()) < 0.5
    unlike = []
    for seed in range(1, 13):
        left, right = elbows(walk_along(Walker(seed=seed), 30.0, WalkPath(4.0)))
        unlike.append(abs(left.mean() - right.mean()))
    assert np.median(unlike) > 2


def test_who_turns_on_the_spot_stays_upright() -> None:
    def leans(turn: float) -> FloatArray:
        way = WalkPath(2.0, turn, on_spot=True)
        motion = walk_along(Walker(seed=3), 30.0, way)
        places = motion.global_pose.positions
        trunk = places[:, motion.skeleton.index["Neck"]] - places[:, 0]
        return np.degrees(np.arctan2(np.linalg.norm(trunk[:, :2], axis=1), trunk[:, 2]))

    assert np.abs(leans(170.0).mean() - leans(10.0).mean()) < 2


def test_a_walker_leans_into_the_curve() -> None:
    for turn in (150.0, -150.0):
        motion = walk_along(Walker(seed=3, speed=1.7), 30.0, WalkPath(5.0, turn))
        places, index = motion.global_pose.positions, motion.skeleton.index
        trunk = places[:, index["Neck"]] - places[:, 0]
        way = np.gradient(places[:, 0, :2], axis=0)
        left = np.stack([-way[:, 1], way[:, 0]], axis=1)
        lean = (trunk[:, :2] * left).sum(axis=1)
        straight = walk_along(Walker(seed=3, speed=1.7), 30.0, WalkPath(5.0))
        own = straight.global_pose.positions
        way = np.gradient(own[:, 0, :2], axis=0)
        upright = ((own[:, index["Neck"]] - own[:, 0])[:, :2] * np.stack(
            [-way[:, 1], way[:, 0]], axis=1)).sum(axis=1)
        assert (lean.mean() - upright.mean()) * turn > 0


def test_directions_wander_by_their_seed_and_not_at_the_beginning() -> None:
    def gone(seed: int, degrees: float = 3.0) -> FloatArray:
        return walk_along(Walker(seed=7), 60.0, WalkPath(8.0, wander_deg=degrees, wander_seed=seed)
                          ).root_positions[:, :2]

    straight = gone(1, 0.0)
    one, again, other = gone(1), gone(1), gone(2)
    assert (one == again).all() and np.abs(one - other).max() > 0.05
    # A tenth of a cycle on, nobody has gone astray by a millimetre.
    assert np.abs(one[:6] - straight[:6]).max() < 1e-3
    assert 0.05 < np.abs(one - straight).max() < 1.5
    walked_m = np.linalg.norm(np.diff(one, axis=0), axis=1).sum()
    assert walked_m == pytest.approx(np.linalg.norm(np.diff(straight, axis=0), axis=1).sum(),
                                     rel=0.02)
