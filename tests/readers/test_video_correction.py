"""The learned correction of depth: where it acts, what it keeps, and that videos get it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mimegen as mg
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import read_motion
from mimegen.readers.video import landmarks
from mimegen.readers.video.correcting import (
    Correction,
    corrected,
    learned_correction,
    segments_of,
)
from mimegen.readers.video.landmarks import arrays_of, write_landmarks
from test_videos import frames_of

MIRROR = [0, 4, 5, 6, 1, 2, 3, *(number - 1 + 2 * (number % 2) for number in range(7, 33))]
FOREARMS = (5, 6)


def landmarks_of(take: "mg.Take") -> FloatArray:
    return arrays_of(frames_of(take))[0]


def deepening(segments: Sequence[int], by: float) -> Correction:
    """A correction that adds the same depth to some segments of every pose."""
    offset = np.zeros(11)
    offset[list(segments)] = by
    return Correction(np.zeros(33), np.eye(33), np.zeros((66, 11)), offset, 10.0, 20.0)


def test_a_forearm_is_turned_out_of_the_picture_and_keeps_its_length() -> None:
    """Depth 1 on a direction in the picture's plane: 45 degrees away from the camera."""
    places = np.tile(landmarks_of(mg.take("jumping_jacks"))[:1], (5, 1, 1))
    places[:, 15] = places[:, 13] + [0.3, 0.0, 0.0]
    found, trust = corrected(places, 30.0, deepening([FOREARMS[0]], 1.0))
    assert np.allclose(found[:, 15] - found[:, 13], 0.3 * np.sqrt(0.5) * np.array([1, 0, 1]))
    assert np.allclose(found[:, 19] - found[:, 15], places[:, 19] - places[:, 15])
    kept = [number for number in range(33) if number not in (15, 17, 19, 21)]
    assert np.allclose(found[:, kept], places[:, kept]) and np.all(trust == 1)


def test_a_video_is_imported_with_its_correction(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forearms are bent towards the camera; the correction for it brings the take back."""
    true = landmarks_of(mg.take("jumping_jacks"))[:60]
    bent, _ = corrected(true, 30.0, deepening(FOREARMS, -0.4))
    answer: dict[str, Any] = {"fps": 30.0, "estimator": "MediaPipe 0", "frames": [
        [{"x": x, "y": y, "z": z, "visibility": 0.9} for x, y, z in frame]
        for frame in bent.tolist()]}
    monkeypatch.setattr(landmarks, "find_spec", lambda name: True)
    monkeypatch.setattr(landmarks, "_seconds", lambda video: 2.0)
    monkeypatch.setattr(landmarks, "_estimated", lambda video, target, length: answer)
    monkeypatch.setattr(landmarks, "learned_correction", lambda: deepening(FOREARMS, 0.4))
    write_landmarks(tmp_path / "me.mp4", tmp_path / "me.json", 1.75)
    recording = read_motion(tmp_path / "me.json")
    assert any("a map learned from rendered people, to 100%" in note
               for note in recording.notes)
    before, after, wanted = (segments_of(each)[:, FOREARMS] for each in (
        bent, arrays_of(answer["frames"])[0], true))
    assert np.median(_degrees(before, wanted)) > 15.0
    assert np.median(_degrees(after, wanted)) < 4.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1.5, 10.0))
def test_a_pose_far_from_the_training_poses_stays_as_it_is(seed: int, size: float) -> None:
    """A heap of joints, each a few metres from the next, is no person's pose."""
    places = np.random.default_rng(seed).normal(size=(4, 33, 3)) * size
    found, trust = corrected(places, 30.0, learned_correction())
    assert np.allclose(found, places, atol=1e-9) and not trust.any()


def test_left_and_right_are_corrected_alike() -> None:
    places = landmarks_of(mg.take("boxing"))[:60]
    flipped = places[:, MIRROR] * [-1, 1, 1]
    found, mirrored = (corrected(each, 30.0, learned_correction())[0]
                       for each in (places, flipped))
    assert np.abs(found - places).max() > 0.01
    assert np.abs(mirrored[:, MIRROR] * [-1, 1, 1] - found).max() < 1e-4


def test_lengths_stay_and_frames_without_a_person_too() -> None:
    places = landmarks_of(mg.take("boxing"))[:60]
    places[20:30] = np.nan
    found, trust = corrected(places, 30.0, learned_correction())
    assert np.isnan(found[20:30]).all() and not trust[20:30].any()
    assert np.allclose(np.linalg.norm(segments_of(found), axis=-1),
                       np.linalg.norm(segments_of(places), axis=-1), equal_nan=True)


def _degrees(first: FloatArray, second: FloatArray) -> FloatArray:
    cosine = (first * second).sum(-1) / (np.linalg.norm(first, axis=-1)
                                         * np.linalg.norm(second, axis=-1))
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))
