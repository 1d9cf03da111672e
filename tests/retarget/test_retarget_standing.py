"""Who just stands has knees as straight on any body as in the score."""

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import minimum_filter1d

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.ranges import joint_angles
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion
from mimegen.motion.editing import trimmed
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles
from mimegen.retarget import retarget_scene
from mimegen.retarget.stance import source_contacts

FPS = 30.0


@cache
def talk() -> list[Motion]:
    """Two people talk: they stand, step and stand again."""
    score = read_score(data_folder() / "mocap/conversation/conversation.score.yaml")
    return [trimmed(motion, 0, 125) for motion in perform_scene(score, 0, FPS)]


@cache
def body(name: str) -> Character:
    return build_character(sample_character(int(name.split(":")[1])) if ":" in name else
                           read_character(data_folder() / "rigs" / f"{name}.yaml"))


def knees(motion: Motion) -> FloatArray:
    """Return how far (F, 2) the knees are bent, in degrees."""
    angles = joint_angles(motion)
    return np.stack([angles["knee bent", f"{side} knee"] for side in SIDES], axis=-1)


def standing(motion: Motion) -> FloatArray:
    """Return where (F,) both feet have been flat, and the knees straight, for a while."""
    roles = find_roles(motion.skeleton).joints
    joints = {role: motion.skeleton.index[name] for role, name in roles.items()}
    rests = [down for side in ("left", "right") for down in source_contacts(motion, joints, side)]
    still = np.all(rests, axis=0) & (knees(motion) < 6.5).all(axis=1)
    return minimum_filter1d(still.astype(int), 2 * round(0.2 * FPS) + 1, mode="nearest") > 0


@pytest.mark.slow
@pytest.mark.parametrize("names", [("man", "spacesuit"), ("random:47000", "man")])
def test_who_just_stands_does_so_on_any_body(names: tuple[str, str]) -> None:
    sources = talk()
    performances = retarget_scene([(motion, None) for motion in sources], [*map(body, names)])
    for source, performance in zip(sources, performances, strict=True):
        stands, bent = standing(source), knees(performance.motion)
        assert stands.sum() > 20
        assert bent[stands].max() <= 8.0
        assert np.abs(np.diff(bent, axis=0))[stands[1:]].max() * FPS < 40
