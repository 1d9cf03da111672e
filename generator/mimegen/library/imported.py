"""Imported takes of a user's library: find, remove and relabel them.

Only files that an import wrote and nobody has changed since are touched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import file_hash, publish
from mimegen.base.yaml_file import read_yaml
from mimegen.choreography.action import Action, read_action
from mimegen.library.catalogue import Catalogue
from mimegen.library.importing import ACTION_FILE, IMPORTED, yaml_of
from mimegen.library.takefile import TAKE_SUFFIX, TakeFile, files_of, mocap_takes
from mimegen.library.takefolder import TakeFolder, remove_empty

Facts = TypeVar("Facts", Action, TakeFile)


@dataclass(frozen=True)
class Removed:
    """What was removed from a library: takes, their files, and what was kept and why."""

    action: str
    takes: tuple[str, ...]
    files: tuple[Path, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Relabelled:
    """The files whose labels were changed, and takes that keep labels of their own."""

    files: tuple[Path, ...]
    own: tuple[str, ...]


def imported_takes(takes: Mapping[str, Path]) -> dict[str, Path]:
    """Return those of an action's takes that imports wrote: their take files by name."""
    return {name: file for name, file in takes.items()
            if file.name.endswith(TAKE_SUFFIX) and read_yaml(file, TakeFile).mimegen_version}


def remove_takes(library: Path, action: str, take: str | None = None) -> Removed:
    """Delete an imported take of a library, or all imported takes of an action.

    The action's file goes with the last take if an import wrote it. Nothing is deleted if a motion
    was changed since its import. Raises RequestError, with similar names, for an action or take
    that was not imported to this library.
    """
    folder = _folder_of(library, action)
    takes = _imported_in(folder, take, or_none=_is_left_over(folder))
    files, kept = _parts(folder, takes)
    for file in (*files, *takes.values()):
        file.unlink(missing_ok=True)
    deleted = [*files, *takes.values()]
    if _is_left_over(folder):
        (folder / ACTION_FILE).unlink()
        deleted.append(folder / ACTION_FILE)
    elif (folder / ACTION_FILE).exists() and not _has_takes(folder):
        kept.append(f"{folder / ACTION_FILE}: was not written by an import, or was edited since;"
                    " delete it if you do not need it")
    remove_empty(*(file.parent for file in files), folder)
    return Removed(folder.name, tuple(takes), tuple(deleted), tuple(kept))


def relabel(library: Path, action: str, labels: tuple[str, ...], take: str | None = None
            ) -> Relabelled:
    """Give an action that was imported to a library other labels, or one of its takes.

    If the action is not described in this library, its imported takes get the labels. Raises
    RequestError as ``remove_takes``, and for a file that was edited since its import.
    """
    if not labels or not all(label.strip() for label in labels):
        raise RequestError("--label is empty; give the action that the take shows")
    folder = _folder_of(library, action)
    described = folder / ACTION_FILE
    if take is None and described.exists():
        changed = _unedited(described, read_action(described))
        publish(described, yaml_of(changed.model_copy(update={"labels": labels})), synced=True)
        own = (name for name, file in mocap_takes(folder).items()
               if file.name.endswith(TAKE_SUFFIX) and read_yaml(file, TakeFile).labels)
        return Relabelled((described,), tuple(own))
    takes = {file: _unedited(file, read_yaml(file, TakeFile))
             for file in _imported_in(folder, take).values()}
    for file, facts in takes.items():
        publish(file, yaml_of(facts.model_copy(update={"labels": labels})), synced=True)
    return Relabelled(tuple(takes), ())


def _folder_of(library: Path, action: str) -> Path:
    """Return the folder of an action, by id, label or alias, in a library."""
    if not library.is_dir():
        raise RequestError(f"{library}: no such folder; --library expects your own library")
    mocap = library / "mocap"
    own = sorted(place.name for place in mocap.glob("*") if place.is_dir())
    # By its folder first: that works if another action of the library is damaged.
    name = action if action in own else _known_id(library, action)
    if name not in own:
        raise RequestError(f"{library}: has no action '{action}'{near_misses(action, own)}")
    return mocap / name


def _known_id(library: Path, action: str) -> str | None:
    try:
        return Catalogue.with_libraries((library,)).action(action).action.id
    except RequestError:
        return None


def _imported_in(folder: Path, take: str | None, or_none: bool = False) -> dict[str, Path]:
    """Return the imported takes in a folder, or the one that is named.

    Raises RequestError if there is none, unless ``or_none`` and none is named.
    """
    found = imported_takes(mocap_takes(folder))
    if take is not None and take not in found:
        raise RequestError(f"{folder}: has no imported take '{take}'{near_misses(take, found)}")
    if not found and not or_none:
        raise RequestError(f"{folder}: has no imported take; what you wrote there yourself stays"
                           " until you delete it")
    return found if take is None else {take: found[take]}


def _parts(folder: Path, takes: Mapping[str, Path]) -> tuple[list[Path], list[str]]:
    """Return the files to delete with takes, and which are kept and why.

    Files that other takes need stay. Raises RequestError for a motion that was changed.
    """
    needed = {name for take, file in mocap_takes(folder).items() if take not in takes
              for name in files_of(file)}
    due: dict[Path, None] = {}
    kept: dict[str, None] = {}
    for file in takes.values():
        for name, sha256 in _hashes(read_yaml(file, TakeFile)):
            path = folder / name
            if name in needed or not path.is_file():
                continue
            if sha256 == file_hash(path):
                due[path] = None
            elif path == folder / read_yaml(file, TakeFile).file:
                raise RequestError(f"{path}: differs from the imported file, so nothing was"
                                   " removed; move it away or delete it, and repeat the command")
            else:
                kept[f"{path}: may have been edited since the import; delete it if you do not need"
                     " it"] = None
    return list(due), list(kept)


def _hashes(facts: TakeFile) -> Iterator[tuple[str, str | None]]:
    """Yield the files of a take with their SHA-256 at the import, None if it is not known."""
    yield facts.file, facts.sha256
    for name in (facts.skeleton, facts.mapping):
        if name is not None:
            yield name, facts.sha256_beside.get(name)


def _has_takes(folder: Path) -> bool:
    return TakeFolder(folder, "").has_scores or bool(mocap_takes(folder))


def _is_left_over(folder: Path) -> bool:
    """Return whether a folder has no takes, and an action's file as imports write it."""
    file = folder / ACTION_FILE
    if _has_takes(folder) or not file.is_file():
        return False
    found = read_action(file)
    return found.author == IMPORTED and yaml_of(found) == file.read_text(encoding="utf-8")


def _unedited(file: Path, facts: Facts) -> Facts:
    """Return the facts in a file. Raises RequestError if writing them would lose something."""
    if yaml_of(facts) != file.read_text(encoding="utf-8"):
        raise RequestError(f"{file}: was not written by an import, or was edited since; change its"
                           " labels there")
    return facts
