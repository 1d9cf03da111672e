"""Rebuild ActPLD: point-light clips of each label, as many as its Figure 3 counts, and questions.

    python benchmarks/actpld.py                   # what there is, what is missing, what differs
    python benchmarks/actpld.py --out actpld      # renders it, and writes the questions
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.cli import main as mimegen
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX, Entry
from mimegen.library.score_take import read_score_once

COUNTS = Path(__file__).with_suffix(".yaml")
SET, VARIANT, FRAMES = "actpld", "pointlight@0", "middle:8"
FORMATS, ASKED = ("3afc", "description"), ("label", "intention")
PERFORMERS = {"single": 1, "social": 2}
DIFFERS = """\
differs: the paper's clips are recordings of the CMU database and of another study; these are
  takes of scores, of which each clip has a seed of its own
differs: Figure 3 shows actions of two people among the single ones (conversation, hold_hands,
  high_five), as one of the two alone; here these are clips of both people"""


class Counts(Strict):
    """One file of counts: clips by label, and how many its paper states of each list."""

    single: dict[str, int]
    social: dict[str, int]
    table_1: dict[str, int]

    def of(self, name: str) -> Mapping[str, int]:
        """Return one of the lists."""
        return self.single if name == "single" else self.social


class Rebuilt(NamedTuple):
    """A list as far as there are actions for it: clips by action, and labels without any."""

    clips: Mapping[str, int]
    missing: tuple[str, ...]


def rebuilt(catalogue: Catalogue, counts: Mapping[str, int], performers: int) -> Rebuilt:
    """Return which actions stand for the labels of a list, those for as many performers first.

    Only actions of two people stand for social labels.
    """
    members = catalogue.in_set(SET)
    clips: dict[str, int] = defaultdict(int)
    missing = []
    for label, count in counts.items():
        fitting = sorted((entry for entry in members.values() if not entry.action.ambiguous
                          and label in entry.action.sets[SET]
                          and people(entry) >= performers),
                         key=lambda entry: (people(entry) != performers, entry.action.id))
        if fitting:
            clips[fitting[0].action.id] += count
        else:
            missing.append(label)
    return Rebuilt(clips, tuple(missing))


def people(entry: Entry) -> int:
    """Return how many people perform an action's first take."""
    file = entry.take(None)
    return len(read_score_once(file).parts()) if file.name.endswith(SCORE_SUFFIX) else 1


def told(name: str, counts: Counts, found: Rebuilt) -> Iterator[str]:
    """Yield what there is of a list, what is missing and what differs from the paper."""
    listed, stated = counts.of(name), counts.table_1[name]
    yield (f"{name}: {sum(found.clips.values())} of {sum(listed.values())} clips, of"
           f" {len(listed) - len(found.missing)} of {len(listed)} labels")
    if found.missing:
        clips = sum(listed[label] for label in found.missing)
        yield f"missing: no action yet for {', '.join(found.missing)} ({clips} clips)"
    if sum(listed.values()) != stated:
        yield (f"differs: Table 1 states {stated} {name} clips, the labels of Figure 3 add up to"
               f" {sum(listed.values())}")


def render(found: Rebuilt, out: Path) -> None:
    """Render a list's clips, and write all its questions."""
    alike: dict[int, list[str]] = defaultdict(list)
    for action, count in found.clips.items():
        alike[count].append(action)
    for count, actions in sorted(alike.items()):
        run("render", "--action", ",".join(actions), "--seed", f"0:{count}", "--variants", VARIANT,
            "--config", "draft", "--out", str(out))
    for form in FORMATS:
        for asks in ASKED:
            within = ("--set", SET) if form == "3afc" else ()
            run("questions", str(out), "--format", form, "--asks", asks, *within, "--sampling",
                FRAMES, "--out", str(out / f"questions-{form}-{asks}.jsonl"))


def run(*words: str) -> None:
    """Run a command of mimegen; end with what it says where it fails."""
    result = CliRunner().invoke(mimegen, words)
    if result.exit_code:
        raise SystemExit(f"mimegen {' '.join(words)}: {result.output.strip()}")
    print(result.output.strip().splitlines()[-1])


def main() -> None:
    """Tell what there is, and render it where a folder is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out: Path | None = parser.parse_args().out
    catalogue, counts = Catalogue.with_libraries(()), read_yaml(COUNTS, Counts)
    for name, performers in PERFORMERS.items():
        found = rebuilt(catalogue, counts.of(name), performers)
        print("\n".join(told(name, counts, found)))
        if out is not None and found.clips:
            render(found, out / name)
    print(DIFFERS)


if __name__ == "__main__":
    main()
