"""Two files of one scene come together where they were recorded."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bvh_files import BvhFile
from mimegen.base.errors import RequestError
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import user_take
from mimegen.motion.editing import moved, resampled
from mimegen.readers import read_motion
from mimegen.readers.options import ReadOptions, Trim
from mimegen.readers.partners import (
    LINE_DEG,
    cut_to_common_span,
    doubts_on_placement,
    in_common_frame,
    partner_options,
)
from places import SAMPLES

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="no ../shared/mocap-samples here")
ONE, TWO = SAMPLES / "bvh" / "cmu_18_01.bvh", SAMPLES / "bvh" / "cmu_19_01.bvh"
UNIT = 0.0254 / 0.45


def raw_roots(file: Path) -> NDArray[Any]:
    """Return the hips' places as the file's own channels have them, in metres, Y up."""
    rows = file.read_text().split("Frame Time")[1].splitlines()[1:]
    return np.array([row.split()[:3] for row in rows if row.strip()], float) * UNIT


def test_people_keep_their_distance_and_meet() -> None:
    one, two = in_common_frame(read_motion(ONE), read_motion(TWO))
    assert one.frames == two.frames and one.fps == two.fps
    apart = np.linalg.norm((two.root_positions - one.root_positions)[:, :2], axis=1)
    recorded = (raw_roots(TWO) - raw_roots(ONE))[1:, [0, 2]]
    assert np.allclose(apart, np.linalg.norm(recorded, axis=1), atol=1e-3)
    places = [motion.global_pose.positions for motion in (one, two)]
    nearest = np.linalg.norm(places[0][:, :, None] - places[1][:, None], axis=-1).min(axis=0)
    hand = one.skeleton.index["RightHandIndex1"]
    assert np.unravel_index(nearest.argmin(), nearest.shape) == (hand, hand)


def test_the_scene_is_centred_and_turned_to_show_both() -> None:
    one, two = in_common_frame(read_motion(ONE), read_motion(TWO))
    apart = two.root_positions[0] - one.root_positions[0]
    assert np.isclose(np.degrees(np.arctan2(apart[1], apart[0])), LINE_DEG)
    middle = np.mean((one.root_positions + two.root_positions) / 2, axis=0)
    assert np.allclose(middle[:2], 0.0, atol=1e-9)


def test_another_frame_rate_is_brought_to_the_first_ones() -> None:
    second = read_motion(TWO)
    slower = replace(second, motion=resampled(second.motion, 60.0))
    one, two = in_common_frame(read_motion(ONE), slower)
    same, expected = in_common_frame(read_motion(ONE), second)
    frames = min(two.frames, expected.frames)
    assert two.fps == one.fps == 120.0
    assert np.allclose(two.root_positions[:frames], expected.root_positions[:frames], atol=5e-3)
    assert np.allclose(one.root_positions[:frames], same.root_positions[:frames], atol=5e-3)


@pytest.mark.parametrize("late", [(0, 50), (50, 0), (7, 50)])
def test_who_is_seen_later_keeps_their_clock(late: tuple[int, int]) -> None:
    whole = [read_motion(file) for file in (ONE, TWO)]
    frames = whole[0].motion.frames
    seen = [replace(one, skipped=skipped, motion=one.motion.at(np.arange(skipped, frames)))
            for one, skipped in zip(whole, late, strict=True)]
    found = cut_to_common_span((ONE, TWO), seen, Trim())
    for one, true in zip(found, whole, strict=True):
        assert one.motion.frames == frames - 50
        assert np.allclose(one.motion.rotations[:, 1:], true.motion.rotations[50:, 1:])


def test_one_file_for_both_people_is_refused() -> None:
    with pytest.raises(RequestError, match=f"{ONE.name}: is given for both people"):
        partner_options(ONE, ONE, ReadOptions())


def test_people_who_are_never_seen_together_are_refused() -> None:
    one, two = (read_motion(file) for file in (ONE, TWO))
    with pytest.raises(RequestError, match="not seen at the same time"):
        cut_to_common_span((ONE, TWO), (one, replace(two, skipped=5000)), Trim())


@pytest.mark.parametrize("axis", "XZ")
def test_two_mirrored_files_keep_their_placement(tmp_path: Path, axis: str) -> None:
    whole = [read_motion(file) for file in (ONE, TWO)]
    found = [read_motion(BvhFile(file.read_text()).mirrored(axis).write(tmp_path / file.name))
             for file in (ONE, TWO)]
    assert [one.mirrored for one in (*whole, *found)] == [False, False, True, True]
    for true, seen in zip(in_common_frame(*whole), in_common_frame(*found), strict=True):
        assert np.allclose(seen.global_pose.positions, true.global_pose.positions, atol=2e-3)
    assert doubts_on_placement(found) == doubts_on_placement(whole) == ()
    assert "the people's positions relative to each other are uncertain" in doubts_on_placement(
        (whole[0], found[1]))[0]


def test_files_of_other_worlds_are_refused() -> None:
    with pytest.raises(RequestError, match="do not share a world"):
        in_common_frame(read_motion(ONE), replace(read_motion(TWO), up_axis="Z"))


def test_files_of_other_units_are_refused() -> None:
    """The second person would be 9 m tall in the first file's unit."""
    with pytest.raises(RequestError, match="are not of one scene"):
        in_common_frame(read_motion(ONE), read_motion(SAMPLES / "fbx" / "mixamo_ybot_punch.fbx"))


def test_two_people_in_one_place_are_doubted() -> None:
    one = read_motion(ONE)
    assert any("in one place" in note for note in doubts_on_placement([one, one]))
    assert doubts_on_placement([one, read_motion(TWO)]) == ()


def test_moving_there_and_back_changes_nothing() -> None:
    motion = read_motion(ONE).motion
    shift = np.array([1.0, -2.0, 0.0])
    there = moved(motion, shift, 70.0)
    back = moved(moved(there, np.zeros(3), -70.0), -shift, 0.0)
    assert np.allclose(back.root_positions, motion.root_positions)
    assert np.allclose(back.global_pose.rotations, motion.global_pose.rotations, atol=1e-9)


def test_clips_of_files_with_one_name_are_told_apart(tmp_path: Path) -> None:
    catalogue = Catalogue.with_libraries(())
    takes = []
    for folder, source in (("monday", ONE), ("tuesday", TWO)):
        file = tmp_path / folder / "walk.bvh"
        file.parent.mkdir()
        shutil.copy(source, file)
        takes.append(user_take(catalogue, file, ("walking",), None, None, "CC0"))
    takes.append(user_take(catalogue, tmp_path / "monday" / "walk.bvh", ("walking",), None, None,
                           "CC0", partner=tmp_path / "tuesday" / "walk.bvh"))
    assert len({tuple(take.version) for take in takes}) == 3
    assert len({(take.action, take.name) for take in takes}) == 1


@pytest.mark.parametrize("mirror", [False, True])
def test_the_front_of_a_scene_is_where_its_first_person_faces(mirror: bool) -> None:
    take = user_take(Catalogue.with_libraries(()), ONE, ("meeting",), None, None, "CC0",
                     partner=TWO)
    take = replace(take, mirror=mirror)
    motion, roles = take.sources(30)[0]
    joint = motion.skeleton.index
    places = motion.global_pose.positions[:12]
    assert roles is not None
    left, right = (np.mean([places[:, joint[roles[f"{side}_{part}"]]]
                            for part in ("thigh", "upper_arm")], axis=(0, 1))
                   for side in ("left", "right"))
    left = left - right
    # Who faces -Y has the left at +X.
    faces = np.degrees(np.arctan2(left[1], left[0]))
    assert abs(faces) > 20, "this scene must not face the stage's front by chance"
    expected = 2 * MIME_AZIMUTH_DEG - faces if mirror else faces
    assert (take.front_deg - expected + 180) % 360 - 180 == pytest.approx(0, abs=5)
