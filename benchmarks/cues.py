"""Show every nonverbal cue: table and picture of docs/guide/cues.md, and sheets for blind viewers.

Usage: python benchmarks/cues.py table
       python benchmarks/cues.py picture
       python benchmarks/cues.py sheets FOLDER [--only NAME[,NAME]] [--stance STANCE]

``sheets`` writes 16 frames of each cue to FOLDER/sheets, cropped to what is seen of the person,
under names that say nothing, and twelve more of two rounds where a movement is repeated.
FOLDER/choices.json has what viewers choose from when they have named a cue: its best explanation
among three of other families; what sheets show and which choice is right is in FOLDER/key.json,
which viewers do not get.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from costs import put_into
from mimegen.base.arrays import ByteArray
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.choreography.manner import CueManner
from mimegen.compositing.background import read_background
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.score_take import read_score_once
from mimegen.library.takes import library_take
from mimegen.pages.drawn import DrawnScene, drawn, tiled
from mimegen.shots.config import read_config

REPO = Path(__file__).resolve().parents[1]
DOCUMENT, PICTURE = REPO / "docs" / "guide" / "cues.md", REPO / "docs" / "images" / "cues.jpg"
FPS, FRAMES, QUICK, TILE = 24.0, 16, 12, 330
# Whose cues show in the whole figure, and which in the face alone; the others in a portrait.
WHOLE = ("arms", "back", "feet", "fists", "legs", "thighs", "trunk", "shoulders")
FACE, CLOSE_M = ("brows", "eyes", "mouth"), 0.3
# The middle and the top of what is shown of a face, from the head's joint, in metres.
UPWARDS = np.array([[0, 0, 0.1], [0, 0, 0.26]])
SHADED, ROOM, OTHERS = 150, 10, 3
# Groups whose states of mind are near to each other.
FAMILIES = {
    "sure": ("dominance", "confidence", "disdain"),
    "uneasy": ("discomfort", "self-comfort", "avoidance", "keeping off", "shock", "dejection"),
    "cross": ("displeasure", "aggression", "exasperation", "reproof", "refusal"),
    "kind": ("openness", "agreement", "approval", "joy", "ease", "relief", "interest"),
    "unsure": ("not knowing", "thought"), "bored": ("boredom",)}
COLUMNS, SMALL, QUALITY = 9, 150, 82


def scene_of(catalogue: Catalogue, entry: Entry, stance: str | None, side: int) -> DrawnScene:
    """Return a cue as the man shows it, in pictures of ``side`` pixels, from where it is seen."""
    assert entry.action.cue is not None
    region = entry.action.cue.region
    config = read_config(catalogue.file("config", "draft" if region in WHOLE else "portrait"))
    close = {"head_room_m": CLOSE_M} if region in FACE else {}
    config = config.model_copy(update={"width": side, "height": side, "fps": FPS,
                                       "camera": config.camera.model_copy(update=close)})
    take = library_take(entry, None, 0, manner=CueManner(stance))
    casting = Casting(take, (cast_member(catalogue, "man"),) * take.performers)
    blank = read_background(catalogue.file("background", "blank"))
    return DrawnScene(casting.seen(casting.perform(FPS)), blank, config)


def write_sheets(catalogue: Catalogue, entries: Sequence[Entry], stance: str | None, out: Path
                 ) -> None:
    """Write each cue's sheet, what viewers choose from, and which is which."""
    (out / "sheets").mkdir(parents=True, exist_ok=True)
    key, choices = {}, {}
    for entry in entries:
        name = content_key("viewers", entry.action.id)[:8]
        sheet(catalogue, entry, stance).save(out / "sheets" / f"{name}.png")
        choices[name] = options(catalogue, entry)
        right = entry.action.cue.explanations if entry.action.cue else ()
        key[name] = {"cue": entry.action.labels[0], "explanations": right,
                     "best": "ABCD"[choices[name].index(right[0])]}
        print(name, flush=True)
    for file, content in (("key", key), ("choices", choices)):
        (out / f"{file}.json").write_text(json.dumps(dict(sorted(content.items())), indent=1))


def options(catalogue: Catalogue, entry: Entry) -> list[str]:
    """Return a cue's first explanation among those of cues of three other families."""
    random = generator(0, "options", entry.action.id)
    families: dict[str, str] = {}
    known = list(catalogue.cues.values())
    for other in [entry, *(known[number] for number in random.permutation(len(known)).tolist())]:
        assert other.action.cue is not None
        families.setdefault(family(other), other.action.cue.explanations[0])
    found = list(families.values())[:1 + OTHERS]
    return [found[number] for number in random.permutation(len(found)).tolist()]


def family(entry: Entry) -> str:
    """Return what cues of like states of mind have in common."""
    group = entry.action.semantic_group
    return next((family for family, groups in FAMILIES.items() if group in groups), group)


def sheet(catalogue: Catalogue, entry: Entry, stance: str | None) -> Image.Image:
    """Return frames from all of a cue, and closer ones of what it repeats."""
    scene = scene_of(catalogue, entry, stance, 3 * TILE)
    last = scene.performances[0].motion.frames - 1
    numbers = np.linspace(0, last, FRAMES).round().astype(int)
    score = read_score_once(entry.take(None))
    if score.repeat:
        start, period = score.repeat[0].after, score.repeat[0].until - score.repeat[0].after
        quick = np.linspace(start + period, start + 3 * period, QUICK) * FPS
        numbers = np.concatenate([numbers, quick.round().astype(int).clip(max=last)])
    pictures = [picture for picture, in drawn(scene, [0.0], numbers.tolist())]
    assert entry.action.cue is not None
    if entry.action.cue.region in FACE:
        pictures = [about_head(scene, *each) for each in zip(pictures, numbers, strict=True)]
    else:
        pictures = cropped(pictures)
    tiles = [np.asarray(Image.fromarray(picture).resize(_fitting(picture)))
             for picture in pictures]
    height, width = tiles[0].shape[:2]
    return tiled(tiles, [f"{number / FPS:.2f} s" for number in numbers],
                 round((len(tiles) * height / width) ** 0.5))


def about_head(scene: DrawnScene, picture: ByteArray, frame: int) -> ByteArray:
    """Return what of a frame's picture lies about the head."""
    motion = scene.performances[0].motion
    head = motion.skeleton.index["Head"]
    place = motion.global_pose.positions[frame, head]
    (x, y), (_, top) = scene.camera(0.0).project(place + UPWARDS)[:, :2]
    half = int(y - top)
    return picture[max(int(y) - half, 0): int(y) + half, max(int(x) - half, 0): int(x) + half]


def cropped(pictures: Sequence[ByteArray]) -> list[ByteArray]:
    """Return pictures without what is white, or faint shadow, in all of them."""
    seen = np.min([picture.min(axis=2) for picture in pictures], axis=0) < SHADED
    rows, columns = (np.flatnonzero(seen.any(axis=axis)) for axis in (1, 0))
    return [picture[max(rows[0] - ROOM, 0): rows[-1] + ROOM,
                    max(columns[0] - ROOM, 0): columns[-1] + ROOM] for picture in pictures]


def _fitting(picture: ByteArray) -> tuple[int, int]:
    grown = TILE / max(picture.shape[:2])
    return round(grown * picture.shape[1]), round(grown * picture.shape[0])


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
        stances = read_score_once(entry.take(None)).stances
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
