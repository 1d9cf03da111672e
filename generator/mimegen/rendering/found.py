"""List the devices that Blender finds here, and how long the first start on each takes."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.blender import DOES_NOT_START, refuse_unloadable, require_blender
from mimegen.base.errors import RequestError
from mimegen.rendering.kernels import CyclesFolder, Prepared

# rendering/cycles/found.py prints this before its line of JSON.
_MARK = "mimegen found: "
_NVIDIA = ("cuda", "optix")
# How long to wait for Blender's answer, in seconds.
ANSWER_S = 300.0
# Where a device's kernel comes from: shipped with Blender, prepared by mimegen, compiled by the
# driver, from nowhere (the GPU is not supported), or unknown.
COMES = "with Blender"
PREPARED = "prepared"
DRIVER = "driver"
NONE = "none"
UNKNOWN = "unknown"
SECONDS = "seconds"


@dataclass(frozen=True)
class Found:
    """What Blender found on this machine: Cycles' folder, and the kind and name of each device."""

    cycles: CyclesFolder
    devices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Start:
    """A device model and what the first start on it costs.

    ``count`` is the number of such devices, ``kinds`` are the Cycles device kinds that can use it,
    ``arch`` is its compute capability as in ``sm_90`` (None if not NVIDIA or unknown), ``kernel``
    says where its kernel comes from, and ``first_start`` how long the first start takes.
    """

    name: str
    count: int
    kinds: tuple[str, ...]
    arch: str | None
    kernel: str
    first_start: str


def find_devices() -> Found:
    """Ask Blender, in a separate process, for its devices; this takes seconds.

    Raises RequestError if there is no Blender, or it does not start or answer.
    """
    blender = require_blender("listing devices")
    try:
        done = subprocess.run(blender.command("mimegen.rendering.cycles.found"),
                              capture_output=True, timeout=ANSWER_S, check=False,
                              stdin=subprocess.DEVNULL, env=blender.environment())
    except (subprocess.TimeoutExpired, OSError):
        raise RequestError(DOES_NOT_START) from None
    refuse_unloadable("listing devices", done.stderr)
    lines = [line.partition(_MARK)[2] for line in done.stdout.decode(errors="replace").splitlines()
             if _MARK in line]
    if not lines:
        raise RequestError(DOES_NOT_START)
    listed: dict[str, Any] = json.loads(lines[-1])
    return Found(CyclesFolder(Path(listed["cycles"]), listed["version"]),
                 tuple((kind, name) for kind, name in listed["devices"]))


def capabilities() -> dict[str, int]:
    """Return the compute capability, times ten, of each NVIDIA GPU by name, from ``nvidia-smi``.

    The result is empty if ``nvidia-smi`` is missing or fails.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    try:
        done = subprocess.run([program, "--query-gpu=name,compute_cap", "--format=csv,noheader"],
                              capture_output=True, text=True, errors="replace", timeout=60,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = [line.rpartition(",") for line in done.stdout.splitlines()]
    return {name.strip(): int(number.strip().replace(".", "")) for name, _, number in rows
            if number.strip().replace(".", "").isdecimal()}


def starts(found: Found, prepared: Sequence[Prepared], arches: dict[str, int]) -> list[Start]:
    """Return a Start for each device model, in Blender's order.

    ``arches`` maps a device's name to its compute capability times ten.
    """
    names = dict.fromkeys(name for _, name in found.devices)
    return [_start(name, [kind for kind, other in found.devices if other == name], found.cycles,
                   prepared, arches.get(name)) for name in names]


def _start(name: str, kinds: list[str], cycles: CyclesFolder, prepared: Sequence[Prepared],
           arch: int | None) -> Start:
    different = tuple(dict.fromkeys(kinds))
    count = max(kinds.count(kind) for kind in different)
    if not set(different) & set(_NVIDIA):
        return Start(name, count, different, None, COMES, SECONDS)
    kernel = _kernel_of(cycles, prepared, arch)
    return Start(name, count, different, None if arch is None else f"sm_{arch}", kernel,
                 _cost(kernel, arch))


def _kernel_of(cycles: CyclesFolder, prepared: Sequence[Prepared], arch: int | None) -> str:
    if arch is None:
        return UNKNOWN
    if arch in cycles.compiled:
        return COMES
    if arch in (one.record.arch for one in prepared):
        return PREPARED
    return DRIVER if cycles.ptx_for(arch) else NONE


def _cost(kernel: str, arch: int | None) -> str:
    return {
        COMES: SECONDS, PREPARED: SECONDS,
        DRIVER: "minutes on every machine, while the driver compiles; run once: mimegen devices"
                f" prepare --arch sm_{arch}",
        NONE: "this Blender does not support it",
        UNKNOWN: "seconds or minutes; nvidia-smi did not give its compute capability"}[kernel]
