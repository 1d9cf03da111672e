from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples import examples
from marked_bodies import PLUG_IN_GAIT, exercise, markers, write_c3d, write_two_people
from mimegen.base.errors import RequestError
from mimegen.readers import ReadOptions, read_motion
from mimegen.readers import c3d_file as decoding
from mimegen.readers.options import parse_trim
from mimegen.readers.points import read_points, subjects_of

SOLVED = {"btk_PiG_Motion3_FF": 16, "btk_c3dorg04_sub_labels": 16, "cmu_02_01": 41,
          "ezc3d_BTS": 22, "ezc3d_Qualisys": 55, "ktk_tennis_serve": 39,
          "ktk_tennis_serve_nan": 39, "pycgm_ROM_Sample_Static": 35}
REFUSED = {"btk_c3dorg01_Eb015pi": "clusters", "btk_c3dorg01_Eb015vr": "clusters",
           "btk_c3dorg02_sgi_real": "clusters", "btk_c3dorg13_golfswing": "match no marker set",
           "btk_c3dorg18_bad_parameter_section": "damaged"}
UPPER_BODY = "ktk_duplicate_labels"
RAW = sorted({*SOLVED, *REFUSED, UPPER_BODY} - {"btk_c3dorg18_bad_parameter_section"})


@pytest.fixture(scope="module")
def solved(samples):
    return {name: read_motion(samples / "c3d" / f"{name}.c3d") for name in SOLVED}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVED)
def test_samples_stand_upright_facing_front_on_the_ground(solved, name):
    recording = solved[name]
    motion, index = recording.motion, recording.motion.skeleton.index
    places = {role: motion.global_pose.positions[:, index[joint]]
              for role, joint in recording.roles.items()}
    start = slice(0, max(1, round(motion.fps / 10)))
    body = places["head"] - (places["left_foot"] + places["right_foot"]) / 2
    assert np.all(body[start, 2] > 0.8 * np.linalg.norm(body[start], axis=1))
    left = sum((places[f"left_{p}"] - places[f"right_{p}"])[start].mean(axis=0)
               for p in ("thigh", "upper_arm"))
    assert left[0] > 0.9 * np.linalg.norm(left)
    assert 0.0 < np.percentile(np.minimum(places["left_foot"], places["right_foot"])[:, 2], 5) < 0.2
    assert 1.1 < np.percentile(places["head"][:, 2], 90) < 1.9


@pytest.mark.parametrize("name", SOLVED)
def test_knees_bend_forwards_and_elbows_too(solved, name):
    recording = solved[name]
    index = recording.motion.skeleton.index
    places, turns = recording.motion.global_pose
    for side in ("left", "right"):
        hip, knee, ankle = (places[:, index[recording.roles[f"{side}_{p}"]]]
                            for p in ("thigh", "shin", "foot"))
        middle = (hip + ankle) / 2
        pelvis = turns[:, index[recording.roles["hips"]]]
        ahead = -np.array([2 * (pelvis[:, 1] * pelvis[:, 2] - pelvis[:, 0] * pelvis[:, 3]),
                           1 - 2 * (pelvis[:, 1] ** 2 + pelvis[:, 3] ** 2),
                           2 * (pelvis[:, 2] * pelvis[:, 3] + pelvis[:, 0] * pelvis[:, 1])]).T
        bend = np.sum((knee - middle) * ahead, axis=1)
        assert np.median(bend) > -0.01
        assert np.percentile(bend, 1) > -0.06


@pytest.mark.parametrize("name", SOLVED)
def test_the_body_explains_its_markers_within_fifteen_millimetres(solved, name):
    rms = np.array(list(solved[name].marker_rms_mm.values()))
    assert len(rms) == SOLVED[name]
    assert np.sqrt(np.mean(rms**2)) < 10.0
    assert rms.max() < 15.0


def test_what_no_marker_shows_is_said(solved):
    """BTS's set has malleoli, its sample none; all others show all that they have markers for."""
    inferred = {name: recording.inferred for name, recording in solved.items()
                if recording.inferred}
    assert inferred == {"ezc3d_BTS": ("LeftFoot", "RightFoot")}


def test_a_knee_without_its_marker_still_bends_forwards(samples, solved, monkeypatch):
    """The left knee of a serve, bent to 67 degrees: it went 21 cm astray."""
    path = samples / "c3d" / "ktk_tennis_serve.c3d"
    whole = solved["ktk_tennis_serve"].motion.global_pose.positions[:400]
    points = read_points(path)
    kept = [n for n, label in enumerate(points.labels) if label != "LKNE"]
    monkeypatch.setattr("mimegen.readers.c3d.read_points", lambda *_: replace(
        points, labels=tuple(points.labels[n] for n in kept),
        positions=points.positions[:400, kept]))
    recording = read_motion(path)
    assert recording.inferred == ("LeftLeg",) and recording.confidence["left_shin"] < 0.75
    knee = recording.motion.skeleton.index["LeftLeg"]
    hips = recording.motion.skeleton.index["Hips"]
    away = (recording.motion.global_pose.positions - whole)[:, [knee, hips]]
    assert np.linalg.norm(away[:, 0] - away[:, 1], axis=-1).max() < 0.06


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_samples_that_cannot_be_solved_are_refused_with_the_reason(samples, name, reason):
    path = samples / "c3d" / f"{name}.c3d"
    with pytest.raises(RequestError, match=reason) as refusal:
        read_motion(path)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.slow
def test_a_trial_of_the_upper_body_alone_stands_on_legs_and_says_so(samples):
    """Somebody in a wheelchair, 3 m in 4 s."""
    recording = read_motion(samples / "c3d" / f"{UPPER_BODY}.c3d")
    assert any("pelvis and legs are not recorded" in note for note in recording.notes)
    assert recording.inferred[0] == "Hips" and recording.confidence["left_foot"] == 0.6
    assert np.sqrt(np.mean(np.square(list(recording.marker_rms_mm.values())))) < 15.0
    index, places = recording.motion.skeleton.index, recording.motion.global_pose.positions
    body = places[:, index["Head"]] - (places[:, index["LeftFoot"]]
                                       + places[:, index["RightFoot"]]) / 2
    assert np.all(body[:, 2] > 1.4) and np.ptp(places[:, index["LeftFoot"], 2]) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("turn", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_an_upper_body_alone_stands_up_whatever_axis_was_vertical(tmp_path, turn):
    """Its waving hands rest longer than anything else, above the head."""
    upper = PLUG_IN_GAIT[:23]
    places = markers(upper, exercise()).copy()
    hands = [upper.index(f"{side}{name}") for side in "LR" for name in ("WRA", "WRB", "FIN")]
    places[:, hands] = places[:1, hands] + [0.0, 0.0, 0.6]
    recording = read_motion(write_c3d(tmp_path / "up.c3d", upper, places[..., turn]))
    assert recording.up_axis == "XYZ"[turn.index(2)]
    assert "trunk" in recording.up_source


@pytest.mark.parametrize("name", RAW)
def test_raw_points_are_a_person_upright(samples, name):
    points = read_points(samples / "c3d" / f"{name}.c3d")
    frames, markers = points.positions.shape[:2]
    assert markers == len(points.labels) == len(set(points.labels))
    heights = points.positions[..., 2]
    assert -0.1 < np.nanpercentile(heights, 0.5) < 0.2
    assert 0.8 < np.nanpercentile(heights, 99.5) < 2.4
    assert points.fps >= 50 and frames >= 89


@pytest.mark.parametrize(("name", "up", "unit"), [
    ("btk_c3dorg13_golfswing", "X", 0.001), ("ezc3d_BTS", "Y", 0.001),
    ("ezc3d_Qualisys", "Z", 0.001), ("ktk_tennis_serve", "Z", 1.0),
])
def test_units_and_up_axes_are_found(samples, name, up, unit):
    points = read_points(samples / "c3d" / f"{name}.c3d")
    assert (points.up_axis, points.unit) == (up, unit)


def test_one_trial_in_two_byte_orders_decodes_alike(samples):
    first, second = (read_points(samples / "c3d" / f"btk_c3dorg01_Eb015{kind}.c3d")
                     for kind in ("pi", "vr"))
    assert first.labels == second.labels
    assert np.array_equal(np.isnan(first.positions), np.isnan(second.positions))
    assert np.nanmax(np.abs(first.positions - second.positions)) < 1e-6


def test_big_endian_files_are_read(samples):
    points = read_points(samples / "c3d" / "btk_c3dorg02_sgi_real.c3d")
    assert points.positions.shape == (89, 36, 3)
    assert points.labels[:2] == ("RFT1", "RFT2")


@pytest.mark.parametrize("name", ["btk_c3dorg01_Eb015vr", "btk_c3dorg02_sgi_real", "cmu_02_01"])
@pytest.mark.filterwarnings("ignore:No analog data")
def test_counts_never_overflow(samples, name):
    """The package gives 16-bit numbers, and 26 points less 30 labels were 65,532 under numpy 2."""
    with (samples / "c3d" / f"{name}.c3d").open("rb") as opened:
        reader = decoding._CountingReader(opened)
        counts = (reader.point_used, reader.analog_used, reader.first_frame, reader.last_frame)
    assert all(type(count) is int for count in counts)


@pytest.mark.parametrize("name", ["btk_c3dorg01_Eb015pi", "btk_c3dorg04_sub_labels", "cmu_02_01",
                                  "ktk_duplicate_labels"])
def test_both_packages_give_the_same_numbers(samples, name):
    path = samples / "c3d" / f"{name}.c3d"
    ours, theirs = decoding._by_c3d(path), decoding._by_ezc3d(path, "")
    assert ours.labels == theirs.labels
    assert (ours.fps, ours.unit, theirs.reader) == (theirs.fps, theirs.unit, "ezc3d")
    assert np.allclose(ours.positions, theirs.positions, atol=1e-3, equal_nan=True)


def test_what_one_package_refuses_the_other_reads(samples, monkeypatch):
    def refuse(_):
        raise ValueError("no")

    monkeypatch.setattr(decoding, "_CountingReader", refuse)
    assert read_points(samples / "c3d" / "cmu_02_01.c3d").positions.shape == (343, 41, 3)
    with pytest.raises(RequestError, match="cannot be read as C3D"):
        read_points(samples / "c3d" / "btk_c3dorg02_sgi_real.c3d")


@pytest.mark.parametrize("prefix", ["Derrick:", "251112_KUO_", "Jane Doe_", ""])
def test_subjects_names_go_whatever_parts_them(samples, prefix, monkeypatch):
    """Sides stay: no more than half of the labels begin with them."""
    path = samples / "c3d" / "ezc3d_Qualisys.c3d"
    found = decoding.read_trajectories(path)
    labels = tuple(prefix + label for label in found.labels)
    monkeypatch.setattr("mimegen.readers.points.read_trajectories",
                        lambda *_: replace(found, labels=labels))
    assert read_points(path).labels == found.labels


@pytest.fixture
def two_people(tmp_path):
    return write_two_people(tmp_path / "two.c3d")


def test_two_people_in_one_file_are_not_mixed(two_people):
    with pytest.raises(RequestError, match=r"of 2 people \(Derrick, Viktor\); choose one with"
                                           r" --subject NAME"):
        read_motion(two_people)


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "height"), [("Derrick", 1.0), ("viktor", 0.9)])
def test_a_subject_is_read_alone_where_it_stood(two_people, subject, height):
    recording = read_motion(two_people, ReadOptions(subject=subject))
    assert len(recording.marker_rms_mm) == len(PLUG_IN_GAIT)
    hips = recording.motion.skeleton.heads[0, 2]
    assert hips == pytest.approx(height * 0.95, abs=0.06)
    assert recording.origin[0] == pytest.approx(2.0 if subject == "viktor" else 0.0, abs=0.05)


def test_all_markers_of_several_people_keep_their_subjects_names(two_people):
    points = read_points(two_people)
    assert points.people == subjects_of(two_people) == ("Derrick", "Viktor")
    assert {"Derrick:LFHD", "Viktor:LFHD", "Ball:centre"} <= set(points.labels)
    assert points.unit == 1.0
    assert read_points(two_people, "Derrick").labels == tuple(PLUG_IN_GAIT)


def test_a_subject_that_is_not_there_is_named_with_those_like_it(two_people, tmp_path):
    with pytest.raises(RequestError, match=r"no subject 'Victor'; did you mean 'Viktor'\?"):
        read_points(two_people, "Victor")
    bare = write_c3d(tmp_path / "bare.c3d", PLUG_IN_GAIT, markers(PLUG_IN_GAIT, exercise()))
    with pytest.raises(RequestError, match="its labels name no subjects; leave out --subject"):
        read_points(bare, "Victor")


def test_only_marker_files_hold_subjects(samples):
    with pytest.raises(RequestError, match="only C3D files and what finds people"):
        read_motion(samples / "bvh" / "cmu_18_01.bvh", ReadOptions(subject="Ann"))


@pytest.mark.slow
def test_a_marker_set_is_found_among_eight_times_as_many_other_labels(samples, tmp_path):
    """As CMU's own files have them: computed joints, and tracks of nobody knows what."""
    raw = decoding.read_trajectories(samples / "c3d" / "cmu_02_01.c3d")
    rng = np.random.default_rng(2)
    joints = raw.positions[:, rng.integers(0, 41, (200, 3))].mean(axis=2)
    stray = np.cumsum(rng.normal(0, 3, (len(joints), 89, 3)), axis=0) + rng.uniform(
        [-2000, 0, -2000], [2000, 1800, 2000], (89, 3))
    stray[rng.random((len(joints), 89)) < 0.5] = np.nan
    labels = [*raw.labels, *(f"jim:joint{n}" for n in range(200)), *(f"T{n}x" for n in range(89))]
    path = write_c3d(tmp_path / "cmu.c3d", labels, np.concatenate(
        [raw.positions, joints, stray], axis=1), raw.fps, raw.unit)
    recording, alone = read_motion(path), read_motion(samples / "c3d" / "cmu_02_01.c3d")
    assert recording.system == "CMU 41 markers" and len(recording.marker_rms_mm) == 41
    assert recording.unit == alone.unit and recording.up_axis == alone.up_axis
    assert np.allclose(recording.motion.root_positions, alone.motion.root_positions, atol=1e-3)
    assert any("not of the marker set, not used: 289 points" in note for note in recording.notes)


@pytest.mark.parametrize("left_out", [b"POINT", b"LABELS"])
def test_points_of_a_file_without_labels_are_numbered(tmp_path, left_out):
    """Neither the group of parameters nor the labels in it need to be there."""
    path = write_c3d(tmp_path / "raw.c3d", [f"M{n}" for n in range(12)], person(), 100.0, "mm")
    path.write_bytes(path.read_bytes().replace(left_out, b"X" * len(left_out)))
    points = read_points(path)
    assert points.positions.shape == (20, 12, 3) and points.fps == 100.0
    assert points.labels[0] == "point_01" and points.labels[11] == "point_12"
    assert "the file has no labels: its 12 points are numbered (point_01 ...)" in points.notes
    with pytest.raises(RequestError, match="have no labels"):
        read_motion(path)


@pytest.mark.slow
def test_what_was_out_of_sight_is_told_to_the_frame(tmp_path):
    places = markers(PLUG_IN_GAIT, exercise()).copy()
    arm = [PLUG_IN_GAIT.index(n) for n in ("LELB", "LFRM", "LWRA", "LWRB", "LFIN")]
    places[30:40, arm] = places[50:51, arm] = np.nan
    recording = read_motion(write_c3d(tmp_path / "gap.c3d", PLUG_IN_GAIT, places))
    assert recording.bridged["LeftForeArm"] == ((30, 39), (50, 50))
    cut = read_motion(tmp_path / "gap.c3d", ReadOptions(trim=parse_trim("39f:49f")))
    assert cut.bridged["LeftForeArm"] == ((0, 0),)


def test_prefixes_go_and_what_is_no_marker_is_left_out(samples):
    points = read_points(samples / "c3d" / "btk_c3dorg04_sub_labels.c3d")
    assert "LASI" in points.labels and not any(":" in label for label in points.labels)
    assert not any("Angles" in label or label.startswith("PEL") for label in points.labels)
    assert any("axes of segments" in note for note in points.notes)
    assert any("not positions" in note for note in points.notes)
    assert any("without a label" in note for note in read_points(
        samples / "c3d" / "pycgm_ROM_Sample_Static.c3d").notes)


def test_split_trajectories_of_one_label_are_joined(samples):
    path = samples / "c3d" / "ktk_duplicate_labels.c3d"
    points, raw = read_points(path), decoding.read_trajectories(path)
    assert len(points.labels) == 22 and len(raw.labels) == 48
    one = points.positions[:, points.labels.index("PSRG"), 0]
    parts = raw.positions[:, [label == "PSRG" for label in raw.labels], 0]
    assert np.isfinite(one).sum() == np.isfinite(parts).any(axis=1).sum()
    assert any("joined" in note for note in points.notes)


def test_gaps_are_bridged_and_flagged(solved):
    recording = solved["ezc3d_BTS"]
    assert any("gaps bridged" in note for note in recording.notes)
    spans = [span for spans in recording.bridged.values() for span in spans]
    assert spans and all(0 <= a <= b < recording.motion.frames for a, b in spans)
    assert not solved["cmu_02_01"].bridged


def person(frames=20):
    """Markers without labels: two feet that rest, and a cloud above that moves."""
    rng = np.random.default_rng(5)
    places = rng.uniform([-300, -200, 300], [300, 200, 1700], (12, 3))
    places[:2] = [[-150, 0, 40], [150, 0, 40]]
    sway = np.sin(np.arange(frames) / 5)[:, None, None] * places[None, :, 2:] / 40
    return places + sway * np.array([1.0, 0.5, 0.0])


def test_unlabelled_files_are_refused_but_their_points_can_be_drawn(tmp_path):
    path = write_c3d(tmp_path / "raw.c3d", [f"*{n}" for n in range(12)], person(), unit="mm")
    with pytest.raises(RequestError, match="have no labels"):
        read_motion(path)
    assert read_points(path).positions.shape == (20, 12, 3)


@pytest.mark.parametrize(("unit", "factor", "expected"), [
    ("", 1.0, 0.001), ("mm", 0.001, 1.0), ("cm", 0.1, 0.01), ("in", 1 / 25.4, 0.0254)])
def test_units_that_are_silent_or_wrong_are_found_from_the_size(tmp_path, unit, factor, expected):
    path = write_c3d(tmp_path / "raw.c3d", [f"M{n}" for n in range(12)], person() * factor,
                     unit=unit)
    assert read_points(path).unit == expected


@pytest.mark.parametrize("turn", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_points_stand_up_whatever_axis_was_vertical(tmp_path, turn):
    path = write_c3d(tmp_path / "raw.c3d", [f"M{n}" for n in range(12)], person()[..., turn],
                     unit="mm")
    points = read_points(path)
    assert np.allclose(points.positions[..., 2], person()[..., 2] / 1000, atol=1e-5)


@pytest.mark.slow
def test_five_thousand_frames_are_read_whole(tmp_path):
    places = np.tile(person(20), (250, 5, 1))
    path = write_c3d(tmp_path / "long.c3d", [f"M{n}" for n in range(60)], places, unit="mm")
    points = read_points(path)
    assert points.positions.shape == (5000, 60, 3)


def test_a_truncated_file_says_so(samples, tmp_path):
    whole = (samples / "c3d" / "cmu_02_01.c3d").read_bytes()
    path = tmp_path / "half.c3d"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RequestError, match="truncated"):
        read_points(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x02\x50", b"\x02\x50" + bytes(600)])
def test_files_that_are_no_c3d_are_refused(tmp_path, content):
    path = tmp_path / "not.c3d"
    path.write_bytes(content)
    with pytest.raises(RequestError) as refusal:
        read_motion(path)
    assert "\n" not in str(refusal.value)


@settings(max_examples=examples(60), deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1,
                       max_size=6))
def test_damaged_headers_give_points_or_one_line(samples, tmp_path, damage):
    data = bytearray((samples / "c3d" / "btk_c3dorg02_sgi_real.c3d").read_bytes())
    for place, value in damage:
        data[place] = value
    path = tmp_path / "damaged.c3d"
    path.write_bytes(bytes(data))
    try:
        assert not np.isinf(read_points(path).positions).any()
    except RequestError as refusal:
        assert "\n" not in str(refusal)
