import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.motion import quaternions
from mimegen.readers import ReadOptions, read_motion
from places import ROOT

FRAMES = {"09_06-run": 141, "131_04-dance": 1086, "35_01": 358, "golf_01": 443}
CMU_UNIT = 0.0254 / 0.45
ASF = """:version 1.10
:units
  mass 1.0
  length 0.45
  angle {angle}
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
{bones}
:hierarchy
  begin
    root lhipjoint rhipjoint chest
    lhipjoint lfemur
    lfemur ltibia
    ltibia lfoot
    rhipjoint rfemur
    rfemur rtibia
    rtibia rfoot
    chest head lhumerus rhumerus
    lhumerus lradius
    lradius lhand
    rhumerus rradius
    rradius rhand
  end
"""
BONES = [("lhipjoint", (1, -1, 0), 2, ""), ("lfemur", (0, -1, 0), 7.5, "rx ry rz"),
         ("ltibia", (0, -1, 0), 7.5, "rx"), ("lfoot", (0, -.5, 1), 3, "rx rz"),
         ("rhipjoint", (-1, -1, 0), 2, ""), ("rfemur", (0, -1, 0), 7.5, "rx ry rz"),
         ("rtibia", (0, -1, 0), 7.5, "rx"), ("rfoot", (0, -.5, 1), 3, "rx rz"),
         ("chest", (0, 1, 0), 9, "rx ry rz"), ("head", (0, 1, 0), 4, "rx ry rz"),
         ("lhumerus", (1, 0, 0), 5, "rx ry rz"), ("lradius", (1, 0, 0), 4.5, "rx"),
         ("lhand", (1, 0, 0), 2, "rx rz"), ("rhumerus", (-1, 0, 0), 5, "rx ry rz"),
         ("rradius", (-1, 0, 0), 4.5, "rx"), ("rhand", (-1, 0, 0), 2, "rx rz")]


def skeleton(angle="deg", axes=None):
    axes, text = axes or {}, ""
    for name, direction, length, dof in BONES:
        text += (f"  begin\n    name {name}\n    direction {direction[0]} {direction[1]}"
                 f" {direction[2]}\n    length {length}\n"
                 f"    axis {axes.get(name, '0 0 0')} XYZ\n"
                 + (f"    dof {dof}\n" if dof else "") + "  end\n")
    return ASF.format(angle=angle, bones=text)


def poses(frames=3, values=None, root="0 17 0 0 0 0", head=":DEGREES"):
    text = f":FULLY-SPECIFIED\n{head}\n"
    for frame in range(1, frames + 1):
        text += f"{frame}\nroot {root}\n"
        for name, _, _, dof in BONES:
            if dof:
                zeros = " ".join("0" * len(dof.split()))
                text += f"{name} {(values or {}).get(name, zeros)}\n"
    return text


@pytest.fixture
def take(tmp_path):
    def write(motion, body=None):
        (tmp_path / "me.asf").write_text(skeleton() if body is None else body)
        (tmp_path / "me.amc").write_text(motion)
        return tmp_path / "me.amc"

    return write


@pytest.mark.parametrize("name", FRAMES)
def test_samples_stand_upright_facing_front_on_the_ground(samples, name):
    recording = read_motion(samples / "asf-amc" / f"{name}.amc")
    motion, index = recording.motion, recording.motion.skeleton.index
    assert (motion.frames, motion.fps) == (FRAMES[name], 120.0)
    assert (recording.format, recording.up_axis) == ("ASF/AMC", "Y")
    assert recording.unit == pytest.approx(CMU_UNIT)
    assert any("no frame rate" in note for note in recording.notes)
    places = {role: motion.global_pose.positions[:, index[joint]]
              for role, joint in recording.roles.items()}
    start = slice(0, 12)
    body = places["head"] - (places["left_foot"] + places["right_foot"]) / 2
    assert np.all(body[start, 2] > 0.7 * np.linalg.norm(body[start], axis=1))
    left = sum((places[f"left_{p}"] - places[f"right_{p}"])[start].mean(axis=0)
               for p in ("thigh", "upper_arm"))
    assert left[0] > 0.9 * np.linalg.norm(left)
    assert 1.3 < np.percentile(places["head"][:, 2], 90) < 1.8


def test_a_take_of_cmu_is_the_same_as_its_markers_walk(samples):
    """The c3d and the amc are other trials of the same laboratory: gait of like speed and size."""
    walk = read_motion(samples / "asf-amc" / "35_01.amc").motion
    speed = np.linalg.norm(np.diff(walk.root_positions[:, :2], axis=0), axis=1).mean() * walk.fps
    assert 0.8 < speed < 1.8


def test_a_last_frame_that_is_cut_is_left_out(samples):
    recording = read_motion(samples / "asf-amc" / "golf_01.amc")
    assert any("ends in the middle of frame 444" in note for note in recording.notes)


@pytest.mark.parametrize("motion", ["me.amc", "me_01.amc", "me-run.amc", "me_01-run_x.amc"])
def test_the_skeleton_is_found_by_its_name(tmp_path, motion):
    for other in ("you.asf", "m.asf"):
        (tmp_path / other).write_text("no skeleton")
    (tmp_path / "me.asf").write_text(skeleton())
    (tmp_path / motion).write_text(poses())
    assert "me.asf" in read_motion(tmp_path / motion).notes[0]


def test_take_numbers_inside_names_do_not_matter(tmp_path):
    (tmp_path / "09-run.asf").write_text(skeleton())
    (tmp_path / "131-run.asf").write_text("no skeleton")
    (tmp_path / "09_06-run.amc").write_text(poses())
    assert "09-run.asf" in read_motion(tmp_path / "09_06-run.amc").notes[0]


def test_the_only_skeleton_is_taken_and_two_others_are_not(tmp_path):
    (tmp_path / "a.asf").write_text(skeleton())
    (tmp_path / "walk.amc").write_text(poses())
    assert read_motion(tmp_path / "walk.amc").motion.frames == 3
    (tmp_path / "b.asf").write_text(skeleton())
    with pytest.raises(RequestError, match=r"found a\.asf, b\.asf"):
        read_motion(tmp_path / "walk.amc")
    named = ReadOptions(skeleton=tmp_path / "b.asf")
    assert "b.asf" in read_motion(tmp_path / "walk.amc", named).notes[0]


def test_the_only_skeleton_is_not_taken_where_its_number_is_of_another(tmp_path):
    (tmp_path / "16.asf").write_text(skeleton())
    (tmp_path / "35_01.amc").write_text(poses())
    with pytest.raises(RequestError, match=r"skeleton next to it, 35_01\.asf \(found 16\.asf\)"):
        read_motion(tmp_path / "35_01.amc")
    named = read_motion(tmp_path / "35_01.amc", ReadOptions(skeleton=tmp_path / "16.asf"))
    assert any("16.asf is of another subject than 35_01.amc" in note for note in named.notes)


@pytest.mark.parametrize(("amc", "asf", "said"), [
    ("131_04-dance", "35", True), ("35_01", "131-dance", True), ("golf_01", "131-dance", True),
    ("131_04-dance", "131-dance", False), ("golf_01", "golf", False), ("35_01", "35", False),
    ("09_06-run", "09-run", False)])
def test_legs_of_another_length_are_noticed(samples, amc, asf, said):
    folder = samples / "asf-amc"
    found = read_motion(folder / f"{amc}.amc", ReadOptions(skeleton=folder / f"{asf}.asf"))
    assert any("may be the skeleton of another" in note for note in found.notes) == said


def test_a_skeleton_file_alone_is_refused(tmp_path):
    (tmp_path / "me.asf").write_text(skeleton())
    with pytest.raises(RequestError, match=r"expected the \.amc"):
        read_motion(tmp_path / "me.asf")


def test_a_bone_turns_about_its_own_axis(take):
    """An axis turned by 90 degrees about Z makes rx a turn about Y."""
    body = skeleton(axes={"lhumerus": "0 0 90"})
    bent = read_motion(take(poses(values={"lhumerus": "30 0 0"}), body)).motion
    index = bent.skeleton.index
    upper = bent.global_pose.positions[0, [index["lhumerus"], index["lradius"]]]
    along = (upper[1] - upper[0]) / np.linalg.norm(upper[1] - upper[0])
    # About the file's Y, which is up, from the left towards the back.
    assert along == pytest.approx([np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0], abs=1e-6)


def test_angles_are_turned_in_the_order_of_the_freedom(take):
    motion = read_motion(take(poses(values={"head": "20 30 40"}))).motion
    found = motion.rotations[0, motion.skeleton.index["head"]]
    # X first, then Y, then Z about fixed axes; the file's Y is up, its Z is where -Y is here.
    wanted = quaternions.from_euler("xyz", [20.0, 30.0, 40.0])
    turned = np.array([wanted[0], wanted[1], -wanted[3], wanted[2]])
    assert abs(float(found @ turned)) == pytest.approx(1.0, abs=1e-9)


def test_radians_are_understood(take):
    degrees = read_motion(take(poses(values={"chest": "30 0 0"}))).motion
    radians = read_motion(take(poses(values={"chest": f"{np.pi / 6} 0 0"}, head=":RADIANS"),
                               skeleton(angle="rad"))).motion
    assert np.allclose(degrees.rotations, radians.rotations, atol=1e-9)


@pytest.mark.parametrize(("damage", "said"), [
    (lambda t: t.replace("rtibia 0\n", "rtibia 0 1\n", 1), "line .*rtibia.* has 2 values"),
    (lambda t: t.replace("rtibia 0\n", "rtibia x\n", 1), "line .*expected 1 numbers"),
    (lambda t: t.replace("rtibia 0\n", "", 1), "frame 1 has no values for 'rtibia'"),
    (lambda t: t.replace("rtibia 0\n", "tail 0\n", 1), "line .*'tail' is not a moving bone"),
    (lambda t: t.replace("rtibia 0\n", "rtibia 0\nrtibia 0\n", 1), "twice in one frame"),
    (lambda t: t.replace("rtibia 0\n", "rtibia inf\n", 1), "expected 1 numbers"),
    (lambda t: t.split("2\nroot")[0], "has 1 whole frames"),
    (lambda t: "# nothing", "has 0 whole frames"),
    (lambda t: "\0" + t, "binary"),
])
def test_damaged_motion_is_refused_with_the_place(take, damage, said):
    with pytest.raises(RequestError, match=said):
        read_motion(take(damage(poses())))


@pytest.mark.parametrize(("old", "new", "said"), [
    ("name head", "name chest", "unique name"), ("dof rx ry rz", "dof rx rx", "each once"),
    ("axis XYZ", "axis XXZ", "order of axes"), ("direction 0 1 0", "direction 0 1", "3 numbers"),
    ("root lhipjoint", "root lhop", "unknown bone 'lhop'"),
    ("lhipjoint lfemur", "lhipjoint lhipjoint", "after its parent"),
    (":hierarchy", ":nothing", "no :bonedata or no :hierarchy"),
])
def test_damaged_skeletons_are_refused_with_the_place(take, old, new, said):
    with pytest.raises(RequestError, match=said) as refusal:
        read_motion(take(poses(), skeleton().replace(old, new, 1)))
    assert "me.asf" in str(refusal.value)


@settings(max_examples=examples(60), deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 4000), junk=st.sampled_from(
    ["nan", "-", "1e400", "root", ":", "#", "begin", "\n", "0 0 0", "rx", "\udcff"]))
def test_mutated_skeletons_give_a_motion_or_one_line(take, place, junk):
    text = skeleton()
    at = place % len(text)
    path = take(poses(), (text[:at] + junk + text[at:]).encode("utf-8", "replace").decode())
    try:
        assert np.isfinite(read_motion(path).motion.rotations).all()
    except RequestError as refusal:
        assert "\n" not in str(refusal)


@pytest.mark.slow
def test_the_fuzzing_script_finds_nothing(samples, tmp_path):
    script = ROOT / "benchmarks" / "fuzz_readers.py"
    small = tmp_path / "35_01.amc"
    shutil.copy(samples / "asf-amc" / "35.asf", tmp_path)
    rows = (samples / "asf-amc" / "35_01.amc").read_text().splitlines(keepends=True)
    small.write_text("".join(rows[:363]))
    done = subprocess.run([sys.executable, script, small, tmp_path / "35.asf", "--mutations", "80",
                           "--keep", tmp_path / "kept"], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout and "read" in done.stdout
