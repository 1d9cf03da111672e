"""On which kinds of processors the frames of a shot were made: a small file for each, beside them.

Frames of one shot may come from several machines, and what was made is kept for years; who made
it is told where it lies.
"""

from hashlib import sha256
from pathlib import Path

from mimegen.base.files import publish


def note_maker(folder: Path, cpu: str) -> None:
    """Note that frames in a shot's folder are made on a kind of processor.

    Raises DiskFullError, or RequestError where it cannot be written, as where there is no folder.
    """
    note = folder / f"cpu-{sha256(cpu.encode()).hexdigest()[:12]}.txt"
    if not note.exists():
        publish(note, cpu, makes_folder=False)


def makers(folder: Path) -> tuple[str, ...]:
    """Return the kinds of processors that frames in a shot's folder were made on, sorted."""
    return tuple(sorted(note.read_text(encoding="utf-8") for note in folder.glob("cpu-*.txt")))
