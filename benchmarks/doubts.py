"""What readers doubt in real files, and whether mirror images are told: python benchmarks/doubts.py
FOLDER... [--actions A,B].

Every motion file below the folders is read, and takes of mimegen's own actions, written as BVH and
read back. BVH and FBX files are then read as a left-handed program would have written them.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mimegen.base.errors import RequestError
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.readers import READERS, read_motion
from mimegen.readers.bvh import read_bvh
from mimegen.readers.canonical import canonical_recording
from mimegen.readers.fbx import raw_fbx
from mimegen.readers.sides import reflected
from mimegen.writers import write_motion

FPS = 30.0
MIRRORED = "mirrored back"


def notes_of(file: Path) -> tuple[str, ...]:
    """Return what is doubted in a file, or why it is refused."""
    try:
        return read_motion(file).notes
    except RequestError as problem:
        return (f"REFUSED: {problem}",)


def told_when_mirrored(file: Path) -> bool | None:
    """Return whether a file's mirror image is told; None of a kind of file that is not mirrored."""
    if file.suffix.lower() not in (".bvh", ".fbx"):
        return None
    try:
        motion = (raw_fbx if file.suffix.lower() == ".fbx" else read_bvh)(file)[0]
        found = canonical_recording(file, reflected(motion), "mirrored", ())
    except RequestError:
        return None
    return any(MIRRORED in note for note in found.notes)


def exported(actions: list[str], folder: Path) -> list[Path]:
    """Write the first take of each action as BVH."""
    catalogue, files = Catalogue.with_libraries(()), []
    for action in actions:
        for number, (motion, _) in enumerate(
                library_take(catalogue.action(action), None, 0).sources(FPS)):
            files.append(folder / f"{action}{number or ''}.bvh")
            write_motion(files[-1], motion, None)
    return files


def report(files: list[Path]) -> None:
    """Print each file's notes, and how many mirror images are told."""
    told = []
    for file in files:
        notes, mirror = notes_of(file), told_when_mirrored(file)
        told += [] if mirror is None else [mirror]
        print(f"{file.name} | {'-' if mirror is None else 'told' if mirror else 'NOT TOLD'} |"
              f" {'; '.join(notes) or '-'}", flush=True)
    print(f"mirror images told: {sum(told)} of {len(told)}")


def main(arguments: list[str]) -> None:
    """Report on the files below the folders, then on the actions' takes."""
    split = arguments.index("--actions") if "--actions" in arguments else len(arguments)
    report(sorted(file for folder in arguments[:split] for file in Path(folder).rglob("*")
                  if file.suffix.lower() in READERS and file.suffix.lower() != ".asf"))
    with TemporaryDirectory() as folder:
        report(exported([name for names in arguments[split + 1 :] for name in names.split(",")],
                        Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
