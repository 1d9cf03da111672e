"""Materials and groups that sets share by name: backgrounds/shared/*.yaml.

A set that uses a name without defining it takes the shared definition, and everything that this
uses in turn. The set's own definitions take precedence, so that a shared group gets the set's own
colors.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from mimegen.base.errors import near_misses
from mimegen.base.files import Stamp, stamp
from mimegen.base.paths import data_folders
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.objects import Object

Kind = Literal["materials", "groups"]
KINDS: tuple[Kind, ...] = ("materials", "groups")


class SharedParts(Strict):
    """One file of a folder ``shared``: definitions that sets may use by name."""

    materials: dict[str, SetMaterial] = Field(default={})
    groups: dict[str, tuple[Object, ...]] = Field(default={})


class SharedPart(NamedTuple):
    """A material or group as its file defines it, and its location there."""

    content: Any
    file: YamlFile
    location: tuple[int | str, ...]


class Use(NamedTuple):
    """A reference to a material or group, and its location in a file."""

    kind: Kind
    name: str
    file: YamlFile
    location: tuple[int | str, ...]


def shared_files(background: Path) -> list[Path]:
    """Return the files whose definitions a background may use, by precedence.

    First come those in the folder ``shared`` beside the background, then those of the user's
    libraries and of mimegen.
    """
    # Not `data_files`: a background's content key covers only the files that it uses.
    folders = [background.parent, *(folder / "backgrounds" for folder in reversed(data_folders()))]
    places = dict.fromkeys(folder.resolve() / "shared" for folder in folders)
    return [file for place in places for file in sorted(place.glob("*.yaml"))]


def completed(file: YamlFile, scenery: Any) -> Any:
    """Return the set ``scenery`` with the definitions added that it uses but lacks.

    A string instead of a definition (``steel: bright_steel``) is the name of a shared one. Raises
    RequestError, with file, line and similar names, for an undefined name or an invalid shared
    file.
    """
    if not isinstance(scenery, Mapping) or not all(
            isinstance(scenery.get(kind, {}), Mapping) for kind in KINDS):
        return scenery
    shared = _parts(shared_files(file.path))
    own = {kind: scenery.get(kind, {}) for kind in KINDS}
    found = {kind: {name: part for name, part in own[kind].items() if not isinstance(part, str)}
             for kind in KINDS}
    renamed = ((Use(kind, part, file, ("set", kind, name)), name) for kind in KINDS
               for name, part in own[kind].items() if isinstance(part, str))
    waiting = deque([*renamed, *((use, use.name) for use in _uses(scenery, file, ("set",)))])
    while waiting:
        use, name = waiting.popleft()
        if name in found[use.kind]:
            continue
        part = shared[use.kind].get(use.name)
        if part is None:
            known = {*own[use.kind], *shared[use.kind]}
            raise use.file.error(use.location, f"no {use.kind[:-1]} '{use.name}'"
                                               f"{near_misses(use.name, known)}")
        found[use.kind][name] = part.content
        waiting.extend((use, use.name) for use in _uses(part.content, part.file, part.location))
    return {**scenery, **found}


def _uses(content: Any, file: YamlFile, location: tuple[int | str, ...]) -> Iterator[Use]:
    """Yield every reference to a material or group in a part of a file, in the file's order."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        for number, inner in enumerate(content):
            yield from _uses(inner, file, (*location, number))
    elif isinstance(content, Mapping):
        yield from (use for use in _direct_references(content, file, location)
                    if isinstance(use.name, str))
        for key, inner in content.items():
            yield from _uses(inner, file, (*location, key))


def _direct_references(content: Mapping[Any, Any], file: YamlFile, location: tuple[int | str, ...]
                       ) -> Iterator[Use]:
    """Yield the references that one object, floor or wall itself makes."""
    materials = content.get("material", [])
    for name in materials if isinstance(materials, list) else [materials]:
        yield Use("materials", name, file, (*location, "material"))
    if content.get("kind") == "group":
        yield Use("groups", content.get("of", ""), file, (*location, "of"))
        exchanged = content.get("materials")
        for old, new in exchanged.items() if isinstance(exchanged, Mapping) else ():
            yield Use("materials", new, file, (*location, "materials", old))


def _parts(files: Sequence[Path]) -> dict[Kind, dict[str, SharedPart]]:
    """Return the parts of all files by name; earlier folders take precedence."""
    found: dict[Kind, dict[str, SharedPart]] = {kind: {} for kind in KINDS}
    for path in files:
        file = _shared_file(path, stamp(path))
        for kind in KINDS:
            for name, content in file.content.get(kind, {}).items():
                known = found[kind].setdefault(name, SharedPart(content, file, (kind, name)))
                if known.file is not file and known.file.path.parent == path.parent:
                    raise file.error((kind, name),
                                     f"is already defined in {known.file.path.name}")
    return found


@lru_cache(maxsize=64)
def _shared_file(path: Path, written: Stamp | None) -> YamlFile:
    file = YamlFile(path)
    file.parsed(SharedParts)
    return file
