"""A GPU is warmed up before it is timed; only Blender is a stand-in, where no GPU is."""

import fcntl
import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from mimegen.base.errors import RequestError
from mimegen.shots.devices import Device
from test_devices import blender_with


@pytest.fixture
def warm_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def on(bpy: MagicMock, wanted: str) -> Any:
        monkeypatch.setitem(sys.modules, "bpy", bpy)
        for name in ("render", "kernels", "warmup"):
            spec = importlib.util.find_spec(f"mimegen.rendering.cycles.{name}")
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, f"mimegen.rendering.cycles.{name}", module)
            spec.loader.exec_module(module)
        return module.warm_device(wanted)

    return on


def lock_is_held(folder: Path) -> bool:
    with (folder / "mimegen" / f".kernels-{socket.gethostname()}.lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_gpu_renders_a_little_while_no_other_process_does(warm_device: Any, tmp_path: Path
                                                            ) -> None:
    bpy = blender_with("CPU", "OPTIX", "OPTIX")
    held: list[bool] = []
    bpy.ops.render.render.side_effect = lambda: held.append(lock_is_held(tmp_path))
    assert warm_device(bpy, "optix:1") == Device("optix", 1)
    assert held == [True] and not lock_is_held(tmp_path)
    # What was rendered is gone, and the device chosen again.
    assert bpy.ops.wm.read_factory_settings.call_count == 2
    used = [device.use for device in bpy.context.preferences.addons["cycles"].preferences.devices]
    assert used == [False, False, True]


def test_the_driver_says_itself_what_is_wrong(warm_device: Any) -> None:
    bpy = blender_with("CPU", "CUDA")
    bpy.ops.render.render.side_effect = RuntimeError("Error: CUDA error\nout of memory\n")
    with pytest.raises(RequestError, match="cuda:0 does not render: Error: CUDA error out of memo"):
        warm_device(bpy, "cuda:0")


def test_a_processor_needs_no_warming_up(warm_device: Any, tmp_path: Path) -> None:
    bpy = blender_with("CPU", "CUDA")
    assert warm_device(bpy, "cpu") == Device("cpu", 1)
    assert not bpy.ops.render.render.called and not (tmp_path / "mimegen").exists()


def test_where_no_lock_can_be_had_a_gpu_is_warmed_up_all_the_same(
    warm_device: Any, tmp_path: Path
) -> None:
    (tmp_path / "mimegen").write_text("in the way")
    bpy = blender_with("CPU", "CUDA")
    assert warm_device(bpy, "cuda") == Device("cuda", 1)
    assert bpy.ops.render.render.called


def test_blender_itself_renders_it_and_forgets_it(tmp_path: Path) -> None:
    """On the processor, which has no kernels to compile; the scene is the same."""
    code = """
import json
import bpy
from mimegen.rendering.cycles.render import use_device
from mimegen.rendering.cycles.warmup import render_a_little
use_device("cpu", 1)
render_a_little()
bpy.data.images["Render Result"].save_render(__file__ + ".png")
picture = bpy.data.images.load(__file__ + ".png")
seen = max(picture.pixels[:]) - min(picture.pixels[:])
use_device("cpu", 1)
print(json.dumps([seen, len(bpy.data.objects)]))
"""
    script = tmp_path / "warm.py"
    script.write_text(code)
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=200)
    seen, objects = json.loads(told.stdout.splitlines()[-1])
    assert seen > 0.05 and objects == 0
