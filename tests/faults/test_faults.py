"""Faults on purpose: graded, seeded, recorded, and nothing else touched."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.characters.character import Performance
from mimegen.characters.helpers import HELPERS, helped_joint
from mimegen.characters.movers import MOVERS
from mimegen.faults.fault import Fault, fault_kinds, parse_faults
from mimegen.faults.scene import FIRST_ALONE, IDENTITY, ORDER, with_faults
from mimegen.faults.showing import showing
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import SeededTakes, library_take
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.pages.drawn import columns_at, opengl_is_here, stage_of
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns, skin_matrix, skinned
from running import invoked, mimegen, rows_of

CATALOGUE = Catalogue.with_libraries(())
CONFIG = read_config(CATALOGUE.file("config", "draft"))
IN_MOTION = [name for name, kind in fault_kinds().items() if kind.acts_on == "motion"]
IN_FRAMES = [name for name, kind in fault_kinds().items() if kind.acts_on == "frames"]
# What is wrong all the time; all others leave the clip's first moments as they are.
ALL_THE_TIME = {"limb_stretched", "swelling", "scale_wrong", "fingers_missing", "fingers_extra",
                "speed_warped"}


@cache
def scene(action: str = "basketball", character: str = "man") -> tuple[Performance, ...]:
    take = library_take(CATALOGUE.action(action), None, 0)
    members = (cast_member(CATALOGUE, character),) * take.performers
    return Casting(take, members).perform(12)


def faulty(name: str, amount: float, *seed: int | str,
           of: tuple[Performance, ...] | None = None) -> tuple[Performance, ...]:
    return with_faults(of or scene(), [Fault(name, amount)], *(seed or (0,))).scene


def skin(performance: Performance) -> FloatArray:
    """The places (F, V, 3) of all vertices of the body."""
    figure = Figure.of(performance)
    columns = joint_columns(figure.character.skeleton, figure.positions, figure.rotations)
    joints = len(figure.character.skeleton.names)
    return np.concatenate([skinned(skin_matrix(mesh, joints), columns)
                           for mesh in figure.character.meshes], axis=1)


def farthest(one: Performance, other: Performance) -> FloatArray:
    """How far (F,) the joint or bone's end that is farthest away is in every frame."""
    places = [np.concatenate(ends(performance), axis=1) for performance in (one, other)]
    return np.linalg.norm(places[0] - places[1], axis=-1).max(axis=1)


def ends(performance: Performance) -> tuple[FloatArray, FloatArray]:
    """Both ends (F, J, 3) of every bone, and of one across it, that tells twists."""
    skeleton, pose = performance.motion.skeleton, performance.motion.global_pose
    across = np.array([0.1, 0.1, 0.0])
    return pose.positions, pose.positions + quaternions.rotate(
        pose.rotations, skeleton.tails - skeleton.heads + across)


def test_every_kind_of_fault_is_made_somewhere() -> None:
    assert set(IN_MOTION) == set(ORDER) == {*FIRST_ALONE, "speed_warped"}
    assert {*fault_kinds()} == {*IN_MOTION, *IN_FRAMES, IDENTITY}
    for name in IN_FRAMES:
        shown = showing(60, 12, [Fault(name, 1.0)], 0)
        assert shown.shadow < 1 or shown.frames.tolist() != list(range(60))
    assert len(fault_kinds()) >= 14


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(IN_MOTION) - {"fingers_missing", "fingers_extra"}))
def test_more_of_a_fault_is_farther_from_the_faultless(name: str) -> None:
    wrong = [faulty(name, amount)[0] for amount in (0.2, 0.4, 0.6, 0.8, 1.0)]
    if name == "swelling":
        far = [float(np.abs(skin(one)[0] - skin(scene()[0])[0]).max()) for one in wrong]
    else:
        far = [farthest(one, scene()[0]).mean() for one in wrong]
    assert far[0] > 0.004
    assert all(less < more for less, more in pairwise(far)), far


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_MOTION)
def test_seed_and_name_choose_joint_and_time_whatever_the_amount(name: str) -> None:
    def records(amount: float, seed: int) -> list[object]:
        return [(record.joints, record.intervals) for record in
                with_faults(scene(), [Fault(name, amount)], seed).records]

    if name not in ("frozen_limb", "fingers_missing", "fingers_extra"):
        assert records(0.3, 1) == records(0.9, 1)
    one, again = (faulty(name, 0.5, 1)[0].motion for _ in range(2))
    assert np.array_equal(one.rotations, again.rotations)
    assert np.array_equal(one.root_positions, again.root_positions)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(IN_MOTION) - ALL_THE_TIME))
def test_a_fault_is_within_its_recorded_intervals(name: str) -> None:
    done = with_faults(scene(), [Fault(name, 1.0)], 3)
    times = np.arange(scene()[0].motion.frames) / 12
    inside = np.zeros(len(times), dtype=bool)
    for start, end in done.records[0].intervals:
        inside |= (times > start - 0.2) & (times < end + 0.2)
    far = farthest(done.scene[0], scene()[0])
    assert far[~inside].max(initial=0.0) < 1e-5
    assert far[inside].max() > 0.05


@pytest.mark.slow
def test_several_faults_are_made_of_one_body_and_each_recorded() -> None:
    faults = parse_faults(["scale_wrong=0.5", "limb_stretched=0.5", "head_turned=0.2"])
    done = with_faults(scene(), faults, 0)
    assert [record.name for record in done.records] == [
        "head_turned", "limb_stretched", "scale_wrong"]
    assert done.scene[0].character.height == pytest.approx(0.65 * scene()[0].character.height)
    assert done.scene[0].character.fingerprint != scene()[0].character.fingerprint


@pytest.mark.slow
def test_the_second_person_is_left_alone_but_for_time() -> None:
    pair = scene("shake_hands")
    for name in ("float", "head_turned", "scale_wrong"):
        assert faulty(name, 1.0, of=pair)[1].motion.rotations.tolist() == (
            pair[1].motion.rotations.tolist())
    assert farthest(faulty("speed_warped", 1.0, of=pair)[1], pair[1]).max() > 0.02


@pytest.mark.slow
def test_time_is_warped_between_the_same_two_ends() -> None:
    warped, true = faulty("speed_warped", 1.0)[0], scene()[0]
    far = farthest(warped, true)
    assert far[0] < 1e-5 and far[-1] < 1e-5 and far.max() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("character", ["man", "spacesuit"])
def test_a_stretched_arm_is_longer_and_nothing_else_is(character: str) -> None:
    true = scene(character=character)[0]
    done = with_faults(scene(character=character), [Fault("limb_stretched", 1.0)], 0)
    stretched = done.scene[0]
    lengths = [np.linalg.norm(one.motion.skeleton.offsets, axis=1) for one in (stretched, true)]
    ratio = lengths[0] / np.maximum(lengths[1], 1e-9)
    changed = {true.motion.skeleton.names[joint] for joint in np.flatnonzero(ratio > 1.01)}
    side = "Left" if done.records[0].joints[0].startswith("Left") else "Right"
    assert {f"{side}ForeArm", f"{side}Hand"} <= changed <= {
        f"{side}ForeArm", f"{side}Hand", *(name for name, helper in HELPERS.items()
                                           if helper.joint in (f"{side}ForeArm", f"{side}Hand")),
        *(name for name in MOVERS if helped_joint(name) in (f"{side}Arm", f"{side}ForeArm"))}
    assert ratio[true.motion.skeleton.index[f"{side}Hand"]] == pytest.approx(1.9, abs=0.01)
    moved = np.abs(skin(stretched)[0] - skin(true)[0]).max(axis=1)
    assert 0.05 < np.mean(moved > 1e-6) < 0.5


@pytest.mark.slow
def test_an_elbow_or_knee_bends_the_other_way() -> None:
    seen = set()
    for seed in range(20):
        done = with_faults(scene(), [Fault("joint_backwards", 1.0)], seed)
        name = done.records[0].joints[0]
        motion = done.scene[0].motion
        joint = motion.skeleton.index[name]
        end = motion.skeleton.index[name.replace("ForeArm", "Hand") if "Arm" in name
                                    else name.replace("Leg", "Foot")]
        middle = motion.frames // 2
        pose = motion.global_pose
        upper = pose.rotations[middle, motion.skeleton.parents[joint]]
        way = np.array([0.0, -1.0, 0.0] if "Arm" in name else [0.0, 1.0, 0.0])
        lower = pose.positions[middle, end] - pose.positions[middle, joint]
        assert quaternions.rotate(upper, way) @ lower < -0.1, name
        seen.add(name)
    assert len(seen) == 4


@pytest.mark.slow
def test_fingers_go_and_come() -> None:
    fewer, more = faulty("fingers_missing", 1.0)[0], faulty("fingers_extra", 1.0)[0]
    true, drawn = (one.character.meshes[0].vertices for one in (scene()[0], fewer))
    skeleton = scene()[0].character.skeleton
    wrist = skeleton.heads[skeleton.index["LeftHand"]]
    fingers = np.any(np.abs(drawn - true) > 1e-3, axis=1) & (true[:, 0] > wrist[0])
    reach = [np.linalg.norm(places[fingers] - wrist, axis=1).max() for places in (true, drawn)]
    assert fingers.sum() > 500 and reach[1] < 0.75 * reach[0]
    counts = [sum(len(mesh.faces) for mesh in one.character.meshes) for one in (scene()[0], more)]
    assert counts[1] > counts[0] + 500
    for mesh in more.character.meshes:
        assert len(mesh.vertices) == len(mesh.weights) == len(mesh.joints)
        assert mesh.faces.max() < len(mesh.vertices)
        assert all(len(values) == len(mesh.vertices) for values in mesh.attributes.values())


@pytest.mark.slow
@pytest.mark.parametrize(("amount", "first"), [(0.01, 59), (0.5, 36), (1.0, 12)])
def test_somebody_else_goes_on_from_some_moment_on(amount: float, first: int) -> None:
    take = library_take(CATALOGUE.action("basketball"), None, 4)
    casting = Casting(take, (cast_member(CATALOGUE, "man"),), (Fault(IDENTITY, amount),))
    (before, early), (after, late) = casting.in_turn(60)
    assert early.tolist() == [frame < first for frame in range(60)] and (early ^ late).all()
    assert before == Casting(take, casting.members) and after.members != casting.members
    assert after == replace(casting, faults=(Fault(IDENTITY, 0.7),)).in_turn(60)[1][0]
    assert casting.key != before.key and casting.looks != before.looks
    done, true = with_faults(scene(), casting.faults, 0), scene()
    assert farthest(done.scene[0], true[0]).max() < 1e-5
    frames = true[0].motion.frames
    assert done.records[0].intervals[0][1] == pytest.approx(frames / 12, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("hides", [True, False])
def test_the_ground_hides_who_sinks(hides: bool) -> None:
    if not opengl_is_here():
        pytest.skip("no OpenGL here")
    sunk = faulty("sink", 1.0)[0]
    config = CONFIG.model_copy(update={"ground_hides": hides})
    frame = int(np.argmin(sunk.motion.root_positions[:, 2]))
    stage = stage_of([sunk], config)
    stage.pose(columns_at([sunk], frame))
    camera = frame_camera(scene(), config, 0.0)
    picture = stage.picture(camera)
    rows = np.flatnonzero((picture.figure[..., 3] > 128).any(axis=1)) + picture.figure_at[1]
    feet = scene()[0].motion.global_pose.positions[frame, :, :] * [1, 1, 0]
    lowest = camera.project(feet)[:, 1].max()
    assert (rows.max() < lowest + 12) == hides


@pytest.mark.slow
def test_who_sinks_has_no_passes() -> None:
    refused = invoked("plan", "--action", "boxing", "--fault", "sink=1", "--passes", "mask")
    assert refused.returncode == 2 and "leave one of the two out" in refused.stderr


@settings(max_examples=examples(80), deadline=None)
@given(frames=st.integers(2, 300), amount=st.floats(0.05, 1.0), seed=st.integers(0, 99))
def test_frames_that_are_shown(frames: int, amount: float, seed: int) -> None:
    def shown(name: str) -> list[int]:
        return showing(frames, 12, [Fault(name, amount)], seed).frames.tolist()

    stuck = shown("frame_drops")
    assert len(stuck) == frames and stuck[0] == 0 and stuck == sorted(stuck)
    assert sorted(shown("wrong_order")) == list(range(frames))
    cut = shown("cut_off")
    assert cut == list(range(len(cut))) and 1 <= len(cut) <= frames
    assert shown("shadow_missing") == list(range(frames))
    assert showing(frames, 12, [Fault("shadow_missing", amount)], seed).shadow == (
        pytest.approx(1 - amount))
    assert showing(frames, 12, [], seed).frames.tolist() == list(range(frames))


@settings(max_examples=examples(80), deadline=None)
@given(frames=st.integers(12, 300), amount=st.floats(0.05, 1.0), seed=st.integers(0, 99))
def test_as_many_frames_are_wrong_as_the_record_says(frames: int, amount: float, seed: int
                                                     ) -> None:
    stuck = showing(frames, 24, [Fault("frame_drops", amount)], seed)
    repeated = int((np.diff(stuck.frames) == 0).sum())
    assert abs(repeated - stuck.records[0].value * frames) <= 1
    moved = showing(frames, 24, [Fault("wrong_order", amount)], seed).records[0]
    elsewhere = sum(end - start for start, end in moved.intervals) * 24
    assert abs(elsewhere - moved.value * frames) <= 10


def still(seconds: float) -> tuple[Performance, ...]:
    """A performance that stands still for so long."""
    one = scene()[0]
    motion = one.motion.at(np.zeros(round(12 * seconds), int))
    return (Performance(one.character, motion),)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 2.0, 6.0])
@pytest.mark.parametrize("name", ["float", "foot_slide"])
def test_short_clips_have_as_much_of_a_fault(name: str, seconds: float) -> None:
    true = still(seconds)
    for seed in range(4):
        done = with_faults(true, [Fault(name, 1.0)], seed)
        moved = done.scene[0].motion.root_positions - true[0].motion.root_positions
        way = moved[np.linalg.norm(moved, axis=1).argmax()]
        assert np.ptp(moved @ way / np.linalg.norm(way)) == pytest.approx(
            done.records[0].value, rel=0.25 if seconds < 2 else 0.12)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "frames"), [("float", 1), ("head_turned", 7), ("twitches", 9)])
def test_clips_too_short_for_a_fault_are_refused(name: str, frames: int) -> None:
    with pytest.raises(RequestError, match=f"{name}: .* at least"):
        with_faults(still(frames / 12), [Fault(name, 1.0)], 0)


@pytest.mark.slow
@pytest.mark.parametrize("amount", [0.1, 1.0])
def test_a_joint_bends_the_wrong_way_by_the_recorded_angle(amount: float) -> None:
    for seed in range(8):
        done = with_faults(scene(), [Fault("joint_backwards", amount)], seed)
        name, motion = done.records[0].joints[0], done.scene[0].motion
        arm = "ForeArm" in name
        chain = [name.replace("ForeArm", "Arm") if arm else name.replace("Leg", "UpLeg"), name,
                 name.replace("ForeArm", "Hand") if arm else name.replace("Leg", "Foot")]
        pose = motion.global_pose
        middle = round(sum(done.records[0].intervals[0]) / 2 * motion.fps)
        ends = pose.positions[middle, [motion.skeleton.index[one] for one in chain]]
        upper, lower = np.diff(ends, axis=0)
        angle = np.degrees(np.arccos(upper @ lower / np.linalg.norm(upper)
                                     / np.linalg.norm(lower)))
        assert angle == pytest.approx(done.records[0].value, abs=0.5), name
        way = quaternions.rotate(pose.rotations[middle, motion.skeleton.index[chain[0]]],
                                 np.array([0.0, -1.0 if arm else 1.0, 0.0]))
        assert lower @ way < upper @ way


@pytest.mark.parametrize("name", ["frame_drops", "cut_off", "wrong_order"])
def test_more_of_a_fault_changes_more_frames(name: str) -> None:
    changed = []
    for amount in (0.2, 0.4, 0.6, 0.8, 1.0):
        shown = showing(100, 20, [Fault(name, amount)], 5).frames
        changed.append(100 - len(shown) + int(np.sum(shown != np.arange(len(shown)))))
    assert changed == sorted(changed) and changed[0] >= 10 and len(set(changed)) == 5


@pytest.mark.parametrize(("text", "words"), [
    ("flaot=0.5", "no fault 'flaot' .did you mean float"), ("float", "float=AMOUNT"),
    ("float=2", "from 0 to 1"), ("float=-0.1", "from 0 to 1"), ("float=nan", "from 0 to 1"),
    ("=1", "no fault ''")])
def test_a_fault_that_there_is_not_is_said(text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        parse_faults([text])


def test_a_fault_is_said_once_and_none_of_it_is_none() -> None:
    with pytest.raises(RequestError, match="give it once"):
        parse_faults(["float=0.5", "float=0.6"])
    assert parse_faults(["float=0", "twitches=0.0"]) == ()


def clips(*faults: str, variants: str = "mime") -> list[PlannedClip]:
    takes = SeededTakes((library_take(CATALOGUE.action("basketball"), None, 0),), range(1))
    cells = parse_variants(variants, set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    plan = make_plan(CATALOGUE, takes, cells, CONFIG, "opengl", faults=parse_faults(faults))
    return [clip for clip in plan if isinstance(clip, PlannedClip)]


def test_only_what_a_fault_touches_is_made_anew() -> None:
    plain = clips()
    assert [clip.key for clip in clips("float=0")] == [clip.key for clip in plain]
    in_frames, in_motion = clips("cut_off=0.5"), clips("float=0.5")
    assert [clip.shot.key for clip in in_frames] == [clip.shot.key for clip in plain]
    for one, other in ((in_frames, plain), (in_motion, plain), (in_motion, clips("float=0.6")),
                       (in_frames, clips("cut_off=0.6"))):
        assert not {clip.key for clip in one} & {clip.key for clip in other}
        assert not {clip.sample_id for clip in one} & {clip.sample_id for clip in other}
    assert not {clip.shot.key for clip in in_motion} & {clip.shot.key for clip in plain}


def test_a_shadow_within_the_figure_cannot_be_missing() -> None:
    take = SeededTakes((library_take(CATALOGUE.action("basketball"), None, 0),), range(1))
    cells = parse_variants("base+blank@0", set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    for name, refused in (("mime", True), ("mime_fast", False)):
        config = read_config(CATALOGUE.file("config", name))

        def plan(fault: str, config: RenderConfig = config) -> Plan:
            return make_plan(CATALOGUE, take, cells, config, "cpu", faults=parse_faults([fault]))

        assert plan("float=1").clips == 1
        if refused:
            with pytest.raises(RequestError, match="shadow_missing: mime renders the shadow"):
                plan("shadow_missing=0.5")
        else:
            assert plan("shadow_missing=0.5").clips == 1


def test_dots_cannot_have_the_faults_of_rendered_frames() -> None:
    assert clips("float=0.5", variants="pointlight") == []
    for fault in ("cut_off", IDENTITY):
        with pytest.raises(RequestError, match=f"{fault}: applies to rendered frames"):
            clips(f"{fault}=0.5", variants="pointlight")


@pytest.mark.slow
def test_clips_with_faults_say_so_in_their_rows(tmp_path: Path, tiny_config: Path) -> None:
    request = ("render", "--action", "boxing", "--variants", "base+blank@0", "--config",
               tiny_config, "--out", tmp_path, "--quiet")
    for faults in ((), ("--fault", "cut_off=1"), ("--fault", "float=1", "--fault", "cut_off=1")):
        done = mimegen(*request, *faults)
        assert done.returncode == 0, done.stderr
    plain, cut, both = sorted(rows_of(tmp_path), key=lambda row: len(row.get("faults") or ()))
    assert "faults" not in plain
    assert cut["shot_key"] == plain["shot_key"] != both["shot_key"]
    assert cut["frames"] < plain["frames"] and plain["camera"] == both["camera"]
    assert [fault["name"] for fault in both["faults"]] == ["float", "cut_off"]
    assert both["faults"][0] | {"intervals": None} == {
        "name": "float", "amount": 1.0, "value": 0.35, "unit": "m", "lowers": "interaction",
        "joints": ["Hips"], "intervals": None}
    refused = mimegen("render", "--action", "boxing", "--fault", "flot=1")
    assert refused.returncode == 2 and "did you mean float" in refused.stderr
    listed = json.loads(invoked("list", "faults", "--json").stdout)
    assert {fault["fault"] for fault in listed} == set(fault_kinds())


@pytest.mark.slow
def test_dots_with_faults_say_so_in_their_rows(tmp_path: Path, tiny_config: Path) -> None:
    done = mimegen("render", "--action", "boxing", "--variants",
                   "base+blank@0,pointlight@0,pointlight:speed=0.5@0,pointlight:reversed@0",
                   "--config", tiny_config, "--out", tmp_path, "--quiet", "--fault", "float=1")
    assert done.returncode == 0, done.stderr
    rows = {row["config_name"]: row for row in rows_of(tmp_path)}
    body, plain, slow, backwards = (rows[name] for name in (
        "base+blank@0", "pointlight@0", "pointlight:speed=0.5@0", "pointlight:reversed@0"))
    frame, seconds = 1 / body["fps"], body["frames"] / body["fps"]
    for row in rows.values():
        assert [fault["value"] for fault in row["faults"]] == [0.35]
    (start, end), = body["faults"][0]["intervals"]
    for row, wanted in ((plain, (start, end)), (slow, (2 * start, 2 * end)),
                        (backwards, (seconds - end, seconds - start))):
        assert row["faults"][0]["intervals"][0] == pytest.approx(wanted, abs=2.5 * frame)
    done = mimegen("render", "--action", "boxing", "--variants", "pointlight@0", "--config",
                   tiny_config, "--out", tmp_path / "warped", "--quiet",
                   "--fault", "speed_warped=1")
    assert done.returncode == 0, done.stderr
    row, = rows_of(tmp_path / "warped")
    assert row["faults"][0]["name"] == "speed_warped" and not row.get("timeline")
