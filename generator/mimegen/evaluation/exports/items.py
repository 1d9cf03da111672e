"""Questions in the form that models are given, with the correct answers kept separate."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mimegen.base.files import publish
from mimegen.base.names import path_name
from mimegen.evaluation.exports.media import VIDEOS, views, write_media
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.question import Question

Item = dict[str, Any]
# The value of ``control`` for questions that are not controls.
WHOLE = "everything"


def write_items(source: Source, folder: Path, kinds: tuple[str, ...] = VIDEOS) -> list[Item]:
    """Put what questions show into a folder; return the content of each question for a model.

    An item has ``media`` (paths in the folder, all of one ``media_type``: video, image, or text if
    there is none) and ``prompt``; ``examples``, each with media, prompt and answer, come before
    these. If several clips are shown, ``clips`` holds the media of each.
    """
    shown = write_media(source, folder, kinds)
    return [_item(question, [shown[view] for view in views(question, source)])
            for question in source.questions]


def _item(question: Question, media: list[list[str]]) -> Item:
    count = len(question.examples)
    before, own = media[:count], media[count:]
    kind = "text" if not media else "image" if question.frames else "video"
    return {"question_id": question.question_id, "format": question.format,
            "clip": Path(question.clip).stem, "prompt": question.prompt,
            "options": question.options, "media_type": kind,
            "media": [file for clip in own for file in clip],
            **({"clips": own} if len(own) > 1 else {}),
            "examples": [{"media": shown, "prompt": example.prompt, "answer": example.answer}
                         for example, shown in zip(question.examples, before, strict=True)]}


def with_answers(items: Iterable[Item], questions: Sequence[Question]) -> list[Item]:
    """Return items with the correct answers, and the fields by which results are grouped."""
    return [item | {"answer": question.answer, "labels": question.labels,
                    "action": question.action, "variant": question.variant or "none",
                    "pair": question.pair or "", "control": question.control or WHOLE}
            for item, question in zip(items, questions, strict=True)]


def write_lines(path: Path, items: Iterable[Item]) -> None:
    """Publish items as JSON lines."""
    publish(path, "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))


def json_text(content: dict[str, Any]) -> str:
    """Return a JSON file's text."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def task_name(questions: Iterable[Question]) -> str:
    """Return the task's name in harnesses: mimegen and the formats."""
    return "_".join(["mimegen", *sorted({path_name(one.format) for one in questions})])
