"""How fast everything around Cycles is, per core: python benchmarks/throughput.py [--write]"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from costs import put_into
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.compositing.compose import Compositor
from mimegen.compositing.video import write_clip
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.retarget import retarget
from mimegen.store.frames import Frame, frame_to_bytes, read_frame

DOCUMENT = Path(__file__).parents[1] / "docs" / "research" / "performance.md"
FRAMES, SIZE = 120, (1280, 720)
"""Frames of a figure 600 pixels high, as `standard` frames it."""


def figure_frames() -> list[Frame]:
    """Return frames of a moving, shaded, soft-edged figure with a shadow."""
    rows, columns = np.mgrid[:600, :260]
    inside = np.clip(60 - 60 * np.hypot((columns - 130) / 120, (rows - 300) / 290), 0, 1)
    noise = np.random.default_rng(0).normal(0, 3, (600, 260, 3))
    color = 90 + 90 * np.sin(rows / 40)[..., None] * [0.3, 0.6, 1.0] + noise
    figure = np.concatenate([color, 255 * inside[..., None]], axis=-1).clip(0, 255)
    figure[figure[..., 3] == 0] = 0
    shadow = (160 * np.clip(1.5 - np.hypot((columns[:120] - 130) / 90, (rows[:120] - 60) / 40),
                            0, 1)).astype(np.uint8)
    return [Frame(SIZE, figure.astype(np.uint8), (400 + 3 * n % 300, 80), shadow,
                  (380 + 3 * n % 300, 590)) for n in range(FRAMES)]


def cpu_of(job: Callable[[], object]) -> float:
    """Return the CPU seconds of a job and of the processes that it starts and awaits."""
    def spent() -> float:
        times = os.times()
        return float(times.user + times.system + times.children_user + times.children_system)
    before = spent()
    job()
    return spent() - before


def rows(folder: Path) -> list[tuple[str, str]]:
    """Return what was measured."""
    frames = figure_frames()
    files = [folder / f"{number:06d}.npz" for number in range(FRAMES)]
    pack = cpu_of(lambda: [file.write_bytes(frame_to_bytes(frame))
                           for file, frame in zip(files, frames, strict=True)])
    read = cpu_of(lambda: [read_frame(file) for file in files])
    sky = np.linspace(0.2, 0.9, SIZE[0] * SIZE[1] * 3, dtype=np.float32).reshape(*SIZE[::-1], 3)
    compositor = Compositor(sky)
    composed = cpu_of(lambda: [compositor.compose(frame) for frame in frames])
    clip = cpu_of(lambda: write_clip(files, sky, 30.0, folder / "clip.mp4"))
    catalogue = Catalogue.with_libraries([])
    score = read_score(catalogue.action("boxing").take(None))
    man = cast_member(catalogue, "man").build()
    started = time.process_time()
    motion = perform(score, 0, 600 / score.duration)
    performed = time.process_time()
    retarget(motion, man)
    retargeted = time.process_time()
    rates = {"packing frames for the store": pack, "reading them": read, "compositing": composed,
             "reading, compositing and encoding": clip}
    return [*((f"{name}, frames a CPU second", f"{FRAMES / cpu:.0f}")
              for name, cpu in rates.items()),
            ("performing a score, 600 frames", f"{performed - started:.2f} CPU s"),
            ("retargeting 600 frames (10 s at 60 fps)", f"{retargeted - performed:.2f} CPU s")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also into {DOCUMENT.name}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mimegen-bench-") as folder:
        found = rows(Path(folder))
    text = "\n".join(["| at 1280x720 | |", "|---|---:|",
                      *(f"| {name} | {value} |" for name, value in found)])
    print(text)
    if given.write:
        put_into(DOCUMENT, "throughput", text)


if __name__ == "__main__":
    main()
