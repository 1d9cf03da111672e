"""How cost grows with frames, variants and characters, whether workers hold their memory, and
whether two workers of one thread beat one of two: python benchmarks/scaling.py [--write]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from costs import Cost, cost_of, put_into
from scene import config_with, library_of_pictures, rate_for

DOCUMENT = Path(__file__).parents[1] / "docs" / "research" / "performance.md"
ACTION = "basketball_shot"


def run(out: Path, variants: str, frames: int, workers: int, config: str = "mime_fast",
        **changes: int) -> Cost:
    """Return what the main job costs from scratch."""
    settings = config_with(config, rate_for(ACTION, frames), out / "config.yaml", **changes)
    shutil.rmtree(out / "run", ignore_errors=True)
    return cost_of([sys.executable, "-m", "mimegen", "render", "--action", ACTION, "--variants",
                    variants, "--config", settings, "--library", out / "library", "--device",
                    "cpu", "--workers", str(workers), "--out", out / "run", "--quiet"])


def rows(out: Path) -> Iterator[tuple[str, Cost]]:
    """Yield what is asked for, and its cost."""
    one, four, ten = "base+blank@0", "angles", "mime"
    for frames in (10, 20, 40):
        yield f"{one}, {frames} frames, one worker", run(out, one, frames, 1)
    for name, variants in (("four angles", four), ("ten variants", ten)):
        yield f"{name}, 10 frames, one worker", run(out, variants, 10, 1)
    yield f"{one}, 40 frames, two workers", run(out, one, 40, 2)
    for frames in (25, 500):
        yield (f"four angles at 64x36 and one sample, {4 * frames} frames, one worker",
               run(out, four, frames, 1, "preview", width=64, height=36, samples=1))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also into {DOCUMENT.name}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mimegen-bench-") as folder:
        library_of_pictures(Path(folder) / "library", ACTION)
        lines = ["| request | CPU s | wall s | peak MB |", "|---|---:|---:|---:|"]
        print("\n".join(lines))
        for name, cost in rows(Path(folder)):
            lines.append(f"| {name} | {cost.cpu_s:.1f} | {cost.wall_s:.1f} | {cost.peak_mb:.0f} |")
            print(lines[-1], flush=True)
    if given.write:
        put_into(DOCUMENT, "scaling", "\n".join(lines))


if __name__ == "__main__":
    main()
