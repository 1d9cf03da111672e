"""The licences of clips, and the sources to credit."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mimegen.manifest.row import Row

UNKNOWN = "not stated"


class Part(NamedTuple):
    """A part of a clip that has a licence of its own; None where something is unknown."""

    kind: str
    licence: str | None
    source: str | None
    file: str | None


def licences(rows: Iterable[Row]) -> Counter[tuple[str, str, str]]:
    """Return how many clips have each part (motion, character, background), licence and source."""
    return Counter(part for row in rows for part in dict.fromkeys(
        (part.kind, part.licence or UNKNOWN, part.source or UNKNOWN) for part in parts_of(row)))


def licence_names(rows: Iterable[Row]) -> str:
    """Return the licences of all parts of these clips, each once, joined by ``; ``."""
    return "; ".join(sorted({licence for _, licence, _ in licences(rows)}))


def licence_table(rows: Iterable[Row]) -> str:
    """Return the licences as a Markdown table."""
    lines = [f"| {part} | {_cell(licence)} | {_cell(source)} | {count} |"
             for (part, licence, source), count in sorted(licences(rows).items())]
    return "\n".join(["| of | licence | source | clips |", "|---|---|---|---|", *lines])


def parts_of(row: Row) -> Iterator[Part]:
    """Yield the parts of a clip: motions, captured face, characters and background."""
    own = "mimegen" if row.actor == "choreography" else None
    for file in dict.fromkeys((row.motion_file, row.partner_motion_file or row.motion_file)):
        yield Part("motion", row.licence, row.motion_source or own, file)
    if captured := (row.face or {}).get("file"):
        yield Part("captured face", None, None, str(captured))
    for licence, source, file in (
            (row.character_licence, row.character_source, row.character_file),
            (row.partner_character_licence, row.partner_character_source,
             row.partner_character_file)):
        if licence or source:
            yield Part("character", licence, source, file)
    if row.background_name not in (None, "blank"):
        named = [text for text in (row.background_author, row.background_source) if text]
        yield Part("background", row.background_licence, ", ".join(named), row.background_name)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
