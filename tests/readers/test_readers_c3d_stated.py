"""What C3D files state goes before guesses: axes, units, rates, and whose markers are whose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marked_bodies import write_c3d
from mimegen.base.errors import RequestError
from mimegen.readers.c3d_file import _rate
from mimegen.readers.points import _without_prefixes, read_points
from places import DATA
from running import invoke

TRUE_HEIGHT = {"rigid_bodies": 0.3165, "z_up_stated": 0.5669}
RNG = np.random.default_rng(5)
LYING = RNG.uniform(-0.5, 0.5, (1, 14, 3)) * [1.6, 0.5, 0.2] + RNG.normal(0, 0.01, (30, 14, 3))


def test_markers_of_rigid_bodies_stay_apart():
    points = read_points(DATA / "rigid_bodies.c3d")
    assert len(points.labels) == 12 and "Wheel:Marker1" in points.labels
    assert points.unit == 1.0 and points.up_axis == "Z"
    assert any("Wheel, Trunk, Forearm" in note for note in points.notes)


@pytest.mark.parametrize("name", ["rigid_bodies", "z_up_stated"])
def test_their_dots_are_upright(tmp_path, name):
    target = tmp_path / "dots.csv"
    done = invoke("pointlight", DATA / f"{name}.c3d", "--dots", "all_markers", "--out", target)
    assert done.exit_code == 0, done.output
    points = read_points(DATA / f"{name}.c3d")
    rows = np.genfromtxt(target, delimiter=",", names=True, dtype=None, encoding="utf-8")
    first = rows[rows["frame"] == rows["frame"][0]]
    heights = dict(zip(points.labels, points.positions[0, :, 2], strict=True))
    truth = [heights[str(dot)] for dot in first["dot"]]
    assert np.corrcoef(truth, first["y_deg"])[0, 1] > 0.999
    assert truth[0] == pytest.approx(TRUE_HEIGHT[name], abs=1e-3), "as the file has it along Z"


@pytest.mark.parametrize(("screen", "axis"), [
    (("+X", "+Z"), "Z"), (("+X", "+Y"), "Y"), (("-Y", "Z"), "Z"), (("+y", "+x"), "X"),
    (("+Z", ""), "Y")])
def test_the_vertical_that_a_file_states_is_taken(tmp_path, screen, axis):
    path = write_c3d(tmp_path / "lying.c3d", [f"P{n}" for n in range(14)], LYING, screen=screen)
    points = read_points(path)
    assert points.up_axis == axis and points.up_source == "as the file says"
    assert np.allclose(points.positions[..., 2], LYING[..., "XYZ".index(axis)], atol=1e-5)


@pytest.mark.parametrize("screen", [None, ("", ""), ("+X", "up"), ("+Z", "-Z"), ("9", "+ZZ")])
def test_a_vertical_that_is_none_is_guessed(tmp_path, screen):
    path = write_c3d(tmp_path / "lying.c3d", [f"P{n}" for n in range(14)], LYING, screen=screen)
    assert "stand still" in read_points(path).up_source


def standing(axis):
    """A person whose feet stand still, 1.6 m high along an axis."""
    places = RNG.uniform(-0.2, 0.2, (1, 14, 3)) + RNG.normal(0, 0.03, (60, 14, 3))
    heights = np.linspace(0.0, 1.6, 14)
    places[:, :2] = places[:1, :2]
    places[..., axis] = heights
    return places


def test_contradictions_are_noted(tmp_path):
    labels = [f"P{n}" for n in range(14)]
    wrong = read_points(write_c3d(tmp_path / "a.c3d", labels, standing(0), screen=("+Y", "+Z")))
    assert wrong.up_axis == "X" and any("states Z up, but" in note for note in wrong.notes)
    down = read_points(write_c3d(tmp_path / "b.c3d", labels, standing(2), screen=("-X", "-Z")))
    assert down.up_axis == "Z" and any("states -Z up, but" in note for note in down.notes)
    right = read_points(write_c3d(tmp_path / "c.c3d", labels, standing(2), screen=("+X", "+Z")))
    assert right.up_axis == "Z" and not any("states" in note for note in right.notes)


@pytest.mark.parametrize(("unit", "metres", "factor"), [("m", 1.0, 1.0), ("mm", 0.001, 1000.0),
                                                        ("cm", 0.01, 100.0)])
def test_a_stated_unit_counts_for_a_hand_as_well(tmp_path, unit, metres, factor):
    hand = np.asarray(LYING[:, :5] * 0.1 * factor, float)
    points = read_points(write_c3d(tmp_path / "hand.c3d", [f"P{n}" for n in range(5)], hand,
                                   unit=unit))
    assert points.unit == metres
    assert any("not the size of a person" in note for note in points.notes)


def test_a_unit_that_cannot_be_is_overruled_with_a_note(tmp_path):
    points = read_points(write_c3d(tmp_path / "big.c3d", [f"P{n}" for n in range(14)],
                                   LYING * 1000.0, unit="m"))
    assert points.unit == 0.001 and any("the file says m" in note for note in points.notes)


@pytest.mark.parametrize(("parameter", "header", "rate", "doubts"), [
    (100.0, 100.0, 100.0, 0), (119.88, 120.0, 119.88, 0), (50.0, 100.0, 50.0, 1),
    (0.0, 60.0, 60.0, 1), (float("nan"), 60.0, 60.0, 1), (100.0, 0.0, 100.0, 0)])
def test_rates_that_contradict_each_other_are_noted(parameter, header, rate, doubts):
    found, notes = _rate(parameter, header)
    assert found == rate and len(notes) == doubts


def test_a_rate_is_given_where_the_file_has_none(tmp_path):
    path = write_c3d(tmp_path / "a.c3d", [f"P{n}" for n in range(14)], LYING, rate=37.0)
    rate = np.float32(37.0).tobytes()
    path.write_bytes(path.read_bytes().replace(rate, bytes(4)))
    with pytest.raises(RequestError, match=r"POINT:RATE.*--fps-of-file"):
        read_points(path)
    assert read_points(path, fps=60.0).fps == 60.0


PLACES = ["LFHD", "RFHD", "C7", "T10", "CLAV", "STRN", "LSHO", "RSHO", "LELB", "RELB"]


@pytest.mark.parametrize(("labels", "bare"), [
    ([f"Derrick:{p}" for p in PLACES], PLACES),
    ([f"Derrick:{p}" for p in PLACES] + ["Ball:1"], [*PLACES, "Ball:1"]),
    ([f"Derrick:{p}" for p in PLACES] + ["Bat:C7"], [*PLACES, "Bat:C7"]),
    (["ArmL:Marker1", "ArmL:Marker2", "SWL:Marker1"], ["ArmL:Marker1", "ArmL:Marker2",
                                                       "SWL:Marker1"]),
    (["ArmL:Marker1", "SWL:Marker2"], ["ArmL:Marker1", "SWL:Marker2"]),
    (["Wheel:Marker1", "Wheel:Marker1"], ["Marker1", "Marker1"]),
    (["C7", "Derrick:C7", "Derrick:T10"], ["C7", "Derrick:C7", "Derrick:T10"]),
    (["Head:LFHD", "Head:RFHD", "Arm:LELB"], ["LFHD", "RFHD", "LELB"])])
def test_prefixes_of_subjects_go_and_those_of_rigid_bodies_stay(labels, bare):
    assert list(_without_prefixes(tuple(labels))[0]) == bare


@given(st.lists(st.tuples(st.sampled_from(["", "A:", "B:", "C:D:"]),
                          st.sampled_from(["Marker1", "2", "C7", "LFHD", "", ":"])), max_size=30))
def test_different_labels_stay_different(parts):
    labels = tuple(prefix + name for prefix, name in parts)
    bare, _ = _without_prefixes(labels)
    assert len(set(bare)) == len(set(labels))
