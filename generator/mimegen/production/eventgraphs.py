"""Write event graphs of scenes beside their clips, as JSON: who does what, and in which order."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mimegen.base.files import publish
from mimegen.library.scene_take import SCENE
from mimegen.manifest.file import clip_path, read_manifest
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import RELATION, Interval, outermost

SUFFIX = ".timeline.json"


def write_event_graphs(out: Path) -> None:
    """Write the event graph of every scene's clip in ``out`` whose file is missing or outdated.

    Clips with opaque names get none, because it would reveal what they show.
    """
    for row in read_manifest(out):
        if row.motion_kind != SCENE or row.timeline is None or row.plain_id is not None:
            continue
        target = clip_path(out, row).with_suffix(SUFFIX)
        text = json.dumps(event_graph(row), indent=1, ensure_ascii=False)
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            publish(target, text)


def event_graph(row: Row) -> dict[str, Any]:
    """Return a clip's timeline as a graph.

    Times are given in seconds and as frames, [first, last]. ``events`` are the nodes. ``order``
    holds the edges between the outermost events: [event, "before", next event] and [event, "while",
    simultaneous event of another performer]. ``relations`` hold during all their frames.
    """
    timeline = row.timeline or []
    happens = [one for one in timeline if one.kind != RELATION]
    ids = {_key(one): f"e{number}" for number, one in enumerate(happens, 1)}
    return {
        "sample_id": row.sample_id, "fps": row.fps, "frames": row.frames,
        "performers": sorted({one.performer for one in timeline}, reverse=True),
        "things": sorted({one.object.name for one in timeline if one.object}),
        "places": sorted({one.target for one in timeline if one.kind == RELATION and one.target}),
        "events": [{"id": f"e{number}", **_event(one, row)}
                   for number, one in enumerate(happens, 1)],
        "order": [[ids[_key(one)], how, ids[_key(other)]]
                  for one, how, other in _order(outermost(timeline))],
        "relations": [_event(one, row) for one in timeline if one.kind == RELATION],
    }


def _key(one: Interval) -> tuple[Any, ...]:
    return one.kind, one.name, one.performer, one.start_s, one.end_s, one.hand, one.target


def _event(one: Interval, row: Row) -> dict[str, Any]:
    return {**one.model_dump(mode="json", exclude_none=True), "frames": [
        min(round(float(moment) * row.fps), row.frames - 1) for moment in (one.start_s, one.end_s)]}


def _order(story: Sequence[Interval]) -> Iterator[tuple[Interval, str, Interval]]:
    """Yield (event, "before", the next one) and (event, "while", other performer's event)."""
    for number, one in enumerate(story):
        later = [other for other in story[number + 1:] if other.start_s >= one.end_s]
        if later:
            yield one, "before", later[0]
        for other in story[number + 1:]:
            if other.start_s < one.end_s and other.performer != one.performer:
                yield one, "while", other
