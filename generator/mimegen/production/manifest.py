"""The manifest: one row per clip, every fact needed to use it, cite it or make it again."""

import importlib.metadata
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mimegen import __version__
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.compositing.video import ClipFacts
from mimegen.plan.plan import Clip


def clip_row(clip: Clip, shot_facts: dict[str, Any], clip_facts: ClipFacts) -> dict[str, Any]:
    """Return a clip's row, with MIME's own field names where they exist."""
    shot = dict(shot_facts)
    config = clip.shot.config
    named = {name: shot.pop(name) for name in ("action", "take", "actor", "labels", "avatar",
                                               "angle")}
    return {
        "sample_id": clip.sample_id,
        "file_name": f"clips/{clip.sample_id}.mp4",
        **named,
        "variant": str(clip.variant),
        "background_config": clip.background_config,
        "background_name": clip.background_name,
        "config_name": config.name,
        "seed": shot.pop("seed"),
        "style": shot.pop("style"),
        "fps": shot.pop("fps"),
        "frames": clip_facts.frames,
        "width": clip_facts.width,
        "height": clip_facts.height,
        "sha256": clip_facts.sha256,
        "shot_key": clip.shot.key,
        "clip_key": clip.key,
        **{name: value for name, value in shot.items()
           if name not in ("frames", "width", "height")},
        "background_licence": clip.background.licence,
        "background_author": clip.background.author,
        "background_source": clip.background.source,
        "light": config.light.model_dump(mode="json"),
        "render_config": config.model_dump(mode="json"),
        "mimegen_version": __version__,
        "numpy_version": importlib.metadata.version("numpy"),
    }


def read_manifest(out: Path) -> list[dict[str, Any]]:
    """Return the rows of ``out``/manifest.jsonl; none where there is no such file.

    Raises RequestError naming a line that is not a row.
    """
    path = out / "manifest.jsonl"
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            row["sample_id"], row["file_name"]
        except (ValueError, KeyError, TypeError) as problem:
            raise RequestError(f"{path}: line {number} is not a manifest row; move the file away"
                               " and run again, nothing is rendered twice") from problem
        rows.append(row)
    return rows


def add_rows(out: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Publish ``out``/manifest.jsonl with these rows added or renewed, in order of sample_id.

    Rows of earlier requests stay as long as their clips are there. Without rows nothing is written.
    """
    rows = list(rows)
    if not rows:
        return out / "manifest.jsonl"
    earlier = {row["sample_id"]: row for row in read_manifest(out)
               if (out / row["file_name"]).exists()}
    merged = earlier | {row["sample_id"]: row for row in rows}
    lines = [json.dumps(merged[sample_id], ensure_ascii=False) for sample_id in sorted(merged)]
    publish(out / "manifest.jsonl", "".join(line + "\n" for line in lines))
    return out / "manifest.jsonl"
