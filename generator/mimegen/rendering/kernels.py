"""Cycles' kernels for NVIDIA's GPUs: those that come with a Blender, and those prepared for it.

Cycles loads ``kernel_sm_90.cubin`` for a GPU of compute capability 9.0. Where it finds none, the
driver compiles ``kernel_compute_75.ptx``, the nearest older one, at the first start. Both lie in
``lib`` of Blender's Cycles folder, from 4.2 on as ``.zst``. A prepared kernel lies in a folder of
its own, under the version of Blender and the hash of the PTX that it was compiled from, and is
never used with another. Workers show Cycles a folder of links, so that Blender's stays as it is.
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
# Of a PTX file: its header is read, not its 12 MB.
_HEADER_BYTES = 4096
# As ELF's header holds it.
_CUDA_MACHINE = 190
_OLD_ABI = 7
# Every kernel of Cycles has it.
_FIRST_FUNCTION = b"kernel_gpu_integrator_reset"
_ARCH = re.compile(r"(?:sm_)?(\d{2,3})")
_CUBIN = re.compile(r"kernel_sm_(\d{2,3})\.cubin(?:\.zst)?")
_PTX = re.compile(r"kernel_compute_(\d{2,3})\.ptx(?:\.zst)?")


@dataclass(frozen=True)
class Ptx:
    """A PTX file: the version of the language, as in 7.4, and the compute capability times ten."""

    path: Path
    version: str
    arch: int


@dataclass(frozen=True)
class KernelRecord:
    """What lies beside a prepared kernel: for which Blender and GPU it is, and made from what."""

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
    """Blender's own folder of Cycles; ``version`` is Blender's."""

    path: Path
    version: str

    @cached_property
    def compiled(self) -> tuple[int, ...]:
        """The compute capabilities, times ten, that kernels come along for, in order."""
        return tuple(sorted(self._found(_CUBIN)))

    def ptx_for(self, arch: int) -> Ptx | None:
        """Return the PTX that a GPU's kernel is compiled from; None where all are for newer ones.

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
    """Return 90 for ``sm_90`` or ``90``. Raises RequestError for what is neither."""
    match = _ARCH.fullmatch(text.strip().lower())
    if match is None:
        raise RequestError(f"--arch {text}: expected a GPU's architecture, such as sm_90 (H100,"
                           " H200), sm_80 (A100) or sm_100 (B200)")
    return int(match[1])


def read_ptx(path: Path) -> Ptx:
    """Read what the header of a PTX file, packed or not, says of it.

    Raises RequestError where it has no such header.
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
    """Return a file's content, unpacked where its name ends with ``.zst``.

    Raises RequestError where it is damaged.
    """
    try:
        return zstd.decompress(path.read_bytes()) if path.suffix == ZST else path.read_bytes()
    except zstd.ZstdError:
        raise RequestError(f"{path}: is damaged") from None


def packed(content: bytes) -> bytes:
    """Return content as Cycles reads it from ``.zst`` files."""
    return zstd.compress(content, 12)


def arch_of_cubin(content: bytes) -> int | None:
    """Return for which compute capability, times ten, a compiled kernel of Cycles is.

    None is said of anything else. ELF's flags hold it in their lowest byte up to NVIDIA's seventh
    binary interface, and in the byte above from the eighth on.
    """
    if len(content) < 64 or content[:5] != b"\x7fELF\x02" or _FIRST_FUNCTION not in content:
        return None
    machine, = struct.unpack_from("<H", content, 18)
    flags, = struct.unpack_from("<I", content, 48)
    if machine != _CUDA_MACHINE:
        return None
    return int(flags & 0xFF if content[8] <= _OLD_ABI else flags >> 8 & 0xFF)


def place_of(cache: Path, folder: CyclesFolder, ptx: Ptx, arch: int) -> Path:
    """Return where the kernel that is prepared for a Blender and a GPU lies."""
    kind = f"blender-{folder.version}-sm_{arch}-{file_hash(ptx.path)[:12]}"
    return cache / kind / f"kernel_sm_{arch}.cubin{ZST if ptx.path.suffix == ZST else ''}"


def prepared_in(cache: Path, folder: CyclesFolder) -> list[Prepared]:
    """Return the kernels of a cache folder that are for this Blender; others are left alone.

    Raises RequestError for one that is damaged, or whose record and place do not agree.
    """
    return [one for one in all_prepared(cache) if _fits(one, folder)]


def all_prepared(cache: Path) -> Iterator[Prepared]:
    """Yield the kernels of a cache folder, whatever Blender they are for, in order.

    Raises RequestError for one that is damaged.
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


def _fits(one: Prepared, folder: CyclesFolder) -> bool:
    """Whether a kernel was compiled from this very Blender's PTX, and lies where that one's do."""
    if one.record.blender != folder.version:
        return False
    ptx = folder.ptx_for(one.record.arch)
    return (ptx is not None and one.record.ptx_sha256 == file_hash(ptx.path)
            and place_of(one.path.parent.parent, folder, ptx, one.record.arch) == one.path)


def record_text(record: KernelRecord) -> str:
    """Return a record as its file holds it."""
    return json.dumps(asdict(record), indent=1) + "\n"


def linked(folder: CyclesFolder, prepared: Sequence[Prepared], place: Path) -> Path:
    """Make in ``place`` a folder of links to Cycles' own files and the prepared kernels.

    A kernel that comes with Blender stays before a prepared one.
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
