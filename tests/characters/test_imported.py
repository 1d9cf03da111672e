"""Rigged files that users bring: what is read, how it stands, what is refused."""
import base64
import io
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial import cKDTree

import glb_files
from mimegen.base.errors import RequestError
from mimegen.characters.arkit_shapes import PREFIX, shapes_of
from mimegen.characters.character import Character, posed_vertices
from mimegen.characters.helpers import ADDED
from mimegen.characters.imported import importing as imported
from mimegen.characters.imported.importing import import_character
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.motion import quaternions, standard_skeleton
from mimegen.pages.preview import capsule_body
from mimegen.readers import blender_process
from places import SAMPLES, SUPPORT

pytestmark = pytest.mark.engines

FBX = SAMPLES / "fbx"
needs_samples = pytest.mark.skipif(not FBX.is_dir(), reason="no mocap samples beside the repo")
MILLIMETRE = 1e-3


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    script = SUPPORT / "imported_figure.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def original() -> Character:
    return capsule_body(standard_skeleton())


def all_vertices(character: Character) -> NDArray[Any]:
    return np.concatenate([mesh.vertices for mesh in character.meshes])


def dense_weights(character: Character) -> NDArray[Any]:
    """Return weights (V, J) of all meshes, joints in the order of the standard skeleton."""
    order = [standard_skeleton().index[name] for name in character.skeleton.names]
    rows = []
    for mesh in character.meshes:
        dense = np.zeros((len(mesh.vertices), len(order)))
        vertex = np.arange(len(dense))[:, None]
        np.add.at(dense, (vertex, np.array(order)[mesh.joints]), mesh.weights)
        rows.append(dense)
    return np.concatenate(rows)


def placed(original: Character, points: NDArray[Any]) -> NDArray[Any]:
    """Return the original's points as an import places them: hips over the origin, Z from 0."""
    hips = original.skeleton.heads[0]
    return points - [hips[0], hips[1], all_vertices(original)[:, 2].min()]


@pytest.mark.parametrize("name", ["plain.glb", "plain.fbx", "inches.fbx"])
def test_geometry_joints_and_weights_come_back(
    name: str, files: Path, cache: Path, original: Character
) -> None:
    found = import_character(files / name, cache)
    assert set(found.skeleton.names) == set(original.skeleton.names)
    for joint, bone in enumerate(original.skeleton.names):
        own = found.skeleton.index[bone]
        assert np.allclose(found.skeleton.heads[own],
                           placed(original, original.skeleton.heads[joint]), atol=MILLIMETRE)
        above, parent = found.skeleton.parents[own], original.skeleton.parents[joint]
        assert above == -1 or found.skeleton.names[above] == original.skeleton.names[parent]
    true = placed(original, all_vertices(original))
    here = all_vertices(found)
    apart, nearest = cKDTree(true).query(here)
    assert apart.max() < MILLIMETRE
    assert cKDTree(here).query(true)[0].max() < MILLIMETRE
    alike = np.abs(dense_weights(found) - dense_weights(original)[nearest]).max(axis=1)
    # Where capsules touch, the nearest vertex may be another bone's.
    assert np.mean(alike < 0.01) > 0.97
    faces = sum(len(mesh.faces) for mesh in found.meshes)
    assert faces >= sum(len(mesh.faces) for mesh in original.meshes)


def test_it_stands_as_the_house_does(files: Path, cache: Path) -> None:
    found = import_character(files / "inches.fbx", cache)
    skeleton = found.skeleton
    assert all_vertices(found)[:, 2].min() == pytest.approx(0, abs=1e-6)
    assert skeleton.names[0] == "Hips" and np.allclose(skeleton.heads[0, :2], 0, atol=1e-6)
    left = skeleton.heads[skeleton.index["LeftArm"]]
    assert left[0] > 0.1
    toes = skeleton.heads[skeleton.index["LeftToeBase"]]
    assert toes[1] < skeleton.heads[skeleton.index["LeftFoot"]][1] - 0.05
    assert 1.7 < found.height < 1.8


def with_sides_exchanged(document: dict[str, Any]) -> None:
    other = {"Left": "Right", "Right": "Left"}
    for node in document["nodes"]:
        node["name"] = re.sub("Left|Right", lambda side: other[side[0]], node.get("name", ""))


@pytest.mark.parametrize("wrong", ["mirrored", "named by a viewer"])
def test_sides_are_what_the_toes_say(wrong: str, files: Path, tmp_path: Path) -> None:
    """Left is +X of a figure that faces -Y; with its names as they are, it would use its right."""
    file = files / "mirrored.glb" if wrong == "mirrored" else glb_files.changed(
        files / "plain.glb", tmp_path / "viewer.glb", with_sides_exchanged)
    found = import_character(file)
    heads = dict(zip(found.skeleton.names, found.skeleton.heads, strict=True))
    for name, place in heads.items():
        assert place[0] * name.startswith("Left") >= 0 >= place[0] * name.startswith("Right"), name
    assert heads["LeftHand"][0] > 0.3 and heads["LeftToeBase"][1] < heads["LeftFoot"][1] - 0.05
    assert any("wrong way round" in note for note in found.notes)


def test_faces_point_outwards_even_when_mirrored(files: Path, cache: Path) -> None:
    for name in ("plain.glb", "mirrored.glb"):
        found = import_character(files / name, cache)
        volume = 0.0
        for mesh in found.meshes:
            assert mesh.faces.max() < len(mesh.vertices) and mesh.faces[:, :3].min() >= 0
            a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
            volume += float(np.sum(a * np.cross(b, c))) / 6
        assert volume > 0.01


def test_smooth_surfaces_are_welded_and_sharp_ones_split(
    files: Path, cache: Path, original: Character
) -> None:
    found = import_character(files / "company.glb", cache)
    hats = [mesh for mesh in found.meshes if "Hat" in mesh.name]
    corners = sum(int((mesh.faces >= 0).sum()) for mesh in hats)
    assert sum(len(mesh.vertices) for mesh in hats) > corners / 2
    body = sum(len(mesh.vertices) for mesh in found.meshes if "Hat" not in mesh.name)
    assert body < 1.25 * len(all_vertices(original))


@pytest.mark.parametrize("name", ["company.glb", "company.fbx", "company.gltf"])
def test_company_of_the_figure(
    name: str, files: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = import_character(files / name, cache)
    assert "Floor" in caplog.text and not any("Floor" in mesh.name for mesh in found.meshes)
    assert found.skeleton.names[0] == "Hips"
    assert not {"Root", "FootCtrl"} & set(found.skeleton.names)
    hat = next(mesh for mesh in found.meshes if "Hat" in mesh.name)
    assert hat.weights.sum(axis=1) == pytest.approx(1)
    followed = hat.joints[np.arange(len(hat.joints)), hat.weights.argmax(axis=1)]
    assert {found.skeleton.names[joint] for joint in followed} == {"Head"}
    shirt = found.materials["shirt"]
    assert shirt.kind == "image" and shirt.image
    picture = Image.open(io.BytesIO(shirt.image))
    assert picture.mode == "RGB" and picture.getpixel((0, 0)) == (200, 0, 0)
    assert all(mesh.uvs is not None and mesh.uvs.shape == (*mesh.faces.shape, 2)
               for mesh in found.meshes if mesh.material == "shirt")
    assert found.materials["trousers"].parameters["roughness"] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("mode", ["MASK", "BLEND", "OPAQUE"])
def test_pictures_of_unlit_materials_keep_what_is_cut_out(
    mode: str, files: Path, tmp_path: Path
) -> None:
    """VRM's toon materials are unlit ones to other programs; hair and eyes are cut out of them."""
    pixels = np.full((8, 8, 4), 255, np.uint8)
    pixels[:4, :, 3] = 0
    encoded = io.BytesIO()
    Image.fromarray(pixels).save(encoded, "PNG")

    def change(document: dict[str, Any]) -> None:
        data = base64.b64encode(encoded.getvalue()).decode()
        document["images"] = [{"uri": f"data:image/png;base64,{data}"}]
        document["textures"] = [{"source": 0}]
        document.setdefault("extensionsUsed", []).append("KHR_materials_unlit")
        for material in document["materials"]:
            material["alphaMode"] = mode
            material["extensions"] = {"KHR_materials_unlit": {}}
            if "baseColorTexture" in material.get("pbrMetallicRoughness", {}):
                material["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}

    found = import_character(glb_files.changed(files / "company.glb", tmp_path / "a.vrm", change))
    image = found.materials["shirt"].image
    assert image and (Image.open(io.BytesIO(image)).mode == "RGBA") == (mode != "OPAQUE")


def test_helpers_whose_bones_were_renamed_are_plain_bones() -> None:
    whole = [*standard_skeleton().names, *ADDED]
    assert imported._own_names(whole) == tuple(whole)
    renamed = [f"J_{name}" if name == "LeftArm" else name for name in whole]
    assert not {*ADDED} & {*imported._own_names(renamed)}
    assert imported._own_names(["Hips", "Spine"]) == ("Hips", "Spine")


def test_a_pose_moves_the_skin_with_its_bone(files: Path, cache: Path) -> None:
    found = import_character(files / "plain.glb", cache)
    skeleton = found.skeleton
    rotations = np.tile(quaternions.IDENTITY, (len(skeleton.names), 1))
    turn = quaternions.from_rotation_vectors([0.0, np.pi / 2, 0.0])
    head = skeleton.heads[skeleton.index["LeftHand"]]
    moved = [i for i, name in enumerate(skeleton.names) if name.startswith("LeftHand")]
    rotations[moved] = turn
    positions = skeleton.heads.copy()
    positions[moved] = head + quaternions.rotate(turn, skeleton.heads[moved] - head)
    for mesh in found.meshes:
        posed = posed_vertices(mesh, skeleton, positions, rotations)
        share = np.where(np.isin(mesh.joints, moved), mesh.weights, 0).sum(axis=1)
        assert np.allclose(posed[share < 1e-6], mesh.vertices[share < 1e-6])
        whole = share > 1 - 1e-6
        expected = head + quaternions.rotate(turn, mesh.vertices[whole] - head)
        assert np.allclose(posed[whole], expected, atol=1e-6)


@pytest.mark.parametrize("name", ["arkit.glb", "arkit.fbx"])
def test_shape_keys_of_arkit_come_with_the_body(name: str, files: Path, cache: Path) -> None:
    found = import_character(files / name, cache)
    face = next(mesh for mesh in found.meshes if shapes_of(mesh))
    farthest = {shape: np.abs(face.attributes[PREFIX + shape]).max(axis=0)
                for shape in shapes_of(face)}
    assert set(farthest) == {"jawOpen", "eyeBlinkLeft", "eyeBlinkRight", "mouthSmileLeft",
                             "browInnerUp"}
    assert farthest["jawOpen"] == pytest.approx([0, 0, 0.02], abs=1e-5)
    assert farthest["mouthSmileLeft"] == pytest.approx([0.01, 0, 0.01], abs=1e-5)
    # A face under the nose moves down, on the front of the head.
    low = face.vertices[face.attributes[PREFIX + "jawOpen"][:, 2] < 0]
    assert (low[:, 1] < 0).all() and np.abs(low[:, 0]).max() < 0.06
    [note] = [note for note in found.notes if "shape keys" in note]
    assert note.startswith("has 5 of ARKit's 52") and "tongueOut" in note and "jawOpen" not in note


def test_a_second_reading_needs_no_blender(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = import_character(files / "plain.glb", tmp_path)
    monkeypatch.setattr(imported, "read_in_blender", lambda *_: pytest.fail("Blender was started"))
    second = import_character(files / "plain.glb", tmp_path)
    assert first.fingerprint == second.fingerprint
    assert [entry.suffix for entry in tmp_path.iterdir()] == [".npz"]


def test_a_changed_picture_or_a_damaged_cache_is_read_again(files: Path, tmp_path: Path) -> None:
    folder, cache = tmp_path / "figure", tmp_path / "cache"
    folder.mkdir()
    for name in ("company.gltf", "company.bin", "stripes.png"):
        (folder / name).write_bytes((files / name).read_bytes())
    first = import_character(folder / "company.gltf", cache)
    Image.new("RGB", (8, 8), (0, 255, 0)).save(folder / "stripes.png")
    second = import_character(folder / "company.gltf", cache)
    assert first.fingerprint != second.fingerprint
    kept = next(cache.iterdir())
    kept.write_bytes(kept.read_bytes()[:1000])
    assert import_character(folder / "company.gltf", cache).fingerprint == second.fingerprint


@pytest.mark.parametrize(("name", "expected"), [
    ("no_body.glb", "has a skeleton but no body"),
    ("unbound.fbx", "has a skeleton but no body"),
    ("no_skeleton.glb", "contains no skeleton"),
    ("missing.fbx", "no such file"),
    ("stripes.png", "ends in .fbx, .glb, .gltf, .vrm"),
])
def test_refused(name: str, expected: str, files: Path) -> None:
    with pytest.raises(RequestError, match=expected) as error:
        import_character(files / name)
    assert name in str(error.value) and "\n" not in str(error.value)


def test_a_mesh_alone_is_no_character(tmp_path: Path) -> None:
    mesh = tmp_path / "woman.ply"
    mesh.write_bytes(b"ply\n")
    with pytest.raises(RequestError, match=r"meshes have no skeleton"):
        cast_member(Catalogue.with_libraries(()), str(mesh))


@pytest.mark.parametrize("name", ["plain.glb", "plain.fbx"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_truncated(name: str, share: float, files: Path, tmp_path: Path) -> None:
    whole = (files / name).read_bytes()
    broken = tmp_path / name
    broken.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(RequestError, match=name) as error:
        import_character(broken)
    assert "\n" not in str(error.value)


def test_a_crash_of_blender_is_reported(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    real = blender_process._run
    monkeypatch.setattr(blender_process, "_run", lambda command, *rest: real(
        [sys.executable, "-c", crash], *rest))
    with pytest.raises(RequestError, match=r"plain\.glb: Blender crashed.*signal 11"):
        import_character(files / "plain.glb")


@needs_samples
@pytest.mark.parametrize(("name", "height"), [
    ("bvhtoolbox_template.fbx", 1.85), ("ufbx_maya_kenney_character.fbx", 1.75),
])
def test_real_figures(name: str, height: float, cache: Path) -> None:
    found = import_character(FBX / name, cache)
    assert found.height == pytest.approx(height, abs=0.01)
    assert found.skeleton.names[0] == "Hips"
    assert not any("Ctrl" in joint or "_end" in joint for joint in found.skeleton.names)


@needs_samples
def test_motion_without_a_body_is_refused() -> None:
    with pytest.raises(RequestError, match="no body"):
        import_character(FBX / "mixamo_ybot_punch.fbx")


def test_the_command_line_refuses_before_anything_is_made(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["render", "--action", "basketball", "--variants", "base+blank@0", "--character",
               str(files / "no_body.glb"), "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "mimegen", *command], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1 and "no_body.glb" in done.stderr
    assert not out.exists()
