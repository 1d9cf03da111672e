"""Free photographs from the web, one after another, as files of this machine."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.library.naming import plain
from mimegen.library.photos.collections import FreePhoto, Search
from mimegen.library.photos.web import TooLargeError, Web

LONGEST_NAME = 40


def found_photos(search: Search, web: Web, query: str) -> Iterator[FreePhoto]:
    """Yield what a collection finds, each file once.

    Raises RequestError where it answers something else than its API should.
    """
    seen: set[str] = set()
    try:
        for photo in search(web, query):
            if photo.address not in seen:
                seen.add(photo.address)
                yield photo
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise RequestError("the collection's answer does not follow its API; try again later"
                           f" ({problem})") from problem


def fetched(photo: FreePhoto, web: Web, folder: Path) -> Path:
    """Return the file of a photograph, fetched into ``folder``.

    Raises RequestError where it does not come or is too large.
    """
    try:
        content = web.file(photo.address)
    except TooLargeError as problem:
        raise RequestError(f"{photo.title}: {str(problem).rsplit(': ', 1)[-1]}") from problem
    ending = Path(unquote(urlsplit(photo.address).path)).suffix.lower()
    target = folder / f"{name_of(photo)}{ending if re.fullmatch(r'[.][a-z]{1,5}', ending) else ''}"
    target.write_bytes(content)
    return target


def name_of(photo: FreePhoto) -> str:
    """Return what to call a photograph's background: its title in small letters, not too long."""
    name = plain(re.sub(r"[^\w]+", " ", photo.title))[:LONGEST_NAME].strip("_")
    return plain(path_name(name or "photograph"))
