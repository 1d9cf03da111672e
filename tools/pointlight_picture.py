"""Show one moment of an action in many point-light displays, for the documentation.

Usage: pointlight_picture.py PICTURE.png [ACTION [SECONDS [AZIMUTH]]]
"""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import make_stimulus
from mimegen.pointlight.words import worded_display
from mimegen.production.displays import cast_scene

COLUMNS, SIDE, CAPTION, GAP = 7, 224, 22, 4
DISPLAYS = (
    "silhouette", "stick", "dots", "occlusion=body", "dots=hands_and_feet", "dots=all_joints",
    "inverted", "rotated=60", "scrambled", "scrambled=permuted", "phase_scrambled",
    "exaggerated=1.6", "limited_lifetime=2", "masked=60", "masked=60/kind=linear", "jittered=6px",
    "without=head;left_knee", "projection=perspective:camera_distance_m=2.5:depth_sized=2.5",
    "polarity=dark", "polarity=mixed", "color_by=dot",
)


def main(picture: Path, action: str, seconds: float, azimuth: float) -> None:
    """Write ``picture``."""
    catalogue = Catalogue.with_libraries(())
    casting = Casting(library_take(catalogue.action(action), None, 0),
                      (cast_member(catalogue, "man"),))
    base = Display(name="base", description="", width=SIDE, height=SIDE, fps=60,
                   azimuth_deg=azimuth, dot_diameter="6px", margin=0.1)
    rows = -(-len(DISPLAYS) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (SIDE + GAP) - GAP, rows * (SIDE + CAPTION + GAP) - GAP),
                      "white")
    draw = ImageDraw.Draw(sheet)
    for number, words in enumerate(DISPLAYS):
        display, _ = worded_display(words.split(":"), base)
        scene = cast_scene(casting, changed(display, duration=seconds + 0.4), 60)
        made = make_stimulus(scene, changed(display, duration=seconds + 0.4))
        shown = next(p.copy() for f, p in enumerate(pictures(made)) if f == int(seconds * 60))
        row, column = divmod(number, COLUMNS)
        left, top = column * (SIDE + GAP), row * (SIDE + CAPTION + GAP)
        sheet.paste(Image.fromarray(shown).convert("RGB"), (left, top))
        draw.text((left + 2, top + SIDE + 3), words.split(":")[-1], (40, 40, 44),
                  ImageFont.load_default(13))
    sheet.quantize(200).save(picture)


if __name__ == "__main__":
    given = [*sys.argv[2:], *("basketball", "1.6", "48")[len(sys.argv) - 2:]]
    main(Path(sys.argv[1]), given[0], float(given[1]), float(given[2]))
