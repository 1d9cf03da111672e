"""glTF files as libraries and tools write them: without a skin, compressed, with flat bones."""
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glb_files
from bvh_text import HIERARCHY, person
from mimegen.base.errors import RequestError
from mimegen.base.file_signatures import refuse_foreign
from mimegen.motion import quaternions
from mimegen.readers import READERS, read_motion
from mimegen.readers.fbx import _rotations, _solid, _with_last_solid_pose
from mimegen.readers.gltf import check_gltf, with_bones
from places import DATA
from running import invoke

WITHOUT_SKIN = DATA / "motion_without_skin.glb"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 1257280\n"
HEIC = b"\0\0\0\x24ftypheic\0\0\0\0mif1MiHBMiHEMiPrmiaf" + bytes(600)
AVIF = b"\0\0\0\x20ftypavif\0\0\0\0mif1avifmiafMA1B" + bytes(600)


def node(document, name):
    return next(one for one in document["nodes"] if one.get("name") == name)


@pytest.mark.slow
def test_an_animated_tree_of_nodes_is_a_skeleton():
    recording = read_motion(WITHOUT_SKIN)
    assert (recording.motion.frames, recording.motion.fps) == (24, 30.0)
    assert recording.roles["left_hand"] == "LeftHand"
    assert any("no skin" in note for note in recording.notes)


@pytest.mark.slow
def test_uneven_keys_are_sampled_at_a_rate_that_is_named(tmp_path):
    document, buffer = glb_files.parts_of(WITHOUT_SKIN)
    moved = bytearray(buffer)
    for number in {one["input"] for one in document["animations"][0]["samplers"]}:
        accessor = document["accessors"][number]
        start = (document["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
                 + accessor.get("byteOffset", 0))
        times = np.linspace(0.0, 1.0, accessor["count"], dtype="<f4") ** 2
        moved[start : start + times.nbytes] = times.tobytes()
        accessor["min"], accessor["max"] = [0.0], [1.0]
    (tmp_path / "moved.bin").write_bytes(moved)
    document["buffers"][0]["uri"] = "moved.bin"
    path = tmp_path / "uneven.gltf"
    path.write_text(json.dumps(document))
    recording = read_motion(path)
    assert recording.motion.fps == 24.0
    assert any("not evenly spaced" in note and "24 fps" in note for note in recording.notes)
    assert not any("evenly" in note for note in read_motion(WITHOUT_SKIN).notes)


@pytest.mark.slow
def test_the_tree_is_found_in_text_with_its_buffer_beside(tmp_path):
    document, buffer = glb_files.parts_of(WITHOUT_SKIN)
    (tmp_path / "a b.bin").write_bytes(buffer)
    document["buffers"][0]["uri"] = "a%20b.bin"
    document["meshes"], node(document, "Head")["mesh"] = [{"primitives": []}], 0
    path = tmp_path / "library.gltf"
    path.write_text(json.dumps(document))
    assert read_motion(path).motion.frames == 24


def test_every_animated_tree_gets_a_skin_with_its_end_nodes(tmp_path):
    def change(document):
        count = len(document["nodes"])
        document["nodes"] += [{"name": "end"}, {"name": "prop", "children": [count + 2]},
                              {"name": "handle"}, {"name": "lamp"}]
        node(document, "Head").setdefault("children", []).append(count)
        document["scenes"][0]["nodes"] += [count + 1, count + 3]
        document["animations"][0]["channels"].append(
            {"sampler": 0, "target": {"node": count + 1, "path": "translation"}})

    path = glb_files.changed(WITHOUT_SKIN, tmp_path / "two.glb", change)
    document, buffer = glb_files.parts_of(with_bones(path, tmp_path))
    named = [[document["nodes"][joint]["name"] for joint in skin["joints"]]
             for skin in document["skins"]]
    assert {len(named[0]), len(named[1])} == {53, 2} and ["prop", "handle"] in named
    assert any("end" in tree and tree[0] == "Hips" for tree in named)
    assert buffer == glb_files.parts_of(path)[1]


def test_a_file_with_a_skin_stays(tmp_path):
    path = glb_files.changed(WITHOUT_SKIN, tmp_path / "skin.glb",
                             lambda document: document.update(skins=[{"joints": [0, 1]}]))
    assert with_bones(path, tmp_path) == path


@pytest.mark.parametrize("spoilt", ["x", [], 3, None])
def test_a_node_that_is_none_is_left_to_blender(tmp_path, spoilt):
    document, _ = glb_files.parts_of(WITHOUT_SKIN)
    document["nodes"].append(spoilt)
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(document))
    assert with_bones(path, tmp_path) == path


@given(st.data())
def test_damaged_json_is_left_to_blender(tmp_path_factory, data):
    odd = st.sampled_from([None, [], {}, "x", -1, 3.5, [None], {"target": None}, 10**9])
    document, buffer = glb_files.parts_of(WITHOUT_SKIN)
    for key in data.draw(st.lists(st.sampled_from(
            ["nodes", "animations", "skins", "scenes", "buffers", "extensionsRequired"]))):
        document[key] = data.draw(odd)
    for _ in range(data.draw(st.integers(0, 3))):
        if isinstance(document["nodes"], list) and document["nodes"] and \
                isinstance(document["nodes"][-1], dict):
            document["nodes"][-1]["children"] = data.draw(odd)
    folder = tmp_path_factory.mktemp("damaged")
    path = glb_files.write(folder / "damaged.glb", document, bytes(buffer))
    check_gltf(path)
    assert with_bones(path, folder).suffix == ".glb"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["glb", "vrm"])
def test_compressed_pictures_are_refused_with_what_decompresses_them(tmp_path, ending):
    path = glb_files.changed(
        WITHOUT_SKIN, tmp_path / f"small.{ending}",
        lambda document: document.update(extensionsRequired=["KHR_texture_basisu"]))
    with pytest.raises(RequestError, match=r"KTX2.*ktxdecompress"):
        check_gltf(path)
    done = invoke("retarget", WITHOUT_SKIN, "--character", path, "--out", tmp_path / "x.bvh")
    assert done.exit_code == 2 and f"small_plain.{ending}" in done.output


@pytest.mark.parametrize("ending", READERS)
def test_git_lfs_pointers_are_told(tmp_path, ending):
    path = tmp_path / f"take{ending}"
    path.write_bytes(POINTER)
    with pytest.raises(RequestError, match=r"Git LFS pointer.*git lfs pull"):
        read_motion(path)


def test_pointers_beside_a_file_are_told(tmp_path):
    document, _ = glb_files.parts_of(WITHOUT_SKIN)
    document["buffers"][0]["uri"] = "a.bin"
    (tmp_path / "a.bin").write_bytes(POINTER)
    (tmp_path / "library.gltf").write_text(json.dumps(document))
    with pytest.raises(RequestError, match=r"a\.bin: is a Git LFS pointer"):
        read_motion(tmp_path / "library.gltf")


@pytest.mark.parametrize(("content", "said"), [
    (POINTER, "git lfs pull"), (HEIC, "convert it to JPEG"), (b"\n<!DOCTYPE html>", "web page")])
@pytest.mark.parametrize("name", ["photo.heic", "photo.jpg", "photo.png", "place.yaml"])
def test_pictures_that_are_none_get_advice(tmp_path, content, said, name):
    path = tmp_path / name
    path.write_bytes(content)
    done = invoke("preview", "dancing", "--background", path, "--out", tmp_path / "sheet.png")
    assert done.exit_code == 2 and said in done.output and not (tmp_path / "sheet.png").exists()


@pytest.mark.parametrize("content", [b"", b"\0", b"\0\0\0\x18ftyp", AVIF, b"HIERARCHY", b"vers"])
def test_other_files_are_left_alone(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    refuse_foreign(path)
    refuse_foreign(tmp_path / "missing")


# Bones whose matrices cannot be inverted.


def poses(frames, joints):
    turns = np.random.default_rng(3).normal(size=(frames, joints, 4))
    matrices = np.tile(np.eye(4), (frames, joints, 1, 1))
    matrices[..., :3, :3] = quaternions.to_matrices(quaternions.normalise(turns))
    return matrices


FLATTENED = [np.diag([0.0, 0, 0]), np.diag([1.0, 0, 1]),
             np.array([[1.0, 1, 0], [0, 0, 0], [0, 0, 1]])]


@pytest.mark.parametrize("flat", FLATTENED)
def test_a_bone_that_is_flat_for_a_while_keeps_its_rotation(flat):
    pose = poses(6, 3)
    pose[[0, 2, 3], 1, :3, :3] = pose[[0, 2, 3], 1, :3, :3] @ flat
    solid = _solid(Path("a.glb"), ("a", "b", "c"), pose, pose[1])
    assert np.flatnonzero(~solid[:, 1]).tolist() == [0, 2, 3] and solid[:, [0, 2]].all()
    kept = _with_last_solid_pose(pose, solid)
    assert np.array_equal(kept[:, 1], pose[[1, 1, 1, 1, 4, 5], 1])
    assert np.allclose(np.linalg.norm(_rotations(kept), axis=-1), 1.0)


@pytest.mark.parametrize("flat", FLATTENED)
def test_a_bone_that_is_always_flat_is_refused_by_name(flat):
    pose = poses(4, 3)
    pose[:, 2, :3, :3] = flat
    with pytest.raises(RequestError, match=r"a\.glb: bone 'c' has scale 0"):
        _solid(Path("a.glb"), ("a", "b", "c"), pose, poses(1, 3)[0])
    with pytest.raises(RequestError, match="bone 'c'"):
        _solid(Path("a.glb"), ("a", "b", "c"), poses(4, 3), pose[0])


def test_mirrored_bones_turn_as_their_mirror_images_do():
    pose, rest = poses(5, 2), poses(1, 2)[0]
    mirror = np.diag([-1.0, 1, 1, 1])
    plain, mirrored = (quaternions.multiply(_rotations(pose @ m), quaternions.conjugate(
        _rotations(rest @ m))) for m in (np.eye(4), mirror))
    assert np.allclose(np.abs(np.sum(plain * mirrored, axis=-1)), 1.0)


@pytest.mark.slow
def test_a_bone_without_size_in_a_file(tmp_path):
    document, buffer = glb_files.parts_of(WITHOUT_SKIN)
    channels = {(document["nodes"][c["target"]["node"]]["name"], c["target"]["path"]): c["sampler"]
                for c in document["animations"][0]["channels"]}
    samplers = document["animations"][0]["samplers"]
    arm = samplers[channels["LeftArm", "scale"]]["output"]
    glb_files.values(document, buffer, arm)[5:9] = 0.0
    found = read_motion(glb_files.write(tmp_path / "flat.glb", document, bytes(buffer)))
    assert any("scaled to nothing in 4 frames" in note for note in found.notes)
    assert np.isfinite(found.motion.rotations).all()


# Names that look like markup.


@pytest.mark.parametrize("name", ["[/x]", "[bold]Hips", "[link=a]", ":smile:", "[red][/red]", "["])
def test_names_that_look_like_markup_are_printed_as_they_are(tmp_path, name):
    hierarchy = HIERARCHY.replace("ROOT Hips", f"ROOT {name}:Hips").replace(
        "JOINT Head", f"JOINT {name}_Head")
    text = person(hierarchy=hierarchy)
    path = tmp_path / f"{name.replace('/', '')}.bvh"
    path.write_text(text)
    done = invoke("inspect", path)
    assert done.exit_code == 0, done.output
    assert f"{name}_Head" in done.output and f"{name}:Hips" in done.output
