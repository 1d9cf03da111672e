"""Free photographs in Wikimedia Commons and Openverse: searched by their APIs, with credits."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.library.photos.web import Web

COMMONS = "https://commons.wikimedia.org/w/api.php"
OPENVERSE = "https://api.openverse.org/v1/images/"
AT_ONCE, MOST_PAGES = 20, 10
# What may be used, changed and passed on by anybody, with its author's name or without.
_FREE = re.compile(r"(?:CC[ -])?(?P<kind>BY-SA|BY)[ -](?P<version>\d\.\d)\b.*|(?P<zero>CC0\b.*)"
                   r"|(?P<public>public domain.*|PDM?\b.*)", re.IGNORECASE)


@dataclass(frozen=True)
class FreePhoto:
    """A photograph of a collection: where its file and its page are, and its credits."""

    title: str
    address: str
    page: str
    author: str
    licence: str


# A search: words to photographs, the best first, as many as are asked for.
Search = Callable[[Web, str], Iterator[FreePhoto]]


def free_licence(text: str) -> str | None:
    """Return a licence's SPDX name where it is free: public domain, CC0, CC BY, CC BY-SA."""
    found = _FREE.fullmatch(text.strip())
    if found is None:
        return None
    if found["kind"]:
        return f"CC-{found['kind'].upper()}-{found['version']}"
    return "CC0-1.0" if found["zero"] else "public domain"


def commons(web: Web, query: str, address: str = COMMONS) -> Iterator[FreePhoto]:
    """Yield the free photographs that Wikimedia Commons finds.

    Raises RequestError where it does not answer, or with an error.
    """
    asked = {"action": "query", "format": "json", "formatversion": "2", "generator": "search",
             "gsrsearch": f"{query} filetype:bitmap", "gsrnamespace": "6",
             "gsrlimit": str(AT_ONCE), "prop": "imageinfo",
             "iiprop": "url|size|mime|extmetadata",
             "iiextmetadatafilter": "LicenseShortName|Artist|Credit"}
    further: dict[str, str] = {}
    for _ in range(MOST_PAGES):
        content = web.answer(address, asked | further)
        if "error" in content:
            raise RequestError(f"Wikimedia Commons: {content['error'].get('info', 'refuses')}")
        pages = content.get("query", {}).get("pages", [])
        for page in sorted(pages, key=lambda page: page.get("index", 0)):
            if (photo := _of_commons(page)) is not None:
                yield photo
        further = {key: str(value) for key, value in content.get("continue", {}).items()}
        if not further:
            return


def _of_commons(page: dict[str, Any]) -> FreePhoto | None:
    for info in page.get("imageinfo", []):
        told = {name: _text(str(fact.get("value", "")))
                for name, fact in info.get("extmetadata", {}).items()}
        licence = free_licence(told.get("LicenseShortName", ""))
        title = str(page.get("title", "")).removeprefix("File:").rsplit(".", 1)[0]
        if licence and info.get("url") and title and str(info.get("mime", "")).startswith("image/"):
            return FreePhoto(title, info["url"], info.get("descriptionurl") or info["url"],
                             told.get("Artist") or told.get("Credit") or "unknown", licence)
    return None


def openverse(web: Web, query: str, address: str = OPENVERSE) -> Iterator[FreePhoto]:
    """Yield the free photographs that Openverse finds. Raises RequestError as ``commons``."""
    for number in range(1, MOST_PAGES + 1):
        content = web.answer(address, {
            "q": query, "license": "by,by-sa,cc0,pdm", "category": "photograph",
            "page": str(number), "page_size": str(AT_ONCE)})
        if "results" not in content:
            raise RequestError(f"Openverse: {content.get('detail', 'refuses')}")
        for found in content["results"]:
            licence = free_licence(f"{found.get('license')} {found.get('license_version')}")
            if licence and found.get("url") and found.get("title"):
                yield FreePhoto(_text(found["title"]), found["url"],
                                found.get("foreign_landing_url") or found["url"],
                                _text(found.get("creator") or "unknown"), licence)
        if number >= int(content.get("page_count") or 0):
            return


def _text(marked_up: str) -> str:
    """Return what HTML says, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", marked_up)).split())
