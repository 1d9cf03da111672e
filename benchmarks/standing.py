"""How straight people stand: the knees of all takes in quiet standing, by seed.

    standing.py [--seeds 0 3] [--only TEXT] [--bodies man random:2 ...]

Quiet standing is where the score has the pelvis no more than 3 cm down and both feet rest flat: a
raised heel bends its knee, and legs act. The knee's bend is the angle between thigh and shin, on
the score's own body and on each of the ``--bodies`` after retargeting.
``tests/test_choreography_standing.py`` and ``tests/test_retarget_standing.py`` hold single takes to
it.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.ndimage import minimum_filter1d

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


def standing_knees(path: Path, seed: int, bodies: dict[str, Character]) -> dict[str, FloatArray]:
    """Return all knees (N, 2) of a take's quiet standing, on the score's body and on others."""
    score = read_score(path)
    motions = perform_scene(score, seed, FPS)
    stands = [quiet(motion, part, rendition) for motion, part, rendition
              in zip(motions, score.parts(), vary(score, seed), strict=True)]
    performed = {OWN: motions} | {
        name: [performance.motion for performance in retarget_scene(
            [(motion, None) for motion in motions], [body] * len(motions))]
        for name, body in (bodies.items() if any(map(np.any, stands)) else ())}
    return {name: np.concatenate([knees(motion)[still] for motion, still
                                  in zip(moved, stands, strict=True)])
            for name, moved in performed.items()}


def main() -> None:
    """Print a line for each take, seed and body, and all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--bodies", nargs="+", default=[])
    options = parser.parse_args()
    bodies = {name: built(name) for name in options.bodies}
    found: dict[str, list[FloatArray]] = {OWN: []} | {name: [] for name in bodies}
    for path in sorted(data_folder().glob("mocap/*/*.score.yaml")):
        name = f"{path.parent.name}/{path.name.removesuffix('.score.yaml')}"
        for seed in options.seeds if options.only in name else ():
            try:
                measured = standing_knees(path, seed, bodies)
            except RequestError as problem:
                print(name, seed, problem)
                continue
            for body, bent in measured.items():
                found[body].append(bent)
                if len(bent):
                    print(f"{name} seed {seed}, {body}: {len(bent)} frames, {_said(bent)}",
                          flush=True)
    for body, all_bent in found.items():
        print(f"all, {body}: {sum(map(len, all_bent))} frames, {_said(np.concatenate(all_bent))}")


def _said(bent: FloatArray) -> str:
    return (f"median {np.median(bent):.1f}, 95 % below {np.percentile(bent, 95):.1f} degrees,"
            f" {100 * np.mean(bent <= LIMIT_DEG):.1f} % within {LIMIT_DEG:g}")


if __name__ == "__main__":
    main()
