"""glTF files packed with meshoptimizer.

``meshopt_streams.jsonl`` was written by the package meshoptimizer 1.3 for Node: streams of its
encoder, and what its decoder makes of each (or the SHA-256 of that). The packed GLB files are of
gltfpack 1.3: ``motion_without_skin.glb``, and the figure that ``imported_figure.py`` makes.
"""

import base64
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glb_files
from mimegen.base.errors import RequestError
from mimegen.characters.imported.importing import import_character
from mimegen.motion import standard_skeleton
from mimegen.pages.preview import capsule_body
from mimegen.readers import read_motion
from mimegen.readers.meshopt.attributes import unpack_attributes
from mimegen.readers.meshopt.deltas import DamagedStreamError
from mimegen.readers.meshopt.filters import exponential
from mimegen.readers.meshopt.unpacking import MAX_MIB, _unpacked, unpacked
from places import DATA

STREAMS = [json.loads(line) for line in
           (DATA / "meshopt_streams.jsonl").read_text(encoding="utf-8").splitlines()]
MOTION, FIGURE = DATA / "motion_packed.glb", DATA / "figure_packed.glb"
EXTENSION = "EXT_meshopt_compression"


def packing(stream):
    return {"mode": stream["mode"], "filter": stream["filter"], "count": stream["count"],
            "byteStride": stream["size"]}


def label(stream):
    version = stream.get("version", "")
    return f"{stream['mode']}-{stream['filter']}-{version}-{stream['count']}x{stream['size']}"


@pytest.mark.parametrize("stream", STREAMS, ids=label)
def test_streams_come_out_as_their_own_decoder_reads_them(stream):
    found = _unpacked(packing(stream), base64.b64decode(stream["data"]))
    if "sha256" in stream:
        assert hashlib.sha256(found.tobytes()).hexdigest() == stream["sha256"]
        return
    kinds = {4: np.int8, 8: np.int16} if stream["filter"] != "COLOR" else {4: np.uint8,
                                                                           8: np.uint16}
    kind = kinds.get(stream["size"], np.uint8)
    plain = np.frombuffer(base64.b64decode(stream["plain"]), kind)
    apart = found.reshape(-1).view(kind).astype(int) - plain
    # The specification allows one unit in the last place, but for exponents.
    assert np.abs(apart).max() <= (stream["filter"] != "EXPONENTIAL")


@given(st.data())
def test_damaged_streams_are_read_or_refused(data):
    stream = data.draw(st.sampled_from(STREAMS))
    content = bytearray(base64.b64decode(stream["data"]))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[:data.draw(st.integers(0, len(content)))] + bytes(data.draw(
        st.integers(0, 3)))
    try:
        found = _unpacked(packing(stream), bytes(content))
    except DamagedStreamError:
        return
    assert found.size == stream["count"] * stream["size"]


def test_a_stream_that_ends_early_is_refused():
    stream = next(one for one in STREAMS if one["count"] == 300)
    data = base64.b64decode(stream["data"])
    with pytest.raises(DamagedStreamError, match=r"early|left"):
        unpack_attributes(data[:-40], 300, stream["size"])


def test_exponents_out_of_range_are_held():
    found = exponential(np.array([[0, 0, 1, 127]], np.uint8))
    assert np.isfinite(found.view("<f4")).all()


def damaged(tmp_path, change):
    return glb_files.changed(MOTION, tmp_path / "damaged.glb", change)


def first(document):
    return next(view["extensions"][EXTENSION] for view in document["bufferViews"]
                if EXTENSION in view.get("extensions", {}))


@pytest.mark.parametrize(("key", "value", "said"), [
    ("count", 2**40, f"more than {MAX_MIB} MiB"), ("count", -1, "its count is -1"),
    ("count", 100_000, "early"), ("byteStride", 6, "mode"), ("byteStride", 0, "0"),
    ("mode", "X", "mode is X"), ("mode", ["X"], "mode"), ("filter", "Y", "filter is Y"),
    ("buffer", 99, "JSON is damaged"), ("byteOffset", 10**9, "its buffer at"),
    ("byteLength", 12, "buffer view"), ("byteLength", None, "byteLength is None")])
def test_sizes_that_lie_are_refused_in_one_line(tmp_path, key, value, said):
    path = damaged(tmp_path, lambda document: first(document).update({key: value}))
    with pytest.raises(RequestError, match=said) as refusal:
        unpacked(path, tmp_path)
    assert "\n" not in str(refusal.value) and "packed with meshoptimizer" in str(refusal.value)


@pytest.mark.parametrize(("key", "value"), [
    *((key, value) for key in ("buffers", "bufferViews") for value in (None, 3, "x", [None])),
    ("bufferViews", [{}])])
def test_damaged_json_is_refused(tmp_path, key, value):
    path = damaged(tmp_path, lambda document: document.update({key: value}))
    with pytest.raises(RequestError, match="packed with meshoptimizer"):
        unpacked(path, tmp_path)


def test_a_buffer_that_is_missing_is_named(tmp_path):
    document, _ = glb_files.parts_of(MOTION)
    document["buffers"][0]["uri"] = "away%20.bin"
    path = tmp_path / "text.gltf"
    path.write_text(json.dumps(document))
    with pytest.raises(RequestError, match=r"away \.bin was not found beside it"):
        unpacked(path, tmp_path)


def test_plain_files_stay(tmp_path):
    plain = DATA / "motion_without_skin.glb"
    assert unpacked(plain, tmp_path) == plain


@pytest.mark.slow
@pytest.mark.parametrize("text", [False, True])
def test_packed_motion_is_the_motion_that_was_packed(tmp_path, text):
    packed = MOTION
    if text:
        document, buffer = glb_files.parts_of(MOTION)
        (tmp_path / "a b.bin").write_bytes(buffer)
        document["buffers"][0]["uri"] = "a%20b.bin"
        packed = tmp_path / "packed.gltf"
        packed.write_text(json.dumps(document))
    found = read_motion(packed).motion
    plain = read_motion(DATA / "motion_without_skin.glb").motion
    assert found.skeleton.names == plain.skeleton.names and found.frames == plain.frames
    apart = found.global_pose.positions - plain.global_pose.positions
    assert np.abs(apart).max() < 1e-3


@pytest.mark.slow
@pytest.mark.engines
def test_packed_figures_are_whole():
    found, original = import_character(FIGURE), capsule_body(standard_skeleton())
    assert set(found.skeleton.names) == set(original.skeleton.names)
    tops = [np.concatenate([mesh.vertices for mesh in one.meshes])[:, 2]
            for one in (found, original)]
    assert np.ptp(tops[0]) == pytest.approx(np.ptp(tops[1]), abs=1e-3)
    assert sum(len(mesh.faces) for mesh in found.meshes) > 0.9 * sum(
        len(mesh.faces) for mesh in original.meshes)
