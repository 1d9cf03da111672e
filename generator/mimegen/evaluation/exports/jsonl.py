"""Export plain JSON lines for your own program: media and prompts, without answers."""

from pathlib import Path

from mimegen.evaluation.exports.items import write_items, write_lines
from mimegen.evaluation.exports.source import Source

ANY = (".mp4", ".mov", ".gif")


def write(source: Source, folder: Path) -> None:
    """Write questions.jsonl, and the clips and pictures that it shows."""
    write_lines(folder / "questions.jsonl", write_items(source, folder, ANY))
