"""Rigged figures with tails, hats and held things: where they stand, and where keypoints are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from box_figure import BONES, HEAD_TOP_M, TAIL, Bone, Thing, write_figure
from mimegen import take
from mimegen.characters.character import Character
from mimegen.characters.imported.importing import import_character
from mimegen.groundtruth.landmarks import landmarks_of

pytestmark = pytest.mark.engines
STAFF: Thing = ("Staff", "RightHand", (-0.8, -0.35, 0), (-0.8, 2.3, 0), 0.02)
HAT: Thing = ("Hat", "Head", (0, HEAD_TOP_M, 0), (0, 2.1, 0), 0.12)
EYES: dict[str, Bone] = {"Jaw": ("Head", (0, 1.57, 0.02), (0, 1.56, 0.09), 0.02),
                         "LeftEye": ("Head", (0.03, 1.64, 0.07), (0.03, 1.64, 0.09), 0.01),
                         "RightEye": ("Head", (-0.03, 1.64, 0.07), (-0.03, 1.64, 0.09), 0.01)}


def soles_and_top(character: Character) -> tuple[float, float]:
    """Return the lowest Z of the feet and the highest of the head's box."""
    body = next(mesh for mesh in character.meshes if mesh.name.startswith("Body"))
    names = np.array(character.skeleton.names)[body.joints[np.arange(len(body.joints)),
                                                            body.weights.argmax(axis=1)]]
    foot = np.char.endswith(names, "Foot") | np.char.endswith(names, "ToeBase")
    return float(body.vertices[foot, 2].min()), float(body.vertices[names == "Head", 2].max())


@pytest.mark.parametrize("thing", [STAFF, HAT])
@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_things_do_not_change_where_a_figure_stands_nor_its_size(
        thing: Thing, unit: float, tmp_path: Path) -> None:
    bare = import_character(write_figure(tmp_path / "bare.glb", unit=unit))
    laden = import_character(write_figure(tmp_path / "laden.glb", things=[thing], unit=unit))
    np.testing.assert_allclose(soles_and_top(laden), soles_and_top(bare), atol=1e-4)
    assert soles_and_top(laden)[0] == pytest.approx(0, abs=1e-4)
    assert any("below the soles" in note for note in laden.notes) == (thing is STAFF)


def landmarks(character: Character) -> dict[str, NDArray[Any]]:
    found = landmarks_of(character)
    rest = found.matrix.toarray().reshape(len(found.names), -1, 4)[..., :3].sum(axis=1)
    return dict(zip(found.names, rest, strict=True))


@pytest.mark.parametrize(("bones", "things"), [
    (BONES, ()), (BONES, (HAT,)), (BONES | EYES, ()),
])
def test_keypoints_of_a_face_lie_on_the_head(bones: dict[str, Bone], things: tuple[Thing, ...],
                                             tmp_path: Path) -> None:
    figure = import_character(write_figure(tmp_path / "figure.glb", bones, things))
    points = landmarks(figure)
    lowest = 1.55 + figure.skeleton.heads[0, 2] - 1.0
    for name in ("nose", "left_eye", "right_eye"):
        assert points[name][1] == pytest.approx(-0.09, abs=0.011)
        assert lowest < points[name][2] < lowest + 0.2
    assert points["left_ear"][0] == pytest.approx(0.09, abs=1e-3)
    assert points["right_ear"][0] == pytest.approx(-0.09, abs=1e-3)
    assert points["head_top"] == pytest.approx([0, 0, lowest + 0.2], abs=1e-3)


def test_a_tail_does_not_lift_who_sits_down(tmp_path: Path) -> None:
    hips = {}
    for name, bones in (("plain", BONES), ("tailed", BONES | TAIL)):
        write_figure(tmp_path / f"{name}.glb", bones)
        sitting = take("sit_down").on(str(tmp_path / f"{name}.glb"))
        hips[name] = sitting.positions()[:, 0, 2]
    np.testing.assert_allclose(hips["tailed"], hips["plain"], atol=0.02)
    notes = import_character(tmp_path / "tailed.glb").notes
    assert any("Tail1, Tail2" in note for note in notes)


SOLID: dict[str, Any] = {"name": "solid"}
CAGE: Thing = ("Cage", "Hips", (0, 0.1, 0), (0, 1.9, 0), 0.5)


def glass(alpha: float) -> dict[str, Any]:
    """Return a material whose transparency is not that of a picture."""
    return {"name": "glass", "alphaMode": "BLEND",
            "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, alpha]}}


@pytest.mark.parametrize(("alpha", "shown", "note"), [
    (0.0, False, "materials invisible in the file, left out: glass"),
    (0.4, True, "materials transparent in the file, shown opaque: glass"),
])
def test_what_a_file_makes_invisible_hides_nobody(alpha: float, shown: bool, note: str,
                                                  tmp_path: Path) -> None:
    figure = import_character(write_figure(
        tmp_path / "caged.glb", things=[CAGE], materials=[SOLID, glass(alpha)], of_thing=1))
    assert note in figure.notes
    assert any(mesh.name.startswith("Cage") for mesh in figure.meshes) == shown


@pytest.mark.parametrize(("color", "material", "note"), [
    ((1.0, 0.2, 0.2, 1.0), {}, "colors at vertices are not shown: Body"),
    ((1.0, 1.0, 1.0, 1.0), {}, None),
    (None, {"emissiveFactor": [0, 1, 0]}, "the light that materials emit is not shown: solid"),
])
def test_what_is_not_shown_is_said(color: tuple[float, ...] | None, material: dict[str, Any],
                                   note: str | None, tmp_path: Path) -> None:
    figure = import_character(write_figure(
        tmp_path / "figure.glb", materials=[SOLID | material], color=color))
    assert figure.notes == (() if note is None else (note,))
