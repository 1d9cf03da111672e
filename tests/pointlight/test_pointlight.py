"""What is in the picture of a point-light display."""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.pointlight.discs import Canvas, disc_coverage, to_linear
from mimegen.pointlight.dots import sampled
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.landmarks import dot_set, dot_sets, marker_dots
from mimegen.pointlight.manipulations import MANIPULATIONS, read_manipulation
from mimegen.pointlight.presets import presets, read_display
from mimegen.pointlight.sample import sample_windows
from mimegen.pointlight.scenes import scene_of_motions
from mimegen.pointlight.spec import Display, FrameSample, changed
from mimegen.pointlight.stimulus import DotScene, Stimulus, make_stimulus
from mimegen.pointlight.view import camera_view
from mimegen.pointlight.words import worded_display
from mimegen.shots.camera import Camera

FPS = 60.0


def walker(frames: int = 61, stride: float = 0.6) -> Motion:
    """Somebody who walks towards -Y, swinging arms and legs, well enough for dots."""
    skeleton = standard_skeleton()
    moments = np.arange(frames) / FPS
    swing = np.zeros((frames, len(skeleton.names), 3))
    for name, size in (("LeftUpLeg", stride), ("RightUpLeg", -stride), ("LeftArm", -stride),
                       ("RightArm", stride), ("Spine", 0.1)):
        swing[:, skeleton.index[name], 0] = size * np.sin(2 * np.pi * moments)
    for name in ("LeftLeg", "RightLeg"):
        swing[:, skeleton.index[name], 0] = 0.4 * (1 - np.cos(4 * np.pi * moments))
    root = np.tile(skeleton.heads[0], (frames, 1))
    root[:, 1] -= 1.2 * moments
    return Motion(skeleton, FPS, root, quaternions.from_rotation_vectors(swing))


def display(**values: object) -> Display:
    return changed(Display(name="test", description="", width=256, height=256, fps=FPS), **values)


def scene(shown: Display, people: Sequence[Motion] | None = None) -> DotScene:
    motions = people or [walker()]
    return scene_of_motions("walker", [(motion, None) for motion in motions], shown, {})


def stimulus(*manipulations: str, seed: int = 0, **values: object) -> Stimulus:
    shown = display(manipulations=manipulations, **values)
    return make_stimulus(scene(shown), shown, seed)


def frames_of(made: Stimulus) -> NDArray[Any]:
    return np.stack([picture.copy() for picture in pictures(made)])


@given(st.lists(st.tuples(st.floats(4, 5), st.floats(4, 5), st.floats(0.2, 3.9)), min_size=1,
                max_size=6))
@settings(max_examples=examples(20), deadline=None)
def test_a_disc_covers_exactly_its_share_of_every_pixel(discs: list[tuple[float, ...]]) -> None:
    x, y, radius = np.array(discs).T
    cover = disc_coverage(np.stack([x, y], axis=1), radius, 9)
    fine = (np.arange(9 * 64) + 0.5) / 64
    inside = ((fine - x[:, None])[:, None, :] ** 2 + (fine - y[:, None])[:, :, None] ** 2
              < radius[:, None, None] ** 2)
    sampled_64 = inside.reshape(-1, 9, 64, 9, 64).mean(axis=(2, 4))
    assert np.abs(cover - sampled_64).max() < 0.02
    assert np.abs(cover - sampled_64).mean() < 0.001
    assert np.allclose(cover.sum(axis=(1, 2)), np.pi * radius**2)


def test_dots_are_where_they_should_be_to_a_64th_of_a_pixel() -> None:
    rng = np.random.default_rng(3)
    places = rng.uniform(10, 50, (40, 1, 2))
    canvas = Canvas(64, 64, np.zeros(3), gray=True)
    for place, picture in zip(places[:, 0], canvas.frames(
            places, np.full((40, 1), 9.0), np.ones((40, 1)), np.ones((1, 3))), strict=True):
        light = to_linear(picture)
        middle = [(light.sum(axis=axis) * (np.arange(64) + 0.5)).sum() / light.sum()
                  for axis in (0, 1)]
        assert np.abs(middle - place).max() < 1 / 64
        assert light.sum() == pytest.approx(np.pi * 4.5**2, rel=2e-3)


def test_pictures_do_not_remember_earlier_ones_and_cut_dots_at_the_edge() -> None:
    places = np.array([[[5.0, 5.0]], [[0.0, 31.5]], [[np.nan, 3.0]], [[200.0, 3.0]]])
    canvas = Canvas(32, 32, np.full(3, 0.2), gray=False)
    shown = [picture.copy() for picture in canvas.frames(
        places, np.full((4, 1), 6.0), np.ones((4, 1)), np.array([[1.0, 0.0, 0.0]]))]
    empty = np.full((32, 32, 3), shown[2][0, 0])
    assert (shown[2] == empty).all() and (shown[3] == empty).all()
    changed_pixels = (shown[1] != empty).any(axis=-1)
    assert changed_pixels[28:, :4].any() and not changed_pixels[:, 4:].any()
    assert (shown[0][4, 4] == [255, 0, 0]).all()


@pytest.mark.parametrize("name", ["johansson", "troje", "biomotion", "hands_and_feet"])
def test_as_many_dots_as_the_set_has(name: str) -> None:
    made = stimulus(dots=name, dot_diameter="3px", azimuth_deg=20.0, width=512, height=512)
    _, count = ndimage.label(frames_of(made)[15] > 0, np.ones((3, 3)))
    apart = made.dots.positions[15, :, None, :2] - made.dots.positions[15, None, :, :2]
    touching = (np.linalg.norm(apart, axis=-1) < 6).sum() - made.dots.count
    assert made.dots.count == len(dot_set(name).dots)
    assert made.dots.count - touching <= count <= made.dots.count


def test_centroids_are_the_projection_of_the_joints() -> None:
    made = stimulus(dot_diameter="5px", azimuth_deg=90.0, dots="left_ankle,head,right_wrist")
    motion, index = walker(), standard_skeleton().index
    pose = motion.global_pose.positions
    ankle = pose[:, index["LeftFoot"]]
    # Seen from the person's left, what is behind them (+Y) is on the right.
    flat = np.stack([ankle[:, 1] - made.view.middle[1], made.view.middle[2] - ankle[:, 2]], axis=1)
    expected = 128 + made.view.scale * flat
    assert np.allclose(made.dots.positions[:, 0, :2], expected)
    picture = to_linear(frames_of(made)[7])
    labels, count = ndimage.label(picture > 0, np.ones((3, 3)))
    centres = np.array(ndimage.center_of_mass(picture, labels, range(1, count + 1))) + 0.5
    assert count == 3
    nearest = np.abs(centres[:, ::-1] - expected[7]).max(axis=1).min()
    assert nearest < 1 / 32


def test_from_the_front_the_left_hand_is_on_the_right_and_views_agree_in_size() -> None:
    front, left = stimulus(azimuth_deg=0.0), stimulus(azimuth_deg=90.0)
    hand, other = front.dots.names.index("left_wrist"), front.dots.names.index("right_wrist")
    assert (front.dots.positions[:, hand, 0] > front.dots.positions[:, other, 0]).all()
    assert front.view.scale == left.view.scale
    assert np.allclose(front.dots.positions[..., 1], left.dots.positions[..., 1])


def test_dots_lie_where_the_stages_camera_sees_the_joints() -> None:
    shown = display(manipulations=())
    camera = Camera((3.0, -6.0, 1.4), tuple(quaternions.from_euler("xyz", [85.0, 0, 27])), 50,
                    256, 256)
    made = make_stimulus(scene(shown), shown, camera=camera)
    joint = walker().global_pose.positions[:, standard_skeleton().index["LeftFoot"]]
    ankle = made.dots.names.index("left_ankle")
    assert np.allclose(made.dots.positions[:, ankle, :2], camera.project(joint)[:, :2])
    assert camera_view(camera, made.scene.dots).distance == pytest.approx(
        camera.project(made.view.middle)[2])


def test_perspective_makes_near_things_larger() -> None:
    made = stimulus(projection="perspective", camera_distance_m=3.0, azimuth_deg=0.0)
    flat = stimulus(projection="orthographic", azimuth_deg=0.0)
    pair = [made.dots.names.index(name) for name in ("left_shoulder", "right_shoulder")]

    def width(which: Stimulus, frame: int) -> float:
        return float(np.diff(which.dots.positions[frame, pair, 0])[0])

    assert width(made, 60) / width(made, 0) == pytest.approx(
        (3.0 + made.dots.positions[0, pair[0], 2])
        / (3.0 + made.dots.positions[60, pair[0], 2]), rel=.01)
    assert width(flat, 60) == pytest.approx(width(flat, 0), rel=0.05)


def test_sizes_in_degrees() -> None:
    made = stimulus(dot_diameter="0.5deg", distance_cm=57.3, pixel_pitch_mm=0.5, dots="head",
                    figure_height="8deg")
    assert made.display.degree_pixels == pytest.approx(20, rel=0.001)
    area = to_linear(frames_of(made)[0]).sum()
    assert area == pytest.approx(np.pi * 5**2, rel=0.01)
    height = made.scene.stature * made.view.scale
    assert height == pytest.approx(160, rel=0.001)


def test_the_same_request_gives_the_same_dots_and_another_seed_others() -> None:
    words = ("scrambled", "masked=30", "jittered=2px", "limited_lifetime=3", "phase_scrambled")
    first, second, other = (stimulus(*words, seed=seed).dots.positions for seed in (4, 4, 5))
    assert (first == second).all() and not np.allclose(first, other)
    names = {made.name for made in (stimulus(), stimulus("inverted"), stimulus(seed=4),
                                    stimulus(polarity="dark"), stimulus(azimuth_deg=1.0))}
    assert len(names) == 5 and stimulus().name in names
    alone = stimulus("scrambled", seed=4).dots.positions
    assert alone[0, 0, :2].round(2).tolist() == [106.34, 51.36]
    twice = stimulus("jittered=2px", "jittered=2px", seed=4).dots.positions[..., :2]
    still = stimulus(seed=4).dots.positions[..., :2]
    assert (twice - still).std() == pytest.approx(8**0.5, rel=0.1)


@pytest.mark.parametrize(("values", "hint"), [
    ({"manipulations": ("limited_lifetime=2/rule=joints/count=13",)}, "12 dots"),
    ({"manipulations": ("without=hed",)}, "no dot 'hed'"), ({"start": 99.0}, "last frame"),
    ({"dots": "all_markers"}, "all_joints"), ({"dots": "head,nose"}, "nose"),
    ({"occlusion": "body"}, "body"),
])
def test_what_does_not_fit_the_dots_is_said(values: dict[str, object], hint: str) -> None:
    with pytest.raises(RequestError, match=hint):
        shown = display(**values)
        make_stimulus(scene(shown), shown)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=20), st.builds(
    "{}{}{}".format, st.sampled_from(sorted(MANIPULATIONS)), st.sampled_from(["=", "/", "/count="]),
    st.text(max_size=8))))
def test_any_text_is_a_manipulation_or_refused(text: str) -> None:
    for read in (read_manipulation, lambda word: worded_display([word], display())):
        with contextlib.suppress(RequestError):
            read(text)


@given(st.integers(1, 400), st.integers(1, 12), st.floats(0, 0.3), st.integers(0, 6))
def test_windows_lie_within_what_trimming_leaves(frames: int, size: int, trim: float,
                                                 retries: int) -> None:
    sample = FrameSample(frames=size, trim=trim, retries=retries, columns=4)
    cut = int(frames * trim)
    if frames - 2 * cut < size:
        with pytest.raises(RequestError, match="too few"):
            sample_windows(sample, frames)
        return
    windows = sample_windows(sample, frames)
    assert len(windows) == retries + 1
    for window in windows:
        assert len(window) == size and (np.diff(window) == 1).all()
        assert window[0] >= cut and window[-1] < frames - cut


def test_actplds_windows_to_the_letter() -> None:
    sample = read_display("actpld").sample
    assert sample is not None
    windows = sample_windows(sample, 100)
    assert [window[0] for window in windows] == [46, 38, 54, 30]
    assert [window[-1] for window in windows] == [53, 45, 61, 37]


def test_every_preset_and_set_can_be_read() -> None:
    assert {"actpld", "johansson", "standard"} <= set(presets())
    for name in presets():
        assert read_display(name).name == name
    for name, chosen in dot_sets().items():
        assert chosen.name == name
        joints = {end for line in (*chosen.limbs, *chosen.trunk) for end in line}
        assert joints <= set(chosen.dots)


def test_lost_markers_are_not_drawn_and_unseen_ones_are_no_dots() -> None:
    places = np.random.default_rng(0).normal(0, 0.5, (20, 4, 3))
    places[5:9, 1], places[:, 3] = np.nan, np.nan
    dots = marker_dots(("a", "b", "c", "d"), places)
    assert dots.names == ("a", "b", "c") and dots.visible[:, 1].sum() == 16
    shown = display(dots="all_markers", dot_diameter="4px")
    made = make_stimulus(DotScene("m", dots, np.zeros((20, 1, 3)), FPS, 1.0), shown)
    counts = [ndimage.label(picture > 0, np.ones((3, 3)))[1] for picture in frames_of(made)]
    assert counts[6] == 2 and counts[0] == 3


@given(st.integers(2, 9), st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_sampling_goes_through_every_frame_and_stays_beside_gaps(count: int,
                                                                 shares: list[float]) -> None:
    values = np.random.default_rng(count).normal(size=(count, 2))
    assert np.allclose(sampled(values, np.arange(count, dtype=float)), values)
    values[count // 2, 0] = np.nan
    at = sampled(values, np.array(shares) * (count - 1.0))
    assert np.isfinite(at[:, 1]).all()
    line = np.arange(count, dtype=float)[:, None]
    assert np.allclose(sampled(line, np.array(shares) * (count - 1.0))[:, 0],
                       np.array(shares) * (count - 1.0))


