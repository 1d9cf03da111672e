"""Videos of a person: their landmarks become a take, and what is doubtful is said.

MediaPipe is pretended: it is large, and what it finds is another project's work.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mimegen as mg
from mimegen.base.errors import RequestError
from mimegen.compositing.decode import read_clip
from mimegen.pages.drawn import opengl_is_here
from mimegen.readers import read_motion
from mimegen.readers.video import landmarks
from mimegen.readers.video.landmarks import first_seen_s, with_hip_centers, write_landmarks
from running import invoke

# MediaPipe's landmarks by the joints of the standard skeleton that they lie at; others lie near.
JOINTS = {11: "Arm", 13: "ForeArm", 15: "Hand", 17: "Hand", 19: "Hand", 21: "Hand",
          23: "UpLeg", 25: "Leg", 27: "Foot", 29: "Foot", 31: "ToeBase"}


def frames_of(take: "mg.Take", seen: float = 1.0) -> list[list[dict[str, float]]]:
    """A take as MediaPipe would find it: x right, y down, z away, about the hips."""
    where = dict(zip(take.joints, np.moveaxis(take.positions(), 1, 0), strict=True))
    places = np.zeros((len(take.positions()), 33, 3))
    head = where["Head"]
    for number in range(11):
        places[:, number] = head + np.array([0.0, -0.08, 0.08])
    places[:, 7] = head + np.array([0.07, 0, 0.08])
    places[:, 8] = head + np.array([-0.07, 0, 0.08])
    for number, joint in JOINTS.items():
        for side, name in enumerate(("Left", "Right")):
            places[:, number + side] = where[f"{name}{joint}"]
    places[:, 29:31, 2] -= 0.05
    places -= (places[:, 23:24] + places[:, 24:25]) / 2
    turned = places[..., [0, 2, 1]] * [1, -1, 1]
    count = round(seen * len(turned))
    return [[{"x": x, "y": y, "z": z, "visibility": 0.9} for x, y, z in frame]
            if number < count else [] for number, frame in enumerate(turned.tolist())]


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Two seconds of nothing: what is in it is pretended."""
    path = tmp_path / "me.mp4"
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "color=gray:size=64x64:rate=30:duration=2", str(path)], check=True)
    return path


@pytest.fixture
def estimator(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the estimator answers, which tests may change."""
    answer: dict[str, Any] = {"fps": 30.0, "estimator": "MediaPipe 0",
                              "frames": frames_of(mg.take("jumping_jacks"))[:90]}
    monkeypatch.setattr(landmarks, "find_spec", lambda name: True)
    monkeypatch.setattr(landmarks, "_estimated", lambda video, target, length: answer)
    return answer


@pytest.mark.slow
@pytest.mark.usefixtures("estimator")
def test_a_video_becomes_a_take_whose_row_says_how_it_was_seen(video: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    done = invoke("import", video, "--action", "brushing teeth", "--library", library,
                  "--height-m", "1.8")
    assert done.exit_code == 0, done.output
    assert "the body is seen in 100% of frames" in done.output and "height of 1.8 m" in done.output
    [file] = library.glob("mocap/*/*.json")
    recording = read_motion(file)
    assert any("estimated from a video by MediaPipe" in note for note in recording.notes)


@pytest.mark.slow
@pytest.mark.skipif(not opengl_is_here(), reason="there is no OpenGL here")
def test_a_preview_shows_the_video_and_what_was_made_of_it(
        estimator: dict[str, Any], video: Path, tmp_path: Path) -> None:
    estimator["frames"] = [[]] * 15 + estimator["frames"][:15]
    preview = tmp_path / "beside.mp4"
    done = invoke("import", video, "--action", "brushing teeth", "--library", tmp_path / "library",
                  "--preview", preview)
    assert done.exit_code == 0, done.output
    clip = read_clip(preview)
    # The video is square; 15 frames of a half second come after one in which nobody is seen.
    assert (clip.width, clip.height, clip.frames) == (360 + 640, 360, 12)
    landmarks_file = next((tmp_path / "library").glob("mocap/*/*.json"))
    assert first_seen_s(landmarks_file) == 0.5


@pytest.mark.parametrize(("file", "preview", "said"), [
    ("me.mp4", "beside.gif", "its name ends in .mp4"),
    ("me.bvh", "beside.mp4", "only applies to videos")])
def test_a_preview_that_cannot_be_written_is_refused_first(tmp_path, file, preview, said):
    done = invoke("import", tmp_path / file, "--action", "a", "--library", tmp_path / "library",
                  "--preview", tmp_path / preview)
    assert done.exit_code == 2 and said in done.output
    assert not (tmp_path / "library").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("estimator")
def test_joints_come_back_where_they_were(video: Path, tmp_path: Path) -> None:
    write_landmarks(video, tmp_path / "me.json", 1.7)
    recording = read_motion(tmp_path / "me.json")
    motion = recording.motion
    take = mg.take("jumping_jacks")
    wanted = take.positions()[:90]
    raised = motion.global_pose.positions
    for side in ("left", "right"):
        mine = raised[:, motion.skeleton.index[recording.roles[f"{side}_hand"]]]
        theirs = wanted[:, list(take.joints).index(f"{side.capitalize()}Hand")]
        assert np.corrcoef(mine[:, 2], theirs[:len(mine), 2])[0, 1] > 0.95
        assert abs(np.ptp(mine[:, 2]) - np.ptp(theirs[:, 2])) < 0.2


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 0.5), st.integers(0, 2**32 - 1))
def test_hips_come_nearer_about_their_middle(apart: float, seed: int) -> None:
    """Nothing else moves, in whatever direction the body looks."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(4, 33, 3))
    across = rng.normal(size=(4, 3))
    across *= apart / np.linalg.norm(across, axis=1, keepdims=True)
    places[:, 23], places[:, 24] = across / 2, -across / 2
    found = with_hip_centers(places)
    assert np.allclose(np.linalg.norm(found[:, 23] - found[:, 24], axis=1), 0.85 * apart)
    assert np.allclose(found[:, 23] + found[:, 24], 0.0)
    others = [joint for joint in range(33) if joint not in (23, 24)]
    assert np.array_equal(found[:, others], places[:, others])


@pytest.mark.slow
@pytest.mark.parametrize(("seen", "message"), [(0.4, "shows a person in 40% of its frames"),
                                               (0.0, "shows a person in 0% of its frames")])
def test_a_video_that_hardly_shows_anybody_is_refused(
    estimator: dict[str, Any], video: Path, tmp_path: Path, seen: float, message: str
) -> None:
    estimator["frames"] = frames_of(mg.take("jumping_jacks"), seen)
    with pytest.raises(RequestError, match=message):
        write_landmarks(video, tmp_path / "me.json")
    assert not (tmp_path / "me.json").exists()


@pytest.mark.slow
def test_what_is_no_video_or_too_long_is_refused(
    estimator: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    with pytest.raises(RequestError, match="cannot be read as a video"):
        write_landmarks(broken, tmp_path / "me.json")
    monkeypatch.setattr(landmarks, "_seconds", lambda video: 4 * 3600.0)
    with pytest.raises(RequestError, match="lasts 240 minutes"):
        write_landmarks(broken, tmp_path / "me.json")


@pytest.mark.slow
def test_without_mediapipe_one_line_says_what_to_install(
    video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landmarks, "find_spec", lambda name: None)
    done = invoke("import", video, "--action", "x", "--library", tmp_path / "library")
    assert done.exit_code == 2 and "mimegen[video]" in done.stderr
    assert not (tmp_path / "library").exists()


@pytest.mark.slow
def test_notes_of_a_file_are_short_texts_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "me.json"
    path.write_text(json.dumps({
        "fps": 30, "notes": ["a\nb", 7, "x" * 5000],
        "frames": [{"pose_world_landmarks": frame}
                   for frame in frames_of(mg.take("jumping_jacks"))[:60]]}))
    notes = read_motion(path).notes
    assert notes[0] == "a b" and max(map(len, notes)) <= 400
