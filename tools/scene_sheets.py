"""Sheets of scenes for people who shall tell what happens: 48 frames each, names that say nothing.

    python tools/scene_sheets.py OUT [SCENE ...]

Writes OUT/<letters>_<page>.png, twelve frames a page in their order, each with its time, and
OUT/key.json: which letters are which scene, and its steps in order. Figures are 200 pixels tall
and more.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from mimegen.base.files import content_key
from mimegen.base.paths import data_file
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Character
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import SceneTake, scene_take
from mimegen.motion import Motion
from mimegen.pages.drawn import drawing, tiled
from mimegen.pages.preview import SKY, SheetLayout, camera_of
from mimegen.shots.config import read_config

FRAMES, PAGE, COLUMNS, FPS = 48, 12, 3, 15.0
TALL_PX, PERSON_M = 215, 1.75


def pages(figures: Sequence[tuple[Character, Motion]]) -> Iterator[Image.Image]:
    """Yield pages of evenly spaced frames, seen by one camera that sees all of the scene."""
    motion = figures[0][1]
    sheet = SheetLayout(MIME_AZIMUTH_DEG, tile=(640, 400))
    camera = camera_of(np.concatenate([each.global_pose.positions for _, each in figures], axis=1),
                       sheet)
    middle = np.mean([each.root_positions.mean(axis=0) for _, each in figures], axis=0)
    ends = camera.project(np.array([middle * [1, 1, 0], middle * [1, 1, 0] + [0, 0, PERSON_M]]))
    grown = max(1.0, TALL_PX / abs(ends[0, 1] - ends[1, 1]) * camera.height / 400)
    size = round(640 * grown), round(400 * grown)
    paint = drawing(figures, read_config(data_file("render_configs/draft.yaml")), SKY)
    numbers = np.linspace(0, motion.frames - 1, FRAMES).round().astype(int)
    for page in np.split(numbers, FRAMES // PAGE):
        pictures = (np.asarray(paint(int(number), camera).resize(size)) for number in page)
        yield tiled(pictures, [f"{number / motion.fps:.1f} s" for number in page], COLUMNS)


def told(take: SceneTake) -> list[str]:
    """Return what happens, in order, as the scene's file says it."""
    return [f"{one.start_s:.1f} s {one.performer}: {one.name}" for one in take.timeline
            if one.kind == "step"]


def main(out: Path, names: Sequence[str]) -> None:
    """Write the sheets of some scenes, or of all."""
    catalogue = Catalogue.with_libraries(())
    key = {}
    for name in names or catalogue.scenes:
        take = scene_take(catalogue, name, 0)
        members = tuple(cast_member(catalogue, who) for who in ("man", "woman")[:take.performers])
        scene = Casting(take, members).perform(FPS)
        letters = content_key("sheet", name)[:6]
        for number, page in enumerate(pages([(one.character, one.motion) for one in scene]), 1):
            page.save(out / f"{letters}_{number}.png")
        key[letters] = {"scene": name, "labels": take.labels, "steps": told(take)}
        (out / "key.json").write_text(json.dumps(key, indent=1))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    main(folder, sys.argv[2:])
