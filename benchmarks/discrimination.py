"""Can viewers tell captured motion from choreographed? Sheets for them, and what is what.

    discrimination.py --seed S [--seconds 3] --out DIR --key FILE

writes 24 contact sheets of 16 moments, half of them captured, half choreographed, all on the same
man from the front: of a span of so many seconds, whose place is drawn by the seed, or of whole
clips (``--seconds 0``). Names say nothing; FILE says which is which: keep it from the viewers.

    discrimination.py --key FILE --answers FILE [FILE ...]

counts answers, lines of ``sheet-0123 captured`` or ``sheet-0123 designed``.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from captured import CLIPS, SAMPLES, on_man
from mimegen.base.files import publish
from mimegen.base.seeds import generator
from mimegen.characters.character import Performance
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.motion.editing import trimmed
from mimegen.shots.config import read_config
from naturalness import CHOREOGRAPHED
from recognition import opaque_names, ready_worker, sheet

OF_EACH = 12
CAPTURED, DESIGNED = "captured", "designed"


@dataclass(frozen=True)
class Clip:
    """What a sheet shows, and by which seed; captured motion has none."""

    truth: str
    what: str
    take: LibraryTake
    seed: int | None = None


def clips(seed: int, catalogue: Catalogue) -> list[Clip]:
    """Return as many captured as choreographed clips in any order, none of them twice."""
    chance = generator(seed, "natural")
    found = [Clip(CAPTURED, CLIPS[at].name, CLIPS[at].take(SAMPLES))
             for at in chance.permutation(len(CLIPS))[:OF_EACH]]
    actions = [action for kind in CHOREOGRAPHED.values() for action in kind]
    found += [_choreographed(actions[at], catalogue, chance)
              for at in chance.permutation(len(actions))[:OF_EACH]]
    return [found[at] for at in chance.permutation(len(found))]


def _choreographed(action: str, catalogue: Catalogue, chance: np.random.Generator) -> Clip:
    seed = int(chance.integers(10_000))
    entry = catalogue.action(action)
    name = str(chance.choice(sorted(entry.takes)))
    return Clip(DESIGNED, name, library_take(entry, name, seed), seed)


def cut(scene: tuple[Performance, ...], seconds: float, chance: np.random.Generator
        ) -> tuple[Performance, ...]:
    """Return a span of a scene at a place drawn by lot; all of it where it is no longer."""
    motion = scene[0].motion
    frames = min(motion.frames, round(seconds * motion.fps) + 1) if seconds else motion.frames
    first = int(chance.integers(motion.frames - frames + 1))
    return tuple(Performance(one.character, trimmed(one.motion, first, first + frames - 1))
                 for one in scene)


def show(seed: int, seconds: float, out: Path) -> Iterator[dict[str, object]]:
    """Write the sheets, and yield what each shows."""
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "draft"))
    worker = ready_worker(config)
    out.mkdir(parents=True, exist_ok=True)
    chosen = clips(seed, catalogue)
    for name, clip in zip(opaque_names(seed, len(chosen)), chosen, strict=True):
        scene = cut(on_man(catalogue, clip.take, config.fps), seconds, generator(seed, "cut", name))
        sheet(worker, scene, 0.0, config, catalogue).save(out / f"{name}.png")
        print(name, flush=True)
        yield {"file": name, "is": clip.truth, "what": clip.what, "seed": clip.seed}
    worker.close()


def counted(key: list[dict[str, str]], answers: dict[str, str]) -> str:
    """Return how many answers are right, and for what choreographed motion was taken."""
    right = sum(answers[row["file"]] == row["is"] for row in key)
    designed = [answers[row["file"]] for row in key if row["is"] == DESIGNED]
    return (f"{right} of {len(key)} right, {designed.count(CAPTURED)} of {len(designed)}"
            " choreographed taken for captured")


def main() -> None:
    """Write sheets and their key, or count answers."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--answers", type=Path, nargs="+", default=[])
    arguments = parser.parse_args()
    if arguments.out:
        rows = list(show(arguments.seed, arguments.seconds, arguments.out))
        publish(arguments.key, "".join(f"{json.dumps(row)}\n" for row in rows))
    key = [json.loads(line) for line in arguments.key.read_text().splitlines()]
    for file in arguments.answers:
        lines = [line.split() for line in file.read_text().splitlines() if line.strip()]
        print(file.name, counted(key, {line[0]: line[1] for line in lines}))


if __name__ == "__main__":
    main()
