"""Works to cite, as references in plain text and as BibTeX."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import RootModel

from mimegen.base.yaml_file import Strict, read_yaml

# Characters that LaTeX reads as commands.
_LATEX = re.compile(r"([&%$#_])")
_FIELDS = ("author", "title", "year", "version", "journal", "booktitle", "organization", "volume",
           "number", "pages", "doi", "url", "note")
# Fields that LaTeX does not typeset as text.
_VERBATIM = ("doi", "url")


class Work(Strict):
    """A work with the fields of its BibTeX entry.

    ``matches`` find it in texts about sources, ``systems`` are the naming systems that it defines.
    """

    kind: Literal["article", "inproceedings", "misc", "manual", "software"]
    author: str | None = None
    title: str | None = None
    year: int | None = None
    version: str | None = None
    journal: str | None = None
    booktitle: str | None = None
    organization: str | None = None
    volume: str | None = None
    number: str | None = None
    pages: str | None = None
    doi: str | None = None
    url: str | None = None
    note: str | None = None
    matches: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()

    def bibtex(self, key: str) -> str:
        """Return the entry under a key."""
        fields = ((name, getattr(self, name)) for name in _FIELDS)
        lines = [f"  {name} = {{{_field(name, str(value))}}}" for name, value in fields if value]
        return f"@{self.kind}{{{key},\n" + ",\n".join(lines) + "\n}"

    @property
    def reference(self) -> str:
        """The work in a line of plain text."""
        version = f" (version {self.version})" if self.version else ""
        parts = [_people(self.author) + (f" ({self.year})" if self.year else ""),
                 f"{self.title or ''}{version}", self._venue, self.note or "",
                 f"https://doi.org/{self.doi}" if self.doi else self.url or ""]
        return ". ".join(filter(None, parts)).replace("?.", "?")

    @property
    def _venue(self) -> str:
        number = f"({self.number})" if self.number else ""
        place = self.journal or self.booktitle or self.organization or ""
        volume = f" {self.volume}{number}" if self.volume else ""
        return place + volume + (f", {self.pages}" if self.pages else "")


@cache
def works() -> dict[str, Work]:
    """Return the contents of works.yaml."""
    return read_yaml(Path(__file__).with_name("works.yaml"), RootModel[dict[str, Work]]).root


def matching(texts: Iterable[str]) -> dict[str, Work]:
    """Return the works that texts about sources name, by key."""
    said = "\n".join(texts)
    return {key: work for key, work in works().items()
            if any(re.search(pattern, said, re.IGNORECASE) for pattern in work.matches)}


def defining(systems: Iterable[str]) -> dict[str, Work]:
    """Return the works that define naming systems of bones or formats of features, by key."""
    used = set(systems)
    return {key: work for key, work in works().items() if used.intersection(work.systems)}


def _field(name: str, value: str) -> str:
    text = value if name in _VERBATIM else _LATEX.sub(r"\\\1", value)
    return re.sub(r"(?<=\d)-(?=\d)", "--", text) if name == "pages" else text


def _people(author: str | None) -> str:
    """Return BibTeX's authors as text: ``Cho, H. and Lin, S.`` as ``Cho, H., Lin, S.``."""
    people = (author or "").replace("{", "").replace("}", "").split(" and ")
    return "; ".join(people).replace("; others", " et al.")
