"""Cycles' kernels for NVIDIA GPUs: those shipped with Blender, and those prepared by mimegen.

For a GPU of compute capability 9.0 Cycles loads ``kernel_sm_90.cubin``. If there is no such file,
the driver compiles the PTX of the nearest older capability, such as ``kernel_compute_75.ptx``, at
the first start. Both are in ``lib`` of Blender's Cycles folder, compressed (``.zst``) since
Blender 4.2. The folder of a prepared kernel is named by the version of Blender and the hash of the
PTX it was compiled from; it is used with no other Blender or PTX. Workers point Cycles to a
folder of links, so Blender's own folder is never changed.
"""

import json
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RECORD = "kernel.json"
ZST = ".zst"
# How much of a PTX file is read: enough for its header. The whole file has 12 MB.
_HEADER_BYTES = 4096
# EM_CUDA, the machine number in the ELF header of CUDA code.
_CUDA_MACHINE = 190
# The last ABI version whose ELF flags hold the compute capability in their lowest byte.
_OLD_ABI = 7
# A function that every compiled kernel of Cycles contains.
_FIRST_FUNCTION = b"kernel_gpu_integrator_reset"
_ARCH = re.compile(r"(?:sm_)?(\d{2,3})")
_CUBIN = re.compile(r"kernel_sm_(\d{2,3})\.cubin(?:\.zst)?")
_PTX = re.compile(r"kernel_compute_(\d{2,3})\.ptx(?:\.zst)?")


@dataclass(frozen=True)
class Ptx:
    """A PTX file, its PTX language version (such as 7.4) and its compute capability times ten."""

    path: Path
    version: str
    arch: int


@dataclass(frozen=True)
class KernelRecord:
    """The record stored beside a prepared kernel.

    It names the version of Blender, the compute capability times ten, the hashes of the PTX and of
    the kernel, and the version of ptxas.
    """

    blender: str
    arch: int
    ptx_sha256: str
    kernel_sha256: str
    ptxas: str


@dataclass(frozen=True)
class Prepared:
    """A prepared kernel and its record."""

    path: Path
    record: KernelRecord


@dataclass(frozen=True)
class CyclesFolder:
    """The Cycles folder of a Blender installation; ``version`` is Blender's version."""

    path: Path
    version: str

    @cached_property
    def compiled(self) -> tuple[int, ...]:
        """The compute capabilities, times ten, of the kernels shipped with Blender, ascending."""
        return tuple(sorted(self._found(_CUBIN)))

    def ptx_for(self, arch: int) -> Ptx | None:
        """Return the PTX of the highest capability up to ``arch``; None if all are for newer GPUs.

        Raises RequestError for a PTX file that is damaged.
        """
        ptx = self._found(_PTX)
        older = [number for number in ptx if number <= arch]
        return read_ptx(ptx[max(older)]) if older else None

    def _found(self, pattern: re.Pattern[str]) -> dict[int, Path]:
        names = [(pattern.fullmatch(file.name), file) for file in _files(self.path / "lib")]
        return {int(match[1]): file for match, file in names if match}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def arch_of(text: str) -> int:
    """Return 90 for ``sm_90`` or ``90``. Raises RequestError for any other form."""
    match = _ARCH.fullmatch(text.strip().lower())
    if match is None:
        raise RequestError(f"--arch {text}: expected a GPU's architecture, such as sm_90 (H100,"
                           " H200), sm_80 (A100) or sm_100 (B200)")
    return int(match[1])


def read_ptx(path: Path) -> Ptx:
    """Read the header of a PTX file, compressed or not.

    Raises RequestError if the file lacks a PTX header or is damaged.
    """
    header = _beginning(path).decode("ascii", errors="replace")
    version = re.search(r"^\.version (\d+\.\d+)\s*$", header, re.MULTILINE)
    target = re.search(r"^\.target sm_(\d{2,3})", header, re.MULTILINE)
    if version is None or target is None:
        raise RequestError(f"{path}: is not a PTX file (expected its .version and .target);"
                           " install Blender again")
    return Ptx(path, version[1], int(target[1]))


def _beginning(path: Path) -> bytes:
    if path.suffix != ZST:
        with path.open("rb") as file:
            return file.read(_HEADER_BYTES)
    try:
        with zstd.open(path, "rb") as packed:
            return packed.read(_HEADER_BYTES)
    except (zstd.ZstdError, EOFError):
        raise RequestError(f"{path}: is damaged; install Blender again") from None


def unpacked(path: Path) -> bytes:
    """Return a file's content, decompressed if its name ends with ``.zst``.

    Raises RequestError if the compressed data is damaged.
    """
    try:
        return zstd.decompress(path.read_bytes()) if path.suffix == ZST else path.read_bytes()
    except zstd.ZstdError:
        raise RequestError(f"{path}: is damaged") from None


def packed(content: bytes) -> bytes:
    """Return content compressed with Zstandard, as Cycles reads it from ``.zst`` files."""
    return zstd.compress(content, 12)


def arch_of_cubin(content: bytes) -> int | None:
    """Return the compute capability, times ten, of a compiled kernel of Cycles.

    Returns None if the content is no such kernel. The capability is in the flags of the ELF
    header: in the lowest byte up to ABI version 7 of CUDA code, in the second byte from version 8.
    """
    if len(content) < 64 or content[:5] != b"\x7fELF\x02" or _FIRST_FUNCTION not in content:
        return None
    machine, = struct.unpack_from("<H", content, 18)
    flags, = struct.unpack_from("<I", content, 48)
    if machine != _CUDA_MACHINE:
        return None
    return int(flags & 0xFF if content[8] <= _OLD_ABI else flags >> 8 & 0xFF)


def cache_path(cache: Path, folder: CyclesFolder, ptx: Ptx, arch: int) -> Path:
    """Return the path in the cache of the kernel prepared for a Blender and a GPU."""
    kind = f"blender-{folder.version}-sm_{arch}-{file_hash(ptx.path)[:12]}"
    return cache / kind / f"kernel_sm_{arch}.cubin{ZST if ptx.path.suffix == ZST else ''}"


def prepared_in(cache: Path, folder: CyclesFolder) -> list[Prepared]:
    """Return the kernels in a cache folder that were prepared for this Blender.

    Kernels for another Blender, or whose record does not match their path, are left out. Raises
    RequestError for a damaged kernel.
    """
    return [one for one in all_prepared(cache) if _is_from_ptx(one, folder)]


def all_prepared(cache: Path) -> Iterator[Prepared]:
    """Yield all kernels in a cache folder, whatever Blender they are for, sorted by path.

    Raises RequestError for a damaged kernel.
    """
    for record in sorted(cache.glob("blender-*/" + RECORD)):
        with suppress(FileNotFoundError):
            yield _read_prepared(record)


def _read_prepared(file: Path) -> Prepared:
    try:
        record = KernelRecord(**json.loads(file.read_text(encoding="utf-8")))
        name = f"kernel_sm_{record.arch:d}.cubin"
    except (ValueError, TypeError):
        raise _damaged(file.parent) from None
    kernel = next((file.parent / (name + end) for end in (ZST, "")
                   if (file.parent / (name + end)).is_file()), None)
    if kernel is None or file_hash(kernel) != record.kernel_sha256:
        raise _damaged(file.parent)
    return Prepared(kernel, record)


def _damaged(folder: Path) -> RequestError:
    return RequestError(f"{folder}: this prepared kernel is damaged; delete the folder and run"
                        " mimegen devices prepare again")


def _is_from_ptx(one: Prepared, folder: CyclesFolder) -> bool:
    """Whether a kernel was compiled from this Blender's PTX and has the path that belongs to it."""
    if one.record.blender != folder.version:
        return False
    ptx = folder.ptx_for(one.record.arch)
    return (ptx is not None and one.record.ptx_sha256 == file_hash(ptx.path)
            and cache_path(one.path.parent.parent, folder, ptx, one.record.arch) == one.path)


def record_text(record: KernelRecord) -> str:
    """Return the JSON text of a record."""
    return json.dumps(asdict(record), indent=1) + "\n"


def linked(folder: CyclesFolder, prepared: Sequence[Prepared], place: Path) -> Path:
    """Make the folder ``place`` with links to Cycles' own files and to the prepared kernels.

    If Blender ships a kernel of the same name, that one is linked. Returns ``place``.
    """
    (place / "lib").mkdir(parents=True)
    for entry in _files(folder.path):
        if entry.name != "lib":
            (place / entry.name).symlink_to(entry)
    kernels = {one.path.name: one.path for one in prepared}
    for name, target in (kernels | {file.name: file for file in _files(folder.path / "lib")}
                         ).items():
        (place / "lib" / name).symlink_to(target)
    return place
