"""Export a dataset for VLMEvalKit."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.evaluation.exports.items import Item, with_answers, write_items
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.templates import copy_files, copy_reading

# The answer too: pandas would read "None" as a missing value and "2" as a number.
_JSON = ("answer", "options", "labels", "media", "clips", "examples")


def write(source: Source, folder: Path) -> None:
    """Write questions.tsv, the media that it shows, and the class that reads it."""
    _refuse_several_videos(source)
    items = with_answers(write_items(source, folder, (".mp4",)), source.questions)
    publish(folder / "questions.tsv", _table(items))
    copy_files(folder, "vlmevalkit/mimegen_dataset.py", "vlmevalkit/run.py")
    copy_reading(folder)


def _refuse_several_videos(source: Source) -> None:
    """Raise RequestError if questions show several whole clips: the kit's models take one video."""
    if any(one.further and one.frames is None for one in source.questions):
        raise RequestError(f"{source.file}: shows several clips in a question, and VLMEvalKit's"
                           " models take one video; make the questions with --sampling, as in"
                           " uniform:4")


def _table(items: Iterable[Item]) -> str:
    """Return items as tab-separated values in the kit's columns; lists are JSON."""
    rows = [_row(number, item) for number, item in enumerate(items)]
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(number: int, item: Item) -> Item:
    lists = {name: json.dumps(item.get(name, []), ensure_ascii=False) for name in _JSON}
    row = {"index": number, "video": item["clip"], "question": item["prompt"]}
    return row | {name: value for name, value in item.items() if name != "prompt"} | lists
