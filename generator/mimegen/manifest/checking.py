"""Check clips against their manifest rows before the clips are used."""

import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash, publish, stamp
from mimegen.base.user_cache import cache_folder
from mimegen.manifest.file import clip_path
from mimegen.manifest.record import facts_of, false_facts
from mimegen.manifest.row import Row

# Values longer than this are cut in messages, in characters.
_MAX_VALUE_LETTERS = 60
# Fields that are in ``render_config`` and also in the row itself.
_OF_CONFIG = ("fps", "width", "height")


def contradictions(row: Row) -> list[str]:
    """Return the fields of a row that contradict its other fields, sorted.

    Only rows that mimegen wrote, those with a ``clip_key``, are checked.
    """
    if row.clip_key is None:
        return []
    false = {"label"} if row.label not in (None, "|".join(row.labels)) else set[str]()
    with suppress(ValueError):
        angle = float((row.config_name or "").rpartition("@")[2])
        false |= {"angle"} if row.angle not in (None, angle) else set()
    config = row.render_config if row.shot_key else None
    facts = facts_of(row)
    false |= {name for name in _OF_CONFIG
              if config and config.get(name, facts[name]) != facts[name]}
    return sorted(false)


def wrong_fields_message(row: Row, names: Iterable[str]) -> str:
    """Return a message that names the fields in which a row contradicts its clip."""
    facts = facts_of(row)
    listed = ", ".join(f"{name} {_short(facts[name])}" for name in names)
    return f"its row says {listed}, which is not what the clip was made as"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_LETTERS else f"{text[:_MAX_VALUE_LETTERS]}..."


def check_clips(out: Path, rows: Iterable[Row]) -> None:
    """Raise RequestError if a clip in ``out`` is damaged or contradicts its row.

    Missing clips are skipped. Hashes are cached in the user's cache folder, so a file whose size
    and modification time are unchanged since any earlier command is not hashed again.
    """
    known = _HashCache.of(out)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: _problem_of(out, row, known), rows))
    known.keep()
    wrong = [why for why in found if why is not None]
    if wrong:
        more = f" (and {len(wrong) - 1} more clips)" if wrong[1:] else ""
        raise RequestError(f"{wrong[0]}{more}; run mimegen verify {out} --repair, or add"
                           " --no-verify")


def _problem_of(out: Path, row: Row, known: "_HashCache") -> str | None:
    """Return why a clip is damaged or contradicts its row; None if it is fine or missing."""
    path = clip_path(out, row)
    if not path.is_file():
        return None
    if known.sha256(path) != row.sha256:
        return f"{path}: is damaged or was changed (its SHA-256 is not the row's)"
    false = sorted({*contradictions(row), *(false_facts(path, row) or ())})
    return f"{path}: {wrong_fields_message(row, false)}" if false else None


@dataclass
class _HashCache:
    """SHA-256 hashes of clips with the files' sizes and times, cached for the user."""

    file: Path
    hashes: dict[str, list[Any]]
    new: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, out: Path) -> "_HashCache":
        file = cache_folder() / "clips" / f"{content_key(os.fsdecode(out.resolve()))}.json"
        with suppress(OSError, ValueError):
            content = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(content, dict):
                return cls(file, content)
        return cls(file, {})

    def sha256(self, path: Path) -> str:
        written = [*(stamp(path) or ())]
        entry = self.hashes.get(str(path))
        if not (isinstance(entry, list) and len(entry) == 3 and entry[:2] == written):
            entry = [*written, file_hash(path)]
        self.new[str(path)] = entry
        return str(entry[2])

    def keep(self) -> None:
        """Write the cache. If it cannot be written, the files are hashed again next time."""
        if self.new.items() <= self.hashes.items():
            return
        with suppress(RequestError):
            publish(self.file, json.dumps(self.hashes | self.new))
