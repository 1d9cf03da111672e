"""What each manipulation of a point-light display does to its dots."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.discs import to_linear
from mimegen.pointlight.dots import MASK, DotTracks
from mimegen.pointlight.landmarks import dot_set
from mimegen.pointlight.manipulation import Manipulation, Setting
from mimegen.pointlight.outputs import _metres
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.stimulus import Stimulus, make_stimulus
from mimegen.pointlight.walker_manipulations import Crowd, OutOfPhase, Sines, dots_of_part
from test_pointlight import FPS, display, frames_of, scene, stimulus, walker


def test_inversion_and_mirroring_are_exactly_flips_and_reversal_is_backwards() -> None:
    plain = frames_of(stimulus())
    assert (frames_of(stimulus("inverted")) == plain[:, ::-1]).all()
    assert (frames_of(stimulus("mirrored")) == plain[:, :, ::-1]).all()
    assert (frames_of(stimulus("reversed")) == plain[::-1]).all()
    both = frames_of(stimulus("inverted", "reversed", "mirrored"))
    assert (both == plain[::-1, ::-1, ::-1]).all()


def test_speed_warp_rate_and_span() -> None:
    plain = stimulus()
    slow = stimulus("speed=0.5")
    assert slow.dots.frames == 2 * plain.dots.frames - 1
    assert np.allclose(slow.dots.positions[::2], plain.dots.positions)
    quarter = stimulus("warped=2").moments
    assert quarter[30] == pytest.approx(plain.moments[60] / 4) and len(quarter) == 61
    few = stimulus(fps=15.0, start=0.2, duration=0.5)
    assert few.dots.frames == 7 and few.moments[0] == 0.2
    assert np.allclose(few.dots.positions[0], plain.dots.positions[12])


@pytest.mark.parametrize("rule", ["uniform", "permuted"])
def test_scrambling_keeps_every_dots_velocity_spectrum(rule: str) -> None:
    plain, scrambled = stimulus().dots, stimulus(f"scrambled={rule}").dots

    def spectrum(dots: DotTracks) -> NDArray[Any]:
        return np.abs(np.fft.rfft(np.diff(dots.positions[..., :2], axis=0), axis=0))

    assert np.allclose(spectrum(plain), spectrum(scrambled))
    moved = np.linalg.norm((scrambled.positions - plain.positions)[0, :, :2], axis=-1)
    assert (moved > 0).all() and moved.mean() > 30
    low, high = plain.box()
    start = scrambled.positions[0, :, :2]
    assert (start >= low - 1e-9).all() and (start <= high + 1e-9).all()
    assert (scrambled.positions[..., :2] >= 0).all() and (scrambled.positions[..., :2] <= 256).all()
    if rule == "permuted":
        assert np.allclose(sorted(map(tuple, start)), sorted(map(tuple, plain.positions[0, :, :2])))


def test_phase_scrambling_shifts_each_dots_own_motion_in_time() -> None:
    plain = stimulus("local=all", azimuth_deg=90.0).dots.positions
    shifted = stimulus("local=all", "phase_scrambled", azimuth_deg=90.0).dots.positions
    folded = stimulus("local=all", "phase_scrambled=fold", azimuth_deg=90.0).dots.positions
    shifts = set()
    for dot in range(plain.shape[1]):
        fits = [shift for shift in range(61)
                if np.allclose(np.roll(plain[:, dot], shift, axis=0), shifted[:, dot])]
        assert fits
        shifts.add(fits[0])
    assert len(shifts) > 5
    steps, usual = (np.linalg.norm(np.diff(places, axis=0), axis=-1) for places in (folded, plain))
    assert (steps.max(axis=0) <= usual.max(axis=0) + 1e-6).all()


def still(*manipulations: str) -> DotTracks:
    """A figure that stands still shows when dots hop."""
    motion = walker(40)
    motion = Motion(motion.skeleton, FPS, motion.root_positions[:1].repeat(40, 0),
                    motion.rotations[10:11].repeat(40, 0))
    shown = display(manipulations=manipulations)
    return make_stimulus(scene(shown, [motion]), shown).dots


@pytest.mark.parametrize(("text", "count", "life"), [
    ("limited_lifetime=4", 13, 4), ("limited_lifetime=1/count=8", 8, 1),
    ("limited_lifetime=3/rule=joints/count=5", 5, 3),
    ("limited_lifetime=2/count=8/synchronous=true", 8, 2),
])
def test_limited_lifetime_keeps_the_count_and_no_dot_outlives_its_life(
        text: str, count: int, life: int) -> None:
    plain, dots = still(), still(text)
    assert dots.positions.shape == (40, count, 3) and dots.visible.all()
    hops = np.abs(np.diff(dots.positions, axis=0)).max(axis=-1) > 0
    for dot in range(count):
        edges = np.flatnonzero(hops[:, dot])
        assert (np.diff(edges) == life).all() and edges[0] < life and 39 - edges[-1] <= life
    if "joints" in text:
        apart = np.linalg.norm(dots.positions[:, :, None] - plain.positions[0], axis=-1)
        assert np.allclose(apart.min(axis=2), 0)
        assert all(len(set(row)) == count for row in apart.argmin(axis=2).tolist())
    else:
        a, b = (plain.positions[0, ends, :2] for ends in plain.limbs.T)
        along = np.clip(np.einsum("fdlk,lk->fdl", dots.positions[:, :, None, :2] - a, b - a)
                        / ((b - a) ** 2).sum(axis=1), 0, 1)
        off = np.linalg.norm(a + along[..., None] * (b - a) - dots.positions[:, :, None, :2],
                             axis=-1)
        assert off.min(axis=2).max() < 1e-6 and len(plain.limbs) == 8
    synchronous = (hops.all(axis=1) | ~hops.any(axis=1)).all()
    assert synchronous == ("synchronous" in text or life == 1)


@pytest.mark.parametrize("kind", ["scrambled", "linear", "static", "flicker"])
def test_masks_have_the_stated_density_in_every_frame(kind: str) -> None:
    made = stimulus(f"masked/density=2/kind={kind}/area=1.2", pixels_per_degree=20.0)
    dots = made.dots
    mask = dots.positions[:, dots.performers == MASK, :2]
    middle, half = np.full(2, 128.0), np.minimum(made.room * 1.2, 128.0)
    low, high = middle - half, middle + half
    assert ((mask >= low - 1e-9) & (mask <= high + 1e-9)).all()
    assert mask.shape[1] / np.prod((high - low) / 20) == pytest.approx(2, abs=0.05)
    quarters = [(mask < middle).all(axis=-1), (mask >= middle).all(axis=-1)]
    for quarter in quarters:
        assert quarter.mean() == pytest.approx(0.25, abs=0.12)
    moves = np.abs(np.diff(mask, axis=0)).max() > 0
    assert moves == (kind != "static")
    assert len(dots.own) == 13


def mask_of(made: Stimulus) -> FloatArray:
    """Return the places (F, M, 2) of the mask's dots."""
    return made.dots.positions[:, made.dots.performers == MASK, :2]


@pytest.mark.parametrize("mask", ["masked=40", "masked=40/area=1.2", "masked=40/area=150px",
                                  "masked=40/area=6x7.5deg", "masked/density=3/kind=flicker"])
@pytest.mark.parametrize("seed", [0, 5])
def test_conditions_of_a_performance_have_one_mask_area_and_density(mask: str, seed: int) -> None:
    made = [stimulus(*words, mask, seed=seed, pixels_per_degree=20.0)
            for words in ((), ("inverted",), ("scrambled",), ("inverted", "scrambled"))]
    told = [one.masks[0] for one in made]
    assert len({(one["dots"], *one["area_px"], one["dots_per_square_degree"]) for one in told}) == 1
    wide, high = told[0]["area_px"]
    assert told[0]["area_deg"] == pytest.approx([wide / 20, high / 20])
    assert told[0]["dots_per_square_degree"] == pytest.approx(
        told[0]["dots"] / (wide * high / 400), rel=1e-3)
    for one in made:
        dots = mask_of(one)
        assert dots.shape[1] == told[0]["dots"]
        assert (np.abs(dots - 128) <= np.array([wide, high]) / 2 + 1e-3).all()
        # They fill it: each quarter of it has as many, up to chance.
        quarter = ((dots - 128) * 2 / [wide, high] > 0).all(axis=-1).mean()
        assert quarter == pytest.approx(0.25, abs=0.15)


def test_the_usual_mask_reaches_as_far_as_any_conditions_dots() -> None:
    for words in ((), ("inverted",), ("scrambled",), ("scrambled=permuted",)):
        for seed in range(4):
            made = stimulus(*words, "masked=9", seed=seed)
            own = made.dots.positions[:, made.dots.own, :2]
            half = np.array(made.masks[0]["area_px"]) / 2
            assert (np.abs(own - 128) <= half + 1e-3).all()


@pytest.mark.parametrize(("mask", "hint"), [
    ("masked/area=300px", "larger than the picture"), ("masked/area=20deg", "larger"),
    ("masked/area=0", "above 0"), ("masked/area=6m", "6deg"), ("masked/area=px", "6deg"),
    ("masked/area=1x2x3px", "6deg"), ("masked/area=-3px", "6deg")])
def test_an_area_that_is_none_is_refused(mask: str, hint: str) -> None:
    with pytest.raises(RequestError, match=hint):
        stimulus(mask)


def test_exaggeration_local_and_global_motion() -> None:
    plain, same = stimulus().dots.positions, stimulus("exaggerated=1").dots.positions
    assert np.allclose(plain, same)
    rigid = stimulus("global").dots.positions
    assert np.allclose(stimulus("exaggerated=0").dots.positions, rigid)
    assert np.allclose(rigid - rigid[:, :1], (rigid - rigid[:, :1])[0])
    assert np.linalg.norm(rigid[60, 0, :2] - rigid[0, 0, :2]) > 20
    in_place = stimulus("local", azimuth_deg=90.0).dots
    hips = in_place.positions[:, [in_place.names.index(f"{s}_hip") for s in ("left", "right")], 0]
    assert np.ptp(hips.mean(axis=1)) < 3
    more = stimulus("exaggerated=2").dots.positions - rigid
    assert np.allclose(more, 2 * (plain - rigid), atol=1e-6)


def test_turning_comes_around_and_rotation_about_any_axis_is_one() -> None:
    whole = stimulus("turning=360", "local").dots.positions
    assert np.allclose(whole[0], stimulus("local").dots.positions[0])
    assert np.allclose(whole[60], stimulus("local").dots.positions[60], atol=1e-6)
    half = stimulus("rotated=180/axis=0;0;2").dots.positions[..., 0]
    assert np.allclose(half, stimulus("rotated=180/axis=z").dots.positions[..., 0])
    over = stimulus("rotated=180/axis=y", azimuth_deg=0.0).dots.positions[..., :2]
    assert np.allclose(over, 256 - stimulus(azimuth_deg=0.0).dots.positions[..., :2])


def test_jitter_noise_and_missing_dots() -> None:
    plain = stimulus().dots.positions
    jitter = stimulus("jittered=4px/hold=3").dots.positions - plain
    assert jitter[..., :2].std() == pytest.approx(4, rel=0.15)
    assert np.allclose(jitter[0], jitter[2]) and not np.allclose(jitter[2], jitter[3])
    fixed = stimulus("displaced=0.2deg", pixels_per_degree=40.0).dots.positions - plain
    assert np.allclose(fixed, fixed[:1]) and np.abs(fixed[0, :, :2]).max() > 3
    fewer = stimulus("without=head;left_wrist", "without/count=3").dots
    assert fewer.count == 8 and "head" not in fewer.names
    assert len(fewer.limbs) < 8 and (fewer.limbs < 8).all()


def test_fading_and_size_by_depth() -> None:
    shown = frames_of(stimulus("faded/seconds_in=0.25/seconds_out=0.25"))
    peak = to_linear(shown.reshape(61, -1).max(axis=1))
    assert peak[0] == 0 and peak[30] == 1 and peak[60] == 0
    assert peak[7] == pytest.approx(7 / 15, abs=0.02)
    sized = stimulus("depth_sized=2", azimuth_deg=90.0)
    near, far = (sized.diameters[:, sized.dots.names.index(f"{side}_shoulder")].mean()
                 for side in ("left", "right"))
    assert near > 7 > far


def test_light_contrast_polarity_and_colors() -> None:
    for polarity, contrast in (("light", 0.5), ("dark", 1.0), ("mixed", 0.4)):
        made = stimulus(polarity=polarity, contrast=contrast, dot_diameter="9px")
        picture = to_linear(frames_of(made)[0])
        back = made.background[0]
        assert picture[0, 0] == pytest.approx(back, abs=0.01)
        extremes = {"light": (back, 0.5), "dark": (0, 1), "mixed": (0.3, 0.7)}[polarity]
        assert picture.min() == pytest.approx(extremes[0], abs=0.01)
        assert picture.max() == pytest.approx(extremes[1], abs=0.01)
    two = [walker(), walker()]
    shown = display(color_by="performer")
    pair = make_stimulus(scene(shown, two), shown)
    assert pair.dots.count == 26 and not pair.gray
    assert len(np.unique(pair.colors, axis=0)) == 2


def one_dot(places: FloatArray, visible: NDArray[np.bool_] | None = None) -> DotTracks:
    """A left ankle at these places (F, 3), and a head that stays."""
    both = np.stack([places, np.full_like(places, 5.0)], axis=1)
    dots = DotTracks.of(("left_ankle", "head"), np.zeros(2, np.intp), both)
    if visible is None:
        return dots
    return replace(dots, visible=np.stack([visible, np.ones_like(visible)], axis=1),
                   sizes=np.stack([1.0 + visible, np.ones(len(visible))], axis=1))


def setting_of(frames: int) -> Setting:
    return Setting(np.random.default_rng(0), FPS, 100, 100, np.zeros((frames, 1, 3)), float)


@pytest.mark.parametrize("step", [OutOfPhase(share=0.3), Crowd(count=4)])
def test_what_hides_a_dot_moves_in_time_with_the_dot(step: Manipulation) -> None:
    seen = np.arange(10) < 6
    moved = step.apply(one_dot(np.outer(np.arange(10.0), [1, 2, 3]), seen), setting_of(10))
    hidden = ~moved.visible
    assert hidden.any(axis=1).sum() >= 4
    for dot in np.flatnonzero(hidden.any(axis=0)):
        # The dot was last seen at its sixth place, whenever that is now.
        order = np.argsort(moved.positions[:, dot, 1])
        assert (moved.visible[order, dot] == seen).all()


def test_depth_and_size_of_a_crowds_copies_are_those_of_their_moments() -> None:
    seen = np.arange(10) < 6
    crowd = Crowd(count=4, odd=False).apply(
        one_dot(np.outer(np.arange(10.0), [1, 2, 3]), seen), setting_of(10))
    for dot in range(0, crowd.count, 2):
        x, _, depth = crowd.positions[:, dot].T
        assert (np.argsort(x) == np.argsort(depth)).all()
        assert (crowd.sizes[np.argsort(x), dot] == 1.0 + seen).all()


def test_waves_of_a_lost_marker_bridge_its_gap() -> None:
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    places = np.stack([300 + 20 * np.cos(turn), 200 + 20 * np.sin(turn), 0 * turn], axis=1)
    lost = places.copy()
    lost[10:14] = np.nan
    waved = Sines().apply(one_dot(lost), setting_of(40))
    assert np.abs(waved.positions[:, 0, :2] - places[:, :2]).max() < 3
    assert not waved.visible[10:14, 0].any()


def test_sizes_in_a_row_are_those_of_a_crowds_copies() -> None:
    plain, crowd = stimulus(), stimulus("crowd=4/odd=false")
    box = [np.ptp(one.dots.positions[:, :plain.dots.count, :2], axis=(0, 1))
           for one in (crowd, plain)]
    smaller = float(np.mean(box[0] / box[1]))
    known, usual = display_facts(crowd), display_facts(plain)
    assert smaller < 0.8
    for name in ("figure_height_px", "figure_height_deg", "pixels_per_metre"):
        assert known[name] == pytest.approx(smaller * usual[name], rel=1e-3)
    assert known["dot_diameter_px"] == usual["dot_diameter_px"]
    metres = [np.ptp(_metres(one)[:, :plain.dots.count, :2], axis=(0, 1))
              for one in (crowd, plain)]
    assert np.allclose(*metres)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_row_states_which_copy_of_a_crowd_is_mirrored(seed: int) -> None:
    crowd = stimulus("crowd=6", seed=seed)
    stated = display_facts(crowd)["manipulations"][0]
    plain = stimulus().dots
    cell = crowd.dots.positions.reshape(crowd.dots.frames, 6, plain.count, 3)[..., 0]
    lean = plain.positions[..., 0] - plain.positions[..., 0].mean(axis=1, keepdims=True)
    # Copies play at other moments: each is compared at every shift, plain and mirrored.
    fits = np.array([[min(np.abs(sign * np.roll(lean, shift, axis=0) * crowd.figure_scale
                                 - (one - one.mean(axis=1, keepdims=True))).max()
                          for shift in range(len(lean))) for sign in (1, -1)]
                     for one in np.moveaxis(cell, 1, 0)])
    assert stated["odd_copy"] == 1 + int(np.flatnonzero(fits[:, 1] < fits[:, 0])[0])
    assert (fits[:, 1] < fits[:, 0]).sum() == 1
    number = stated["odd_copy"] - 1
    assert (stated["odd_row"], stated["odd_column"]) == (number // 3 + 1, number % 3 + 1)


def test_a_crowd_without_an_odd_copy_states_none() -> None:
    assert "odd_copy" not in display_facts(stimulus("crowd=4/odd=false"))["manipulations"][0]


def test_dots_of_several_luminances_have_none_in_common() -> None:
    mixed = display_facts(stimulus(polarity="mixed", contrast=0.4))
    assert mixed["dot_luminance"] is mixed["weber_contrast"] is mixed["michelson_contrast"] is None
    assert len(mixed["colors"]) == 2
    masked = display_facts(stimulus("masked=5", color_by="performer"))
    assert masked["dot_luminance"] == pytest.approx(
        float(to_linear(np.array([[255, 176, 0]], np.uint8))[0] @ [0.2126, 0.7152, 0.0722]),
        abs=1e-4)


def test_dots_left_out_at_random_are_the_performers() -> None:
    fewer = stimulus("masked=40", "without/count=4").dots
    assert (fewer.performers == MASK).sum() == 40
    assert (fewer.performers != MASK).sum() == stimulus().dots.count - 4


def test_fingers_are_dots_of_hands_and_arms() -> None:
    names = (*dot_set("hands").dots, *dot_set("hands_and_feet").dots)
    dots = DotTracks.of(names, np.zeros(len(names), int), np.zeros((1, len(names), 3)))
    hands, left = dots_of_part(dots, "hands"), dots_of_part(dots, "left_arm")
    for name, of_hand, of_left in zip(names, hands, left, strict=True):
        finger = any(word in name for word in ("thumb", "index", "middle", "ring", "pinky",
                                               "knuckle", "wrist"))
        assert of_hand == finger, name
        assert of_left == (name.startswith("left") and (finger or "elbow" in name)), name


def test_a_gif_says_in_which_frames_its_parameters_are() -> None:
    plain = stimulus("jittered/hold=6", "limited_lifetime=3", fps=60.0)
    whole, gif = display_facts(plain), display_facts(plain.every(2))
    assert all("frames_at_fps" not in step for step in whole["manipulations"])
    assert {step["frames_at_fps"] for step in gif["manipulations"]} == {60.0}
    assert gif["fps"] == 30 and whole["lifetime_ms"] == gif["lifetime_ms"] == 50
