"""Draw the pictures of docs/guide/idioms.md from the scores that it shows.

    python benchmarks/idioms.py [--out docs/images/idioms]
"""

import argparse
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mimegen.choreography.front import front_deg
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.motion import standard_skeleton
from mimegen.pages.preview import SheetLayout, capsule_body, scene_sheet

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "idioms.md"
FRAMES, FPS, TILE = 6, 30.0, (150, 200)


def idioms(folder: Path) -> Iterator[tuple[str, Score]]:
    """Yield the name and the score of every idiom of the guide, written into a folder."""
    for text in re.findall(r"```yaml\n(action: .*?)```", GUIDE.read_text(encoding="utf-8"), re.S):
        name = text.split()[1]
        file = folder / f"{name}.score.yaml"
        file.write_text(text, encoding="utf-8")
        yield name, read_score(file)


def draw(score: Score, out: Path) -> None:
    """Write a strip of an idiom's frames."""
    body = capsule_body(standard_skeleton())
    figures = [(body, motion) for motion in perform_scene(score, 0, FPS)]
    sheet = SheetLayout(front_deg(score, 0) + 35.0, tile=TILE, columns=FRAMES)
    scene_sheet(figures, FRAMES, sheet, None).convert("RGB").save(out, quality=80, optimize=True)


def main() -> None:
    """Draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=GUIDE.parents[1] / "images" / "idioms")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, score in idioms(Path(folder)):
            draw(score, out / f"{name}.jpg")


if __name__ == "__main__":
    main()
