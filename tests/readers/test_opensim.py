"""OpenSim's joint angles, made after its guide: no file is a recording."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.readers import Recording, read_motion

FRAMES = 40
Angles = dict[str, float | NDArray[np.float64]]


def write_mot(path: Path, angles: Angles, degrees: bool = True, fps: float = 100.0,
              prefix: str = "") -> Path:
    columns = {"pelvis_tilt": 0.0, "hip_flexion_r": 0.0, "hip_flexion_l": 0.0, "pelvis_tx": 0.0,
               "pelvis_ty": 0.95} | angles
    names = [name if not prefix else f"/jointset/{prefix}/{name}/value" for name in columns]
    values = np.stack([np.broadcast_to(value, FRAMES) for value in columns.values()], axis=1)
    rows = ["Coordinates", "version=1", f"nRows={FRAMES}", f"nColumns={len(columns) + 1}",
            f"inDegrees={'yes' if degrees else 'no'}", "endheader", "\t".join(["time", *names])]
    rows += ["\t".join([f"{frame / fps:.4f}", *(f"{one:.6f}" for one in row)])
             for frame, row in enumerate(values)]
    path.write_text("\n".join(rows) + "\n")
    return path


def bone(found: Recording, start: str, end: str) -> NDArray[np.float64]:
    """Where a bone points in the first frame: X left, -Y ahead, Z up."""
    index, places = found.motion.skeleton.index, found.motion.global_pose.positions[0]
    way = places[index[found.roles[end]]] - places[index[found.roles[start]]]
    return np.asarray(way / np.linalg.norm(way))


SWING = np.linspace(-1.0, 1.0, FRAMES)


@pytest.mark.parametrize("ending", [".mot", ".sto", ".txt"])
def test_angles_turn_limbs_as_their_names_say(tmp_path, ending):
    found = read_motion(write_mot(tmp_path / f"a{ending}", {
        "hip_flexion_r": 30 + SWING, "knee_angle_l": -40 + SWING, "arm_flex_l": 90.0,
        "arm_add_r": -90.0, "elbow_flex_r": 5.0, "hip_adduction_l": -20.0}))
    assert (found.format, found.up_axis) == ("OpenSim", "Y")
    assert found.motion.fps == pytest.approx(100.0)
    assert bone(found, "right_thigh", "right_shin")[1] == pytest.approx(-0.5, abs=0.05)
    assert bone(found, "left_shin", "left_foot")[1] == pytest.approx(0.6, abs=0.1)
    assert bone(found, "left_upper_arm", "left_forearm")[1] == pytest.approx(-1.0, abs=0.05)
    assert bone(found, "right_upper_arm", "right_forearm")[0] == pytest.approx(-1.0, abs=0.05)
    assert bone(found, "left_thigh", "left_shin")[0] == pytest.approx(0.34, abs=0.05)


def test_knees_bend_back_whatever_their_sign(tmp_path):
    found = read_motion(write_mot(tmp_path / "a.mot", {"knee_angle_r": 60.0 + SWING}))
    assert bone(found, "right_shin", "right_foot")[1] > 0.7


def test_radians_and_paths_in_names_are_read(tmp_path):
    degrees = read_motion(write_mot(tmp_path / "a.mot", {"hip_flexion_r": 30 + SWING}))
    radians = read_motion(write_mot(tmp_path / "b.sto", {
        "hip_flexion_r": np.radians(30 + SWING)}, degrees=False, prefix="hip_r"))
    assert np.allclose(degrees.motion.rotations, radians.motion.rotations, atol=1e-5)


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda text: text.replace("hip_flexion_l", "force_vx"), "has no column 'hip_flexion_l'"),
    (lambda text: text.replace("endheader", "end"), "expected a line endheader"),
    (lambda text: text.replace("0.0100\t", "0.0100\tx\t", 1), "cells, expected"),
    (lambda text: text.replace("0.950000", "nan", 1), "not angles or positions"),
    (lambda text: text.partition("0.0100")[0], "has 1 frames")])
def test_what_is_no_table_of_angles_is_refused_in_one_line(tmp_path, spoil, said):
    path = write_mot(tmp_path / "a.mot", {"hip_flexion_r": SWING})
    path.write_text(spoil(path.read_text()))
    with pytest.raises(RequestError, match=said) as refused:
        read_motion(path)
    assert "\n" not in str(refused.value)
