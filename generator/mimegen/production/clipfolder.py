"""The folder OUT/clips: where finished clips lie, under plain or opaque names.

A plain name describes what the clip shows; an opaque name reveals nothing. Opaque names are a keyed
hash of the plain names. The key is random, generated once for each OUT and kept in OUT/names.salt,
so that hashing likely names does not reveal what a clip shows.
"""

import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish, stamp
from mimegen.base.locks import locked
from mimegen.manifest.file import clip_path
from mimegen.manifest.record import false_facts
from mimegen.manifest.row import Row

SALT = "names.salt"
_SALT_BYTES = 16  # length of the random key
_NAME_DIGITS = 32  # hex digits of an opaque name


@dataclass(frozen=True)
class ClipFolder:
    """The clips of ``out``, each stored once, under its plain or its opaque name.

    ``salt`` is the key of the opaque names, None if OUT has never had any. The rows and names
    passed to the methods are plain; the methods translate them to this folder's kind of name.
    """

    out: Path
    opaque: bool = False
    salt: str | None = None

    @classmethod
    def of(cls, out: Path, opaque: bool) -> Self:
        """Return the clip folder of ``out``; create the salt if opaque names need one.

        Raises RequestError if the salt file is damaged or cannot be written.
        """
        path = out / SALT
        if opaque and not path.exists():
            with locked(path):
                if not path.exists():
                    publish(path, f"{secrets.token_hex(_SALT_BYTES)}\n", synced=True)
        return cls(out, opaque, _read_salt(path))

    def named(self, row: Row) -> Row:
        """Return a plain row with the name that its clip has in this folder."""
        name = self._name(row.sample_id)
        return row if name == row.sample_id else row.model_copy(update={
            "sample_id": name, "file_name": f"clips/{name}.mp4", "plain_id": row.sample_id})

    def place(self, row: Row) -> Path:
        """Return the path at which the clip of a plain row belongs."""
        return clip_path(self.out, self.named(row))

    def target(self, sample_id: str) -> Path:
        """Return the path at which the clip with this plain name belongs."""
        return self.out / "clips" / f"{self._name(sample_id)}.mp4"

    def found(self, row: Row, recorded: int) -> Row | None:
        """Return the row, with this folder's name, of a clip whose file is whole, else None.

        A file not modified since its row was ``recorded`` (nanoseconds) counts as whole if the
        record inside it matches the row; otherwise its SHA-256 is compared. A whole clip found
        under its other name (plain or opaque) is renamed.
        """
        target = self.target(row.sample_id)
        for path in (target, *self._elsewhere(row)):
            if _matches_row(path, row, recorded):
                if path != target:
                    path.replace(target)
                return self.named(row)
        return None

    def delivered(self, row: Row) -> Row:
        """Return the row, with this folder's name, of a clip just made.

        A copy of the clip under its other name is deleted.
        """
        for path in self._elsewhere(row):
            path.unlink(missing_ok=True)
        return self.named(row)

    def _name(self, sample_id: str) -> str:
        if not self.opaque or self.salt is None:
            return sample_id
        key = bytes.fromhex(self.salt)
        return hmac.digest(key, sample_id.encode(), "sha256").hex()[:_NAME_DIGITS]

    def _elsewhere(self, row: Row) -> list[Path]:
        """Return where the clip would lie under the other kind of name; empty without a salt."""
        if self.salt is None:
            return []
        return [ClipFolder(self.out, not self.opaque, self.salt).target(row.sample_id)]


def _matches_row(path: Path, row: Row, recorded: int) -> bool:
    """Return whether a clip's file is there and matches its row."""
    written = stamp(path)
    if written is None:
        return False
    believed = written[1] > 0 and written[0] <= recorded and not false_facts(path, row)
    return believed or file_hash(path) == row.sha256


def _read_salt(path: Path) -> str | None:
    """Return the salt in a file, None without a file. Raises RequestError if it is damaged."""
    try:
        salt = path.read_bytes()[:100].decode().strip()
    except FileNotFoundError:
        return None
    except ValueError:
        salt = ""
    if not re.fullmatch(rf"[0-9a-f]{{{2 * _SALT_BYTES}}}", salt):
        raise RequestError(f"{path}: is damaged; restore it, or move it away together with clips/,"
                           " which then get new names")
    return salt
