"""Perceptual distances between clips, what is too near, and drawing it anew."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.video import write_pictures
from mimegen.evaluation.likeness.keyframes import (
    ClipAppearance,
    distances,
    keyframes,
    look_of,
    looks_of,
)
from mimegen.evaluation.likeness.nearness import nearness_of
from mimegen.evaluation.likeness.page import write_page
from mimegen.production import frame_check
from running import invoke

SIZE = (160, 96)


def moving(seed: int, frames: int = 20, size: tuple[int, int] = SIZE) -> list[ByteArray]:
    """Return pictures of a few soft blots that drift."""
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(0, 1, size[0]), np.linspace(0, 1, size[1]))
    places, ways = rng.random((6, 2)), rng.normal(0, 0.02, (6, 2))
    shades = rng.uniform(-1, 1, 6)
    pictures = []
    for frame in range(frames):
        gray = np.full_like(x, 0.5)
        for place, way, shade in zip(places, ways, shades, strict=True):
            now = place + frame * way
            gray += shade * np.exp(-((x - now[0]) ** 2 + (y - now[1]) ** 2) / 0.02)
        shown = (255 * np.clip(gray, 0, 1)).astype(np.uint8)
        pictures.append(np.repeat(shown[..., None], 3, axis=2))
    return pictures


def look(folder: Path, name: str, pictures: list[ByteArray],
         action: str = "stop") -> ClipAppearance:
    path = folder / f"{name}.mp4"
    write_pictures(pictures, (pictures[0].shape[1], pictures[0].shape[0]), 10.0, path)
    return look_of(path, name, action)


@pytest.mark.slow
def test_the_same_pictures_are_near_whatever_their_size_and_shift_in_time(tmp_path: Path) -> None:
    plain = look(tmp_path, "plain", moving(1))
    small = look(tmp_path, "small", moving(1, size=(320, 192)))
    later = look(tmp_path, "later", moving(1, 24)[2:])
    other = look(tmp_path, "other", moving(2))
    found = distances([plain], [plain, small, later, other])[0]
    assert found[0] == 0 and found[1] < 0.1
    assert found[2] < 0.3 < found[3]
    assert distances([other], [plain])[0, 0] == found[3]


def test_keyframes_come_in_order_from_the_whole_clip(tmp_path: Path) -> None:
    ramp = [np.full((96, 160, 3), 5 * number, np.uint8) for number in range(41)]
    look(tmp_path, "ramp", ramp)
    shades = [np.asarray(picture).mean() for picture in keyframes(tmp_path / "ramp.mp4")]
    assert shades == pytest.approx([20, 60, 100, 140, 180], abs=6)


def test_clips_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "spoilt.mp4").write_bytes(b"no video")
    for name in ("spoilt", "absent"):
        with pytest.raises(RequestError, match=f"{name}.mp4"):
            keyframes(tmp_path / f"{name}.mp4")
    with pytest.raises(RequestError, match="no manifest"):
        looks_of(tmp_path)


@pytest.mark.slow
def test_too_near_is_nearer_than_clips_of_different_actions_come(tmp_path: Path) -> None:
    given = [look(tmp_path, f"{action}{number}", moving(10 * place + number), action)
             for place, action in enumerate(("stop", "boxing")) for number in range(5)]
    nearness = nearness_of(given)
    assert nearness.between.min() <= nearness.threshold < np.median(nearness.between)
    again, fresh = (look(tmp_path, name, moving(seed))
                    for name, seed in (("again", 11), ("fresh", 99)))
    pairs = nearness.nearest([again, fresh])
    assert pairs[0].given.name == "boxing1" and pairs[0].distance == 0 < nearness.threshold
    assert pairs[1].distance > 0.3
    with pytest.raises(RequestError, match="--frame-distance D"):
        nearness_of(given[:5])
    assert nearness_of(given[:5], 0.2).threshold == 0.2


@pytest.mark.slow
def test_the_page_shows_pairs_and_stands_alone(tmp_path: Path) -> None:
    given = [look(tmp_path, f"<i>{number}", moving(number), "stop" if number else "boxing")
             for number in range(3)]
    nearness = nearness_of(given)
    pairs = nearness.nearest([look(tmp_path, "new", moving(7))])
    text = write_page(pairs, [], nearness, tmp_path / "nearest.html").read_text()
    assert f"{pairs[0].distance:.3f}" in text and "&lt;i&gt;" in text and "<i>" not in text
    assert text.count("data:image/") == 3 and "http" not in text and "None was" in text


@pytest.mark.slow
def test_drafts_that_are_too_near_to_given_clips_are_drawn_anew(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Dots need no OpenGL.
    common = ("permute", "--count", "2", "--actions", "nod,tennis_swing", "--seed", "8", "--axes",
              "seed,azimuth", "--fix", "display=pointlight", "--fix", "config=draft")
    first, given = tmp_path / "first" / "SPEC.jsonl", tmp_path / "given"
    assert invoke(*common, "--out", first).exit_code == 0
    shipped = (data_folder() / "render_configs" / "draft.yaml").read_text()
    slow = tmp_path / "slow.yaml"
    slow.write_text(shipped.replace("fps: 24", "fps: 6"))
    done = invoke("render", "--permutations", first, "--config", slow, "--out", given, "--quiet")
    assert done.exit_code == 0, done.output
    second = tmp_path / "second" / "SPEC.jsonl"
    done = invoke(*common, "--check-frames", given, "--frame-distance", "0.02", "--out", second)
    assert done.exit_code == 0, done.output
    assert "drafts came closer than 0.020 to a given clip" in done.output
    old, new = ([json.loads(line) for line in spec.read_text().splitlines()]
                for spec in (first, second))
    assert all(one["frame_redraws"] == 0 < other["frame_redraws"] and one["seed"] != other["seed"]
               for one, other in zip(old, new, strict=True))
    assert "Drawn again" in (second.parent / "frames" / "nearest.html").read_text()
    done = invoke(*common, "--check-frames", tmp_path, "--out", tmp_path / "third" / "SPEC.jsonl")
    assert done.exit_code == 2 and "has no manifest.jsonl" in done.output
    monkeypatch.setattr(frame_check, "MAX_REDRAWS", 1)
    done = invoke(*common, "--check-frames", given, "--frame-distance", "0.5", "--out",
                  tmp_path / "third" / "SPEC.jsonl")
    assert done.exit_code == 2 and "no sample is further than" in done.output
    assert not (tmp_path / "third" / "SPEC.jsonl").exists()


def test_pictures_of_looks_are_small(tmp_path: Path) -> None:
    pictures = look(tmp_path, "large", moving(1, size=(640, 360))).pictures
    assert all(isinstance(one, Image.Image) and one.size == (160, 90) for one in pictures)
