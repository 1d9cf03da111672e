"""Which device is chosen; only Blender's own device list is a stand-in here."""

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from mimegen.errors import RequestError
from mimegen.stage.auto import auto_config
from mimegen.stage.devices import DEVICE_KINDS, best_device


def blender_with(*kinds: str) -> MagicMock:
    """A stand-in for bpy on a machine with devices of these kinds."""
    devices = [SimpleNamespace(type=kind, name=f"a {kind}", use=None) for kind in kinds]
    bpy = MagicMock()
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.devices = devices
    return bpy


@pytest.fixture
def use_device(monkeypatch: pytest.MonkeyPatch) -> Any:
    def on(bpy: MagicMock, wanted: str, threads: int = 0) -> str:
        monkeypatch.setitem(sys.modules, "bpy", bpy)
        spec = importlib.util.find_spec("mimegen.stage.blender_render")
        assert spec is not None and spec.loader is not None
        blender_render = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(blender_render)
        return str(blender_render.use_device(wanted, threads))

    return on


@pytest.mark.parametrize("best", range(len(DEVICE_KINDS)))
def test_auto_takes_the_best_there_is(use_device: Any, best: int) -> None:
    bpy = blender_with("CPU", *(kind.upper() for kind in reversed(DEVICE_KINDS[best:-1])))
    assert use_device(bpy, "auto") == DEVICE_KINDS[best]
    preferences = bpy.context.preferences.addons["cycles"].preferences
    used = {device.type for device in preferences.devices if device.use}
    assert used == {DEVICE_KINDS[best].upper()}
    assert bpy.context.scene.cycles.device == ("CPU" if best == 5 else "GPU")


def test_a_wanted_device_overrides(use_device: Any) -> None:
    bpy = blender_with("CPU", "OPTIX", "CUDA")
    assert use_device(bpy, "CUDA") == "cuda"
    assert bpy.context.preferences.addons["cycles"].preferences.compute_device_type == "CUDA"
    assert use_device(bpy, "cpu", 3) == "cpu"
    assert bpy.context.scene.render.threads == 3


@pytest.mark.parametrize("wanted", ["metal", "vulkan"])
def test_an_absent_device_is_refused_with_what_there_is(use_device: Any, wanted: str) -> None:
    with pytest.raises(RequestError, match=rf"{wanted}.*auto, optix, cpu"):
        use_device(blender_with("CPU", "OPTIX"), wanted)


def test_a_bare_machine_has_its_cpu() -> None:
    assert best_device({}, "auto") == "cpu"


def test_the_config_follows_the_device() -> None:
    assert auto_config("cpu") == "preview"
    assert {auto_config(kind) for kind in DEVICE_KINDS[:-1]} == {"standard"}
