"""Photographs into a user's own library: the picture, and the background's file beside it."""

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
# What variants and permutations call the backgrounds of an action, whatever those are.
ROLES = ("aligned", "misaligned", "misleading")


@dataclass(frozen=True)
class Credits:
    """What a background is called, and what is said of where it comes from."""

    name: str
    licence: str
    author: str
    source: str
    description: str | None = None

    def check(self) -> None:
        """Raise RequestError for a licence or an author that says nothing."""
        for option, text in (("licence", self.licence), ("author", self.author)):
            if not text.strip():
                raise RequestError(f"--{option}: is empty; give a value, it is written to every"
                                   " clip's row")


def check_library(library: Path) -> None:
    """Raise RequestError where a library is to be made and a file is in its place."""
    if library.exists() and not library.is_dir():
        raise RequestError(f"{library}: is a file; --library expects a folder")


def place_for(library: Path, name: str) -> Path:
    """Return where a background's file is to lie.

    Raises RequestError for a name that files cannot have or that is taken, and where ``library`` is
    no folder.
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
    """Write a photograph beside ``file`` and then that, whole or not at all.

    Raises RequestError where they cannot be written.
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
