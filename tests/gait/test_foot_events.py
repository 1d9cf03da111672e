"""When feet strike the ground and leave it: in motions, on bodies, and in what is shown of them."""

import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mimegen as mg
from mimegen.faults.fault import Fault
from mimegen.gait.course import WalkPath
from mimegen.gait.walker import Walker, pace_of
from mimegen.gait.walking import walk_along, walk_loop
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.foot_contacts import cast_contacts
from mimegen.library.gait_take import GaitTake
from mimegen.library.takes import altered, library_take
from mimegen.manifest.footfalls import contacts_of, events_shown, window_of
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.production.passtasks import Column, pass_jobs
from mimegen.retarget.soles import feet_standing
from mimegen.shots.config import read_config
from mimegen.store.store import Store
from running import invoke

CATALOGUE = Catalogue.with_libraries(())
FPS = 30.0
# Two frames.
NEAR_S = 2 / FPS + 1e-6
# Manipulations with which no foot comes down when the performer's does.
UNTRUE = {"global", "exaggerated", "phase_scrambled", "scrambled", "displaced", "flipped",
          "out_of_phase", "sines", "crowd"}


def planned(walker, count, fps):
    """When each foot strikes and leaves the ground by the gait's own phases, in seconds."""
    pace = pace_of(walker)
    found = []
    for foot, contacts in zip(("left", "right"), pace.contacts, strict=True):
        for land, lift in contacts:
            if pace.backwards:
                land, lift = -lift, -land
            for cycle in range(-2, 9):
                found += [(foot, "strike", (land + cycle) * pace.stride_s),
                          (foot, "off", (lift + cycle) * pace.stride_s)]
    # What happens in the first and the last frames may or may not be seen.
    return [one for one in found if NEAR_S < one[2] < (count - 1) / fps - NEAR_S]


def told(events):
    return [(one.foot, one.kind, one.frame) for one in events]


def distances(expected, events):
    """Seconds from each expected event to the nearest of its foot and kind."""
    return [min((abs(one.time_s - at) for one in events if (one.foot, one.kind) == (foot, kind)),
                default=np.inf) for foot, kind, at in expected]


@pytest.mark.parametrize("treadmill", [False, True])
@pytest.mark.parametrize(("manner", "asked"), [
    ("walk", {}), ("walk", {"speed": 0.6}), ("walk", {"speed": 1.9}), ("run", {}),
    ("walk", {"speed": 5.0}), ("walk_backwards", {}), ("sneak", {}), ("limp", {}), ("skip", {}),
    ("march", {}), ("walk", {"intoxicated": 4.0})])
def test_feet_strike_and_leave_within_two_frames_of_the_gaits_own_phases(
        manner, asked, treadmill):
    walker = Walker(manner=manner, **asked)
    motion = walk_loop(walker, FPS, cycles=3) if treadmill else walk_along(
        walker, FPS, WalkPath(3.0))
    standing = feet_standing(motion)
    assert standing is not None
    contacts = contacts_of([standing], FPS)
    events = events_shown(contacts, np.arange(motion.frames) / FPS, FPS)
    expected = planned(walker, motion.frames, FPS)
    # A loop's cycles are rounded to frames.
    slack = 3 * 0.5 / FPS if treadmill else 0.0
    assert max(distances(expected, events)) <= NEAR_S + slack
    assert abs(len(events) - len(expected)) <= 4
    for foot in ("left", "right"):
        kinds = [one.kind for one in events if one.foot == foot]
        assert all(one != other for one, other in pairwise(kinds))


def test_bodies_walk_with_their_own_feet_and_mirrored_with_the_others():
    take = library_take(CATALOGUE.action("walk"), None, 0, gait={"speed": 1.3})
    assert isinstance(take, GaitTake)
    found = {}
    for name, one in {"plain": take, "mirrored": altered(take, 1.0, True),
                      "fast": altered(take, 1.2, False)}.items():
        casting = Casting(one, (cast_member(CATALOGUE, "man"),))
        scene = casting.perform(FPS)
        frames = scene[0].motion.frames
        contacts = cast_contacts(casting, scene)
        assert contacts is not None
        found[name] = events_shown(contacts, np.arange(frames) / FPS, FPS)
    expected = planned(take.walker, frames, FPS)
    assert len(expected) > 6 and max(distances(expected, found["plain"])) <= NEAR_S
    other = {"left": "right", "right": "left"}
    swapped = [(other[foot], kind, frame) for foot, kind, frame in told(found["mirrored"])]
    assert swapped == told(found["plain"])
    faster = [(foot, kind, at / 1.2) for foot, kind, at in expected]
    assert max(distances(faster, found["fast"])) <= NEAR_S
    assert cast_contacts(Casting(take, casting.members, (Fault("foot_slide", 0.5),)), scene) is None


def test_backwards_a_foot_strikes_when_it_left_the_ground():
    standing = np.zeros((20, 2), bool)
    standing[4:9, 0] = True
    contacts, moments = contacts_of([standing], 20.0), np.arange(20) / 20
    assert told(events_shown(contacts, moments, 20.0)) == [
        ("left", "strike", 4), ("left", "off", 9)]
    assert told(events_shown(contacts, moments[::-1], 20.0)) == [
        ("left", "strike", 11), ("left", "off", 16)]
    slow = events_shown(contacts, np.arange(40) / 40, 20.0)
    assert [one.time_s for one in slow] == pytest.approx([0.4, 0.9], abs=0.051)
    flipped = events_shown(contacts, moments, 20.0, mirrored=True)
    assert {one.foot for one in flipped} == {"right"}


def test_a_loop_begins_with_the_foot_that_lands_there():
    standing = np.zeros((20, 2), bool)
    standing[:8, 0] = True
    contacts, moments = contacts_of([standing], 20.0, loop=True), np.arange(20) / 20
    whole = [("left", "strike", 0), ("left", "off", 8)]
    assert told(events_shown(contacts, moments, 20.0)) == whole
    assert told(events_shown(contacts, moments[::2], 10.0)) == [
        ("left", "strike", 0), ("left", "off", 4)]
    assert told(events_shown(contacts, moments[:15], 20.0)) == whole[1:]
    once = contacts_of([standing], 20.0)
    assert told(events_shown(once, moments, 20.0)) == whole[1:]


def test_windows_count_from_their_own_first_frame():
    standing = np.zeros((20, 2), bool)
    standing[4:9, 1] = True
    events = events_shown(contacts_of([standing], 20.0), np.arange(20) / 20, 20.0)
    assert told(window_of(events, 2, 9, 20.0)) == [("right", "strike", 2)]
    assert window_of(events, 4, 9, 20.0) == []


def test_who_stands_or_jumps_or_climbs():
    skeleton = standard_skeleton()
    still = np.tile(quaternions.IDENTITY, (40, len(skeleton.names), 1))
    root = np.tile(skeleton.heads[0], (40, 1))
    standing = feet_standing(Motion(skeleton, FPS, root, still))
    assert standing is not None and standing.all()
    jumps = mg.take("jump").foot_events() or []
    offs = [one.frame for one in jumps if one.kind == "off"]
    strikes = [one.frame for one in jumps if one.kind == "strike"]
    assert offs and len(offs) == len(strikes)
    assert mg.take("stairs_up").foot_events() is None
    assert mg.take("walk", fps=12.0).foot_events() is None


def test_displays_of_a_walker_tell_its_steps(tmp_path: Path):
    invoke("pointlight", "--walker", "--speed", "1.3", "--grid", "mirrored=no,yes;scrambled=no,yes",
           "--formats", "none", "--size", "64x64", "--out", tmp_path)
    rows = {(row["grid"]["mirrored"], row["grid"]["scrambled"]): row for row in map(
        json.loads, (tmp_path / "manifest.jsonl").read_text().splitlines())}
    steps = [(one["foot"], one["kind"]) for one in rows[False, False]["foot_events"]]
    assert steps == [("left", "strike"), ("right", "off"), ("right", "strike"), ("left", "off")]
    first = rows[False, False]["foot_events"][0]
    assert (first["frame"], first["time_s"], first["performer"]) == (0, 0.0, "performer")
    assert [one["foot"] for one in rows[True, False]["foot_events"]] == [
        "right", "left", "left", "right"]
    assert all(rows[way, True].get("foot_events") is None for way in (False, True))


def test_only_manipulations_that_keep_the_feet_tell_steps():
    assert {name for name, kind in MANIPULATIONS.items() if not kind.keeps_steps} == UNTRUE
    take = mg.take("walk")
    ahead = take.pointlight().record
    back = take.pointlight(manipulations="reversed").record
    last = ahead["frames"]
    assert [(one["foot"], one["kind"], last - one["frame"]) for one in back["foot_events"]][::-1] \
        == [(one["foot"], "strike" if one["kind"] == "off" else "off", one["frame"])
            for one in ahead["foot_events"]]
    assert "foot_contacts" not in ahead
    assert take.pointlight(manipulations="phase_scrambled").record.get("foot_events") is None


def test_passes_state_the_speed_of_the_body_that_walks(tmp_path: Path):
    take = library_take(CATALOGUE.action("walk"), None, 0, gait={"speed": 1.2})
    plan = make_plan(CATALOGUE, [take], parse_variants("base+blank@0", set(), set()),
                     read_config(CATALOGUE.file("config", "draft")), "opengl")
    [part] = plan.castings()
    [shot] = part.shots
    store = Store(tmp_path / "store")
    wanted: Any = SimpleNamespace(key=lambda *_: "a" * 64, engine="raster")
    camera: Any = SimpleNamespace()
    pass_jobs(shot.casting, [Column(shot, "keypoints", camera, 3)], store, wanted)
    facts = json.loads((store.pass_folder("a" * 64) / "pass.json").read_text())
    assert facts["gait"] == json.loads(json.dumps(shot.casting.body_facts()["gait"]))
    assert facts["gait"]["speed"] != 1.2
