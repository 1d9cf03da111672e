"""mimegen preview: what a take will look like, without workers."""

from pathlib import Path

import moderngl
import numpy as np
import pytest
from click.testing import Result
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.commands import preview
from mimegen.compositing.decode import read_clip
from running import invoke


def run(*words: str) -> Result:
    return invoke("preview", *words)


@pytest.mark.usefixtures("context")
def test_a_sheet_shows_the_take_from_the_side_that_is_asked(tmp_path: Path) -> None:
    sheets = []
    for angle in ("0", "180"):
        target = tmp_path / f"{angle}.png"
        done = run("checking_watch", "--frames", "3", "--angle", angle, "--out", str(target))
        assert done.exit_code == 0, done.output
        sheets.append(np.asarray(Image.open(target)).astype(int))
    assert sheets[0].shape == (180, 960, 3)
    white = (np.abs(sheets[0] - sheets[0][90, 4]) < 6).all(axis=-1)
    assert 0.02 < 1 - white.mean() < 0.5
    assert np.abs(sheets[0] - sheets[1]).max() > 60


@pytest.mark.usefixtures("context")
def test_a_clip_is_as_long_as_the_take(tmp_path: Path) -> None:
    target = tmp_path / "clip.mp4"
    done = run("checking_watch", "--background", "black", "--out", str(target))
    assert done.exit_code == 0, done.output
    clip = read_clip(target)
    assert (clip.width, clip.height, clip.fps) == (640, 360, 24.0)
    assert f"{clip.frames / clip.fps:.1f} s" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]


@pytest.mark.usefixtures("context")
def test_a_picture_that_is_replaced_is_reported(tmp_path: Path) -> None:
    target = tmp_path / "sheet.png"
    words = ("checking_watch", "--frames", "2", "--out", str(target))
    assert "replaced" not in run(*words).output
    assert "replaced the earlier file" in run(*words).output


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("name", "words", "noted"), [
    ("anim_fair_jumping", (), True), ("anim_fair_jumping", ("--trim", "auto"), False),
    ("avatarlab_boxing", (), False)])
def test_what_render_would_leave_out_is_reported(
        samples: Path, tmp_path: Path, name: str, words: tuple[str, ...], noted: bool) -> None:
    done = run(str(samples / "bvh" / f"{name}.bvh"), *words, "--frames", "1", "--out",
               str(tmp_path / "one.png"))
    assert done.exit_code == 0, done.output
    line = f"{name}.bvh: mimegen render keeps 1.51 to 5.45 s and leaves out a T-pose"
    assert (line in done.output) == noted


@pytest.mark.usefixtures("context")
def test_two_files_of_one_scene_are_drawn_together(samples: Path, tmp_path: Path) -> None:
    sheets = []
    for partner in ((), ("--partner", str(samples / "bvh" / "cmu_19_01.bvh"))):
        target = tmp_path / f"{len(partner)}.png"
        done = run(str(samples / "bvh" / "cmu_18_01.bvh"), *partner, "--frames", "1", "--out",
                   str(target))
        assert done.exit_code == 0, done.output
        sheets.append(np.asarray(Image.open(target)).astype(int))
    # Frames fit the performers: two stand beside each other, one fills the height.
    widths = [np.flatnonzero((np.abs(sheet - sheet[90, 4]) > 40).any(axis=(0, 2))) for sheet
              in sheets]
    assert np.ptp(widths[1]) > np.ptp(widths[0])


@pytest.mark.usefixtures("context")
def test_options_that_do_not_apply_are_refused(samples: Path) -> None:
    file = str(samples / "bvh" / "cmu_18_01.bvh")
    for words in (("boxing", "--partner", file), (file, "--style", "brisk"),
                  ("the_thief", "--take", "1")):
        refused = run(*words)
        assert refused.exit_code == 2 and f"{words[1]} does not apply" in refused.stderr


@pytest.mark.usefixtures("context")
def test_what_is_neither_action_nor_file_is_said() -> None:
    done = run("checking_wach")
    assert done.exit_code == 2 and "checking_watch" in done.stderr


@pytest.mark.parametrize(("words", "name"), [
    (("--out", "sheet.gif"), "sheet.png"), (("--clip", "--out", "clip.png"), "clip.mp4")])
def test_a_file_that_says_it_is_something_else_is_refused(words: tuple[str, ...], name: str
                                                          ) -> None:
    done = run("checking_watch", *words)
    assert done.exit_code == 2 and f"use {name}" in done.stderr


def test_what_opengl_refuses_is_one_line_and_no_file(
        context: moderngl.Context, tmp_path: Path) -> None:
    context.enable_direct(0x1234)
    done = run("checking_watch", "--frames", "1", "--out", str(tmp_path / "sheet.png"))
    assert done.exit_code == 2 and "GL_INVALID_ENUM" in done.stderr
    assert done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())


def test_without_opengl_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise RequestError("OpenGL does not start")

    monkeypatch.setattr(preview, "context_of_process", absent)
    done = run("checking_watch")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "OpenGL" in done.stderr
