"""What each set costs: CPU seconds to build it in Blender, and for a still of ``preview``.

    python benchmarks/sets.py [NAME ...]
"""

import sys
import tempfile
import time
from pathlib import Path

from mimegen.compositing.background import read_background
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.pages.backgroundsheet import standing
from mimegen.rendering.cores import seeing_cores
from mimegen.scenery.job import SetJob
from mimegen.shots.config import read_config
from mimegen.shots.framing import frame_camera

# As the stage's worker loads Blender.
with seeing_cores(1):
    from mimegen.rendering.cycles.render import PictureReader, use_device
    from mimegen.rendering.cycles.scene import reset_scene
    from mimegen.rendering.cycles.scenery import build_set, render_set


def main(names: list[str]) -> None:
    """Print a line for each set."""
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "preview"))
    camera = frame_camera([standing(cast_member(catalogue, "man").build())], config, 0.0)
    use_device("cpu", 1)
    reader = PictureReader()
    for name in names or list(catalogue.backgrounds):
        file = catalogue.file("background", name)
        scenery = read_background(file).set
        if scenery is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            job = SetJob(scenery, camera, config, Path(folder) / "still.png")
            reset_scene()
            began = time.process_time()
            build_set(job)
            built = time.process_time()
            render_set(job, reader)
            done = time.process_time()
        lines = len(file.read_text(encoding="utf-8").splitlines())
        print(f"| {name} | {lines} | {built - began:.1f} | {done - built:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
