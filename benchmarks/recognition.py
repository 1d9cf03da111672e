"""What blind viewers are shown, and what they said of the takes: docs/research/recognition.yaml.

    recognition.py --seed S --count N [--only ACTION,...] [--config draft] --out DIR

writes N contact sheets of 16 frames, each of a take, a body (random people too) and a side drawn by
the seed, under names that say nothing, ``DIR/choices.jsonl``: which of four labels, and
``DIR/key.jsonl``, which says what they show: keep it from the viewers. A take in which lint finds a
fault, on the body that shows it, is drawn again by the next sub-seed, and the key says so. Two
configs with one seed show the same. A person is at least 250 pixels tall.
"""

import argparse
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from PIL import Image
from pydantic import AfterValidator

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import publish, scratch_folder
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.characters.character import Performance
from mimegen.choreography.checks import missed
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.background import read_background
from mimegen.compositing.compose import Compositor
from mimegen.evaluation.embedding import similarities
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.rendering.worker import StageWorker
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.devices import OPENGL
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera, outline_points
from mimegen.shots.jobs import FigureFiles, JobDone, JobFailed, ShotJob
from mimegen.store.frames import Frame, frame_name, read_frame

FRAMES, COLUMNS = 16, 4
RANDOM = "random"
BODIES = ("man", "woman", "spacesuit", RANDOM)
OPTIONS = 4
# A take of which so many seeds in a row are at fault is none.
MOST_TRIED = 20
SIDES = (0.0, 90.0, 180.0, 270.0)
LEAST_TALL = 250
GOOD = GoodTakes.of_user()


def _share(answers: tuple[int, int]) -> tuple[int, int]:
    right, asked = answers
    if not 0 <= right <= asked or asked == 0:
        raise ValueError("expected [right, asked], as in [4, 5]")
    return answers


Answers = Annotated[tuple[int, int], AfterValidator(_share)]


class Recognition(Strict):
    """How many of the viewers asked were right: freely, and by choice among four labels."""

    free: Answers | None = None
    choice: Answers | None = None
    remarks: str = ""


class Viewers(Strict):
    """What was shown to whom (``about``), and the answers by ``action/take``."""

    about: str = ""
    takes: Mapping[str, Recognition] = {}


def read_recognition(path: Path, known: Collection[str]) -> Viewers:
    """Read what viewers said of takes, each among the ``known`` ones.

    Raises RequestError with file, line and key of the first thing that is wrong.
    """
    document = YamlFile(path)
    viewers = document.parsed(Viewers)
    for name in viewers.takes:
        if name not in known:
            raise document.error(("takes", name), f"no such take{near_misses(name, known)}")
    return viewers


def share(answers: list[tuple[int, int]]) -> str:
    """Return all answers together as text, or a dash where nobody was asked."""
    asked = sum(asked for _, asked in answers)
    right = sum(right for right, _ in answers)
    return f"{right} of {asked} ({100 * right / asked:.1f} %)" if asked else "not asked"


def drawn_by_lot(seed: int, count: int, catalogue: Catalogue, only: Collection[str] = ()
                 ) -> list[dict[str, Any]]:
    """Return what sheets show: no action twice before all have been, each body and side alike."""
    chance = generator(seed, "recognition")
    actions = sorted(only or catalogue.actions)
    rounds = -(-count // len(actions))
    chosen = [actions[at] for _ in range(rounds) for at in chance.permutation(len(actions))][:count]
    bodies, sides = (chance.permutation(np.resize(values, count)) for values in (BODIES, SIDES))
    return [{"action": action, "take": str(chance.choice(sorted(catalogue.action(action).takes))),
             "characters": _people(str(body), chance), "angle": float(side),
             "seeds": chance.integers(1000, size=MOST_TRIED).tolist()}
            for action, body, side in zip(chosen, bodies, sides, strict=True)]


def _people(body: str, chance: np.random.Generator) -> list[str]:
    """Return who performs, and who would be the second performer: somebody else."""
    first, second = (f"{RANDOM}:{int(chance.integers(100_000))}" for _ in range(2))
    return [first if body == RANDOM else body, second]


def choices(shown: Mapping[str, Any], catalogue: Catalogue, chance: np.random.Generator
            ) -> list[str]:
    """Return the right label among the hardest wrong ones, in any order.

    Hard are those of the same semantic group, then those nearest in meaning. A label that says the
    same in more or fewer words (a tennis swing of a backhand) is none.
    """
    actions = {name: entry.action for name, entry in catalogue.actions.items()}
    right = actions[shown["action"]]
    others = [one for one in actions.values() if not any(
        _also_right(label, ours) for label in one.labels for ours in right.labels)]
    alike = similarities([right.labels[0]], [one.labels[0] for one in others])[0]
    group = [one.semantic_group == right.semantic_group for one in others]
    order = sorted(range(len(others)), key=lambda at: (-group[at], -alike[at], others[at].id))
    wrong = dict.fromkeys(others[at].labels[0] for at in order)
    options = [right.labels[0], *list(wrong)[: OPTIONS - 1]]
    return [options[at] for at in chance.permutation(OPTIONS)]


def _also_right(label: str, other: str) -> bool:
    """Whether one label has all of the other's words."""
    words, others = {*label.split()}, {*other.split()}
    return words <= others or others <= words


def good_scene(shown: Mapping[str, Any], catalogue: Catalogue, fps: float
               ) -> tuple[int, tuple[Performance, ...]]:
    """Return how many seeds were passed over, and the first scene that has no finding.

    Raises RequestError where none has.
    """
    for number, seed in enumerate(shown["seeds"]):
        take = library_take(catalogue.action(shown["action"]), shown["take"], seed)
        members = tuple(cast_member(catalogue, name)
                        for name in shown["characters"][: take.performers])
        if not isinstance(take, ScoreTake):
            return number, Casting(take, members).perform(fps)
        if GOOD.findings(take):
            continue
        scene = Casting(take, members).perform(fps)
        if not missed([one.motion for one in scene], take.score, seed, take.style):
            return number, scene
    raise RequestError(f"{shown['action']}: lint found fault with {MOST_TRIED} seeds")


def opaque_names(seed: int, count: int) -> list[str]:
    """Return names that say nothing, each once."""
    numbers = generator(seed, "names").choice(10_000, count, replace=False)
    return [f"sheet-{number:04d}" for number in sorted(int(number) for number in numbers)]


def ready_worker(config: RenderConfig) -> StageWorker:
    """Return a worker that draws; ends the program where none can."""
    worker = StageWorker(OPENGL if config.engine == "raster" else "auto")
    ready = worker.connection.recv()
    if isinstance(ready, JobFailed):
        raise SystemExit(ready.message)
    return worker


def sheet(worker: StageWorker, scene: tuple[Performance, ...], angle: float, config: RenderConfig,
          catalogue: Catalogue) -> Image.Image:
    """Return the contact sheet of one performance, cut to where the persons are."""
    config = _large_enough(scene, config, angle)
    camera = frame_camera(scene, config, angle)
    total = scene[0].motion.frames
    numbers = np.unique(np.linspace(0, total - 1, FRAMES).round().astype(int))
    pictures, box = _pictures(worker, scene, camera, config, numbers, catalogue)
    return _tiled([Image.fromarray(picture).crop(box) for picture in pictures])


def _large_enough(scene: tuple[Performance, ...], config: RenderConfig, angle: float
                  ) -> RenderConfig:
    """Return the config with pictures so large that a standing person is ``LEAST_TALL``."""
    camera = frame_camera(scene, config, angle)
    head = scene[0].character.skeleton.heads[:, 2].max()
    middle = np.append(outline_points(scene[0])[:, :2].mean(axis=0), 0.0)
    ends = camera.project(middle + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, head]]))
    larger = max(1.0, LEAST_TALL / abs(float(ends[0, 1] - ends[1, 1])))
    return config.model_copy(update={"width": 2 * round(config.width * larger / 2),
                                     "height": 2 * round(config.height * larger / 2)})


def frames_of_scene(worker: StageWorker, scene: tuple[Performance, ...], camera: Camera,
                    config: RenderConfig, numbers: Any, catalogue: Catalogue) -> list[ByteArray]:
    """Return the pictures of some frames, on a blank background."""
    frames = _frames(worker, scene, camera, config, numbers)
    return _composed(frames, camera, catalogue)


def _frames(worker: StageWorker, scene: tuple[Performance, ...], camera: Camera,
            config: RenderConfig, numbers: Any) -> list[Frame]:
    with scratch_folder() as folder:
        files = tuple(FigureFiles(folder / f"{at}.npz", folder / f"{at}.motion.npz")
                      for at in range(len(scene)))
        for performance, file in zip(scene, files, strict=True):
            publish_figure(performance, file)
        missing = np.zeros((scene[0].motion.frames, 1), np.bool_)
        missing[numbers] = True
        worker.submit(ShotJob(files, (camera,), config, (folder / "shot",), missing))
        while not isinstance(message := worker.connection.recv(), JobDone):
            if isinstance(message, JobFailed):
                raise SystemExit(message.message)
        return [read_frame(folder / "shot" / frame_name(int(number))) for number in numbers]


def _composed(frames: list[Frame], camera: Camera, catalogue: Catalogue) -> list[ByteArray]:
    blank = read_background(catalogue.file("background", "blank"))
    compositor = Compositor(backdrop(blank, camera, None))
    return [compositor.compose(frame) for frame in frames]


def _pictures(worker: StageWorker, scene: tuple[Performance, ...], camera: Camera,
              config: RenderConfig, numbers: Any, catalogue: Catalogue
              ) -> tuple[list[ByteArray], tuple[int, int, int, int]]:
    """Return the pictures of some frames, and the box that holds the persons in all of them."""
    frames = _frames(worker, scene, camera, config, numbers)
    corners = np.array([[*frame.figure_at, frame.figure_at[0] + frame.figure.shape[1],
                         frame.figure_at[1] + frame.figure.shape[0]] for frame in frames])
    low, high = corners[:, :2].min(axis=0) - 12, corners[:, 2:].max(axis=0) + 12
    left, top = np.maximum(low, 0).tolist()
    right, bottom = np.minimum(high, [camera.width, camera.height]).tolist()
    return _composed(frames, camera, catalogue), (left, top, right, bottom)


def _tiled(pictures: list[Image.Image]) -> Image.Image:
    width, height = pictures[0].size
    made = Image.new("RGB", (COLUMNS * width, -(-len(pictures) // COLUMNS) * height))
    for number, picture in enumerate(pictures):
        made.paste(picture, (number % COLUMNS * width, number // COLUMNS * height))
    return made


def main() -> None:
    """Write the sheets and their key."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only", default="", help="show these actions, separated by commas")
    parser.add_argument("--config", default="draft")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", arguments.config))
    worker = ready_worker(config)
    key, asked = [], []
    chance = generator(arguments.seed, "choices")
    arguments.out.mkdir(parents=True, exist_ok=True)
    names = opaque_names(arguments.seed, arguments.count)
    only = [name for name in arguments.only.split(",") if name]
    drawn = drawn_by_lot(arguments.seed, arguments.count, catalogue, only)
    for name, shown in zip(names, drawn, strict=True):
        try:
            passed, scene = good_scene(shown, catalogue, config.fps)
        except RequestError as problem:
            print(f"{name}: no sheet: {problem}", flush=True)
            continue
        sheet(worker, scene, shown["angle"], config, catalogue).save(arguments.out / f"{name}.png")
        labels = catalogue.action(shown["action"]).action.labels
        asked.append({"file": f"{name}.png", "options": choices(shown, catalogue, chance)})
        key.append({"file": f"{name}.png", "action": shown["action"], "take": shown["take"],
                    "characters": shown["characters"][: len(scene)], "angle": shown["angle"],
                    "seed": shown["seeds"][passed], "sub_seed": passed,
                    "labels": list(labels), "config": config.name})
        print(name, flush=True)
    worker.close()
    for file, rows in (("choices.jsonl", asked), ("key.jsonl", key)):
        publish(arguments.out / file, "".join(f"{json.dumps(row)}\n" for row in rows))


if __name__ == "__main__":
    main()
