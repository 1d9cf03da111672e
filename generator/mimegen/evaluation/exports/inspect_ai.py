"""Export a task for Inspect (inspect-ai)."""

from pathlib import Path

from mimegen.evaluation.exports.items import with_answers, write_items, write_lines
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.templates import copy_files, copy_reading


def write(source: Source, folder: Path) -> None:
    """Write task.py, its questions, and the clips and pictures that they show."""
    write_lines(folder / "questions.jsonl",
                with_answers(write_items(source, folder), source.questions))
    copy_files(folder, "inspect/task.py")
    copy_reading(folder)
