"""Choose the device and render config by the hardware, without loading Blender here."""

import sys
from collections.abc import Callable
from pathlib import Path

from mimegen.base.blender import DOES_NOT_START
from mimegen.base.errors import RequestError
from mimegen.rendering.worker import StageWorker
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobFailed

# In seconds. Blender itself starts in a few; longer means that a driver compiles kernels.
LONG_S = 20.0
COMPILING = (
    f"Blender has been starting for {LONG_S:.0f} s: a GPU's driver compiles Cycles' kernels the"
    " first time and keeps them, which takes minutes on cards that this Blender has none for;"
    " 'mimegen devices prepare' compiles them once for all machines")


def choose_device(wanted: str, say: Callable[[str], object]) -> Device:
    """Return the kind of device (optix, cuda, hip, oneapi, metal or cpu) to render on.

    A short-lived Blender process looks for the device. It is not started for ``cpu``, nor for
    ``auto`` on a Linux without any GPU device file: then the device is the CPU. If Blender takes
    longer than LONG_S seconds, ``say`` is called with the reason.

    Raises RequestError if Blender does not start or the machine lacks the wanted kind.
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
    """Whether this machine may have a GPU, so that asking Blender is worth the seconds it takes."""
    if sys.platform != "linux":
        return True
    devices = Path("/dev")
    patterns = ("nvidia[0-9]*", "kfd", "dri/render*", "dxg")
    return any(any(devices.glob(pattern)) for pattern in patterns)


def auto_config(device: str) -> str:
    """Return the render config that suits a device: ``standard`` on a GPU, else ``preview``."""
    return "preview" if device == "cpu" else "standard"
