"""Bodies for other programs, and what is found wrong with bodies from there."""

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh
from click.testing import Result

from mimegen.characters import posing
from mimegen.characters.presses import FARTHEST_M
from mimegen.writers.piece import Piece
from mimegen.writers.solid import solid
from mimegen.writers.statue import STATUE_SUFFIXES, examine, write_statue
from running import invoke


def cube() -> Piece:
    made = trimesh.creation.box((0.5, 0.4, 1.8))
    return Piece("cube", made.vertices + np.array([0, 0, 0.9]), made.faces.astype(np.int32),
                 np.tile([0.5, 0.0, 0.2], (8, 1)))


def run(*words: str) -> Result:
    return invoke("character", *words)


@pytest.mark.parametrize("suffix", STATUE_SUFFIXES)
def test_every_format_keeps_shape_and_size(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"cube{suffix}"
    write_statue(target, [cube()])
    found = examine(target)
    assert found.triangles == 12 and found.vertices == 8
    assert found.height_m == pytest.approx(1.8) and found.problems == ()


def test_colors_are_srgb(tmp_path: Path) -> None:
    write_statue(tmp_path / "cube.ply", [cube()])
    visual = trimesh.load_mesh(tmp_path / "cube.ply").visual
    assert isinstance(visual, trimesh.visual.ColorVisuals)
    assert (visual.vertex_colors[:, :3] == [188, 0, 124]).all()


@pytest.mark.parametrize(("scale", "drop", "said"), [
    (100.0, 0, "in centimetres it would be 1.80 m"), (1.0, 1, "not watertight: 3 edges"),
    (20.0, 0, "no person's height")])
def test_scale_and_holes_are_found(tmp_path: Path, scale: float, drop: int, said: str) -> None:
    whole = cube()
    write_statue(tmp_path / "cube.stl", [Piece(
        whole.name, scale * whole.vertices, whole.triangles[drop:], whole.colors)])
    done = run("check", str(tmp_path / "cube.stl"))
    assert done.exit_code == 0 and said in done.output
    told = json.loads(run("check", str(tmp_path / "cube.stl"), "--json").output)
    assert any(said in problem for problem in told["problems"])


def test_a_person_is_written_in_the_pose_of_a_moment_without_folds(tmp_path: Path) -> None:
    heights = []
    for pose in ("rest", "boxing@2.3s"):
        target = tmp_path / f"{pose}.obj"
        done = run("export", "woman", "--pose", pose, "--out", str(target))
        assert done.exit_code == 0, done.output
        found = examine(target)
        assert f" {found.triangles} triangles" in done.output
        # Hair, brows and clothes are sheets; nothing else is wrong.
        assert [problem[:14] for problem in found.problems] == ["not watertight"]
        heights.append(found.height_m)
    assert 1.6 < heights[0] < 2.0 and 1.2 < heights[1] < heights[0]


@pytest.mark.parametrize("suffix", [".ply", ".glb"])
def test_arms_press_in_the_body_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                suffix: str) -> None:
    corrections = posing._own_corrections
    places = []
    for name in ("pressed", "blended"):
        target = tmp_path / f"{name}{suffix}"
        done = run("export", "woman", "--pose", "boxing@2.3s", "--out", str(target))
        assert done.exit_code == 0, done.output
        places.append(np.concatenate([
            mesh.vertices for mesh in trimesh.load_scene(target).geometry.values()]))
        monkeypatch.setattr(posing, "_own_corrections",
                            lambda character: corrections(character)._replace(presses=None))
    moved = np.linalg.norm(places[1] - places[0], axis=1)
    assert 0.005 < moved.max() < FARTHEST_M + 1e-4
    assert (moved < 1e-6).mean() > 0.7, "what touches nothing stays"


def test_a_solid_body_has_no_opening(tmp_path: Path) -> None:
    target = tmp_path / "solid.glb"
    done = run("export", "woman", "--solid", "--out", str(target))
    assert done.exit_code == 0, done.output
    assert examine(target).problems == ()
    for mesh in trimesh.load_scene(target).dump():
        assert isinstance(mesh, trimesh.Trimesh)
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        assert mesh.is_volume, "closed, and its triangles look outwards"


def test_a_box_without_a_lid_gets_one_and_a_sheet_a_back(tmp_path: Path) -> None:
    box = trimesh.creation.box((0.5, 0.4, 1.8)).subdivide().subdivide()
    lidless = box.triangles_center[:, 2] < 0.89
    for kept, volume in ((lidless, 0.36), (~lidless, 0.001 * 0.5 * 0.4)):
        part = Piece("box", np.asarray(box.vertices), box.faces[kept].astype(np.int32),
                     np.ones((len(box.vertices), 3)))
        closed = solid(part)
        mesh = trimesh.Trimesh(closed.vertices, closed.triangles)
        assert mesh.is_volume and mesh.volume == pytest.approx(volume, rel=1e-3)
        assert (mesh.bounds[1] <= box.bounds[1] + 1e-9).all(), "nothing bulges"
        write_statue(tmp_path / "part.glb", [part])
        assert "(00_box 16)" in examine(tmp_path / "part.glb").problems[-1]


@pytest.mark.parametrize(("words", "said"), [
    (("export", "man", "--pose", "boxing"), "boxing@2.3s"),
    (("export", "man", "--pose", "boxing@nan"), "boxing@2.3s"),
    (("check", "."), "no such file"),
    (("export", "man", "--pose", "boxing@900s"), "the take ends at"),
    (("export", "man", "--out", "man.docx"), ".glb, .stl, .obj, .ply")])
def test_what_cannot_be_exported_is_said_in_one_line(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_file_that_is_no_mesh_is_said_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.glb"
    broken.write_bytes(b"glTF" + bytes(40))
    done = run("check", str(broken))
    assert done.exit_code == 2 and "broken.glb" in done.stderr and done.stderr.count("\n") == 1
