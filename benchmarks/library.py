"""Show every take of the library and compare with captured motion: docs/research/library.md.

Usage: python benchmarks/library.py [SAMPLES] [--parts takes pictures naturalness] [--only TEXT]
"""

import argparse
import gzip
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

from captured import SAMPLES, on_man
from costs import put_into
from mimegen.base.errors import RequestError
from mimegen.characters.character import Character
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform_scene
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.score_take import ScoreTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.pages.preview import SheetLayout, scene_sheet
from naturalness import naturalness_section
from recognition import Recognition, Viewers, read_recognition, share

REPO = Path(__file__).resolve().parents[1]
DOCUMENT = REPO / "docs" / "research" / "library.md"
PICTURES = REPO / "docs" / "images" / "library"
RECOGNITION = REPO / "docs" / "research" / "recognition.yaml"
VIEWERS = REPO / "docs" / "research" / "viewers.yaml.gz"
FPS = 30.0
MOMENTS = 5
STRIP = SheetLayout(tile=(110, 150), columns=MOMENTS)
QUALITY = 80
# Who goes further than this (m) is shown on the spot, or would be tiny.
TRAVEL = 0.8
# What tells an action, and how much: hands most.
TOLD_BY = {"Head": 1.0, "Hips": 1.0, "LeftHand": 2.0, "RightHand": 2.0, "LeftForeArm": 1.0,
           "RightForeArm": 1.0, "LeftFoot": 0.7, "RightFoot": 0.7}
PARTS = ("takes", "pictures", "naturalness")


@dataclass(frozen=True)
class Shown:
    """A take of the library, and the name of its picture."""

    entry: Entry
    name: str

    @property
    def path(self) -> str:
        """The action and the take, as docs/research/recognition.yaml names it."""
        return f"{self.entry.action.id}/{self.name}"

    @property
    def picture(self) -> str:
        """The picture's name: the action's for its default take."""
        first = next(iter(self.entry.takes)) == self.name
        action = self.entry.action.id
        return f"{action}.jpg" if first else f"{action}_{self.name}.jpg"

    @property
    def take(self) -> LibraryTake:
        """The take as its score is written."""
        return library_take(self.entry, self.name, 0)


def main() -> None:
    """Measure, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=Path, default=SAMPLES)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--only", default="", help="draw only pictures of takes with this text")
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    takes = [Shown(entry, name) for entry in catalogue.actions.values() for name in entry.takes]
    viewers = read_recognition(RECOGNITION, [one.path for one in takes])
    untuned = untuned_draws(yaml.safe_load(gzip.decompress(VIEWERS.read_bytes())))
    if "pictures" in options.parts:
        _draw(catalogue, [one for one in takes if options.only in one.path])
    if "takes" in options.parts:
        put_into(DOCUMENT, "recognition", "\n".join(_recognition(takes, viewers)))
        put_into(DOCUMENT, "takes", "\n".join(_table(takes, viewers, untuned)))
    if "naturalness" in options.parts:
        put_into(DOCUMENT, "naturalness",
                 "\n".join(naturalness_section(catalogue, options.samples)))


def _recognition(takes: list[Shown], viewers: Viewers) -> Iterator[str]:
    known = list(viewers.takes.values())
    free = [one.free for one in known if one.free]
    choice = [one.choice for one in known if one.choice]
    yield (f"{len(takes)} takes of {len({one.entry.action.id for one in takes})} actions."
           f" Named freely: {share(free)}. By choice among four: {share(choice)}.")
    if viewers.about:
        yield f"\n{viewers.about.strip()}"


def untuned_draws(viewers: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return how often a take was named, of how often it came, in the draws nobody had tuned."""
    named: dict[str, list[bool]] = defaultdict(list)
    for section, clips in viewers.items():
        if section.startswith("draw_"):
            for clip in clips:
                named[clip["take"]].append(clip["named"])
    return {take: (sum(answers), len(answers)) for take, answers in named.items()}


def _table(takes: list[Shown], viewers: Viewers,
           untuned: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    yield ("| take | moments | labels | group | seconds | lines | lint | free | choice | untuned |"
           " viewers' remarks |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for one in takes:
        said = viewers.takes.get(one.path, Recognition())
        lines = len(one.take.file.read_text(encoding="utf-8").splitlines())
        seconds, findings = _linted(one)
        print(one.path, seconds, findings, flush=True)
        yield (f"| {one.path} | ![{one.path}](../images/library/{one.picture}) |"
               f" {', '.join(one.take.labels)} | {one.entry.action.semantic_group} |"
               f" {seconds} | {lines} | {findings} | {_answers(said.free)} |"
               f" {_answers(said.choice)} | {_answers(untuned.get(one.path))} |"
               f" {' '.join(said.remarks.replace('|', '/').split())} |")


def _linted(one: Shown) -> tuple[str, str]:
    """Return how long a take lasts and how much lint finds, or that it cannot be performed.

    Gait follows published angles; lint is of scores.
    """
    if not isinstance(one.take, ScoreTake):
        return f"{one.take.frames(FPS) / FPS:.1f}", ""
    score = one.take.score
    try:
        scene = perform_scene(score, 0, FPS)
    except RequestError:
        return "", "fails"
    return f"{scene[0].duration:.1f}", str(len(lint(scene, score, 0)) or "")


def _answers(answers: tuple[int, int] | None) -> str:
    return f"{answers[0]} of {answers[1]}" if answers else ""


def _draw(catalogue: Catalogue, takes: list[Shown]) -> None:
    """Write a strip of telling moments for each take."""
    PICTURES.mkdir(exist_ok=True)
    for one in takes:
        try:
            scene = on_man(catalogue, one.take, FPS)
        except RequestError as problem:
            print(problem, flush=True)
            continue
        motions = [performance.motion for performance in scene]
        figures: list[tuple[Character, Motion]] = [
            (performance.character, motion)
            for performance, motion in zip(scene, told(motions, MOMENTS), strict=True)]
        target = PICTURES / one.picture
        part = target.with_name(f".{target.name}.part")
        picture: Image.Image = scene_sheet(figures, MOMENTS, STRIP)
        picture.save(part, "jpeg", quality=QUALITY, optimize=True)
        part.replace(target)
        print(target.name, flush=True)


def told(motions: list[Motion], count: int) -> list[Motion]:
    """Return the ``count`` moments of a scene that differ most, in their order.

    The first is the farthest from the mean pose; each next one is the farthest from those before
    (Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985).
    """
    poses = np.concatenate([_pose(motion) for motion in motions], axis=1)
    chosen = [int(np.argmax(np.linalg.norm(poses - poses.mean(axis=0), axis=1)))]
    nearest = np.full(len(poses), np.inf)
    while len(chosen) < min(count, len(poses)):
        nearest = np.minimum(nearest, np.linalg.norm(poses - poses[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(nearest)))
    frames = np.sort(chosen)
    middle = np.mean([motion.root_positions[frames, :2] for motion in motions], axis=0)
    travels = np.ptp(middle, axis=0).max() > TRAVEL
    shift = np.pad(middle, ((0, 0), (0, 1))) * travels
    return [Motion(motion.skeleton, motion.fps, motion.root_positions[frames] - shift,
                   motion.rotations[frames]) for motion in motions]


def _pose(motion: Motion) -> FloatArray:
    """Return where telling parts are about the hips' place on the floor, weighted: (F, D)."""
    places = motion.global_pose.positions
    hips = places[:, :1] * [1.0, 1.0, 0.0]
    joints = [motion.skeleton.index[name] for name in TOLD_BY]
    told_by = (places[:, joints] - hips) * np.array(list(TOLD_BY.values()))[:, None]
    return np.asarray(told_by.reshape(len(places), -1))


if __name__ == "__main__":
    main()
