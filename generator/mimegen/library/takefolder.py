"""The folder of an action in a user's library: what an import adds and replaces."""

import shutil
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from mimegen.base.files import file_hash, publishing, sweep
from mimegen.library.takefile import TAKE_SUFFIX, files_of, mocap_takes

# Characters of a file's SHA-256 that distinguish a replaced file's name from its successor's.
_HASH_CHARACTERS = 12


@dataclass(frozen=True)
class TakeFolder:
    """``mocap/<action>`` of a library; ``name`` is that of the import to be written."""

    folder: Path
    name: str

    @cached_property
    def _takes(self) -> dict[str, Path]:
        """The motion capture takes in the folder, by name."""
        return mocap_takes(self.folder) if self.folder.is_dir() else {}

    @property
    def has_action(self) -> bool:
        """Whether the action is described in this folder, not in another library."""
        return (self.folder / "action.yaml").exists()

    def holds(self, take: str) -> bool:
        """Return whether the folder has a motion capture take of this name."""
        return take in self._takes

    @property
    def has_scores(self) -> bool:
        """Whether the folder has takes that are scores or gaits."""
        return any(file for ending in ("score", "gait")
                   for file in self.folder.glob(f"*.{ending}.yaml"))

    def holds_only(self, takes: Collection[str]) -> bool:
        """Return whether all takes in the folder are these or of an earlier import of ``name``."""
        return not self.has_scores and self._takes.keys() <= {*takes, *self._replaced(takes)}

    def places(self, copies: Mapping[str, Path]) -> dict[str, Path]:
        """Return the name in this folder under which each file is to be stored.

        A file never overwrites another, because until the new take file is written, the old one
        must find its files unchanged. If a name is taken, the file goes into a subfolder of the
        take, under its hash.
        """
        return {self._place(name, file): file for name, file in copies.items()}

    def _place(self, name: str, file: Path) -> str:
        aside = f"{self.name}.files/{file_hash(file)[:_HASH_CHARACTERS]}-{name}"
        for place in (aside, name):
            if (self.folder / place).is_file() \
                    and file_hash(self.folder / place) == file_hash(file):
                return place
        return aside if (self.folder / name).exists() else name

    def write(self, copies: Mapping[str, Path], texts: Mapping[str, str], replaces: bool) -> None:
        """Write all files or none; the take files, which turn the others into takes, come last.

        Files of replaced takes are then removed. Raises RequestError or OSError if a file cannot be
        written.
        """
        sweep(self.folder.parent)
        if not self.folder.exists():
            with publishing(self.folder) as aside:
                _add(aside, copies, texts)
            return
        sweep(self.folder)
        stale = self._stale(copies, texts) if replaces else []
        _add(self.folder, copies, texts)
        for file in stale:
            file.unlink(missing_ok=True)
        remove_empty(self.folder / f"{self.name}.files")

    def _stale(self, copies: Mapping[str, Path], texts: Mapping[str, str]) -> list[Path]:
        """Return the files of replaced takes that nothing needs any more, take files first."""
        old = self._replaced({text.removesuffix(TAKE_SUFFIX) for text in texts})
        needed = {*copies, *texts} | {name for take, path in self._takes.items()
                                      if take not in old for name in files_of(path)}
        stale = [path for take, path in self._takes.items()
                 if take in old and path.name not in needed]
        parts = {name for take in old for name in files_of(self._takes[take])} - needed
        return [*stale, *(self.folder / name for name in sorted(parts))]

    def _replaced(self, takes: Collection[str]) -> set[str]:
        """Return the takes here that an import of this name with these takes replaces.

        They are takes of the same names, and all takes of an earlier import of this name, which may
        have been segmented into more.
        """
        return {take for take, path in self._takes.items()
                if take in takes or any(self._is_own(file) for file in files_of(path))}

    def _is_own(self, file: str) -> bool:
        path = PurePosixPath(file)
        return path.parts[0] == f"{self.name}.files" or path.stem == self.name


def _add(folder: Path, copies: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Write files into a folder; if one cannot be written, leave the folder as it was."""
    added: list[Path] = []
    try:
        for name, file in copies.items():
            if not (folder / name).exists():
                with publishing(folder / name, synced=True) as part:
                    shutil.copyfile(file, part)
                added.append(folder / name)
        _publish_all(folder, texts)
    except BaseException:
        for file in added:
            file.unlink(missing_ok=True)
        remove_empty(*{file.parent for file in added} - {folder})
        raise


def _publish_all(folder: Path, texts: Mapping[str, str]) -> None:
    """Write all text files before renaming the first of them, in the order of ``texts``."""
    with ExitStack() as parts:
        # The stack unwinds from last to first, and each file is renamed as its context ends.
        for name in reversed(list(texts)):
            part = parts.enter_context(publishing(folder / name, synced=True))
            part.write_text(texts[name], encoding="utf-8")


def remove_empty(*folders: Path) -> None:
    """Remove those of these folders that are empty."""
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
