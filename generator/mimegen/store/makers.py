"""The kinds of processors that a shot's frames were made on, in a small file for each.

Frames of one shot may come from several machines and are kept for years, so their origin is noted
beside them.
"""

from hashlib import sha256
from pathlib import Path

from mimegen.base.files import publish


def note_maker(folder: Path, cpu: str) -> None:
    """Note that frames in a shot's folder are made on a kind of processor.

    Raises DiskFullError, or RequestError if it cannot be written or the folder does not exist.
    """
    note = folder / f"cpu-{sha256(cpu.encode()).hexdigest()[:12]}.txt"
    if not note.exists():
        publish(note, cpu, makes_folder=False)


def makers(folder: Path) -> tuple[str, ...]:
    """Return the kinds of processors that made frames in a shot's folder, sorted."""
    return tuple(sorted(note.read_text(encoding="utf-8") for note in folder.glob("cpu-*.txt")))
