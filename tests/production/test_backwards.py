"""Clips that are played backwards: their frames, their ground truth and their rows."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from mimegen.base.paths import data_folder
from mimegen.cli import main
from mimegen.evaluation.movement import PROBES, Movement
from mimegen.manifest.file import read_manifest
from mimegen.manifest.row import Row
from mimegen.store.frames import Frame, read_frame

VARIANTS = "base+aligned@front,pointlight@0"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of one performance, forwards and backwards."""
    folder = tmp_path_factory.mktemp("played")
    shipped = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    config, out = folder / "tiny.yaml", folder / "out"
    config.write_text(yaml.safe_dump(shipped | {"name": "tiny", "width": 64, "height": 36,
                                                "fps": 4}))
    for way in ([], ["--reverse"]):
        done = CliRunner().invoke(main, [
            "render", "--action", "sit_down", "--variants", VARIANTS, "--config", str(config),
            "--passes", "keypoints", "--out", str(out), "--quiet", *way])
        assert done.exit_code == 0, done.output
    return out


def rows_of(out: Path, variant: str) -> tuple[Row, Row]:
    """The row of the clip forwards, and of that backwards."""
    found = [row for row in read_manifest(out) if str(row.config_name).startswith(variant)]
    ahead, back = sorted(found, key=lambda row: bool(row.reversed))
    assert back.reversed and ahead.reversed is None and len(found) == 2
    return ahead, back


def frames_of(out: Path, row: Row) -> list[Frame]:
    key = str(row.shot_key)
    return [read_frame(out / "store" / "shots" / key[:2] / key / f"{number:06d}.npz")
            for number in range(row.frames)]


@pytest.mark.slow
def test_each_frame_is_that_of_the_clip_forwards_to_the_pixel(played: Path) -> None:
    ahead, back = rows_of(played, "base")
    assert ahead.frames == back.frames > 20
    frames = list(zip(frames_of(played, ahead), frames_of(played, back)[::-1], strict=True))
    for one, other in frames:
        assert (one.figure_at, one.shadow_at) == (other.figure_at, other.shadow_at)
        assert np.array_equal(one.figure, other.figure)
        assert np.array_equal(one.shadow, other.shadow)
    assert not np.array_equal(frames[0][0].figure, frames[-1][0].figure)


@pytest.mark.slow
def test_rows_differ_in_what_is_reversed_alone(played: Path) -> None:
    for variant in ("base", "pointlight"):
        ahead, back = (row.model_dump(exclude_none=True) for row in rows_of(played, variant))
        differ = {name for name in {*ahead, *back} if ahead.get(name) != back.get(name)}
        made = {"sample_id", "file_name", "sha256", "clip_key", "shot_key", "timeline", "passes",
                "foot_events", "rendered_on", "cpu"}
        assert "reversed" in differ and differ <= made | {"reversed", "camera_distance_m"}
        assert ahead.get("camera_distance_m") == pytest.approx(back.get("camera_distance_m"))
        assert back["labels"] == ["sitting down"]
        assert {one["kind"] for one in back["timeline"]} == {"action"}
        assert {one["kind"] for one in ahead["timeline"]} == {"action", "step"}


@pytest.mark.slow
def test_probes_tell_of_the_reversed_movement(played: Path) -> None:
    ahead, back = (Movement.of(played / row.passes["keypoints"].folder / "keypoints.npz", 4.0)
                   for row in rows_of(played, "base") if row.passes)
    for name, places in ahead.world.items():
        assert np.array_equal(places, back.world[name][::-1])
    # Who walks up to a chair and sits is low at the end; backwards, at the beginning.
    height = back.middle("eye")[:, 2]
    assert height[:4].max() < height[-4:].min()
    turned = [PROBES["turn"](body, 0) for body in (ahead, back)]
    assert {*turned} == {0, 1}, turned
    assert PROBES["hands_touch"](ahead, 0) == PROBES["hands_touch"](back, 0)
