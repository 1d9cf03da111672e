"""Which device is chosen; only Blender's own device list is a stand-in here."""

import importlib.util
import os
import sys
import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from mimegen.base.errors import RequestError
from mimegen.rendering.auto import auto_config
from mimegen.rendering.cores import seeing_cores
from mimegen.shots.devices import DEVICE_KINDS, Device, best_device


def blender_with(*kinds: str) -> MagicMock:
    """A stand-in for bpy on a machine with devices of these kinds."""
    devices = [SimpleNamespace(type=kind, name=f"a {kind}", use=None) for kind in kinds]
    bpy = MagicMock()
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.devices = devices
    return bpy


@pytest.fixture
def use_device(monkeypatch: pytest.MonkeyPatch) -> Any:
    def on(bpy: MagicMock, wanted: str, threads: int = 0) -> Device:
        monkeypatch.setitem(sys.modules, "bpy", bpy)
        spec = importlib.util.find_spec("mimegen.rendering.cycles.render")
        assert spec is not None and spec.loader is not None
        blender_render = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(blender_render)
        return blender_render.use_device(wanted, threads)

    return on


@pytest.mark.parametrize("best", range(len(DEVICE_KINDS)))
def test_auto_takes_the_best_there_is(use_device: Any, best: int) -> None:
    bpy = blender_with("CPU", *(kind.upper() for kind in reversed(DEVICE_KINDS[best:-1])))
    assert use_device(bpy, "auto") == Device(DEVICE_KINDS[best], 1)
    preferences = bpy.context.preferences.addons["cycles"].preferences
    used = {device.type for device in preferences.devices if device.use}
    assert used == {DEVICE_KINDS[best].upper()}
    assert bpy.context.scene.cycles.device == ("CPU" if best == 5 else "GPU")


def test_a_wanted_device_overrides(use_device: Any) -> None:
    bpy = blender_with("CPU", "OPTIX", "CUDA")
    assert use_device(bpy, "CUDA") == Device("cuda", 1)
    assert bpy.context.preferences.addons["cycles"].preferences.compute_device_type == "CUDA"
    assert use_device(bpy, "cpu", 3) == Device("cpu", 1)
    assert bpy.context.scene.render.threads == 3


@pytest.mark.parametrize("wanted", ["metal", "vulkan"])
def test_an_absent_device_is_refused_with_what_there_is(use_device: Any, wanted: str) -> None:
    with pytest.raises(RequestError, match=rf"{wanted}.*auto, optix, cpu"):
        use_device(blender_with("CPU", "OPTIX"), wanted)


def test_a_bare_machine_has_its_cpu() -> None:
    assert best_device({}, "auto") == ("cpu", [0])


def test_one_of_several_gpus_can_be_meant(use_device: Any) -> None:
    bpy = blender_with("CUDA", "CPU", "CUDA", "OPTIX")
    assert use_device(bpy, "cuda:1") == Device("cuda", 1)
    used = [device.use for device in bpy.context.preferences.addons["cycles"].preferences.devices]
    assert used == [False, False, True, False]
    assert use_device(bpy, "cuda") == Device("cuda", 2)
    with pytest.raises(RequestError, match=r"cuda:2.*cuda:0, cuda:1"):
        use_device(bpy, "cuda:2")


def test_workers_are_dealt_out_to_gpus_evenly() -> None:
    assert Device("optix", 2).seats(4) == ("optix:0", "optix:1", "optix:0", "optix:1")
    assert Device("cpu", 1).seats(2) == ("cpu", "cpu")


def test_the_config_follows_the_device() -> None:
    assert auto_config("cpu") == "preview"
    assert {auto_config(kind) for kind in DEVICE_KINDS[:-1]} == {"standard"}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux limits cores so")
def test_what_is_loaded_sees_few_cores_and_runs_on_all_of_them_after():
    usual, done = os.sched_getaffinity(0), threading.Event()
    with seeing_cores(1):
        started = threading.Thread(target=done.wait, daemon=True)
        started.start()
        assert len(os.sched_getaffinity(0)) == 1
        assert len(os.sched_getaffinity(started.native_id or 0)) == 1
    assert os.sched_getaffinity(0) == os.sched_getaffinity(started.native_id or 0) == usual
    with seeing_cores(0):
        assert os.sched_getaffinity(0) == usual
    done.set()
