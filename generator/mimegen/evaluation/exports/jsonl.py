"""Plain JSON lines for one's own program: what to show and to say, and no answer."""

from pathlib import Path

from mimegen.evaluation.exports.items import lay_items, write_lines
from mimegen.evaluation.exports.source import Source

ANY = (".mp4", ".mov", ".gif")


def write(source: Source, folder: Path) -> None:
    """Write questions.jsonl and what it shows."""
    write_lines(folder / "questions.jsonl", lay_items(source, folder, ANY))
