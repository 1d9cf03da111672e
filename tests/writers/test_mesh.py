"""Bodies in a pose as mesh files for other programs."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from click.testing import Result

from mimegen.characters import posing
from mimegen.characters.presses import MAX_SHIFT_M
from mimegen.writers.mesh import MESH_SUFFIXES, ColoredMesh, write_meshes
from running import invoke


def cube() -> ColoredMesh:
    made = trimesh.creation.box((0.5, 0.4, 1.8))
    return ColoredMesh("cube", made.vertices + np.array([0, 0, 0.9]),
                       made.faces.astype(np.int32), np.tile([0.5, 0.0, 0.2], (8, 1)))


def run(*words: str) -> Result:
    return invoke("character", "export", *words)


def whole(path: Path) -> trimesh.Trimesh:
    """What a file's meshes are together, vertices at one place merged."""
    found = trimesh.load_scene(path).to_mesh()
    found.merge_vertices(merge_tex=True, merge_norm=True)
    return found


@pytest.mark.parametrize("suffix", MESH_SUFFIXES)
@pytest.mark.parametrize("inside_out", [False, True])
def test_every_format_keeps_shape_and_size_and_faces_out(tmp_path: Path, suffix: str,
                                                         inside_out: bool) -> None:
    made = cube()
    if inside_out:
        made = ColoredMesh(made.name, made.vertices, made.triangles[:, ::-1], made.colors)
    write_meshes(tmp_path / f"cube{suffix}", [made])
    found = whole(tmp_path / f"cube{suffix}")
    assert found.faces.shape == (12, 3) and len(found.vertices) == 8 and found.is_volume
    assert np.ptp(found.vertices[:, 1 if suffix == ".glb" else 2]) == pytest.approx(1.8)


def test_colors_are_srgb(tmp_path: Path) -> None:
    write_meshes(tmp_path / "cube.ply", [cube()])
    visual = trimesh.load_mesh(tmp_path / "cube.ply").visual
    assert isinstance(visual, trimesh.visual.ColorVisuals)
    assert (visual.vertex_colors[:, :3] == [188, 0, 124]).all()


def test_a_person_is_written_in_the_pose_of_a_moment_without_folds(tmp_path: Path) -> None:
    heights = []
    for pose in ("rest", "boxing@2.3s"):
        target = tmp_path / f"{pose}.obj"
        done = run("woman", "--pose", pose, "--out", str(target))
        assert done.exit_code == 0, done.output
        found = whole(target)
        assert f" {len(found.faces)} triangles" in done.output
        assert found.is_winding_consistent and (found.area_faces >= 1e-12).all()
        heights.append(float(np.ptp(found.vertices[:, 2])))
    assert 1.6 < heights[0] < 2.0 and 1.2 < heights[1] < heights[0]


@pytest.mark.parametrize("suffix", [".ply", ".glb"])
def test_arms_press_in_the_body_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                suffix: str) -> None:
    corrections = posing._own_corrections
    places = []
    for name in ("pressed", "blended"):
        target = tmp_path / f"{name}{suffix}"
        done = run("woman", "--pose", "boxing@2.3s", "--out", str(target))
        assert done.exit_code == 0, done.output
        places.append(np.concatenate([
            mesh.vertices for mesh in trimesh.load_scene(target).geometry.values()]))
        monkeypatch.setattr(posing, "_own_corrections",
                            lambda character: corrections(character)._replace(presses=None))
    moved = np.linalg.norm(places[1] - places[0], axis=1)
    assert 0.005 < moved.max() < MAX_SHIFT_M + 1e-4
    assert (moved < 1e-6).mean() > 0.7, "what touches nothing stays"


@pytest.mark.parametrize(("words", "said"), [
    (("man", "--pose", "boxing"), "boxing@2.3s"),
    (("man", "--pose", "boxing@nan"), "boxing@2.3s"),
    (("man", "--pose", "boxing@900s"), "the last frame of the take is at"),
    (("man", "--out", "man.docx"), ".glb, .stl, .obj, .ply")])
def test_what_cannot_be_exported_is_said_in_one_line(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1
