"""Pictures for people who write scores and backgrounds of their own."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.paths import data_folder
from mimegen.characters.character import Character
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.cli import main
from mimegen.commands import background as background_commands
from mimegen.commands import score
from mimegen.compositing.background import Background
from mimegen.motion import Motion
from mimegen.retarget import retarget_scene
from small_set import MINIMAL

PAIR = data_folder() / "mocap" / "high_five" / "high_five.score.yaml"
FPS = 6.0


@pytest.mark.slow
def test_a_pair_is_previewed_as_one_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[Character, Motion]] = []

    def sheet(figures: list[tuple[Character, Motion]], *_: object) -> Image.Image:
        shown.extend(figures)
        return Image.new("RGB", (4, 4))

    monkeypatch.setattr(score, "scene_sheet", sheet)
    monkeypatch.setattr(score, "PREVIEW_FPS", FPS)
    done = CliRunner().invoke(main, ["score", "preview", str(PAIR), "--body", "spacesuit",
                                     "--out", str(tmp_path / "pair.png")])
    assert done.exit_code == 0, done.output
    motions = perform_scene(read_score(PAIR), 0, FPS)
    scene = retarget_scene([(motion, None) for motion in motions], [shown[0][0]] * 2)
    for (_, motion), performance in zip(shown, scene, strict=True):
        assert np.allclose(motion.root_positions, performance.motion.root_positions)


@pytest.fixture(scope="module")
def preview(tmp_path_factory: pytest.TempPathFactory) -> NDArray[np.int_]:
    """The man in a set of the user's own, of a white floor and a red ball on one side."""
    folder = tmp_path_factory.mktemp("mine")
    ball = {"kind": "sphere", "radius": 1.5, "at": [-3.5, 4, 1.5], "material": "red"}
    shown = {**MINIMAL, "materials": {"red": {"color": "#ff0000"}, "white": {"color": "#ffffff"}},
             "floors": [{"material": "white"}], "objects": [ball]}
    mine = {"name": "mine", "description": "Mine", "licence": "CC0-1.0", "author": "me",
            "source": "me", "set": shown}
    (folder / "mine.yaml").write_text(yaml.safe_dump(mine))
    done = CliRunner().invoke(main, ["background", "preview", str(folder / "mine.yaml"),
                                     "--device", "cpu", "--out", str(folder / "sheet.png")])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in folder.iterdir()) == ["mine.yaml", "sheet.png"]
    return np.asarray(Image.open(folder / "sheet.png")).astype(int)


def sides(sheet: NDArray[np.int_]) -> list[NDArray[np.int_]]:
    assert sheet.shape == (360, 640, 3)
    return [sheet[top:top + 180, left:left + 320] for top in (0, 180) for left in (0, 320)]


def test_a_person_stands_in_the_middle_of_every_side(preview: NDArray[np.int_]) -> None:
    for side in sides(preview):
        red, green, blue = (side[40:110, 140:180, channel] for channel in range(3))
        teal = (blue > red + 40) & (green > red + 20)
        assert teal.mean() > 0.15
        dark = side[100:150, 140:180].max(axis=-1) < 90
        assert dark.mean() > 0.1


def test_sides_show_different_parts_of_the_set(preview: NDArray[np.int_]) -> None:
    red = [((side[..., 0] > 120) & (side[..., 1] < 80)).mean() for side in sides(preview)]
    assert max(red) > 0.01 and min(red) < 0.001


def test_another_set_of_a_kind_is_previewed_and_what_stands_in_the_way_is_said(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown: list[Background] = []

    def sheet(background: Background, *_: object) -> Image.Image:
        shown.append(background)
        return Image.new("RGB", (4, 4))

    monkeypatch.setattr(background_commands, "opengl_is_here", lambda: True)
    monkeypatch.setattr(background_commands, "cast_member",
                        lambda *_: SimpleNamespace(build=lambda: None))
    monkeypatch.setattr(background_commands, "drawn_background_sheet", sheet)
    monkeypatch.setattr(background_commands, "angles_behind_walls",
                        lambda background, *_: ["@90"] * (background.name == "mine"))
    for seed in ([], ["--seed", "7"]):
        done = CliRunner().invoke(main, ["background", "preview", "beach", *seed])
        assert done.exit_code == 0 and not done.stderr
    assert shown[0].set != shown[1].set
    assert {path.name for path in tmp_path.iterdir()} == {"beach.png", "beach_7.png"}
    box = {"kind": "box", "size": [1, 1, 1], "at": [0.3, 0, 0], "material": "red"}
    mine = {"name": "mine", "description": "Mine", "licence": "CC0-1.0", "author": "me",
            "source": "me", "set": {**MINIMAL, "materials": {"red": {"color": "#ff0000"}},
                                    "floors": [{"material": "red"}], "objects": [box]}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(mine))
    done = CliRunner().invoke(main, ["background", "preview", "mine.yaml"])
    assert done.exit_code == 0 and "an object stands at the set's origin" in done.stderr
    assert "a wall hides the performer at @90;" in done.stderr


def test_a_background_that_is_not_there_is_said() -> None:
    done = CliRunner().invoke(main, ["background", "preview", "beech"])
    assert done.exit_code == 2 and "beach" in done.stderr
