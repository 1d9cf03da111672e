"""What faces do by themselves: blinks, eyes that lead the head, effort."""

from functools import cache

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.base.seeds import generator
from mimegen.characters.character import Performance
from mimegen.characters.living import blinking, effort, living, looking
from mimegen.library.cast import DescribedPerson, cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

CATALOGUE = Catalogue.with_libraries(())
MAN = DescribedPerson("man", data_folder() / "rigs" / "man.yaml")
FPS = 60.0
TIME = np.arange(0, 4, 1 / FPS)


def turning(yaw_deg: FloatArray) -> Motion:
    """Return somebody who turns the head alone, to the left."""
    skeleton = standard_skeleton()
    rotations = np.tile(quaternions.IDENTITY, (len(yaw_deg), len(skeleton.names), 1))
    rotations[:, skeleton.index["Head"]] = quaternions.from_euler("Z", yaw_deg[:, None])
    return Motion(skeleton, FPS, np.repeat(skeleton.heads[:1], len(yaw_deg), axis=0), rotations)


@cache
def performed(action: str) -> tuple[Performance, ...]:
    take = library_take(CATALOGUE.action(action), None, 0)
    return Casting(take, (MAN, cast_member(CATALOGUE, "woman"))[:take.performers]).perform(12.0)


def test_people_blink_as_often_as_people_do_and_soon() -> None:
    moments = np.arange(0, 60, 1 / 24)
    counts = []
    for seed in range(40):
        shut = blinking(generator(seed, "blink"), moments)
        begins = np.flatnonzero(np.diff((shut > 0.9).astype(int), prepend=0) == 1)
        assert moments[begins[0]] < 2.6
        counts.append(len(begins))
    assert 15 < np.mean(counts) < 20 and min(counts) > 9


def test_blinks_are_at_the_same_moments_at_every_frame_rate() -> None:
    fine, coarse = (blinking(generator(3, "blink"), np.arange(0, 8, 1 / fps)) for fps in (60, 12))
    assert np.allclose(fine[::5], coarse, atol=1e-6)


def test_eyes_lead_a_turning_head_and_stay_while_it_shakes() -> None:
    turned = np.asarray(40 * np.clip((TIME - 1.5) / 0.6, 0, 1))
    shaken = 8 * np.sin(2 * np.pi * 2.5 * TIME)
    still = np.zeros(len(TIME))
    early = int(1.5 * FPS)
    left = [looking(turning(yaw), generator(1, "eyes"), TIME)["look_left"] for yaw in (
        turned, shaken, still)]
    assert left[0][early] - left[2][early] > 5
    assert np.corrcoef(left[1] - left[2], -shaken)[0, 1] > 0.95


@pytest.mark.slow
def test_hard_work_shows_and_ease_does_not_frown() -> None:
    lift, write = (performed(action)[0].motion for action in ("deadlift", "writing"))
    assert effort(lift, "weightlifting", 0.3).max() > 0.7 > 0.1 > effort(write, None, 0.3).max()
    frowns = [living(motion, {}, group, generator(0, "face"))["frown"].max()
              for motion, group in ((lift, "weightlifting"), (write, None))]
    assert frowns[0] > 0.3 > 0.05 > frowns[1]


def test_what_a_score_says_of_the_eyes_goes_before_what_they_do_themselves() -> None:
    said = {"look_left": np.full(len(TIME), -20.0), "look_up": np.zeros(len(TIME)),
            "closed": np.zeros(len(TIME))}
    values = living(turning(30 * np.sin(TIME)), said, None, generator(0, "face"))
    assert np.allclose(values["look_left"], -20.0)
    assert values.keys() == {"look_left", "look_up", "closed"}, "nothing of effort"


@pytest.mark.slow
@pytest.mark.parametrize("action", ["checking_watch", "high_five"])
def test_lids_of_every_performer_fall_on_every_take(action: str) -> None:
    scene = performed(action)
    lids = [performance.motion.rotations[:, performance.character.skeleton.index["LeftLid"]]
            for performance in scene]
    for lid in lids:
        assert np.degrees(2 * np.arccos(np.clip(lid[:, 0], -1, 1))).max() > 15
    assert len(lids) == 1 or not np.allclose(lids[0], lids[1], atol=1e-3)
