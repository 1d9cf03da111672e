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
VIEWS = ("base+blank@0", "base+blank@90", "woman+blank@0", "base+misaligned@0",
         "adversarial+blank@0", "nobody+misaligned@0")
AVATARS = {"base": "man", "woman": "woman", "adversarial": "spacesuit", "nobody": "nobody"}
FRAMES = 12


def small_clips(out: Path, variants: tuple[str, ...] = VARIANTS) -> list[Row]:
    """Write clips of 64 x 36 pixels and 12 frames, and their manifest."""
    return _written(out, library_rows(variants, ACTIONS))


def clips_of_views(out: Path) -> list[Row]:
    """Write such clips of five views of each action, and of a place without anybody."""
    rows = [as_rendered(row) for row in library_rows(VIEWS, ACTIONS)]
    return _written(out, rows)


def paired_clips(out: Path) -> list[Row]:
    """Write such clips, two of each action: the halves of a minimal pair of speeds."""
    return _written(out, [half(row, f"speed-{number:04d}", "speed", value)
                          for number, row in enumerate(library_rows(VARIANTS[:1], ACTIONS))
                          for value in ("slow", "fast")])


def half(row: Row, pair: str, factor: str, value: str) -> Row:
    """The row of a clip that was declared as one half of a pair."""
    sample = f"{row.sample_id}-{pair}-{value}"
    return Row.model_validate(dict(row) | {
        "sample_id": sample, "file_name": f"clips/{sample}.mp4",
        "permutation": {"pair": {"id": pair, "factor": factor, "value": value}}})


def as_rendered(row: Row) -> Row:
    """The row with what a render says of who performs and from which side."""
    who, _, side = str(row.config_name).partition("@")
    return Row.model_validate(dict(row) | {
        "avatar": AVATARS[who.partition("+")[0]], "angle": float(side)})


def _written(out: Path, rows: list[Row]) -> list[Row]:
    facts = {"frames": FRAMES, "licence": "CC0-1.0", "background_licence": "CC0-1.0"}
    rows = [row.model_copy(update=facts) for row in rows]
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
