"""Compile Cycles' kernel for a GPU with NVIDIA's ``ptxas``; needs neither GPU nor driver."""

import re
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publishing, sweep
from mimegen.base.locks import locked
from mimegen.rendering.kernels import (
    RECORD,
    ZST,
    CyclesFolder,
    KernelRecord,
    Ptx,
    arch_of_cubin,
    cache_path,
    packed,
    prepared_in,
    record_text,
    unpacked,
)

# Where the packages nvidia-cuda-nvcc-cu12 and nvidia-cuda-nvcc install ptxas.
_IN_PACKAGES = ("cuda_nvcc/bin/ptxas", "cu13/bin/ptxas")
INSTALL_PTXAS = ("NVIDIA's ptxas is not installed here; pip install 'mimegen[cuda]' adds it, or"
                 " put the one of a CUDA toolkit from 11.8 on the PATH")
_WORDS = 300


def find_ptxas() -> Path:
    """Return the path of ptxas: from the installed package, else from the PATH.

    Raises RequestError if there is none.
    """
    spec = find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    inside = [Path(folder) / name for folder in folders for name in _IN_PACKAGES]
    found = next((file for file in inside if file.is_file()), None) or shutil.which("ptxas")
    if found is None:
        raise RequestError(INSTALL_PTXAS)
    return Path(found)


def prepare(folder: CyclesFolder, arch: int, cache: Path, say: Callable[[str], object]) -> Path:
    """Compile a Blender's kernel for a GPU into a cache folder, unless it is there already.

    Returns the kernel's file. ``say`` is called with a line of text before a step that takes
    minutes. A lock makes processes that prepare the same kernel wait for one another; the file
    appears under its final name only when complete.

    Raises RequestError if Blender ships this kernel or has no PTX for it, if ptxas is missing or
    fails, or if the cache folder cannot be written.
    """
    if arch in folder.compiled:
        raise RequestError(f"--arch sm_{arch}: Blender {folder.version} already has this kernel")
    ptx = folder.ptx_for(arch)
    if ptx is None:
        raise RequestError(f"--arch sm_{arch}: Blender {folder.version} has no PTX for a GPU as old"
                           " as that")
    place = cache_path(cache, folder, ptx, arch)
    with locked(place.parent, on_wait=lambda: say(f"another process prepares sm_{arch}; waiting")):
        sweep(cache)
        if not any(one.path == place for one in prepared_in(cache, folder)):
            _compile(folder, ptx, arch, place, say)
    return place


def _compile(folder: CyclesFolder, ptx: Ptx, arch: int, place: Path,
             say: Callable[[str], object]) -> None:
    ptxas = find_ptxas()
    version = _version_of(ptxas)
    say(f"ptxas {version} compiles the kernel of Blender {folder.version} for sm_{arch}; this takes"
        " about 8 minutes")
    with publishing(place.parent) as part:
        part.mkdir()
        kernel = part / place.name
        kernel.write_bytes(_assembled(ptxas, ptx, arch, part, packs=place.suffix == ZST))
        record = KernelRecord(folder.version, arch, file_hash(ptx.path), file_hash(kernel), version)
        (part / RECORD).write_text(record_text(record), encoding="utf-8")


def _assembled(ptxas: Path, ptx: Ptx, arch: int, scratch: Path, packs: bool) -> bytes:
    """Return the content of the compiled kernel's file.

    Temporary files go to ``scratch``; they are deleted afterwards. Raises RequestError if ptxas
    fails.
    """
    source, target = scratch / "kernel.ptx", scratch / "kernel.cubin"
    source.write_bytes(unpacked(ptx.path))
    done = subprocess.run([str(ptxas), f"-arch=sm_{arch}", "-O3", str(source), "-o", str(target)],
                          capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL)
    content = target.read_bytes() if done.returncode == 0 and target.is_file() else b""
    if arch_of_cubin(content) != arch:
        words = " ".join((done.stderr + done.stdout).split()) or "no reason given"
        raise RequestError(f"ptxas did not compile PTX {ptx.version} for sm_{arch}:"
                           f" {words[-_WORDS:]}")
    source.unlink()
    target.unlink()
    return packed(content) if packs else content


def _version_of(ptxas: Path) -> str:
    try:
        done = subprocess.run([str(ptxas), "--version"], capture_output=True, text=True,
                              errors="replace", check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise RequestError(f"{ptxas}: does not start ({problem})") from None
    found = re.search(r"release [\d.]+, V(\d+(?:\.\d+)+)", done.stdout)
    if found is None:
        raise RequestError(f"{ptxas}: is not NVIDIA's ptxas")
    return found[1]
