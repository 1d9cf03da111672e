"""A camera that follows: a window that pans over a wider picture."""

from pathlib import Path

import numpy as np
import pytest

from mimegen.base.arrays import ByteArray
from mimegen.characters.character import Performance
from mimegen.compositing.background import read_background
from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.compositing.video import write_panned
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.pages.drawn import DrawnScene, drawn
from mimegen.shots.config import FramedCamera, read_config
from mimegen.shots.follow import following
from mimegen.shots.framing import frame_camera, outline_points, points_in_view
from mimegen.store.frames import Frame, frame_to_bytes
from running import invoked

CATALOGUE = Catalogue.with_libraries(())
CONFIG = read_config(CATALOGUE.file("config", "draft"))


@pytest.fixture(scope="module")
def walked() -> Performance:
    """Somebody who stays, then glides 4 m aside within 2 s, and stays there."""
    take = library_take(CATALOGUE.action("boxing"), None, 0)
    [performance] = Casting(take, (cast_member(CATALOGUE, "man"),)).perform(12)
    motion = performance.motion
    aside = np.interp(np.arange(motion.frames) / 12, [1.5, 3.5], [0.0, 4.0])
    return Performance(performance.character, Motion(
        motion.skeleton, 12, motion.root_positions + aside[:, None] * [1.0, 0.0, 0.0],
        motion.rotations))


@pytest.mark.slow
def test_the_window_holds_who_walks_and_moves_softly(walked: Performance) -> None:
    config = CONFIG.model_copy(update={"fps": 12.0})
    still = frame_camera([walked], config, 0.0)
    camera, corners = following(still, [walked], config)
    assert 1.2 * still.width < camera.width <= 3 * still.width
    assert (camera.position, camera.rotation) == (still.position, still.rotation)
    places = camera.project(outline_points(walked))[:, :2].reshape(len(corners), -1, 2)
    seen = places - corners[:, None]
    assert seen.min() > 0 and (seen < [still.width, still.height]).all()
    assert corners.min() >= 0
    assert (corners.max(axis=0) <= [camera.width - still.width, camera.height - still.height]).all()
    speeds = np.diff(corners, axis=0)
    assert np.abs(speeds).max() > 5 and np.abs(np.diff(speeds, axis=0)).max() < 12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["portrait", "face", "hands"])
def test_a_close_up_holds_and_follows_what_it_frames(walked: Performance, name: str) -> None:
    config = read_config(CATALOGUE.file("config", name)).model_copy(update={"fps": 12.0})
    still = frame_camera([walked], config, 0.0)
    assert isinstance(config.camera, FramedCamera)
    points, frames = points_in_view([walked], config.camera)
    places = still.project(points)[:, :2]
    assert places.min() > 0 and (places < [still.width, still.height]).all(), "the whole path"
    camera, corners = following(still, [walked], config)
    assert camera.width > 2 * still.width, "nothing but the framed part must be in the window"
    seen = camera.project(points)[:, :2] - corners[frames]
    assert seen.min() > 0 and (seen < [still.width, still.height]).all()


@pytest.mark.usefixtures("context")
def test_a_preview_pans_as_the_render_does(walked: Performance) -> None:
    """The figure is larger than before a fixed camera, and moves less for its size."""
    background = read_background(CATALOGUE.file("background", "blank"))
    found = {}
    for follow in (False, True):
        framed = CONFIG.camera.model_copy(update={"follow": follow})
        config = CONFIG.model_copy(update={"fps": 12.0, "camera": framed})
        scene = DrawnScene([walked], background, config)
        pictures = [picture for picture, in drawn(scene, [0.0], [0, walked.motion.frames - 1])]
        found[follow] = [_figure(picture) for picture in pictures]
        assert {picture.shape for picture in pictures} == {(360, 640, 3)}
    height, fixed_height = (found[follow][0][1] for follow in (True, False))
    assert height > 1.2 * fixed_height
    moved, fixed_moved = (np.ptp([middle for middle, _ in found[follow]]) for follow in
                          (True, False))
    assert moved / height < 0.8 * fixed_moved / fixed_height


def _figure(picture: ByteArray) -> tuple[float, float]:
    """Return the column of the middle of what is darker than the ground, and its height."""
    rows, columns = np.nonzero(picture.astype(int).sum(axis=-1) < 450)
    return float(np.median(columns)), float(np.ptp(rows))


def test_a_panned_clip_shows_the_window(tmp_path: Path) -> None:
    ground = np.zeros((80, 160, 3), np.float32)
    ground[:, 80:] = 1.0
    nobody = np.zeros((0, 0, 4), np.uint8), (0, 0), np.zeros((0, 0), np.uint8), (0, 0)
    (tmp_path / "0.npz").write_bytes(frame_to_bytes(Frame((160, 80), *nobody)))
    corners = [(0, 0), (48, 8), (96, 16)]
    facts = write_panned([tmp_path / "0.npz"] * 3, ground, (64, 64), corners, 10.0,
                         tmp_path / "panned.mp4", 1.0, None)
    assert (facts.frames, facts.width, facts.height) == (3, 64, 64)
    bright = [picture.mean() / 255 for picture in
              read_pictures(read_clip(tmp_path / "panned.mp4"), [0, 1, 2], 64)]
    assert bright == pytest.approx([0.0, 0.5, 1.0], abs=0.05)


def test_what_stands_cannot_follow() -> None:
    refused = invoked("plan", "--action", "boxing", "--camera", "follow", "--config", "draft",
                      "--variants", "base+blank@0,pointlight")
    assert refused.returncode == 2 and "a fixed camera" in refused.stderr
