"""Scenes of raw markers and of several people, and the views that frame them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.landmarks import dot_set, marker_dots, motion_dots, together
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.scenes import scene_of_markers, scene_of_motions
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import DotScene, make_stimulus, used_dots
from mimegen.pointlight.view import framed_view
from mimegen.readers.points import Points
from mimegen.readers.roles import find_roles
from mimegen.shots.camera import Camera

PLAIN = Display(name="test", description="", width=200, height=100, dots="all_markers")


def standing(frames: int, x: float) -> Motion:
    """Somebody who stands at X = ``x``, facing -Y."""
    skeleton = standard_skeleton()
    root = np.tile(skeleton.heads[0] + [x, 0.0, 0.0], (frames, 1))
    return Motion(skeleton, 30.0, root,
                  np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1)))


def marker_points() -> Points:
    places = np.zeros((6, 3, 3))
    places[:, 0] = [0.0, 0.0, 0.2]
    places[:, 1, 0], places[:, 1, 2] = np.arange(6), 1.7
    places[:, 2] = [3.0, 0.0, 1.0]
    places[[0, 3]] = np.nan
    return Points(("low", "high", "far"), places, 120.0, 0.001, "file", "z", "file", ())


def test_markers_are_chosen_by_their_labels() -> None:
    everything = scene_of_markers("m", marker_points(), PLAIN, {"a": 1})
    assert everything.dots.names == ("low", "high", "far") and everything.facts == {"a": 1}
    chosen = scene_of_markers("m", marker_points(), changed(PLAIN, dots="high, low"), {})
    assert chosen.dots.names == ("low", "high") and chosen.fps == 120.0
    with pytest.raises(RequestError, match=r"no marker 'hihg'.*high"):
        scene_of_markers("m", marker_points(), changed(PLAIN, dots="hihg"), {})
    with pytest.raises(RequestError, match="all_markers"):
        marker_dots(("a",), np.zeros((2, 1, 3)), dot_set("johansson"))


def test_where_all_markers_are_lost_the_middle_stays_where_it_was() -> None:
    chosen = scene_of_markers("m", marker_points(), changed(PLAIN, dots="low,high"), {})
    assert chosen.roots.shape == (6, 1, 3)
    assert chosen.roots[:, 0, 0].tolist() == [0.5, 0.5, 1.0, 1.0, 2.0, 2.5]
    assert np.allclose(chosen.roots[:, 0, 2], 0.95) and chosen.stature == pytest.approx(1.5)


def test_several_people_are_numbered_and_as_long_as_the_shortest() -> None:
    people = [standing(5, -1.0), standing(4, 1.0)]
    both = scene_of_motions("two", [(motion, None) for motion in people],
                            changed(PLAIN, dots="johansson"), {})
    count = len(dot_set("johansson").dots)
    assert both.dots.frames == 4 and both.dots.count == 2 * count and both.fps == 30.0
    assert {name[:2] for name in both.dots.names} == {"1:", "2:"}
    assert both.dots.performers.tolist() == [0] * count + [1] * count
    assert np.allclose(both.roots[:, 0, 0], -1.0) and np.allclose(both.roots[:, 1, 0], 1.0)
    first, second = both.dots.people
    assert np.allclose(both.dots.positions[:, second] - both.dots.positions[:, first],
                       [2.0, 0.0, 0.0])
    for limbs in both.dots.limbs.tolist():
        assert both.dots.performers[limbs[0]] == both.dots.performers[limbs[1]]
    alone = scene_of_motions("one", [(people[0], None)], changed(PLAIN, dots="johansson"), {})
    assert not alone.dots.names[0].startswith("1:")
    assert len(both.dots.limbs) == 2 * len(alone.dots.limbs) > 0
    skeleton = people[0].skeleton
    tall = max(skeleton.heads[:, 2].max(), skeleton.tails[:, 2].max())
    low = min(skeleton.heads[:, 2].min(), skeleton.tails[:, 2].min())
    assert alone.stature == pytest.approx(tall - low) and alone.last_s == pytest.approx(4 / 30)


def test_all_joints_are_dots_joined_as_bones_are() -> None:
    motion = standing(2, 0.5)
    dots = motion_dots(motion, find_roles(motion.skeleton).joints, dot_set("all_joints"), 3)
    assert dots.names == motion.skeleton.names and set(dots.performers.tolist()) == {3}
    assert np.allclose(dots.positions, motion.global_pose.positions)
    bones = {(int(parent), joint) for joint, parent in enumerate(motion.skeleton.parents)
             if parent >= 0}
    assert {tuple(limb) for limb in dots.limbs.tolist()} == bones
    assert together([dots]) is dots


def test_a_dot_between_joints_lies_in_their_middle_and_a_tail_at_the_bones_end() -> None:
    motion = standing(2, 0.0)
    roles = find_roles(motion.skeleton).joints
    chosen = dot_set("johansson").model_copy(update={
        "dots": {"hips": ("left_thigh", "right_thigh"), "top": ("head.tail",),
                 "head": ("head",)},
        "limbs": (), "trunk": (("hips", "top"),)})
    dots = motion_dots(motion, roles, chosen)
    joints = motion.skeleton
    left, right, head = (joints.index[roles[role]]
                         for role in ("left_thigh", "right_thigh", "head"))
    expected = [(joints.heads[left] + joints.heads[right]) / 2, joints.tails[head],
                joints.heads[head]]
    assert np.allclose(dots.positions[0], expected) and dots.trunk.tolist() == [[0, 1]]
    with pytest.raises(RequestError, match="which dot 'tail' requires"):
        motion_dots(motion, roles, chosen.model_copy(update={"dots": {"tail": ("tail_bone",)},
                                                             "trunk": ()}))


def ring(radius: float, height: float) -> DotTracks:
    """Two dots one above the other, both ``radius`` before the middle, and their opposites."""
    corners = np.array([[x, 0.0, z] for x in (-radius, radius) for z in (0.0, height)])
    return DotTracks.of(("a", "b", "c", "d"), np.zeros(4, np.intp), corners[None] + [5.0, 3.0, 0.0])


@pytest.mark.parametrize(("radius", "height", "scale"), [(0.1, 2.0, 40.0), (2.0, 0.5, 42.5)])
def test_an_upright_view_fills_the_picture_up_to_its_margin(radius: float, height: float,
                                                            scale: float) -> None:
    shown = changed(PLAIN, margin=0.05, dot_diameter="10px", azimuth_deg=0.0, elevation_deg=0.0)
    dots = ring(radius, height)
    view = framed_view(shown, dots, 1.7)
    assert view.scale == pytest.approx(scale) and np.allclose(view.middle, [5.0, 3.0, height / 2])
    for angle in (0.0, 90.0, 200.0):
        turned = framed_view(shown, dots, 1.7, angle)
        assert turned.scale == view.scale
        seen = turned.project(dots.positions)[0]
        assert np.allclose(seen[:, :2].mean(axis=0), [100.0, 50.0])
        assert seen[:, 1].max() - seen[:, 1].min() == pytest.approx(height * scale)
    assert framed_view(changed(shown, figure_height="85px"), dots, 1.7).scale == 50.0


def test_a_near_camera_sees_less_and_the_near_half_larger() -> None:
    shown = changed(PLAIN, margin=0.05, dot_diameter="10px", azimuth_deg=0.0, elevation_deg=0.0,
                    projection="perspective", camera_distance_m=4.0)
    dots = ring(1.0, 0.5)
    view = framed_view(shown, dots, 1.7)
    assert view.distance == 4.0 and view.scale == pytest.approx(85.0 * 0.75)
    for angle in range(0, 360, 30):
        seen = framed_view(shown, dots, 1.7, angle).project(dots.positions)[0]
        assert np.abs(seen[:, 0] - 100).max() <= 85 + 1e-9


def facts_of(camera: Camera | None = None, angle: float = 0.0, **values: object) -> dict[str, Any]:
    shown = changed(PLAIN, **{"dots": "johansson", "fps": 15.0, **values})
    people = scene_of_motions("one", [(standing(61, 0.0), None)], shown, {"action": "stand"})
    return display_facts(make_stimulus(people, shown, 5, angle, camera))


def test_a_record_gives_sizes_in_every_unit() -> None:
    facts = facts_of(pixels_per_degree=20.0, figure_height="4deg", dot_diameter="6px")
    assert facts.items() >= {
        "action": "stand", "dots_seed": 5, "pixels_per_degree": 20.0, "distance_cm": None,
        "pixel_pitch_mm": None, "width": 200, "height": 100, "width_deg": 10.0, "height_deg": 5.0,
        "figure_height_px": 80.0, "figure_height_deg": 4.0, "dot_diameter_px": 6.0,
        "dot_diameter_deg": 0.3, "dot_diameter_share_of_figure": 0.075,
        "depth_rule": "constant size", "dot_shape": "disc"}.items()
    assert facts["pixels_per_metre"] == pytest.approx(80 / facts["figure_height_m"], rel=1e-3)
    measured = facts_of(distance_cm=57.0, pixel_pitch_mm=0.5, dot_diameter="6px")
    assert (measured["distance_cm"], measured["pixel_pitch_mm"]) == (57.0, 0.5)
    assert measured["pixels_per_degree"] == pytest.approx(
        20 * 57.0 * np.tan(np.radians(0.5)) * 2, rel=1e-3)
    assert "depth" in facts_of(manipulations=("depth_sized=2",))["depth_rule"]


def test_a_record_gives_time_of_the_source_and_of_the_display() -> None:
    facts = facts_of(start=0.5, duration=1.0)
    assert facts.items() >= {
        "frames": 15, "fps": 15.0, "duration_s": 1.0, "source_fps": 30.0, "source_stride": 2.0,
        "source_frames": [15.0, 43.0], "span_ms": 933.333, "speed": 1.0, "direction": "forward",
        "lifetime_frames": None, "lifetime_ms": None}.items()
    slow = facts_of(manipulations=("speed=0.5", "reversed", "limited_lifetime=3"))
    assert slow.items() >= {"speed": 0.5, "direction": "reversed", "source_stride": 1.0,
                            "source_frames": [60.0, 0.0], "lifetime_frames": 3,
                            "lifetime_ms": 200.0}.items()
    still = facts_of(duration=0.01)
    assert still["frames"] == 1 and still["span_ms"] == still["speed"] == 0.0


def test_a_record_gives_light_and_dots() -> None:
    facts = facts_of(contrast=0.5, manipulations=("masked=30",))
    assert facts.items() >= {
        "polarity": "light", "contrast": 0.5, "dot_luminance": 0.5, "background_luminance": 0.0,
        "weber_contrast": None, "michelson_contrast": 1.0, "colors": ["#bcbcbc"],
        "background_color": "#000000", "dot_count": 13, "mask_dot_count": 30, "performers": 1,
        "dot_set": "johansson", "dots_added": [], "occlusion": "none"}.items()
    assert facts["dots"] == list(facts["landmarks"]) and len(facts["masks"]) == 1
    assert facts["dot_set_source"] == dot_set("johansson").source
    gray = facts_of(polarity="dark", background="#bcbcbc")
    assert gray["weber_contrast"] == gray["michelson_contrast"] == -1.0
    assert gray["background_luminance"] == pytest.approx(0.5, abs=0.003)
    everywhere = facts_of()
    assert everywhere["dots_shown_mean"] == everywhere["dots_shown_least"] == 13
    assert everywhere["dots_outside_share"] == 0.0
    large = facts_of(figure_height="1000px")
    assert large["dots_shown_least"] < 13 and large["dots_outside_share"] == pytest.approx(
        1 - large["dots_shown_mean"] / 13, abs=1e-3)


def test_the_shown_height_is_that_of_one_figure_as_displayed() -> None:
    plain = facts_of(figure_height="80px", pixels_per_degree=20.0)
    assert 60 < plain["shown_height_px"] < plain["figure_height_px"] == 80
    assert plain["shown_height_deg"] == pytest.approx(plain["shown_height_px"] / 20, abs=1e-3)
    for same in ("inverted", "masked=30"):
        assert facts_of(figure_height="80px", manipulations=(same,))[
            "shown_height_px"] == pytest.approx(plain["shown_height_px"], abs=0.01), same
    crowd = facts_of(figure_height="80px", manipulations=("crowd=4",))
    assert crowd["shown_height_px"] / crowd["figure_height_px"] == pytest.approx(
        plain["shown_height_px"] / 80, rel=1e-3)
    feet = facts_of(figure_height="80px", manipulations=("only=feet",))
    assert feet["shown_height_px"] < 10


def test_a_record_gives_the_view() -> None:
    facts = facts_of(angle=90.0, azimuth_deg=10.0, elevation_deg=5.0)
    assert facts.items() >= {"projection": "orthographic", "azimuth_deg": 100.0, "anchor": "world",
                             "elevation_deg": 5.0, "translation": "kept",
                             "camera_distance_m": None}.items()
    local = facts_of(manipulations=("local",), projection="perspective", camera_distance_m=6.0)
    assert local.items() >= {"projection": "perspective", "camera_distance_m": 6.0,
                             "anchor": "performer", "translation": "removed"}.items()
    # Level, from +X, looking along -X: from the person's left.
    side = Camera((6.0, 0.0, 0.9), (0.5, 0.5, 0.5, 0.5), 50.0, 200, 100)
    seen = facts_of(camera=side)
    assert seen["projection"] == "perspective" and seen["elevation_deg"] == 0.0
    assert seen["azimuth_deg"] == 90.0 and seen["camera_distance_m"] == pytest.approx(6.0, abs=0.1)


@pytest.mark.parametrize(("axis", "end"), [(0, 200.0), (1, 100.0)])
def test_a_dot_is_used_where_any_of_it_lies_in_the_picture(axis: int, end: float) -> None:
    dots = marker_dots(("a", "b", "c", "d"), np.random.default_rng(0).random((2, 4, 3)))
    shown = changed(PLAIN, dot_diameter="6px")
    made = make_stimulus(DotScene("m", dots, np.zeros((2, 1, 3)), 30.0, 1.7), shown)
    places = np.full(made.dots.positions.shape, 50.0)
    places[..., axis], places[..., 2] = [-2.9, -3.1, end + 2.9, end + 3.1], 1000.0
    used = used_dots(replace(made, dots=made.dots.moved(places)))
    assert used.tolist() == [[True, False, True, False]] * len(places)
