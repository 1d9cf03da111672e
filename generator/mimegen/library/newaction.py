"""Create the folder of a new action by copying that of the most similar action."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import text_of
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX, Entry
from mimegen.library.naming import plain

_BESIDE = (".score.yaml", ".checks.yaml", ".timeline.yaml")
_UNSAID = "not said yet: what does a viewer see, with no object in the picture?"


def write_action(catalogue: Catalogue, library: Path, name: str, like: Sequence[Entry]
                 ) -> list[Path]:
    """Write ``mocap/<action>/`` into a library and return its files, the score first.

    The score and its accompanying files are copied from the first action of ``like``; if that is
    empty, the score is a template of a few lines. Raises RequestError if the name is invalid or
    taken.
    """
    ident = _id_of(name)
    if {ident} & {*catalogue.actions, *catalogue.cues, *catalogue.directed}:
        raise RequestError(f"{name}: there is an action {ident} already; choose another name")
    folder = library / "mocap" / ident
    if folder.exists():
        raise RequestError(f"{folder}: exists; choose another name, or remove it")
    written = []
    for file, text in _files(catalogue, ident, name, like):
        publish(folder / file, text)
        written.append(folder / file)
    return written


def _id_of(name: str) -> str:
    ident = re.sub(r"[^a-z0-9_]+", "", plain(name))
    if not re.fullmatch(r"[a-z][a-z0-9_]*", ident):
        raise RequestError(f"{name!r}: expected a name of letters (a to z) and digits that starts"
                           " with a letter, as 'brushing teeth'")
    return ident


def _files(catalogue: Catalogue, ident: str, name: str, like: Sequence[Entry]
           ) -> Iterator[tuple[str, str]]:
    """Yield the name and text of every file."""
    yield from _copies(ident, name, like) if like else [_first_score(ident, name)]
    yield "action.yaml", yaml.safe_dump(_facts(catalogue, ident, name, like[0] if like else None),
                                        sort_keys=False, allow_unicode=True,
                                        default_flow_style=None, width=100)


def _first_score(ident: str, name: str) -> tuple[str, str]:
    """Return a template score of a few lines."""
    lines = text_of(data_file("mocap/first_score.yaml"))
    return (f"{ident}{SCORE_SUFFIX}",
            f"# A first score, to be changed into {name}.\naction: {ident}\n{lines}")


def _copies(ident: str, name: str, like: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield the first example's score and the files beside it."""
    score = next(iter(like[0].takes.values()))
    take = score.name.removesuffix(SCORE_SUFFIX)
    nearest = ", ".join(entry.action.id for entry in like)
    for kind in _BESIDE:
        source = score.with_name(take + kind)
        if source.is_file():
            about = (f"# A copy of that of {like[0].action.id} (nearest in meaning: {nearest}), to"
                     f" be changed\n# into {name}.\n")
            yield ident + kind, about + re.sub(r"^action: .*$", f"action: {ident}",
                                               text_of(source), count=1, flags=re.M)


def _facts(catalogue: Catalogue, ident: str, name: str, like: Entry | None
           ) -> dict[str, Any]:
    """Return the initial content of ``action.yaml``."""
    of_example = {} if like is None else {
        "aligned_background": like.action.aligned_background,
        "misaligned_background": like.action.misaligned_background,
        "semantic_group": like.action.semantic_group}
    facts = {
        "id": ident, "name": name, "labels": [name], **of_example, "sets": _sets(catalogue, name),
        "recognised_by": _UNSAID, "licence": "CC0-1.0", "author": "not stated",
    }
    return {key: value for key, value in facts.items() if value}


def _sets(catalogue: Catalogue, name: str) -> dict[str, list[str]]:
    """Return, by published set, the codes of actions with this name."""
    found = {title: [code for code in one.members
                     if plain(name) in map(plain, one.names_of(code))]
             for title, one in catalogue.sets.items()}
    return {title: codes for title, codes in found.items() if codes}
