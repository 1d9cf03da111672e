"""Files that other software reads: repaired with a note, or refused with what to do."""
import re

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bvh_text import HIERARCHY, person, row
from examples import examples
from mimegen.base.errors import RequestError
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import user_take
from mimegen.motion import Motion
from mimegen.readers import ReadOptions, read_motion
from mimegen.readers.bvh import read_bvh
from mimegen.readers.root_unit import in_one_unit
from mimegen.readers.text import text_of
from places import DATA
from real_files import NAMES
from running import invoke
from test_readers_asf_amc import poses, skeleton

JAPANESE = DATA / "japanese_shift_jis.bvh"
ROWS = [row(x=0.37 * i, y=89.5 + 0.25 * i, turn=2.5 * i) for i in range(8)]
PLAIN = person(ROWS)


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "take.bvh"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_motion(path, ReadOptions(**options))

    return read


def same(first, second):
    return np.allclose(first.motion.global_pose.positions, second.motion.global_pose.positions)


COMMENTED = [
    "# exported by a tool\n" + PLAIN,
    "// one\n; two\n% three\n\n" + PLAIN,
    "Exported from somewhere, 3.5 minutes\n" + PLAIN,
    PLAIN.replace("\n JOINT", "\n # a leg { }\n JOINT").replace("MOTION\n", "MOTION\n# rows\n\n"),
    PLAIN.replace("OFFSET 0 30 0\n", "OFFSET 0 30 0 # up\n"),
    PLAIN.replace(ROWS[3], f"// the fourth\n\n{ROWS[3]} # that was it") + "\n\n# the end\n",
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_and_blank_lines_may_be_anywhere(read, text):
    assert same(read(text), read(PLAIN))


@pytest.mark.parametrize("text", [
    PLAIN.replace("End Site", "End Site toe_end"), PLAIN.replace("End Site", "End Site_L 1"),
    PLAIN.replace("End Site {", "end site\n{\n CHANNELS 0\n"), PLAIN.replace("ROOT", "root"),
    PLAIN.replace("HIERARCHY", "Hierarchy").replace("MOTION", "Motion"),
    PLAIN.replace("MOTION", "}\nMOTION"),
    PLAIN.replace(f"Frames: {len(ROWS)}\nFrame Time: 0.0333333",
                  f"Frame Time: 0.0333333 s\nFrames: {len(ROWS)}"),
])
def test_other_spellings_are_read(read, text):
    assert same(read(text), read(PLAIN))


@pytest.mark.parametrize("declared", [*range(len(ROWS) + 3), "", "many"])
def test_a_wrong_number_of_frames_becomes_a_note(read, declared):
    found = read(PLAIN.replace(f"Frames: {len(ROWS)}", f"Frames: {declared}"))
    assert same(found, read(PLAIN))
    assert any("declare" in note for note in found.notes) == (declared != len(ROWS))


def test_a_file_that_lacks_many_of_its_frames_is_refused(read):
    with pytest.raises(RequestError, match=r"ends after 8 of the 40 frames .* truncated"):
        read(PLAIN.replace("Frames: 8", "Frames: 40"))


@pytest.mark.parametrize(("time", "perhaps"), [
    ("0", ""), ("-0.033", ""), ("nan", ""), ("inf", ""), ("", ""), ("soon", ""), ("1e-9", ""),
    ("33.3333", "perhaps 30 or 33.333"), ("8.33333", "perhaps 120"), ("60", "perhaps 60")])
def test_a_frame_time_that_says_nothing_needs_the_option(read, time, perhaps):
    text = PLAIN.replace("0.0333333", time)
    with pytest.raises(RequestError, match=rf"line \d+: .*--fps-of-file.*{perhaps}"):
        read(text)
    found = read(text, fps_of_file=30.0)
    assert found.motion.fps == 30.0 and same(found, read(PLAIN))
    assert any("--fps-of-file" in note for note in found.notes)


def test_a_missing_frame_time_needs_the_option(read):
    text = PLAIN.replace("Frame Time: 0.0333333\n", "")
    with pytest.raises(RequestError, match=r"no frame time.*--fps-of-file"):
        read(text)
    assert read(text, fps_of_file=30.0).motion.frames == len(ROWS)


def test_an_unusual_rate_is_doubted(read):
    assert any("--fps-of-file" in note for note in read(PLAIN.replace("0.0333333", "0.25")).notes)
    assert not any("--fps-of-file" in note for note in read(PLAIN).notes)


def test_the_second_of_a_name_gets_a_number(read):
    hierarchy = HIERARCHY.replace("JOINT Chest", "JOINT Spine").replace("JOINT Head", "JOINT Spine")
    found = read(person(ROWS, hierarchy=hierarchy.replace("End Site", "JOINT Head { OFFSET 0 9 0"
                                                          " End Site", 1).replace("}", "} }", 1)))
    assert "Spine #2" in found.motion.skeleton.names
    assert any("Spine #2" in note for note in found.notes)


def comma(text):
    head, motion = text.split("MOTION")
    return re.sub(r"(?<=\d)\.(?=\d)", ",", head) + "MOTION" + re.sub(
        r"(?<=\d)\.(?=\d)", ",", motion)


def test_decimal_commas_and_commas_between_numbers(read):
    found = read(comma(PLAIN))
    assert same(found, read(PLAIN)) and any("decimal commas" in note for note in found.notes)
    head, motion = PLAIN.split("0.0333333\n")
    parted = head + "0.0333333\n" + motion.replace(" ", ", ")
    assert same(read(parted), read(PLAIN))
    assert same(read(parted.replace(", ", ",")), read(PLAIN))


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]


@pytest.mark.parametrize("encoding", [*ENCODINGS, "latin-1", "cp1252"])
def test_encodings_of_western_names(read, encoding):
    text = PLAIN.replace("LeftHand", "Main gauche né").replace("Chest", "Rücken")
    found = read(text.encode(encoding))
    assert same(found, read(PLAIN))
    assert {"Main gauche né", "Rücken"} <= set(found.motion.skeleton.names)


@pytest.mark.parametrize("encoding", [*ENCODINGS, "cp932", "euc_jp"])
def test_encodings_of_japanese_names(tmp_path, encoding):
    text = JAPANESE.read_bytes().decode("cp932")
    path = tmp_path / "take.bvh"
    path.write_bytes(text.encode(encoding))
    found = read_motion(path)
    assert found.roles["left_forearm"] == "左ひじ"
    assert same(found, read_motion(JAPANESE))


@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
def test_encodings_of_chinese_names(read, encoding):
    text = PLAIN.replace("LeftForeArm", "左前臂").replace("RightForeArm", "右前臂").replace(
        "LeftLeg", "左小腿").replace("RightLeg", "右小腿")
    found = read(text.encode(encoding))
    assert {"左前臂", "右小腿"} <= set(found.motion.skeleton.names)
    assert any("not UTF-8" in note for note in found.notes)


@pytest.mark.slow
@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1),
       st.sampled_from(ENCODINGS[:4]))
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_letters_come_through_unicode(tmp_path, letters, encoding):
    path = tmp_path / "some.txt"
    text = "HIERARCHY\nROOT " + letters + "\n" + "OFFSET 0 0 0\n" * 40
    path.write_bytes(text.encode(encoding))
    assert text_of(path, "text").rows == text.split("\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_acclaim_files_of_other_encodings_and_commas(tmp_path, encoding):
    (tmp_path / "me.asf").write_text(skeleton())
    path = tmp_path / "me.amc"
    path.write_text(poses(root="0 17.5 0.25 0 0 0"))
    plain = read_motion(path)
    for file in tmp_path.iterdir():
        text = f"# Hände é\n{file.read_text()}"
        file.write_bytes(re.sub(r"(?<=\d)\.(?=\d)", ",", text).encode(encoding))
    found = read_motion(path, ReadOptions(fps_of_file=60.0))
    assert same(found, plain) and (plain.motion.fps, found.motion.fps) == (120.0, 60.0)
    assert any("decimal commas" in note for note in found.notes)
    assert not any("assumed" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [0.001, 0.01, 0.1, 10.0, 100.0, 1000.0])
def test_a_root_in_another_unit_is_brought_to_that_of_the_bones(samples, name, factor):
    motion, notes = read_bvh(samples / "bvh" / f"{name}.bvh")
    assert not any("another unit" in note for note in notes)
    wrong = Motion(motion.skeleton, motion.fps, motion.root_positions * factor, motion.rotations)
    found, notes = in_one_unit(wrong)
    assert np.allclose(found.root_positions, motion.root_positions) and "another unit" in notes[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_root_elsewhere_is_in_the_same_unit(samples, name):
    motion, _ = read_bvh(samples / "bvh" / f"{name}.bvh")
    size = float(np.ptp(motion.skeleton.heads, axis=0).max())
    for away in (motion.root_positions[0], motion.root_positions.mean(axis=0), [0, size, 0],
                 [0, 0, -2 * size]):
        moved = Motion(motion.skeleton, motion.fps, motion.root_positions - away, motion.rotations)
        assert in_one_unit(moved)[1] == ()


@pytest.mark.slow
def test_the_given_rate_is_stored_with_an_imported_take(tmp_path):
    file = tmp_path / "walk.bvh"
    file.write_text(PLAIN.replace("0.0333333", "0"))
    words = ("import", file, "--action", "juggling", "--library", tmp_path / "mine")
    assert invoke(*words).exit_code == 2
    done = invoke(*words, "--fps-of-file", "24", "--label", "juggling")
    assert done.exit_code == 0, done.output
    stored = next((tmp_path / "mine").rglob("*.take.yaml"))
    assert yaml.safe_load(stored.read_text())["fps_of_file"] == 24.0


def test_a_rate_changes_a_take_s_key_only_where_it_is_given(tmp_path):
    file = tmp_path / "walk.bvh"
    file.write_text(PLAIN)
    plain, again, faster = (
        user_take(Catalogue.with_libraries(()), file, (), None, None, "mine", None,
                  ReadOptions(fps_of_file=fps)) for fps in (None, None, 60.0))
    assert plain.version == again.version != faster.version
    assert faster.reading()["motion_fps_of_file"] == faster.reading()["motion_fps"] == 60.0
