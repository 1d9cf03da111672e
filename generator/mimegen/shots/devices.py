"""Choose the device that Cycles renders on, without Blender."""

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError

CPU = "cpu"
DEVICE_KINDS = ("optix", "cuda", "hip", "oneapi", "metal", CPU)
"""The kinds of device for Cycles, the preferred ones first."""
OPENGL = "opengl"
"""The device of raster configs: OpenGL on a GPU or, in software, on the CPU."""


@dataclass(frozen=True)
class Device:
    """A kind of device to render on, and the number of such devices in this machine.

    The number is 1 for the CPU and for OpenGL.
    """

    kind: str
    count: int

    @property
    def by_core(self) -> bool:
        """Whether there is one worker for each core, and not for each GPU."""
        return self.kind in ("cpu", OPENGL)

    def seats(self, workers: int) -> tuple[str, ...]:
        """Return the device of each of ``workers`` workers; GPUs are assigned in turn by number."""
        if self.by_core:
            return (self.kind,) * workers
        return tuple(f"{self.kind}:{number % self.count}" for number in range(workers))


def best_device(found: Mapping[str, list[str]], wanted: str) -> tuple[str, list[int]]:
    """Return the kind of device to render on and the numbers of the devices to use.

    ``found`` holds the names of this machine's devices by kind; a CPU is always available.
    ``wanted`` is ``auto``, a kind (all of its devices; case does not matter), or a single device
    such as ``cuda:1``.

    Raises RequestError if the device does not exist or is not on this machine.
    """
    there = [kind for kind in DEVICE_KINDS if kind == "cpu" or found.get(kind)]
    kind, _, number = (there[0] if wanted.lower() == "auto" else wanted.lower()).partition(":")
    count = 1 if kind == "cpu" else len(found.get(kind, []))
    numbers = [str(each) for each in range(count)]
    if kind not in there or (number and number not in numbers):
        names = ["auto", *there, *(f"{kind}:{each}" for each in numbers if kind in there)]
        raise RequestError(f"--device {wanted}: not on this machine"
                           f" (available: {', '.join(names)})")
    return kind, [int(number)] if number else list(range(count))


def kind_of_cpu() -> str:
    """Return this machine's architecture and processor, such as ``x86_64 AMD EPYC 9654``."""
    facts = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: *(.+)$", facts.read_text() if facts.is_file() else "", re.M)
    model = found[1] if found else platform.processor()
    return " ".join(dict.fromkeys([platform.machine(), *model.split()]))
