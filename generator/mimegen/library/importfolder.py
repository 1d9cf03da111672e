"""Import folders and archives of motion files; every file becomes a take."""

import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.library.importing import Imported, ImportRequest, import_take, take_location
from mimegen.readers import MANY_OTHERS, READERS, prompt_of
from mimegen.readers.files import MAX_FILE_BYTES

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
MAX_FILES = 1_000_000  # entries of an archive that are read at most
# Files that AMASS and others store beside the motions, by name.
BESIDE = ("shape.npz", "neutral_stagei.npz", "male_stagei.npz", "female_stagei.npz", "license.txt")


@dataclass(frozen=True)
class FileDone:
    """The result for a file: what was imported, or why nothing was."""

    name: str
    imported: Imported | None
    problem: str | None


def is_collection(path: Path) -> bool:
    """Return whether a path is a folder or an archive of files, not a motion file itself."""
    if path.is_dir():
        return True
    name = path.name.lower()
    return any(name.endswith(ending) for ending in ARCHIVES) and path.is_file()


def import_collection(path: Path, request: ImportRequest) -> Iterator[FileDone]:
    """Import every motion file of a folder or an archive and yield each one's result.

    Files are read one at a time, in order of their names. If the request names no action, a file's
    action is the prompt of the model that generated it, or else the name of its folder. Raises
    RequestError if the archive is damaged or has no motion file.
    """
    done: dict[tuple[str, str], str] = {}
    found = False
    for name, file in _files(path):
        found = True
        if file is None:
            yield FileDone(name, None,
                           f"is larger than {MAX_FILE_BYTES // 2**20} MiB; cut it into shorter"
                                       " takes")
            continue
        try:
            action = request.action or prompt_of(file, request.reading) or _folder(path, name)
            take = "_".join(PurePosixPath(name).with_suffix("").parts[-2:])
            own = replace(request, file=file, action=action, take=take)
            place = take_location(own)
            if place in done:
                raise RequestError(f"has the same action and take as {done[place]}; rename one of"
                                   " them")
            yield FileDone(name, import_take(own), None)
            done[place] = name
        except (RequestError, OSError) as problem:
            reason = " ".join(str(problem).split()).replace(f"{file}: ", "")
            yield FileDone(name, None, reason)
    if not found:
        raise RequestError(f"{path}: holds no motion file ({', '.join(READERS)})")


def _folder(path: Path, name: str) -> str:
    parent = PurePosixPath(name).parent.name
    return parent or path.name.partition(".")[0]


def _is_motion(name: str) -> bool:
    pure = PurePosixPath(name)
    return pure.suffix.lower() in READERS and pure.suffix.lower() not in MANY_OTHERS \
        and pure.name.lower() not in BESIDE and not any(part.startswith((".", "__MACOSX"))
                                                        for part in pure.parts)


def _files(path: Path) -> Iterator[tuple[str, Path | None]]:
    """Yield the names of motion files in a folder or an archive, and where they lie for now.

    The path is None if a file of an archive is too large to unpack.
    """
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if _is_motion(name) and file.is_file():
                yield name, file
        return
    try:
        with scratch_folder() as folder:
            for name, data in _members(path):
                if data is None:
                    yield name, None
                    continue
                file = folder / PurePosixPath(name).name
                file.write_bytes(data)
                yield name, file
                file.unlink(missing_ok=True)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError,
            ValueError) as problem:
        raise RequestError(f"{path}: is a damaged archive ({str(problem)[:100]})") from None


def _members(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """Yield the motion files of an archive with their content; None if a file is too large."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist()[:MAX_FILES], key=lambda one: one.filename):
                if _is_motion(entry.filename):
                    fits = entry.file_size <= MAX_FILE_BYTES
                    yield entry.filename, archive.read(entry) if fits else None
        return
    with tarfile.open(path) as packed:
        for number, member in enumerate(packed):
            if number >= MAX_FILES:
                return
            if member.isfile() and _is_motion(member.name):
                opened = packed.extractfile(member) if member.size <= MAX_FILE_BYTES else None
                yield member.name, opened.read() if opened else None
