"""Several people in one scene: where they stand to one another, and hands that meet."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.spec import read_character
from mimegen.motion import Motion, metrics, standard_skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles, read_motion
from mimegen.readers.partners import in_common_frame
from mimegen.retarget import retarget, retarget_scene
from mimegen.retarget.hands import target_body
from mimegen.retarget.report import planted

BONES = Character("bones", standard_skeleton(), (), {}, "", "", "")
CASTS = (("man", "woman"), ("spacesuit", "man"))


def palms(performance: Performance) -> FloatArray:
    skeleton = performance.character.skeleton
    joints = {role: skeleton.index[name] for role, name in find_roles(skeleton).joints.items()}
    return target_body(performance.motion, performance.character, joints).hands.points[:, :, 0]


def hips(motion: Motion) -> FloatArray:
    """The middle between the hip joints, (F, 3)."""
    index = motion.skeleton.index
    return motion.global_pose.positions[:, [index["LeftUpLeg"], index["RightUpLeg"]]].mean(axis=1)


@pytest.fixture(scope="module", params=CASTS, ids="+".join)
def handshake(request: pytest.FixtureRequest, samples: Path):
    """Two who walk up and shake right hands: their sources and performances."""
    recordings = [read_motion(samples / "bvh" / f"cmu_{number}_01.bvh") for number in (18, 19)]
    motions = in_common_frame(*recordings)
    cast = [build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))
            for name in request.param]
    sources = [(m, r.roles) for m, r in zip(motions, recordings, strict=True)]
    return sources, retarget_scene(sources, cast)


@pytest.mark.slow
def test_right_hands_meet_and_hold(handshake) -> None:
    _, (one, other) = handshake
    apart = np.linalg.norm(palms(one)[:, 1] - palms(other)[:, 1], axis=1)
    # They hold each other from 0.6 s to 1.5 s, and walk up and part before and after.
    assert apart[72:180].max() < 0.02
    assert apart[0] > 1.0 and apart[-1] > 1.0
    left = np.linalg.norm(palms(one)[:, 0] - palms(other)[:, 0], axis=1)
    assert left.min() > 0.2


@pytest.mark.slow
def test_they_stand_to_one_another_as_recorded(handshake) -> None:
    sources, done = handshake
    ours = hips(sources[0][0]) - hips(sources[1][0])
    theirs = hips(done[0].motion) - hips(done[1].motion)
    scale = np.sum(ours[:, :2] * theirs[:, :2]) / np.sum(ours[:, :2] ** 2)
    assert 0.8 < scale < 1.3
    off = np.linalg.norm(theirs[:, :2] - scale * ours[:, :2], axis=1)
    assert off.max() < 0.06


@pytest.mark.slow
def test_feet_stay_planted_in_a_scene(handshake) -> None:
    sources, done = handshake
    for (motion, roles), performance in zip(sources, done, strict=True):
        joints = {role: motion.skeleton.index[name] for role, name in roles.items()}
        theirs, index = performance.motion, performance.motion.skeleton.index
        for side in ("left", "right"):
            ball = theirs.global_pose.positions[:, index[f"{side.title()}ToeBase"]]
            drifts = metrics.drifts(ball, planted(motion, joints, side))
            assert len(drifts) and drifts.max() < 0.005


@pytest.mark.slow
def test_elbows_and_wrists_do_not_break(handshake) -> None:
    _, done = handshake
    for performance in done:
        places = performance.motion.global_pose.positions
        for joint in ("RightForeArm", "RightHand"):
            steps = np.diff(places[:, performance.motion.skeleton.index[joint]], axis=0)
            # Nothing goes faster than hands do: 5 m/s.
            assert np.linalg.norm(steps, axis=1).max() * performance.motion.fps < 5.0


@pytest.mark.slow
def test_one_in_a_scene_is_alone(samples: Path) -> None:
    recording = read_motion(samples / "bvh" / "pybvh_bvh_test1.bvh")
    alone = retarget(recording.motion, BONES, recording.roles).motion
    (scene,) = retarget_scene([(recording.motion, recording.roles)], [BONES])
    assert np.allclose(alone.rotations, scene.motion.rotations, atol=1e-9)
    assert np.allclose(alone.root_positions, scene.motion.root_positions, atol=1e-9)


@pytest.mark.slow
def test_people_apart_stay_as_they_are_alone() -> None:
    """With bodies like the sources' and nobody near, a scene changes nothing but places."""
    skeleton = standard_skeleton()
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (20, len(skeleton.names), 1))
    roots = [np.tile(skeleton.heads[0] + [x, 0.0, 0.0], (20, 1)) for x in (-2.0, 2.0)]
    motions = [Motion(skeleton, 30.0, root, rotations) for root in roots]
    done = retarget_scene([(motion, None) for motion in motions], [BONES, BONES])
    for motion, performance in zip(motions, done, strict=True):
        assert np.allclose(performance.motion.global_pose.positions, motion.global_pose.positions,
                           atol=2e-3)


@pytest.mark.slow
def test_everybody_stands_at_the_own_height_and_only_level_places_are_shared() -> None:
    skeleton = standard_skeleton()
    giant = replace(BONES, skeleton=replace(skeleton, heads=1.5 * skeleton.heads,
                                            tails=1.5 * skeleton.tails))
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (5, len(skeleton.names), 1))
    motions = [Motion(skeleton, 30.0, np.tile(skeleton.heads[0] + [x, 0.0, 0.0], (5, 1)), rotations)
               for x in (-1.0, 1.0)]
    done = retarget_scene([(motion, None) for motion in motions], [BONES, giant], repair=False)
    for performance, size in zip(done, (1.0, 1.5), strict=True):
        assert hips(performance.motion)[:, 2] == pytest.approx(
            np.full(5, size * hips(motions[0])[0, 2]), abs=1e-6)
    apart = hips(done[1].motion) - hips(done[0].motion)
    assert apart[:, 0] == pytest.approx(np.full(5, 2 * 1.5**0.5), abs=1e-6)
