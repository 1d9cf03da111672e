"""How fast plans of any size are made, with keys, and how fast finished clips are found.

    python benchmarks/planning.py [--clips 1000000] [--finished 20000]
"""

import argparse
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from mimegen.base.files import file_hash
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import SeededTakes, library_take
from mimegen.plan.clips import Clip, DisplayClip
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import finished_row
from mimegen.stage.config import read_config
from mimegen.store.store import Store


def plan_of(clips: int) -> Plan:
    """Return a plan of all takes and ten variants, with as many seeds as make that many clips."""
    catalogue = Catalogue.with_libraries(())
    takes = tuple(library_take(entry, name, 0) for entry in catalogue.actions.values()
                  for name in entry.takes)
    seeds = range(-(-clips // (10 * len(takes))))
    config = read_config(catalogue.file("config", "preview"))
    cells = parse_variants("all", set(catalogue.characters), set(catalogue.backgrounds))
    return make_plan(catalogue, SeededTakes(takes, seeds), cells, config, "cpu")


def peak_megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_planning(clips: int) -> None:
    """Print how long planning takes, and how long walking the plan with all keys."""
    started = time.process_time()
    plan = plan_of(clips)
    made = time.process_time()
    print(f"plan of {len(plan)} clips and {plan.shots} shots: {made - started:.1f} CPU s,"
          f" {peak_megabytes():.0f} MB")
    walked = sum(1 for clip in plan if clip.key and clip.shot.key)
    seconds = time.process_time() - made
    print(f"walked with keys: {seconds:.1f} CPU s, {walked / seconds:.0f} clips a CPU second,"
          f" {peak_megabytes():.0f} MB")


def row_of(clip: Clip | DisplayClip, file: Path) -> dict[str, Any]:
    """Return the least that a row of a clip says."""
    return {
        "sample_id": clip.sample_id, "file_name": f"clips/{file.name}", "sha256": file_hash(file),
        "action": "a", "take": "t", "actor": "choreography", "labels": ["l"], "avatar": "man",
        "angle": 0, "config_name": "base+blank@0", "background_config": "blank",
        "background_name": "blank", "render_config_name": "preview", "seed": 0, "fps": 24.0,
        "frames": 1, "width": 640, "height": 360, "shot_key": "", "row_version": 2,
    }


def measure_finished(count: int) -> None:
    """Print how fast clips that are there already are told from those that are not."""
    clips = list(islice(plan_of(count), count))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        store = Store(out / "store")
        (out / "clips").mkdir()
        for clip in clips[::2]:
            file = out / "clips" / f"{clip.sample_id}.mp4"
            file.write_bytes(b"clip")
            store.record_clip(clip.key, row_of(clip, file))
        started = time.process_time()
        found = sum(finished_row(clip, store, ClipFolder(out)) is not None for clip in clips)
        seconds = time.process_time() - started
        print(f"{found} of {len(clips)} found finished: {len(clips) / seconds:.0f} a CPU second")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=1_000_000)
    parser.add_argument("--finished", type=int, default=20_000)
    options = parser.parse_args()
    measure_planning(options.clips)
    measure_finished(options.finished)


if __name__ == "__main__":
    main()
