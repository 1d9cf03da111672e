"""Export a folder of clips, or questions, to a folder for another program."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import mimegen
from mimegen.base.errors import RequestError
from mimegen.base.files import publish, publishing
from mimegen.evaluation.exports import (
    aoi,
    bids,
    coco,
    croissant,
    huggingface,
    inspect_ai,
    jsonl,
    lmms_eval,
    vlmevalkit,
    webdataset,
)
from mimegen.evaluation.exports.items import task_name
from mimegen.evaluation.exports.licences import licence_table
from mimegen.evaluation.exports.source import Source, read_source
from mimegen.evaluation.exports.templates import filled
from mimegen.evaluation.question import questions_in

WRITERS: Mapping[str, Callable[[Source, Path], None]] = {
    "huggingface": huggingface.write, "croissant": croissant.write, "lmms-eval": lmms_eval.write,
    "vlmevalkit": vlmevalkit.write, "inspect": inspect_ai.write, "jsonl": jsonl.write,
    "coco": coco.write, "webdataset": webdataset.write, "bids": bids.write,
    "aoi": aoi.write}
OF_QUESTIONS = ("lmms-eval", "vlmevalkit", "inspect", "jsonl")
# Targets that hold ground truth, which point-light displays do not have.
OF_TRUTH = ("coco", "aoi")
# Programs that score answers themselves, by letters and texts.
SCORERS = ("lmms-eval", "vlmevalkit", "inspect")


def export(path: Path, target: str, out: Path, clips: Path | None = None) -> Source:
    """Write clips or questions as ``target`` reads them; return what was written.

    ``out`` appears only when complete, and the same input gives the same bytes. Raises RequestError
    if ``out`` exists, a clip is missing, or the target cannot use the input.
    """
    if out.exists():
        raise RequestError(f"{out}: already exists, perhaps with results; choose another --out")
    source = read_source(questions_in(path) if target in OF_QUESTIONS else path, clips)
    if target in SCORERS and any(one.tolerance is not None for one in source.questions):
        raise RequestError(f"{source.file}: numbers are right within a tolerance, which {target}"
                           " does not know; export jsonl, and score answers with mimegen evaluate")
    if target in OF_TRUTH:
        source = coco.without_displays(source)
    with publishing(out) as part:
        part.mkdir(parents=True)
        WRITERS[target](source, part)
        publish(part / "README.md", _readme(source, target))
        publish(part / "export.json", _about(source, target))
    return source


def _readme(source: Source, target: str) -> str:
    """Return the README of an export: how to use it, and the licences of its clips."""
    texts = {"task": _task(source), "clips": len(source.clips), "version": mimegen.__version__,
             "questions": len(source.questions), "card": huggingface.front_matter(source),
             "licences": licence_table(source.clips.values()),
             "subject": "question" if source.questions else "clip"}
    return filled(f"{target.replace('-', '_')}/README.md", **texts) + filled("licences.md", **texts)


def _about(source: Source, target: str) -> str:
    """Return JSON about what was exported, from which file and by which version."""
    return json.dumps({
        "task": _task(source), "target": target, "mimegen": mimegen.__version__,
        "source": source.file.name, "source_sha256": source.sha256, "clips": len(source.clips),
        "questions": len(source.questions)}, indent=1) + "\n"


def _task(source: Source) -> str:
    return task_name(source.questions)
