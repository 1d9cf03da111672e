"""How fast a file's motion is, and where frames are missing, by the times and numbers in it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bvh_files import walk
from camera_files import Joints, places_of, tracked_joints, write_cameras
from examples import examples
from mimegen.base.errors import RequestError
from mimegen.readers import read_motion
from mimegen.readers.rates import evened, numbered_rows, rate_of_times
from places import DATA

Keep = Callable[[int], bool]
LABELS = {f"{mark.upper()}{label}": f"{mark}{part}" for mark in "lr" for label, part in {
    "Hip": "hi", "Knee": "kn", "Ankle": "an", "BigToe": "ft", "Shoulder": "sh", "Elbow": "el",
    "Wrist": "wr", "Ear": "ear"}.items()}


@pytest.fixture(scope="module")
def joints() -> Joints:
    """Somebody's walk of 40 frames."""
    return tracked_joints(places_of(DATA / "left_handed.bvh"))


def write_trc(path: Path, found: Joints, times: NDArray[np.float64], header: float, digits: int
              ) -> Path:
    """Write joint centres as Pose2Sim does, at rounded times."""
    places = 1000 * np.stack([found[part] for part in LABELS.values()], 1)[..., [0, 2, 1]]
    places[..., 2] *= -1
    names = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits"
    rows = ["PathFileType\t4\t(X/Y/Z)\tmade.trc", names,
            f"{header:g}\t{header:g}\t{len(times)}\t{len(LABELS)}\tmm",
            "Frame#\tTime\t" + "\t\t\t".join(LABELS), "\t\t", ""]
    rows += ["\t".join([str(number), f"{time:.{digits}f}", *(f"{v:.4f}" for v in one.ravel())])
             for number, (time, one) in enumerate(zip(times, places, strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("rate", [24.0, 29.97, 30.0, 60.0, 100.0, 120.0, 240.0])
@pytest.mark.parametrize("header", [True, False])
def test_times_of_three_digits_tell_the_rate(joints: Joints, tmp_path: Path, rate: float,
                                             header: bool) -> None:
    times = np.arange(len(joints["nose"])) / rate
    file = write_trc(tmp_path / "made.trc", joints, times, rate if header else 0.0, 3)
    found = read_motion(file)
    assert found.motion.fps == pytest.approx(rate, rel=1e-3)
    assert not [note for note in found.notes if "fps" in note]


@settings(max_examples=examples(60), deadline=None)
@given(rate=st.sampled_from([24.0, 25.0, 30.0, 50.0, 60.0, 75.0, 100.0, 120.0, 200.0, 240.0]),
       digits=st.integers(2, 7), count=st.integers(100, 400), start=st.floats(0.0, 50.0))
def test_rounding_of_times_does_not_move_the_rate(rate: float, digits: int, count: int,
                                                  start: float) -> None:
    if rate > 10.0**digits:
        return
    times = np.round(start + np.arange(count) / rate, digits)
    assert rate_of_times(times) == pytest.approx(rate, rel=2 * 10.0**-digits * rate / count)


def test_the_last_step_of_a_table_may_be_shorter() -> None:
    assert rate_of_times(np.r_[np.arange(125) * 0.04, 4.992]) == 25.0


def test_missing_frames_of_a_table_are_a_gap_in_time(joints: Joints, tmp_path: Path) -> None:
    kept = np.r_[0:15, 25:40]
    whole = read_motion(write_trc(tmp_path / "whole.trc", joints, np.arange(40) / 30, 30.0, 6))
    some = {name: places[kept] for name, places in joints.items()}
    found = read_motion(write_trc(tmp_path / "some.trc", some, kept / 30, 30.0, 6))
    assert (found.motion.frames, found.motion.fps) == (40, 30.0)
    assert any("10 frames missing" in note for note in found.notes)
    apart = found.motion.root_positions - whole.motion.root_positions
    assert np.abs(apart).max() < 0.03


def test_uneven_times_are_followed() -> None:
    times = np.cumsum(np.random.default_rng(1).uniform(0.02, 0.05, 300))
    rate = rate_of_times(times)
    values, notes = evened(times, times[:, None], rate)
    even = times[0] + np.arange(len(values)) / rate
    inside = even < times[-1]
    assert np.abs(values[inside, 0] - even[inside]).max() < 1e-9 and "uneven" in notes[0]


def test_even_times_change_nothing() -> None:
    values = np.arange(20.0)[:, None]
    found = evened(np.round(np.arange(20) / 120, 3), values, 120.0)
    assert found.values is values and not found.notes


@pytest.mark.parametrize(("numbers", "rows"), [
    ([5, 6, 9], [0, 1, 4]), ([0, 2, 4, 8], [0, 1, 2, 4]), ([3, 3, 4], None), ([7], None)])
def test_numbers_of_frames_tell_their_rows(numbers: list[int], rows: list[int] | None) -> None:
    assert numbered_rows(numbers) == rows


def without_frames(kind: str, file: Path, keep: Keep) -> None:
    """Leave frames out of a file, as where a pose estimator saw nobody."""
    if kind == "CSV":
        head, *rows = file.read_text().split("\n")
        file.write_text("\n".join([head, *(r for n, r in enumerate(rows) if keep(n))]))
        return
    tree = json.loads(file.read_text())
    if kind == "MediaPipe":
        kept = [{"frame": n, **frame} for n, frame in enumerate(tree) if keep(n)]
        file.write_text(json.dumps(kept))
        return
    tree["frames"] = [frame for n, frame in enumerate(tree["frames"]) if keep(n)]
    file.write_text(json.dumps(tree))


@pytest.mark.parametrize("kind", ["CSV", "MediaPipe", "Azure Kinect"])
def test_frames_without_anybody_are_not_closed_up(joints: Joints, tmp_path: Path,
                                                  kind: str) -> None:
    file = write_cameras(tmp_path, joints)[kind]
    without_frames(kind, file, lambda number: not 15 <= number < 25)
    found = read_motion(file)
    assert (found.motion.frames, round(found.motion.fps, 2)) == (40, 30.0)
    assert any("not visible in 10 frames" in note for note in found.notes)


def test_a_table_of_two_people_is_refused(joints: Joints, tmp_path: Path) -> None:
    lines = ["frame,person,landmark,x,y,z"]
    lines += [f"{frame},{person},{joint},{frame},{person},{joint}" for frame in range(4)
              for person in range(2) for joint in range(33)]
    (tmp_path / "two.csv").write_text("\n".join(lines))
    with pytest.raises(RequestError, match="one person's lines"):
        read_motion(tmp_path / "two.csv")


def test_frames_before_anybody_is_seen_are_counted(joints: Joints, tmp_path: Path) -> None:
    file = write_cameras(tmp_path, joints)["MediaPipe"]
    tree = json.loads(file.read_text())
    file.write_text(json.dumps([{}] * 12 + tree))
    found = read_motion(file)
    assert (found.skipped, found.motion.frames) == (12, 40)
    assert any("frames 12 to 51 of 52 are used" in note for note in found.notes)


@pytest.mark.parametrize(("word", "rate", "said"), [
    ("0.033", 30.0, True), ("0.017", 60.0, True), ("0.0083", 120.0, True), ("0.0333", 30.0, False),
    ("0.033333", 30.0, False), ("0.008333", 120.0, False), ("0.0333667", 30 / 1.001, False),
    ("0.041708", 24 / 1.001, False), ("0.01", 100.0, False), ("0.03", 100 / 3, False),
    ("0.0345", 1 / 0.0345, False)])
def test_rounded_frame_times_of_bvh(tmp_path: Path, word: str, rate: float, said: bool) -> None:
    file = walk().write(tmp_path / "a.bvh")
    file.write_text(re.sub(r"Frame Time: \S+", f"Frame Time: {word}", file.read_text()))
    found = read_motion(file)
    assert found.motion.fps == pytest.approx(rate, rel=1e-6)
    assert any("is rounded" in note for note in found.notes) == said
