"""The licences of clips, and the sources to credit."""

from collections import Counter
from collections.abc import Iterable

from mimegen.manifest.row import Row

UNKNOWN = "not stated"


def licences(rows: Iterable[Row]) -> Counter[tuple[str, str, str]]:
    """Return how many clips have each part (motion, character, background), licence and source."""
    return Counter((part, licence or UNKNOWN, source or UNKNOWN) for row in rows
                   for part, licence, source in dict.fromkeys(_parts(row)))


def licence_names(rows: Iterable[Row]) -> str:
    """Return the licences of all parts of these clips, each once, joined by ``; ``."""
    return "; ".join(sorted({licence for _, licence, _ in licences(rows)}))


def licence_table(rows: Iterable[Row]) -> str:
    """Return the licences as a Markdown table."""
    lines = [f"| {part} | {_cell(licence)} | {_cell(source)} | {count} |"
             for (part, licence, source), count in sorted(licences(rows).items())]
    return "\n".join(["| of | licence | source | clips |", "|---|---|---|---|", *lines])


def _parts(row: Row) -> list[tuple[str, str | None, str | None]]:
    """Return the parts of a clip, each with its licence and source, None if unknown."""
    own = "mimegen" if row.actor == "choreography" else None
    parts = [("motion", row.licence, row.motion_source or own)]
    for licence, source in ((row.character_licence, row.character_source),
                            (row.partner_character_licence, row.partner_character_source)):
        if licence or source:
            parts.append(("character", licence, source))
    if row.background_name not in (None, "blank"):
        named = [text for text in (row.background_author, row.background_source) if text]
        parts.append(("background", row.background_licence, ", ".join(named)))
    return parts


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
