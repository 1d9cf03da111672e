"""How straight people stand: the knees of all takes in quiet standing, by seed, and their feet.

    standing.py [--seeds 0 3] [--only TEXT] [--bodies man random:2 ...]

Quiet standing is where the score has the pelvis no more than 3 cm down and both feet rest flat: a
raised heel bends its knee, and legs act. The knee's bend is the angle between thigh and shin, on
the score's own body and on each of the ``--bodies`` after retargeting. Of these it is also told
how often a foot that bears weight is off the ground (`feet.py`).
``tests/choreography/test_choreography_standing.py`` and
``tests/retarget/test_retarget_standing.py`` hold single takes to it.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter1d

import feet
from hands import built
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.character import Character
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.ranges import joint_angles
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import PelvisKey, Score
from mimegen.choreography.tracks import track_keys, track_values
from mimegen.choreography.variation import Rendition, vary
from mimegen.motion import Motion
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget import retarget_scene

FPS = 30.0
STANDS_CM, STILL_M_S, AROUND_S = -3.0, 0.02, 0.2
# A toe rests below this height (m) over where it stands; an ankle higher than the second has its
# heel up by more than `choreography.standing` takes for standing, 4 degrees.
RESTS_M = {"ToeBase": 0.04, "Foot": 0.01}
LIMIT_DEG, OWN = 8.0, "as written"


def quiet(motion: Motion, part: Score, rendition: Rendition) -> FloatArray:
    """Return where (F,) a performer just stands."""
    written = {phase.line: phase.pelvis for phase in part.phases}
    phases = [phase.model_copy(update={"pelvis": written[phase.line]})
              for phase in rendition.line.phases]
    moments = np.arange(motion.frames) / motion.fps
    up = track_values(track_keys(phases, "pelvis", PelvisKey()), ("up",), moments)[:, 0]
    resting = up >= STANDS_CM
    for side in SIDES:
        for name, rests in RESTS_M.items():
            joint = motion.skeleton.index[side + name]
            places = motion.global_pose.positions[:, joint]
            still = np.linalg.norm(velocities(places, motion.fps), axis=-1) < STILL_M_S
            resting &= still & (places[:, 2] < motion.skeleton.heads[joint, 2] + rests)
    frames = 2 * round(AROUND_S * motion.fps) + 1
    return np.asarray(minimum_filter1d(resting.astype(int), frames, mode="nearest") > 0)


def knees(motion: Motion) -> FloatArray:
    """Return how far (F, 2) the knees are bent, in degrees."""
    angles = joint_angles(motion)
    return np.stack([angles["knee bent", f"{side} knee"] for side in SIDES], axis=-1)


class Measured(NamedTuple):
    """All knees (N, 2) of a body's quiet standing, and the feet of its performers."""

    bent: FloatArray
    feet: list[feet.Off]


def measured(path: Path, seed: int, bodies: dict[str, Character]) -> dict[str, Measured]:
    """Return what is measured of a take, on the score's body and on others."""
    score = read_score(path)
    motions = perform_scene(score, seed, FPS)
    stands = [quiet(motion, part, rendition) for motion, part, rendition
              in zip(motions, score.parts(), vary(score, seed), strict=True)]
    performed = {name: [performance.motion for performance in retarget_scene(
        [(motion, None) for motion in motions], [body] * len(motions))]
        for name, body in bodies.items()}
    return {name: Measured(
        np.concatenate([knees(motion)[still] for motion, still in zip(moved, stands, strict=True)]),
        [feet.off_the_ground(source, motion, bodies[name]) for source, motion
         in zip(motions, moved, strict=True) if name in bodies])
        for name, moved in {OWN: motions, **performed}.items()}


def main() -> None:
    """Print a line for each take, seed and body, and all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--bodies", nargs="+", default=[])
    options = parser.parse_args()
    bodies = {name: built(name) for name in options.bodies}
    found: dict[str, list[Measured]] = {OWN: []} | {name: [] for name in bodies}
    for path in sorted(data_folder().glob("mocap/*/*.score.yaml")):
        name = f"{path.parent.name}/{path.name.removesuffix('.score.yaml')}"
        for seed in options.seeds if options.only in name else ():
            try:
                of_bodies = measured(path, seed, bodies)
            except RequestError as problem:
                print(name, seed, problem)
                continue
            for body, one in of_bodies.items():
                found[body].append(one)
                print(f"{name} seed {seed}, {body}: {_said([one])}", flush=True)
    for body, every in found.items():
        print(f"all, {body}: {_said(every)}")


def _said(found: list[Measured]) -> str:
    bent = np.concatenate([one.bent for one in found])
    offs = [off for one in found for off in one.feet]
    said = [f"{len(bent)} frames, median {np.median(bent):.1f}, 95 % below"
            f" {np.percentile(bent, 95):.1f} degrees, {100 * np.mean(bent <= LIMIT_DEG):.1f} %"
            f" within {LIMIT_DEG:g}"] if len(bent) else []
    return "; ".join([*said, *([feet.told(offs, FPS)] if offs else [])]) or "never stands"


if __name__ == "__main__":
    main()
