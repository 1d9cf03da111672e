"""Small clips of real rows, as a render of some actions has them, but of moving test pictures."""

import subprocess
from pathlib import Path

import imageio_ffmpeg

from mimegen.base.files import file_hash
from mimegen.manifest.file import add_rows
from mimegen.manifest.row import Row
from questions_rows import library_rows

ACTIONS = ("archery", "boxing", "checking_phone", "golf_swing", "playing_violin", "fishing",
           "soccer_shot", "typing_on_keyboard", "driving", "playing_piano", "sweep_floor",
           "bowling", "deadlift", "high_five", "shooting_rifle", "writing")
VARIANTS = ("base+blank@0", "base+misaligned@0")
FRAMES = 12


def small_clips(out: Path, variants: tuple[str, ...] = VARIANTS) -> list[Row]:
    """Write clips of 64 x 36 pixels and 12 frames, and their manifest."""
    facts = {"frames": FRAMES, "licence": "CC0-1.0", "background_licence": "CC0-1.0"}
    rows = [row.model_copy(update=facts) for row in library_rows(variants, ACTIONS)]
    (out / "clips").mkdir(parents=True)
    made = []
    for number, row in enumerate(rows):
        _clip(out / row.file_name, number)
        made.append(row.model_copy(update={"sha256": file_hash(out / row.file_name)}))
    add_rows(out, made)
    return made


def _clip(path: Path, number: int) -> None:
    """Write a clip of which each frame and each clip differs."""
    picture = f"testsrc2=size=64x36:rate=30,hue=h={7 * number}"
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", picture,
                    "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p", path], check=True)
