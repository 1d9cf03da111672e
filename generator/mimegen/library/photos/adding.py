"""Add photographs to a user's library: the picture and its background file."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.names import path_name
from mimegen.compositing.background import Background, Panorama, Picture
from mimegen.library.naming import plain

JPEG_QUALITY = 95
# Words for an action's own backgrounds in variants and permutations; not allowed as names.
ROLES = ("aligned", "misaligned", "misleading")


@dataclass(frozen=True)
class Credits:
    """A background's name, and its origin: licence, author and source."""

    name: str
    licence: str
    author: str
    source: str
    description: str | None = None

    def check(self) -> None:
        """Raise RequestError if licence or author is blank."""
        for option, text in (("licence", self.licence), ("author", self.author)):
            if not text.strip():
                raise RequestError(f"--{option}: is empty; give a value, it is written to every"
                                   " clip's row")


def check_library(library: Path) -> None:
    """Raise RequestError if the library's path is a file."""
    if library.exists() and not library.is_dir():
        raise RequestError(f"{library}: is a file; --library expects a folder")


def place_for(library: Path, name: str) -> Path:
    """Return the path of a new background's file.

    Raises RequestError for a name that is invalid or taken, and if ``library`` is not a folder.
    """
    check_library(library)
    if path_name(name) != name or plain(name) != name:
        raise RequestError(f"--name {name}: expected lowercase letters, digits and underscores, as"
                           " in school_yard")
    if name in ROLES:
        raise RequestError(f"--name {name}: is reserved in variants for an action's own background;"
                           " choose another name")
    file = library / "backgrounds" / f"{name}.yaml"
    if file.exists():
        raise RequestError(f"{file}: already exists; choose another --name, or remove it first")
    return file


def add_background(file: Path, image: Image.Image, shown: Picture | Panorama, credits: Credits
                   ) -> None:
    """Write a photograph, and then its background ``file``, each completely or not at all.

    Raises RequestError if they cannot be written.
    """
    kind = "picture" if isinstance(shown, Picture) else "panorama"
    fields: dict[str, Any] = {
        "name": credits.name,
        "description": credits.description or f"{credits.name}, a photograph by {credits.author}",
        "licence": credits.licence, "author": credits.author, "source": credits.source,
        kind: shown.model_dump(mode="json", exclude_defaults=True) | {"file": f"{file.stem}.jpg"}}
    Background.model_validate(fields)
    packed = io.BytesIO()
    image.save(packed, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    publish(file.with_suffix(".jpg"), packed.getvalue())
    publish(file, yaml.safe_dump(fields, sort_keys=False, allow_unicode=True))
