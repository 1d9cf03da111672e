"""Export stimuli as BIDS, after extension proposal 44 (BEP044), which may still change."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mimegen.base.files import publish
from mimegen.evaluation.exports.items import json_text
from mimegen.evaluation.exports.licences import licence_names
from mimegen.evaluation.exports.media import link_clip
from mimegen.evaluation.exports.source import Source
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import Interval

BIDS_VERSION = "1.10.0"
COLUMNS = {
    "stimulus_id": "Name of the stimulus, as in its file's name.",
    "type": "Kind of stimulus.",
    "present": "Whether the file is in this folder.",
    "license": "Licences of the motion, the characters and the background.",
    "description": "The action that is shown.",
    "action": "Identifier of the action.",
    "performer": "Character that performs.",
    "background": "Background.",
    "angle": "How far the camera is turned from its usual place, degrees.",
    "duration": "Seconds.",
    "sample_id": "Name of the clip in mimegen's manifest.",
}


def write(source: Source, folder: Path) -> None:
    """Write dataset_description.json, stimuli/ with its table, and timelines as events."""
    names = {name: f"stim-{number:05d}" for number, name in enumerate(source.clips)}
    rows = []
    for name, row in source.clips.items():
        laid = folder / link_clip(source, name, folder / "stimuli")
        laid.rename(laid.with_name(f"{names[name]}_video{laid.suffix}"))
        if row.timeline:
            publish(folder / "stimuli" / f"{names[name]}_annot-timeline_events.tsv",
                    _table(("onset", "duration", "trial_type", "description"),
                           [_event(one) for one in row.timeline]))
        rows.append(_line(names[name], row))
    publish(folder / "stimuli" / "stimuli.tsv", _table(tuple(COLUMNS), rows))
    publish(folder / "stimuli" / "stimuli.json", json_text(
        {name: {"Description": text} for name, text in COLUMNS.items()}))
    publish(folder / "dataset_description.json", json_text({
        "Name": "Controlled video stimuli of human action", "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw", "GeneratedBy": [{"Name": "mimegen"}],
        "License": licence_names(source.clips.values())}))


def _line(name: str, row: Row) -> list[Any]:
    return [name, "video", "true", licence_names([row]), row.labels[0], row.action, row.avatar,
            row.background_name, row.angle, round(row.frames / row.fps, 4), row.sample_id]


def _event(one: Interval) -> list[Any]:
    return [one.start_s, round(one.end_s - one.start_s, 4), one.kind, one.name]


def _table(heads: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table separated by tabs; missing values are ``n/a``, as BIDS requires."""
    lines = [heads, *rows]
    return "".join("\t".join(map(_cell, line)) + "\n" for line in lines)


def _cell(value: Any) -> str:
    return "n/a" if value in (None, "") else re.sub(r"\s+", " ", str(value))
