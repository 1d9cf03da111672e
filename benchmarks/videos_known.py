"""How well known motions come back from videos of them: joint error and direction error.

Needs mimegen[video]. ``python benchmarks/videos_known.py FOLDER [--clips 30]`` draws takes of the
library in the draft config from three sides, of a man, a woman and two random people in the sets
that fit the actions, and keeps clips, joints and landmarks in the folder. Each clip is imported as
a user's video would be, with the person's height, and performed by the same person; the joints of
arms and legs are compared with the drawn ones after the middle of the hips and the direction about
the vertical axis are aligned (the camera's is unknown).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.compositing.background import read_background
from mimegen.compositing.video import write_pictures
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take, user_take
from mimegen.pages.drawn import DrawnScene, drawn
from mimegen.plan.front import angle_from_front, camera_azimuth
from mimegen.readers.video.landmarks import first_seen_s, write_landmarks
from mimegen.shots.config import read_config
from videos import JOINTS, SIDES, _direction_error, _turned

Array = NDArray[np.float64]
ACTIONS = ("jumping_jacks", "boxing", "brush_teeth", "bow", "clap", "dig", "drink_soda", "deadlift",
           "basketball_shot", "march")
PEOPLE = ("man", "woman", "random:1", "random:2")
# Degrees from the performer's front.
ANGLES = (0.0, 45.0, 90.0)
# Seconds of a clip.
LENGTH_S = 5.0


def main() -> None:
    """Print a line for each clip, then the medians and means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=30)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number in range(given.clips):
        clip = _drawn(given.folder, number)
        facts = _measured(clip, PEOPLE[number % len(PEOPLE)])
        print(json.dumps({"clip": clip.stem, **facts}), flush=True)
        found.append(facts)
    for name, of in (("median", np.median), ("mean", np.mean)):
        print(json.dumps({"of": name, **{key: round(float(of([one[key] for one in found])), 2)
                                         for key in found[0]}}))


def _drawn(folder: Path, number: int) -> Path:
    """Return a clip, drawn now where it is not there, with its joints in a file beside it."""
    catalogue = Catalogue.with_libraries(())
    name = ACTIONS[number % len(ACTIONS)]
    side, who = ANGLES[number // len(ACTIONS) % len(ANGLES)], PEOPLE[number % len(PEOPLE)]
    target = folder / f"{number:02}_{name}_{who.replace(':', '')}_{side:g}.mp4"
    if target.is_file():
        return target
    entry = catalogue.action(name)
    config = read_config(catalogue.file("config", "draft"))
    take = library_take(entry, None, 0)
    casting = Casting(take, (cast_member(catalogue, who),))
    behind = read_background(catalogue.file("background", str(entry.action.aligned_background)))
    scene = DrawnScene(casting.seen(casting.perform(config.fps)), behind, config)
    performance = scene.performances[0]
    motion = performance.motion
    frames = range(min(motion.frames, round(LENGTH_S * motion.fps)))
    angle = angle_from_front(take, side, camera_azimuth(config))
    pictures = (one for one, in drawn(scene, [angle], frames))
    places = motion.global_pose.positions
    joints = {f"{side}_{part}": places[:len(frames), motion.skeleton.index[f"{side.title()}{name}"]]
              for side in SIDES for part, name in JOINTS.items()}
    np.savez(target.with_suffix(".npz"), fps=motion.fps, height=performance.character.height,
             **joints)
    write_pictures(pictures, (config.width, config.height), motion.fps, target)
    return target


def _measured(clip: Path, who: str) -> dict[str, float]:
    with np.load(clip.with_suffix(".npz")) as held:
        truth = {name: held[name] for name in held.files}
    target = clip.with_suffix(".json")
    if not target.is_file():
        write_landmarks(clip, target, float(truth["height"]))
    quality = json.loads(target.read_text(encoding="utf-8"))["quality"]
    catalogue = Catalogue.with_libraries(())
    casting = Casting(user_take(catalogue, target, (), None, None, "own"),
                      (cast_member(catalogue, who),))
    motion = casting.perform(float(truth["fps"]))[0].motion
    joints = {f"{side}_{part}": f"{side.title()}{name}"
              for side in SIDES for part, name in JOINTS.items()}
    names = sorted(joints)
    mine = motion.global_pose.positions[:, [motion.skeleton.index[joints[name]] for name in names]]
    theirs = np.stack([truth[name] for name in names], axis=1)
    moments = np.arange(len(mine)) + round(first_seen_s(target) * float(truth["fps"]))
    theirs = theirs[np.minimum(moments, len(theirs) - 1)]
    hips = [names.index(f"{side}_thigh") for side in SIDES]
    mine, theirs = (one - one[:, hips].mean(axis=1, keepdims=True) for one in (mine, theirs))
    mine = _turned(mine, theirs)
    error = np.linalg.norm(mine - theirs, axis=-1)
    return {"mpjpe_mm": round(1000 * float(error.mean()), 1),
            "direction_deg": round(_direction_error(mine, theirs, names), 1),
            "seen": round(quality["seen"], 3), "jitter_mm": round(quality["jitter_mm"], 1)}


if __name__ == "__main__":
    main()
