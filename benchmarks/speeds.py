"""Processor time of what users wait for most often, each beside its limit.

    python benchmarks/speeds.py [--samples DIR]

Prints the best of several runs. Ends with 1 where something takes longer than its limit. Real
motion is read from ``--samples`` where that folder is there.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.pointlight.discs import Canvas
from mimegen.readers import read_motion
from mimegen.readers.points import read_points

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from marked_bodies import write_c3d

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "mocap-samples"
RUNS = 4
# What is measured, its limit in seconds, and the work.
Measured = tuple[str, float, Callable[[], object]]


def best_of(work: Callable[[], object]) -> float:
    """Return the least processor time in seconds of several runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def drawn() -> None:
    """Draw 240 frames of 15 dots at 512x512 pixels."""
    places = 256 + np.cumsum(np.random.default_rng(0).normal(0, 2, (240, 15, 2)), axis=0)
    canvas = Canvas(512, 512, np.zeros(3), gray=True)
    for _ in canvas.frames(places, np.full((240, 15), 7.0), np.ones((240, 15)), np.ones((15, 3))):
        pass


def c3d_file(folder: Path) -> Path:
    """Write 5,000 frames of 60 markers."""
    places = np.cumsum(np.random.default_rng(0).normal(0, 5, (5000, 60, 3)), axis=0)
    return write_c3d(folder / "long.c3d", [f"M{n}" for n in range(60)], places, unit="mm")


def measured(samples: Path, scratch: Path) -> Iterator[Measured]:
    """Yield all that is measured."""
    data = data_folder()
    score = read_score(data / "mocap" / "driving" / "driving.score.yaml")
    suit = read_character(data / "rigs" / "spacesuit.yaml")
    points = c3d_file(scratch)
    yield "perform a score of 5 s", 2.0, lambda: perform(score, 11, 60.0)
    yield "build the spacesuit", 3.0, lambda: build_character(suit)
    yield "draw 240 frames of dots", 0.12, drawn
    yield "read 5,000 frames of C3D", 1.0, lambda: read_points(points)
    if (file := samples / "bvh" / "assimp_Boxing_Toes.bvh").is_file():
        yield "read 3,070 frames of BVH", 0.5, lambda: read_motion(file)


def main() -> int:
    """Print a table; return 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, default=SAMPLES)
    samples = parser.parse_args().samples
    print("| work | CPU s | limit |\n|---|---:|---:|")
    passed = False
    with tempfile.TemporaryDirectory() as scratch:
        for name, limit_s, work in measured(samples, Path(scratch)):
            took = best_of(work)
            passed |= took > limit_s
            print(f"| {name} | {took:.3f} | {limit_s} |", flush=True)
    return int(passed)


if __name__ == "__main__":
    sys.exit(main())
