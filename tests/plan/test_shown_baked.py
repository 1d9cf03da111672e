"""How much of its place a picture shows is looked up where mimegen brings it, and is the same."""

import json
from pathlib import Path

import pytest

from mimegen.base.paths import data_folder
from mimegen.library.places import load_background, loaded_background_key
from mimegen.plan import background_visibility as shown
from mimegen.shots.config import read_config

KITCHEN = data_folder() / "backgrounds/kitchen.yaml"


def kitchen_shown() -> float | None:
    shown._share.cache_clear()
    camera = shown.standing_camera(read_config(data_folder() / "render_configs/draft.yaml"), 0.0)
    return shown.background_shown(load_background(KITCHEN, None),
                                  loaded_background_key(KITCHEN, None), camera, 0.0)


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """No cache, nothing brought: the first look is computed, and kept under its key."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found: dict[str, float] = {}
    monkeypatch.setattr(shown, "_baked", lambda: found)
    return found


def test_what_is_brought_is_taken_for_what_would_be_seen(
    tmp_path: Path, brought: dict[str, float]
) -> None:
    computed = kitchen_shown()
    [file] = (tmp_path / "mimegen" / shown.SHOWN).rglob("*.json")
    key = file.parent.name + file.stem
    own = json.loads((data_folder() / shown.BAKED).read_text())
    assert own.get(key, computed) == computed, "run tools/bake_plans.py"
    brought[key] = 0.123
    assert kitchen_shown() == 0.123
    shown._share.cache_clear()


@pytest.mark.parametrize("damage", [None, "", "[1]", "{"])
def test_a_file_that_is_damaged_counts_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str | None
) -> None:
    (tmp_path / shown.BAKED.parent).mkdir()
    if damage is not None:
        (tmp_path / shown.BAKED).write_text(damage)
    monkeypatch.setattr(shown, "data_folder", lambda: tmp_path)
    assert shown._baked.__wrapped__() == {}
