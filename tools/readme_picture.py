"""Lay one moment of the ten variants of a rendered action side by side, for the README.

Usage: readme_picture.py OUT PICTURE.jpg [SHARE_OF_THE_CLIP]
"""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.manifest.file import clip_path, read_manifest
from mimegen.plan.variants import MIME

COLUMNS, WIDTH, GAP, CAPTION = 5, 400, 6, 26


def main(out: Path, picture: Path, share: float) -> None:
    """Write ``picture`` from the clips in ``out``."""
    rows = {row.config_name: row for row in read_manifest(out)}
    tiles = [tile(clip_path(out, rows[name]), name, share) for name in MIME]
    width, height = tiles[0].size
    lines = -(-len(tiles) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (width + GAP) - GAP, lines * (height + GAP) - GAP), "white")
    for number, one in enumerate(tiles):
        sheet.paste(one, (number % COLUMNS * (width + GAP), number // COLUMNS * (height + GAP)))
    sheet.save(picture, quality=88)


def tile(path: Path, name: str, share: float) -> Image.Image:
    """Return the middle of a clip's picture with its variant's name under it."""
    clip = read_clip(path)
    pixels, = read_pictures(clip, [int(clip.frames * share)], clip.width)
    whole = Image.fromarray(pixels)
    side = whole.width * 5 // 8
    left = (whole.width - side) // 2
    cropped = whole.crop((left, 0, left + side, whole.height))
    height = WIDTH * cropped.height // cropped.width
    made = Image.new("RGB", (WIDTH, height + CAPTION), (246, 246, 246))
    made.paste(cropped.resize((WIDTH, height), Image.Resampling.LANCZOS), (0, 0))
    font = ImageFont.load_default(15)
    ImageDraw.Draw(made).text((WIDTH / 2, height + CAPTION / 2), name, "black", font, "mm")
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.4)
