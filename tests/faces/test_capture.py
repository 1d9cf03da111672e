"""Captured faces: what Live Link Face and BEAT write, and what is none of it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.faces.capture import read_captured
from mimegen.faces.overlay import FaceOverlay
from mimegen.faces.words import arkit_names

NAMES = arkit_names()


def live_link(path: Path, frames: int = 90, rate: int = 60) -> Path:
    """Write a jaw that opens by the frame, and eyes that look to the left."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Timecode", "BlendshapeCount", *(name[0].upper() + name[1:]
                                                          for name in NAMES), "HeadYaw"])
        for frame in range(frames):
            second, rest = divmod(frame + 50, rate)
            sizes = {"jawOpen": frame / frames, "eyeLookOutLeft": 0.5, "eyeLookInRight": 0.5}
            writer.writerow([f"10:59:{second:02d}:{rest:02d}.250", 61,
                             *(f"{sizes.get(name, 0.0):.6f}" for name in NAMES), "0.1"])
    return path


def beat(path: Path, **changed: object) -> Path:
    frames = [{"weights": [frame / 30 if name == "jawOpen" else 0.0 for name in NAMES],
               "time": frame / 30, "rotation": []} for frame in range(30)]
    path.write_text(json.dumps({"names": NAMES, "frames": frames} | changed))
    return path


def test_live_link_has_its_rate_and_weights(tmp_path: Path) -> None:
    captured = read_captured(live_link(tmp_path / "face.csv"))
    assert captured.fps == pytest.approx(60, abs=0.01)
    assert captured.duration == pytest.approx(89 / 60, abs=1e-6)
    values = captured.at(np.array([0.0, 0.5, 1.0]), 0.4)
    assert np.allclose(values["jawOpen"], [0, 30 / 90, 60 / 90], atol=1e-5)
    assert np.allclose(values["look_left"], 15) and np.allclose(values["look_up"], 0)


@pytest.mark.parametrize("rate", [24, 30, 60])
def test_timecodes_within_one_second_do_not_tell_their_rate(tmp_path: Path, rate: int) -> None:
    whole = live_link(tmp_path / "whole.csv", frames=2 * rate, rate=rate)
    assert read_captured(whole).fps == pytest.approx(rate, abs=0.01)
    head, *lines = whole.read_text().splitlines()
    first = [line for line in lines if line.startswith(lines[-1][:8])][:20]
    short = tmp_path / "short.csv"
    short.write_text("\n".join([head, *first]))
    with pytest.raises(RequestError, match=r"short\.csv: lies within one second"):
        read_captured(short)


def test_beat_plays_and_leaves_after_its_end(tmp_path: Path) -> None:
    captured = read_captured(beat(tmp_path / "face.json"))
    assert captured.fps == pytest.approx(30, abs=0.01)
    values = captured.at(np.array([0.5, 5.0]), 0.4)
    assert values["jawOpen"] == pytest.approx([0.5, 0.0], abs=1e-6)
    shown, head = FaceOverlay(file=tmp_path / "face.json").faces(np.arange(24) / 24,
                                                                 np.random.default_rng(0))
    assert shown["jawOpen"].max() > 0.8 and not head.any()


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.csv", "", "line 1: expected columns Timecode"),
    ("a.csv", "x,y\n1,2\n", "line 1: expected columns Timecode"),
    ("a.csv", "Timecode,BlendshapeCount,JawOpen\n00:00:00:01,61,0\n", "of ARKit's 52"),
    ("a.json", "{", "is not JSON"), ("a.json", "[1]", "expected 'names' and 'frames'"),
    ("a.json", '{"names": ["jawOpen"], "frames": [{"weights": [0, 1], "time": 0}]}',
     "expected 1 weights in every frame"),
    ("a.json", "[" * 100_000, "is not JSON"), ("a.txt", "x", "expected a .csv"),
])
def test_what_is_none_gets_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(RequestError, match=message) as caught:
        read_captured(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_wrong_numbers_and_times_are_told(tmp_path: Path) -> None:
    good = json.loads(beat(tmp_path / "good.json").read_text())["frames"]
    for frames, message in (
            ([*good, {**good[-1], "time": 0.0}], "time runs backwards or stands still at frame 30"),
            ([{**good[0], "time": "x"}, *good[1:]], "expected numbers"),
            ([{**good[0], "weights": [1e9] * 52}, *good[1:]], "ARKit's are 0 to 1"),
            ([{**good[0], "weights": [float("nan")] * 52}, *good[1:]], "not finite"),
            (good[:1], "expected 2 to")):
        with pytest.raises(RequestError, match=message):
            read_captured(beat(tmp_path / "bad.json", frames=frames))
    with pytest.raises(RequestError, match="no such file"):
        read_captured(tmp_path / "missing.csv")


@given(at=st.integers(0, 4000), byte=st.integers(0, 255), cut=st.integers(0, 20_000))
@settings(max_examples=25, deadline=None, suppress_health_check=[
    HealthCheck.function_scoped_fixture])
def test_damaged_files_end_in_one_line_or_are_read(tmp_path: Path, at: int, byte: int, cut: int
                                                   ) -> None:
    data = bytearray(live_link(tmp_path / "whole.csv", frames=20).read_bytes())
    data[at % len(data)] = byte
    path = tmp_path / f"{at}_{byte}_{cut}.csv"
    path.write_bytes(data[:max(len(data) - cut, 0)])
    try:
        captured = read_captured(path)
    except RequestError as problem:
        assert "\n" not in str(problem)
    else:
        assert np.isfinite(captured.moments).all()
