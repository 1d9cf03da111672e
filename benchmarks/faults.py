"""Sheets of faults in five amounts, for blind raters: do they see which is worse?

    python benchmarks/faults.py OUT [--seed S] [--actions N] [--fault NAME ...]

For every kind of fault and N actions drawn by the seed, a clip of each amount is rendered (draft)
and shown as one row of a sheet; the rows stand in a random order under letters. OUT/key.json has
the amounts by letter; it is not for raters. Nothing is ever drawn again.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.seeds import generator
from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.faults.fault import fault_kinds
from mimegen.library.catalogue import Catalogue
from mimegen.manifest.file import rows_of

AMOUNTS = (0.2, 0.4, 0.6, 0.8, 1.0)
ANGLES = (0, 90, 180, 270)
CELL = (200, 240)
IN_TIME = {"speed_warped": 24, "frame_drops": 24, "cut_off": 24, "wrong_order": 24,
           "frozen_limb": 24, "twitches": 24, "foot_slide": 16}


def render(out: Path, fault: str, action: str, angle: int, seed: int) -> list[Path]:
    """Render the five amounts of a fault; return the clips, the least amount first."""
    clips = []
    for amount in AMOUNTS:
        folder = out / "clips" / fault / f"{action}-{amount:g}"
        subprocess.run(
            [sys.executable, "-m", "mimegen", "render", "--action", action, "--config", "draft",
             "--variants", f"base+blank@{angle}", "--seed", str(seed), "--quiet",
             "--fault", f"{fault}={amount}", "--out", folder, "--store", out / "store"], check=True)
        row, = rows_of(folder)
        clips.append(folder / row.file_name)
    return clips


def sheet(clips: list[Path], letters: str, columns: int) -> Image.Image:
    """Return one row of frames for each clip, its letter before it."""
    width, height = CELL
    picture = Image.new("RGB", (40 + columns * width, len(clips) * (height + 16)), "white")
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(24)
    small = ImageFont.load_default(12)
    longest = max(read_clip(clip).frames for clip in clips)
    for number, (clip, letter) in enumerate(zip(clips, letters, strict=True)):
        top = number * (height + 16)
        draw.text((8, top + height / 2), letter, "black", font)
        video = read_clip(clip)
        wanted = np.round(np.linspace(0, longest - 1, columns)).astype(int)
        kept = [int(frame) for frame in wanted if frame < video.frames]
        for column, (frame, pixels) in enumerate(zip(kept, read_pictures(video, kept, video.width),
                                                     strict=True)):
            image = Image.fromarray(pixels)
            middle = image.width // 2
            half = image.height * width // height // 2
            cell = image.crop((middle - half, 0, middle + half, image.height)).resize(CELL)
            picture.paste(cell, (40 + column * width, top))
            draw.text((44 + column * width, top + height), f"{frame / video.fps:.2f} s", "gray",
                      small)
    return picture


def main() -> None:
    """Draw actions and orders by the seed, render, and write sheets and key."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actions", type=int, default=1)
    parser.add_argument("--fault", nargs="*", default=list(fault_kinds()))
    asked = parser.parse_args()
    key = {}
    for fault in asked.fault:
        random = generator(asked.seed, "raters", fault)
        names = random.permutation(sorted(Catalogue.with_libraries(()).actions))[: asked.actions]
        for number, action in enumerate(names.tolist()):
            angle = int(random.choice(ANGLES))
            clips = render(asked.out, fault, action, angle, asked.seed)
            order = random.permutation(len(AMOUNTS)).tolist()
            name = f"{fault}-{number}"
            sheet([clips[place] for place in order], "ABCDE", IN_TIME.get(fault, 8)).save(
                asked.out / f"{name}.png")
            key[name] = {"action": action, "angle": angle, "amounts": {
                letter: AMOUNTS[place] for letter, place in zip("ABCDE", order, strict=True)}}
            (asked.out / "key.json").write_text(json.dumps(key, indent=1))


if __name__ == "__main__":
    main()
