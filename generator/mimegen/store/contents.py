"""List and remove the pieces of a store."""

import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mimegen.base.names import is_content_key
from mimegen.store.store import Store

KINDS = ("shots", "stills", "clips", "characters", "performances", "passes", "pictures", "encoded")
_FACTS = {"shots": "shot.json", "passes": "pass.json"}


@dataclass(frozen=True)
class StoredPiece:
    """A finished piece: a file, or a folder of files."""

    kind: str
    path: Path

    @property
    def key(self) -> str:
        """The content key."""
        return self.path.stem

    @cached_property
    def size(self) -> int:
        """The size in bytes."""
        if not self.path.is_dir():
            return _size(self.path)
        return sum(_size(Path(folder, name)) for folder, _, names in os.walk(self.path)
                   for name in names)

    def facts(self) -> dict[str, object]:
        """Return the recorded facts of a shot, pass or clip; empty for other pieces."""
        path = self.path / _FACTS[self.kind] if self.kind in _FACTS else self.path
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def remove(self) -> None:
        """Remove the piece; the facts file first, so that a half-removed folder is not valid."""
        if self.path.is_dir():
            for facts in _FACTS.values():
                (self.path / facts).unlink(missing_ok=True)
            shutil.rmtree(self.path)
        else:
            self.path.unlink(missing_ok=True)


def _size(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def pieces(store: Store, kinds: Collection[str] = KINDS) -> Iterator[StoredPiece]:
    """Yield the pieces of a store, by kind and key; other files are skipped."""
    for kind in kinds:
        folder = store.root / kind
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            inner = sorted(entry.iterdir()) if entry.is_dir() and len(entry.name) == 2 else [entry]
            yield from (StoredPiece(kind, path) for path in inner if is_content_key(path.stem))
