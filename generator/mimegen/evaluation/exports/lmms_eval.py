"""Export a task for lmms-eval."""

from pathlib import Path

from mimegen.base.files import publish
from mimegen.evaluation.exports.items import task_name, with_answers, write_items, write_lines
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.templates import copy_files, copy_reading, filled


def write(source: Source, folder: Path) -> None:
    """Write mimegen.yaml, its functions, its questions, and the media that they show."""
    write_lines(folder / "questions.jsonl",
                with_answers(write_items(source, folder), source.questions))
    publish(folder / "mimegen.yaml",
            filled("lmms_eval/mimegen.yaml", task=task_name(source.questions)))
    copy_files(folder, "lmms_eval/mimegen_utils.py")
    copy_reading(folder)
