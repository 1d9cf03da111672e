"""A render records the variants that do not exist for its take, until they are rendered."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mimegen.base.paths import data_folder
from running import invoked, mimegen, rows_of

pytestmark = pytest.mark.render


@pytest.fixture(scope="module")
def drawn_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The draft config at a size and frame rate that a test can afford."""
    content = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    path = tmp_path_factory.mktemp("config") / "drawn.yaml"
    path.write_text(yaml.safe_dump(content | {"name": "drawn", "width": 96, "height": 64,
                                              "fps": 4}))
    return path


def told(out: Path) -> list[dict[str, Any]]:
    return list(json.loads(invoked("status", out, "--json").stdout)["left_out"])


def test_left_out_variants_are_named_and_do_not_fail_a_job(
        tmp_path: Path, drawn_config: Path) -> None:
    motion, out = tmp_path / "wave.bvh", tmp_path / "out"
    assert invoked("take", "export", "--action", "boxing", "--fps", "10", "--out",
                   motion).returncode == 0
    request = ("render", "--motion", motion, "--label", "juggling fire", "--trim", "0:1",
               "--variants", "backgrounds", "--config", drawn_config, "--workers", "1", "--out",
               out)
    done = mimegen(*request)
    assert done.returncode == 0, done.stderr
    line = "juggling_fire: no background is known for base+aligned@0, base+misaligned@0"
    assert f"left out: {line}; add" in done.stderr and f"not made: {line}\n" in done.stderr
    assert [(cell["variant"], cell["why"]) for cell in told(out)] == [
        ("base+aligned@0", "no background is known"), ("base+misaligned@0", "no background is"
                                                       " known")]
    assert [row["config_name"] for row in rows_of(out)] == ["base+blank@0"]
    assert mimegen(*request, "--aligned", "blank").returncode == 0
    assert [cell["variant"] for cell in told(out)] == ["base+misaligned@0"]
    assert mimegen(*request, "--variants", "base+misaligned@0").returncode == 2
