"""Rows say what the library's files state now, though nothing is rendered again for it."""

from pathlib import Path

import pytest
import yaml

from mimegen.base.files import file_hash
from mimegen.base.paths import data_folder
from running import invoked, mimegen, rows_of

SCORE = """\
action: hail
about: Raises the right hand.
duration: 1.0
phases:
  - at: 0.0
    hands: {to: hip 12 5 2, touch: wrist, loose: true, shape: relaxed}
  - at: 1.0
    right_hand: {to: shoulder 14 20 34, touch: wrist, palm: forward, fingers: up, shape: flat}
"""
STEPS = "steps:\n  - {from: 0.2, to: 0.9, does: raises a hand, hand: right}\n"


def write_action(library: Path, **stated: object) -> None:
    folder = library / "mocap" / "hail"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hail.score.yaml").write_text(SCORE)
    (folder / "action.yaml").write_text(yaml.safe_dump(
        {"id": "hail", "name": "hailing", "labels": ["hailing"], "licence": "CC0-1.0",
         "author": "A", "aligned_background": "green", "semantic_group": "greeting",
         "intentions": ["to greet"], "hand_shapes": ["flat"], "recognised_by": "A raised hand."}
        | stated))


def write_background(library: Path, licence: str) -> None:
    (library / "backgrounds").mkdir(parents=True, exist_ok=True)
    (library / "backgrounds" / "green.yaml").write_text(yaml.safe_dump(
        {"name": "green", "description": "green", "licence": licence, "author": "A",
         "source": "a color", "color": [0.2, 0.5, 0.2]}))


def write_config(path: Path) -> Path:
    config = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    path.write_text(yaml.safe_dump(config | {"name": "tiny", "width": 64, "height": 36, "fps": 5}))
    return path


@pytest.mark.render
def test_an_edited_label_or_licence_reaches_the_rows_of_finished_clips(tmp_path: Path) -> None:
    library, out, other = tmp_path / "lib", tmp_path / "out", tmp_path / "other"
    write_action(library)
    write_background(library, "CC0-1.0")
    request = ["render", "--action", "hail", "--library", library,
               "--config", write_config(tmp_path / "tiny.yaml"), "--store", tmp_path / "store"]
    variants = ["--variants", "base+aligned@0,pointlight@0", "--out", out]
    assert mimegen(*request, *variants).returncode == 0
    before = {row["config_name"]: row for row in rows_of(out)}

    write_action(library, labels=["saluting", "a salute"], licence="CC-BY-4.0",
                 semantic_group="calling")
    write_background(library, "CC-BY-NC-4.0")
    (library / "mocap" / "hail" / "hail.timeline.yaml").write_text(STEPS)
    done = mimegen(*request, *variants)
    assert done.returncode == 0 and done.stderr.count("already there") == 2
    for row in rows_of(out):
        assert (row["labels"], row["label"], row["licence"], row["semantic_group"]) == (
            ["saluting", "a salute"], "saluting|a salute", "CC-BY-4.0", "calling")
        old = before[row["config_name"]]
        assert row["clip_key"] == old["clip_key"] and row["sha256"] != old["sha256"]
        assert row["sha256"] == file_hash(out / row["file_name"])
        if row["config_name"] == "base+aligned@0":
            assert row["background_licence"] == "CC-BY-NC-4.0"
            assert "raises a hand" in [one["name"] for one in row["timeline"]]
    assert invoked("verify", out, "--store", tmp_path / "store").returncode == 0
    kept = (out / "manifest.jsonl").read_bytes()
    assert mimegen(*request, *variants).returncode == 0
    assert (out / "manifest.jsonl").read_bytes() == kept

    # Frames of the same shot in the store were recorded with the old label.
    assert mimegen(*request, "--variants", "base+blank@0", "--out", other).returncode == 0
    assert [row["labels"] for row in rows_of(other)] == [["saluting", "a salute"]]
