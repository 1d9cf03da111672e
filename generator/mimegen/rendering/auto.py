"""Choosing device and render config by the hardware found, without loading Blender here."""

import sys
from collections.abc import Callable
from pathlib import Path

from mimegen.base.blender import DOES_NOT_START
from mimegen.base.errors import RequestError
from mimegen.rendering.worker import StageWorker
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobFailed

# Blender itself is up in a few seconds.
LONG_S = 20.0
COMPILING = (
    f"Blender has been starting for {LONG_S:.0f} s: a GPU's driver compiles Cycles' kernels the"
    " first time and keeps them, which takes minutes on cards that this Blender has none for;"
    " 'mimegen devices prepare' compiles them once for all machines")


def choose_device(wanted: str, say: Callable[[str], object]) -> Device:
    """Return the kind of device (optix, cuda, hip, oneapi, metal or cpu) to render on.

    A short-lived Blender process looks up what there is, unless ``auto`` is wanted on a Linux
    without any GPU's device file; a CPU is always there. What takes long is told to ``say``.

    Raises RequestError where Blender does not start or the wanted kind is not on this machine.
    """
    if wanted.lower() == "cpu" or (wanted.lower() == "auto" and not _may_have_gpu()):
        return Device("cpu", 1)
    worker = StageWorker(wanted)
    try:
        if not worker.connection.poll(LONG_S):
            say(COMPILING)
        answer = worker.connection.recv()
    except (EOFError, ConnectionError):
        raise RequestError(DOES_NOT_START) from None
    finally:
        worker.kill()
    if isinstance(answer, JobFailed):
        raise RequestError(answer.message)
    return Device(answer.device, answer.count)


def _may_have_gpu() -> bool:
    """Whether it is worth the seconds that asking Blender costs."""
    if sys.platform != "linux":
        return True
    devices = Path("/dev")
    patterns = ("nvidia[0-9]*", "kfd", "dri/render*", "dxg")
    return any(any(devices.glob(pattern)) for pattern in patterns)


def auto_config(device: str) -> str:
    """Return the render config that suits a device: ``standard`` on a GPU, else ``preview``."""
    return "preview" if device == "cpu" else "standard"
