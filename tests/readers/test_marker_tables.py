"""Markers in tables: Vicon Nexus's CSV, Qualisys's TSV, TRC; each says what a C3D file does.

The files are made after what the programs' manuals say of their exports; none is a recording.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from marked_bodies import PLUG_IN_GAIT, exercise, markers, write_c3d
from mimegen.base.errors import RequestError
from mimegen.readers import ReadOptions, read_motion

LEGS = PLUG_IN_GAIT[PLUG_IN_GAIT.index("LASI"):]
MILLIMETRE = 1e-3


def cells(frame: NDArray[np.float64], empty: str = "") -> list[str]:
    return [f"{value:.5f}" if np.isfinite(value) else empty for value in frame.ravel()]


def qualisys(path: Path, labels: list[str], places: NDArray[np.float64], timed: bool) -> Path:
    head = [f"NO_OF_FRAMES\t{len(places)}", "NO_OF_CAMERAS\t8", f"NO_OF_MARKERS\t{len(labels)}",
            "FREQUENCY\t30", "NO_OF_ANALOG\t0", "DESCRIPTION\t--", "DATA_INCLUDED\t3D",
            "\t".join(["MARKER_NAMES", *labels])]
    if timed:
        head.append("\t".join(["Frame", "Time", *(f"{one} {axis}" for one in labels
                                                  for axis in "XYZ")]))
    before = [[str(n + 1), f"{n / 30:.5f}"] if timed else [] for n in range(len(places))]
    rows = ["\t".join([*start, *cells(frame, "0.000")])
            for start, frame in zip(before, places, strict=True)]
    path.write_text("\n".join([*head, *rows]))
    return path


def nexus(path: Path, labels: list[str], places: NDArray[np.float64], subject: str = "Bob") -> Path:
    names = [cell for label in labels for cell in (f"{subject}:{label}", "", "")]
    head = [["Devices"], ["1000"], ["", "", "Force"], ["Frame", "Sub Frame", "Fx"], ["", "", "N"],
            ["1", "0", "5.1"], [], ["Trajectories"], ["30"], ["", "", *names],
            ["Frame", "Sub Frame", *"XYZ" * len(labels)], ["", "", *["mm"] * 3 * len(labels)]]
    rows = [[str(n + 1), "0", *cells(frame)] for n, frame in enumerate(places)]
    path.write_text("\n".join(",".join(row) for row in [*head, *rows, [], ["Events"], ["30"]]))
    return path


def trc(path: Path, labels: list[str], places: NDArray[np.float64]) -> Path:
    count = f"{len(places)}\t{len(labels)}\tmm"
    head = [f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits", f"30\t30\t{count}",
            "Frame#\tTime\t" + "\t\t\t".join(labels),
            "\t\t" + "\t".join(f"{axis}{n + 1}" for n in range(len(labels)) for axis in "XYZ"), ""]
    rows = ["\t".join([str(n + 1), f"{n / 30:.5f}", *cells(frame)])
            for n, frame in enumerate(places)]
    path.write_text("\n".join([*head, *rows]))
    return path


def seen_places(labels: list[str]) -> NDArray[np.float64]:
    """Places in millimetres, with one marker out of sight for a while."""
    places = 1000.0 * markers(PLUG_IN_GAIT, exercise())[:, [PLUG_IN_GAIT.index(one)
                                                             for one in labels]]
    places[10:14, 3] = np.nan
    return places


@pytest.mark.parametrize("kind", ["QTM", "QTM with times", "Vicon Nexus"])
def test_tables_say_what_a_c3d_file_says(tmp_path, kind):
    places = seen_places(PLUG_IN_GAIT)
    same = read_motion(write_c3d(tmp_path / "a.c3d", PLUG_IN_GAIT, places, unit="mm"))
    if kind == "Vicon Nexus":
        path = nexus(tmp_path / "a.csv", PLUG_IN_GAIT, places)
    else:
        path = qualisys(tmp_path / "a.tsv", PLUG_IN_GAIT, places, "times" in kind)
    found = read_motion(path)
    assert (found.format, found.system, found.motion.fps) == (
        kind.partition(" with")[0], same.system, 30.0)
    apart = found.motion.global_pose.positions - same.motion.global_pose.positions
    assert np.abs(apart).max() < MILLIMETRE


def test_legs_alone_stand_in_a_table_that_says_no_axis(tmp_path):
    """Gait laboratories leave the trunk out."""
    places = seen_places(LEGS)
    same = read_motion(write_c3d(tmp_path / "a.c3d", LEGS, places, unit="mm"))
    found = read_motion(trc(tmp_path / "a.trc", LEGS, places))
    assert found.up_axis == same.up_axis
    apart = found.motion.global_pose.positions - same.motion.global_pose.positions
    assert np.abs(apart).max() < MILLIMETRE


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.csv", "Devices\n1000\n,,Fx\nFrame,Sub Frame,Fx\n1,0,5\n", "no section Trajectories"),
    ("a.csv", "Trajectories\n30\n", "no section Trajectories"),
    ("a.csv", "Trajectories\nx\n,,B:LASI,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n1,0,1,2,3\n"
              "2,0,1,2,3\n", "no frame rate"),
    ("a.csv", "Trajectories\n30\n,,B:LASI,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n1,0,1,x,3\n"
              "2,0,1,2,3\n", "line 6: 'x' is not a number"),
    ("a.tsv", "a\tb\n1\t2\n", "MARKER_NAMES"),
    ("a.tsv", "NO_OF_FRAMES\t2\nMARKER_NAMES\tLASI\nFREQUENCY\t30\n", "has 0 frames"),
    ("a.tsv", "NO_OF_FRAMES\t2\nMARKER_NAMES\t\n1\t2\t3\n1\t2\t3\n", "names 0 markers")])
def test_wrong_tables_are_refused_in_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(RequestError, match=said) as refused:
        read_motion(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_the_rate_of_a_table_may_be_given(tmp_path):
    path = qualisys(tmp_path / "a.tsv", PLUG_IN_GAIT, seen_places(PLUG_IN_GAIT), False)
    path.write_text(path.read_text().replace("FREQUENCY\t30\n", ""))
    with pytest.raises(RequestError, match="no frame rate"):
        read_motion(path)
    assert read_motion(path, ReadOptions(fps_of_file=50.0)).motion.fps == 50.0
