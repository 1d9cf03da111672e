"""What MediaPipe finds in our faces, whether units move the right way, and what faces cost.

    python benchmarks/faces.py draw --people 30 --out DIR     # with mimegen
    python benchmarks/faces.py measure DIR                    # with mediapipe 0.10.21
    python benchmarks/faces.py cost                           # with mimegen, on Linux

``draw`` shows seven emotions on random people in the config portrait, and each action unit at rest
and at its height on some of them in the config face. ``measure`` counts the portraits in which a
face is found, and the pairs in which the distance that a unit changes (``DISTANCES``) changes the
right way, measured in distances between the eyes. MediaPipe is not mimegen's: its environment is
another. ``cost`` prints the CPU seconds a frame of the process that renders, at rest and at an
emotion's height.
"""

import argparse
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

# The seven emotions of Ekman.
EMOTIONS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
FIRST_PERSON = 5100
# Of the people who show emotions, so many show all units too.
UNIT_PEOPLE = 5
# By unit: pairs of MediaPipe's face landmarks, and whether their distance grows (1) or shrinks.
# Landmarks: 13, 14 inner lips; 61, 291 corners of the mouth; 159, 145 and 386, 374 lids; 105, 334
# middles of the brows, 107, 336 their inner and 70, 300 their outer ends; 2 below the nose;
# 152 chin; 0, 17 outer lips; 33, 263 outer and 133, 362 inner corners of the eyes.
LIDS = (((159, 145), 1.0), ((386, 374), 1.0))
DISTANCES: dict[str, tuple[tuple[tuple[int, int], float], ...]] = {
    "AU1": (((107, 133), 1), ((336, 362), 1)), "AU2": (((70, 33), 1), ((300, 263), 1)),
    "AU4": (((105, 133), -1), ((334, 362), -1)),
    "AU5": LIDS, "AU7": tuple((pair, -sign) for pair, sign in LIDS),
    "AU10": (((0, 2), -1),), "AU12": (((61, 291), 1),), "AU15": (((61, 152), -1), ((291, 152), -1)),
    "AU16": (((17, 152), -1),), "AU17": (((17, 2), -1),), "AU18": (((61, 291), -1),),
    "AU20": (((61, 291), 1),), "AU24": (((0, 17), -1),), "AU25": (((13, 14), 1),),
    "AU26": (((13, 14), 1),), "AU27": (((2, 152), 1),), "AU28": (((0, 17), -1),),
    "AU43": tuple((pair, -sign) for pair, sign in LIDS),
}
EYES = (33, 263)
# What costs are compared of: emotions that wrinkle much, on one person, so many frames by engine.
COSTLY = ("disgust", "excitement")
COSTLY_PERSON = "random:5111"
COST_FRAMES = {"raster": 40, "cycles": 8}
COST_ROUNDS = 3
WHOLE_FACE = 478


def draw(people: int, out: Path) -> None:
    """Write portraits and pairs of faces, and ``drawn.jsonl``, which says what they show."""
    from mimegen.library.catalogue import Catalogue
    from mimegen.shots.config import read_config
    from recognition import ready_worker

    catalogue = Catalogue.with_libraries(())
    out.mkdir(parents=True, exist_ok=True)
    portrait, face = (read_config(catalogue.file("config", name)) for name in ("portrait", "face"))
    worker = ready_worker(portrait)
    with (out / "drawn.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(people):
            person = f"random:{FIRST_PERSON + number}"
            shows: list[tuple[str, str | None, Any]] = [
                (name, None, portrait) for name in EMOTIONS]
            if number < UNIT_PEOPLE:
                shows += [("neutral_face", unit, face) for unit in DISTANCES]
            for action, unit, config in shows:
                before, apex = _pictures(worker, catalogue, person, action, unit, config)
                name = f"{number:02d}-{unit or action}"
                Image.fromarray(before).save(out / f"{name}-rest.png")
                Image.fromarray(apex).save(out / f"{name}.png")
                lines.write(json.dumps({"name": name, "person": person, "unit": unit,
                                        "emotion": None if unit else action}) + "\n")
                lines.flush()
    worker.close()


def _pictures(worker: Any, catalogue: Any, person: str, action: str, unit: str | None,
              config: Any) -> list[Any]:
    """Return a person's face at rest and when most is shown."""
    from mimegen.library.cast import cast_member
    from mimegen.library.casting import Casting
    from mimegen.library.takes import altered, library_take
    from mimegen.plan.front import angle_from_front, camera_azimuth
    from mimegen.shots.framing import frame_camera
    from recognition import frames_of_scene

    take = library_take(catalogue.action(action), None, 0)
    if unit is not None:
        take = altered(take, 1.0, mirror=False, overlay=_overlay(unit))
    scene = Casting(take, (cast_member(catalogue, person),)).perform(config.fps)
    camera = frame_camera(scene, config, angle_from_front(take, 0.0, camera_azimuth(config)))
    numbers = np.array([0, scene[0].motion.frames // 2])
    return frames_of_scene(worker, scene, camera, config, numbers, catalogue)


def _overlay(unit: str) -> Any:
    """Return one action unit that comes soon and stays."""
    from mimegen.base.easing import ramp
    from mimegen.faces.overlay import BEGINS_S, FaceOverlay, uneven

    class OneUnit(FaceOverlay):
        @property
        def facts(self) -> dict[str, Any]:
            return {"unit": unit}

        def faces(self, moments: Any, rng: np.random.Generator, cued: Any = None) -> Any:
            course = {unit: ramp(moments, BEGINS_S, 2 * BEGINS_S)}
            return uneven(course, 0.0, rng), np.zeros((len(moments), 3))

    return OneUnit()


def measure(folder: Path) -> None:
    """Print in how many portraits a face is found, and which units move the right way."""
    import mediapipe

    mesh = mediapipe.solutions.face_mesh.FaceMesh(static_image_mode=True, refine_landmarks=True)
    lines = (folder / "drawn.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[bool]] = defaultdict(list)
    for drawn in map(json.loads, lines):
        rest, apex = (_landmarks(mesh, folder / f"{drawn['name']}{end}.png")
                      for end in ("-rest", ""))
        if drawn["unit"] is None:
            found["portraits"] += [rest is not None, apex is not None]
        elif rest is not None and apex is not None:
            found[drawn["unit"]].append(moved_right(drawn["unit"], rest, apex))
        else:
            found["faces not found"].append(True)
    for name, right in found.items():
        print(f"{name:16} {sum(right)} of {len(right)}")
    units = [one for unit in DISTANCES for one in found.get(unit, [])]
    print(f"units together   {sum(units)} of {len(units)}")


def _landmarks(mesh: Any, file: Path) -> Any:
    """Return landmarks (478, 2) in pixels; None where no face is found."""
    picture = np.asarray(Image.open(file).convert("RGB"))
    faces = mesh.process(picture).multi_face_landmarks
    if not faces:
        return None
    size = np.array([picture.shape[1], picture.shape[0]])
    return np.array([[one.x, one.y] for one in faces[0].landmark])[:WHOLE_FACE] * size


def moved_right(unit: str, rest: Any, apex: Any) -> bool:
    """Return whether the sum of a unit's distances changes the right way."""
    def size(points: Any) -> float:
        scale = float(np.linalg.norm(points[EYES[0]] - points[EYES[1]]))
        return sum(sign * float(np.linalg.norm(points[one] - points[other])) / scale
                   for (one, other), sign in DISTANCES[unit])

    return size(apex) > size(rest)


def cost() -> None:
    """Print the CPU seconds a frame with and without an emotion, by config."""
    from mimegen.library.catalogue import Catalogue
    from mimegen.shots.config import read_config
    from recognition import ready_worker

    catalogue = Catalogue.with_libraries(())
    portrait, preview = (read_config(catalogue.file("config", name))
                         for name in ("portrait", "preview"))
    by_cycles = portrait.model_copy(update={
        "engine": "cycles", "sampling": preview.sampling, "set_sampling": preview.set_sampling})
    for name, config in (("portrait, drawn", portrait), ("portrait, by Cycles", by_cycles),
                         ("preview", preview)):
        worker = ready_worker(config)
        rounds = [_costs(worker, catalogue, config) for _ in range(COST_ROUNDS + 1)][1:]
        rest, *shown = np.min(rounds, axis=0)
        told = ", ".join(f"{emotion} {size:.3f} ({size / rest - 1:+.1%})"
                         for emotion, size in zip(COSTLY, shown, strict=True))
        print(f"{name:20} at rest {rest:.3f} s, {told}", flush=True)
        worker.close()


def _costs(worker: Any, catalogue: Any, config: Any) -> list[float]:
    """Return the CPU seconds a frame at rest, and at the height of each emotion."""
    return [_cost(worker, catalogue, config, emotion) for emotion in (None, *COSTLY)]


def _cost(worker: Any, catalogue: Any, config: Any, emotion: str | None) -> float:
    from mimegen.faces.overlay import FaceOverlay
    from mimegen.library.cast import cast_member
    from mimegen.library.casting import Casting
    from mimegen.library.takes import altered, library_take
    from mimegen.plan.front import angle_from_front, camera_azimuth
    from mimegen.shots.framing import frame_camera
    from recognition import frames_of_scene

    take = library_take(catalogue.action("neutral_face"), None, 0)
    if emotion is not None:
        take = altered(take, 1.0, mirror=False, overlay=FaceOverlay(emotion))
    scene = Casting(take, (cast_member(catalogue, COSTLY_PERSON),)).perform(config.fps)
    camera = frame_camera(scene, config, angle_from_front(take, 0.0, camera_azimuth(config)))
    middle, frames = scene[0].motion.frames // 2, COST_FRAMES[config.engine]
    spent = []
    # What a job takes before its first frame is that of two.
    for count in (2, 2 + frames):
        before = _cpu_seconds(worker)
        numbers = middle - count // 2 + np.arange(count)
        frames_of_scene(worker, scene, camera, config, numbers, catalogue)
        spent.append(_cpu_seconds(worker) - before)
    return (spent[1] - spent[0]) / frames


def _cpu_seconds(worker: Any) -> float:
    """Return what CPU time a worker's process has taken, by Linux' account."""
    text = Path(f"/proc/{worker._process.pid}/stat").read_text(encoding="utf-8")
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Draw, measure, or tell the cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--people", type=int, default=30)
    drawing.add_argument("--out", type=Path, required=True)
    commands.add_parser("measure").add_argument("folder", type=Path)
    commands.add_parser("cost")
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.people, arguments.out)
    elif arguments.command == "cost":
        cost()
    else:
        measure(arguments.folder)


if __name__ == "__main__":
    main()
