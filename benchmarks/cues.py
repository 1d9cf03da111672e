"""Show every nonverbal cue: table and picture of docs/cues.md, and sheets for blind viewers.

Usage: python benchmarks/cues.py table
       python benchmarks/cues.py picture
       python benchmarks/cues.py sheets FOLDER [--only NAME[,NAME]] [--stance STANCE]

``sheets`` writes 16 frames of each cue to FOLDER/sheets, under names that say nothing; what they
show is in FOLDER/key.json, which viewers do not get.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from costs import put_into
from mimegen.base.files import content_key
from mimegen.choreography.manner import Manner
from mimegen.compositing.background import read_background
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue, Entry
from mimegen.library.takes import library_take
from mimegen.pages.drawn import Scene, drawn, drawn_sheet
from mimegen.stage.config import read_config

REPO = Path(__file__).resolve().parents[1]
DOCUMENT, PICTURE = REPO / "docs" / "cues.md", REPO / "docs" / "cues.jpg"
FPS, FRAMES, TILE = 12.0, 16, 320
# Whose cues show in the whole figure, and which in the face alone; the others in a portrait.
WHOLE = ("arms", "back", "feet", "fists", "legs", "thighs", "trunk", "shoulders")
FACE, CLOSE_M = ("brows", "eyes", "mouth"), 0.2
COLUMNS, SMALL, QUALITY = 9, 150, 82


def scene_of(catalogue: Catalogue, entry: Entry, stance: str | None, side: int) -> Scene:
    """Return a cue as the man shows it, in pictures of ``side`` pixels, from where it is seen."""
    assert entry.action.cue is not None
    region = entry.action.cue.region
    config = read_config(catalogue.file("config", "draft" if region in WHOLE else "portrait"))
    close = {"head_room_m": CLOSE_M} if region in FACE else {}
    config = config.model_copy(update={"width": side, "height": side, "fps": FPS,
                                       "camera": config.camera.model_copy(update=close)})
    take = library_take(entry, None, 0, manner=Manner(stance))
    casting = Casting(take, (cast_member(catalogue, "man"),) * take.performers)
    blank = read_background(catalogue.file("background", "blank"))
    return Scene(casting.seen(casting.perform(FPS)), blank, config)


def write_sheets(catalogue: Catalogue, entries: Sequence[Entry], stance: str | None, out: Path
                 ) -> None:
    """Write each cue's sheet, and which is which."""
    (out / "sheets").mkdir(parents=True, exist_ok=True)
    key = {}
    for entry in entries:
        name = content_key("viewers", entry.action.id)[:8]
        sheet = drawn_sheet(scene_of(catalogue, entry, stance, TILE), 0.0, FRAMES)
        sheet.save(out / "sheets" / f"{name}.jpg", quality=QUALITY)
        key[name] = {"cue": entry.action.labels[0],
                     "explanations": entry.action.cue.explanations if entry.action.cue else ()}
        print(name, flush=True)
    (out / "key.json").write_text(json.dumps(dict(sorted(key.items())), indent=1))


def write_picture(catalogue: Catalogue, entries: Sequence[Entry]) -> None:
    """Write all cues at their fullest in one picture."""
    rows = -(-len(entries) // COLUMNS)
    whole = Image.new("RGB", (COLUMNS * SMALL, rows * SMALL), "white")
    for number, entry in enumerate(entries):
        scene = scene_of(catalogue, entry, None, 2 * SMALL)
        cue = next(one for one in library_take(entry, None, 0).timeline or () if one.kind == "cue")
        frame = round(float(cue.peak_s or cue.start_s) * FPS)
        [[picture]] = drawn(scene, [0.0], [frame])
        tile = Image.fromarray(np.asarray(picture)).resize((SMALL, SMALL), Image.Resampling.LANCZOS)
        row, column = divmod(number, COLUMNS)
        whole.paste(tile, (column * SMALL, row * SMALL))
    whole.save(PICTURE, quality=QUALITY)


def table(entries: Sequence[Entry]) -> str:
    """Return what each cue is and may mean, as Markdown."""
    lines = ["| cue | region | may mean | stances | source |", "|---|---|---|---|---|"]
    for entry in entries:
        action, cue = entry.action, entry.action.cue
        assert cue is not None
        stances = library_take(entry, None, 0).score.stances
        lines.append(f"| {action.labels[0]} (`{action.id}`) | {cue.region} |"
                     f" {', '.join(cue.explanations)} | {', '.join(stances)} |"
                     f" {', '.join(cue.sources)} |")
    return "\n".join(lines)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["table", "picture", "sheets"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--stance")
    asked = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    entries = [entry for name, entry in catalogue.cues.items()
               if not asked.only or name in asked.only.split(",")]
    if asked.what == "table":
        put_into(DOCUMENT, "table", table(entries))
    elif asked.what == "picture":
        write_picture(catalogue, entries)
    else:
        write_sheets(catalogue, entries, asked.stance, asked.folder)


if __name__ == "__main__":
    main()
