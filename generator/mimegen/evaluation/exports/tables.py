"""Clips, or questions about them, as table rows of texts, numbers and lists."""

import json
from pathlib import Path
from typing import Any

from mimegen.base.names import path_name
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.question import Question
from mimegen.manifest.file import content_of
from mimegen.manifest.row import Row

# Split of clips that have none: nothing should be trained on them.
SPLIT = "test"
# Split of clips that occur only as examples or as further clips of questions.
EXAMPLES = "examples"
TableRow = dict[str, Any]


def table_rows(source: Source) -> list[TableRow]:
    """Return a row for each question, or else for each clip; its ``file_name`` is opaque."""
    if source.questions:
        return _flat([_of_question(question) for question in source.questions])
    return clip_rows(source)


def clip_rows(source: Source) -> list[TableRow]:
    """Return a row for each clip; its ``file_name`` is opaque."""
    return _flat([_of_clip(name, row) for name, row in source.clips.items()])


def split_of(source: Source) -> dict[str, str]:
    """Return each clip's split, as a folder name, by the clip's name."""
    if not source.questions:
        return {name: path_name(row.split or SPLIT) for name, row in source.clips.items()}
    return dict.fromkeys(source.clips, EXAMPLES) | {
        one.clip: one.split or SPLIT for one in source.questions}


def _of_clip(name: str, row: Row) -> TableRow:
    """Return a manifest row with opaque names, as rows of ``--names opaque`` have."""
    content = content_of(row)
    names = {"sample_id": Path(name).stem, "file_name": name,
             "plain_id": row.plain_id or row.sample_id}
    return content | names


def _of_question(question: Question) -> TableRow:
    content = question.model_dump(mode="json")
    examples = [{"clip": one.clip, "prompt": one.prompt, "answer": one.answer}
                for one in question.examples]
    names = {"sample_id": Path(question.clip).stem, "file_name": question.clip,
             "plain_id": question.sample_id, "examples": examples,
             "further": [{"clip": one.clip, "frames": one.frames} for one in question.further]}
    del content["clip"]
    return content | names


def _flat(rows: list[TableRow]) -> list[TableRow]:
    """Return rows in which columns with any nested value, such as dots' masks, hold JSON text."""
    nested = {key for row in rows for key, value in row.items() if _is_nested(value)}
    return [{key: json.dumps(value, ensure_ascii=False) if key in nested and value is not None
             else value for key, value in row.items()} for row in rows]


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict | list) for one in value))
