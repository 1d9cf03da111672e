"""Exports of ground truth; benchmarks/exports.py has them read by pycocotools and webdataset."""

import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import imageio_ffmpeg
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from exports_clips import FRAMES, small_clips
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.evaluation.exports.coco import run_lengths
from mimegen.evaluation.exports.exporting import export
from mimegen.evaluation.sampling import write_frames
from mimegen.groundtruth.parts import PARTS
from mimegen.manifest.file import add_rows, typed_row

PERSONS = 2


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of two people each, with keypoints and masks as render --passes leaves them."""
    out = tmp_path_factory.mktemp("truth") / "out"
    rows = small_clips(out, ("base+blank@0",))[:3]
    (out / "manifest.jsonl").unlink()
    add_rows(out, [typed_row(row.model_dump(mode="json", exclude_unset=True) | {
        "passes": {kind: facts(out, kind, row.sample_id) for kind in ("keypoints", "mask")}})
        for row in rows])
    return out


def facts(out: Path, kind: str, sample: str) -> dict[str, Any]:
    folder = out / "passes" / kind / sample
    folder.mkdir(parents=True)
    if kind == "mask":
        for frame in range(FRAMES):
            Image.fromarray(mask(frame)).save(folder / f"{frame:06d}.png")
    else:
        for name in ("coco17.json", "wholebody133.json"):
            (folder / name).write_text(json.dumps(keypoints()))
    return {"folder": f"passes/{kind}/{sample}", "key": 64 * "0", "engine": "raster",
            "files": "000000.png", "sha256": "0"}


def mask(frame: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    labels = np.zeros((36, 64), np.uint8)
    labels[: frame + 1, :2], labels[20:, 30 + frame:] = 1, 2
    return labels


def keypoints() -> dict[str, Any]:
    return {
        "images": [{"id": frame + 1, "file_name": f"{frame:06d}.png", "frame": frame, "width": 64,
                    "height": 36} for frame in range(FRAMES)],
        "annotations": [{"id": frame * PERSONS + person, "image_id": frame + 1, "category_id": 1,
                         "iscrowd": 0, "person": person, "bbox": [0, 0, 9, 9], "area": 81,
                         "num_keypoints": 1, "keypoints": [1, 2, 2] + [0] * 48}
                        for frame in range(FRAMES) for person in (1, 2)],
        "categories": [{"id": 1, "name": "person", "keypoints": ["nose"], "skeleton": []}]}


def test_run_lengths_go_down_the_columns_and_begin_with_what_is_off():
    assert run_lengths(np.array([[0, 1, 1], [0, 0, 1]], bool)) == [2, 1, 1, 2]
    assert run_lengths(np.array([[1, 0], [1, 0]], bool)) == [0, 2, 2]
    assert run_lengths(np.zeros((2, 2), bool)) == [4]


@pytest.mark.slow
def test_clips_become_one_file_with_pictures_and_segmentations(truth, tmp_path):
    export(truth, "coco", tmp_path / "out")
    content = json.loads((tmp_path / "out/annotations/person_keypoints.json").read_text())
    assert [one["id"] for one in content["images"]] == [*range(1, 3 * FRAMES + 1)]
    assert [one["id"] for one in content["annotations"]] == [*range(1, 3 * FRAMES * PERSONS + 1)]
    images = {one["id"]: one for one in content["images"]}
    assert all((tmp_path / "out" / one["file_name"]).is_file() for one in images.values())
    assert len({one["clip"] for one in images.values()}) == 3
    for one in content["annotations"]:
        shown = mask(images[one["image_id"]]["frame"]) == one["person"]
        assert one["area"] == shown.sum()
        counts = one["segmentation"]["counts"]
        flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
        assert (flat.reshape(one["segmentation"]["size"], order="F") == shown).all()


@pytest.mark.slow
def test_displays_among_clips_are_left_out_of_coco(truth, tmp_path):
    mixed = tmp_path / "mixed"
    shutil.copytree(truth, mixed)
    manifest = mixed / "manifest.jsonl"
    rows = [json.loads(line) for line in manifest.read_text().splitlines()]
    dots = [row | {"display_style": "dots", "passes": None} for row in rows]
    manifest.write_text("".join(json.dumps(row) + "\n" for row in [rows[0], *dots[1:]]))
    assert len(export(mixed, "coco", tmp_path / "out").clips) == 1
    content = json.loads((tmp_path / "out/annotations/person_keypoints.json").read_text())
    assert len({one["clip"] for one in content["images"]}) == 1
    manifest.write_text("".join(json.dumps(row) + "\n" for row in dots))
    with pytest.raises(RequestError, match="all clips are point-light displays"):
        export(mixed, "coco", tmp_path / "none")


def parts(frame: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Person 1 shows a left head and a torso; person 2 a left hand over the right lower leg."""
    labels = np.where(mask(frame) == 1, 24, 0) + np.where(mask(frame) == 2, 13, 0)
    labels[0, :1], labels[25:30, 40:45] = 2, 4
    return labels.astype(np.uint8)


def with_parts(truth: Path, out: Path) -> None:
    shutil.copytree(truth, out)
    rows = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    for row in rows:
        folder = out / "passes" / "parts" / row["sample_id"]
        (folder / "parts").mkdir(parents=True)
        (folder / "pass.json").write_text(json.dumps(
            {"parts": {name: number for number, name in enumerate(PARTS, 1)}}))
        for frame in range(FRAMES):
            Image.fromarray(parts(frame)).save(folder / "parts" / f"{frame:06d}.png")
        row["passes"]["parts"] = row["passes"]["mask"] | {
            "folder": f"passes/parts/{row['sample_id']}"}
    (out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_areas_of_interest_are_the_boxes_of_each_persons_visible_parts(truth, tmp_path):
    with_parts(truth, tmp_path / "clips")
    export(tmp_path / "clips", "aoi", tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "aoi.csv")
    assert table["sample_id"].nunique() == 3 and set(table["frame"]) == set(range(FRAMES))
    frame = table[(table["sample_id"] == table["sample_id"][0]) & (table["frame"] == 1)]
    found = {(row.performer, row.area): (row.left, row.top, row.width, row.height, row.pixels)
             for row in frame.itertuples()}
    # The masks: columns 0 and 1 of rows 0 and 1, and from column 31, row 20 on.
    assert found == {
        (1, "body"): (0, 0, 2, 2, 4), (1, "head"): (0, 0, 2, 2, 3), (1, "torso"): (0, 0, 1, 1, 1),
        (2, "body"): (31, 20, 33, 16, 33 * 16), (2, "left_hand"): (40, 25, 5, 5, 25),
        (2, "right_leg"): (31, 20, 33, 16, 33 * 16 - 25)}
    for gone in (tmp_path / "clips" / "passes" / "parts").rglob("pass.json"):
        gone.write_text('{"parts": 3}')
    with pytest.raises(RequestError, match="cannot be read"):
        export(tmp_path / "clips", "aoi", tmp_path / "none")
    with pytest.raises(RequestError, match="has no body parts and masks; render again"):
        export(truth, "aoi", tmp_path / "none")


@pytest.mark.slow
def test_shards_hold_clips_rows_and_truth_and_no_time(truth, tmp_path):
    for place in ("first", "second"):
        export(truth, "webdataset", tmp_path / place)
    shard = tmp_path / "first" / "shard-000000.tar"
    assert file_hash(shard) == file_hash(tmp_path / "second" / "shard-000000.tar")
    with tarfile.open(shard) as archive:
        names = archive.getnames()
        stem = names[0].partition(".")[0]
        assert names[:4] == [f"{stem}.{kind}" for kind in
                             ("mp4", "json", "keypoints.zip", "mask.zip")]
        assert {one.mtime for one in archive.getmembers()} == {0}
        packed = archive.extractfile(f"{stem}.mask.zip")
        assert packed is not None
        assert len(ZipFile(io.BytesIO(packed.read())).namelist()) == FRAMES


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [[*range(120), 130, 149], [0, *range(1, 290, 2)]],
                         ids=["in a row", "far apart"])
def test_every_frame_of_a_long_clip_is_written(tmp_path, wanted):
    clip = tmp_path / "long.mp4"
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "testsrc2=size=64x36:rate=30", "-frames:v", "300", clip], check=True)
    files = write_frames(clip, wanted, tmp_path / "frames", "jpeg")
    assert [int(file.stem) for file in files] == wanted
    last = write_frames(clip, wanted[-1:], tmp_path / "last", "jpeg")
    assert files[-1].read_bytes() == last[0].read_bytes()
    assert len(read_pictures(read_clip(clip), wanted, 32)) == len(wanted)


@pytest.mark.slow
def test_clips_without_keypoints_and_truth_that_is_gone_are_refused(truth, tmp_path):
    small_clips(tmp_path / "plain", ("base+blank@0",))
    with pytest.raises(RequestError, match="has no keypoints; render again with --passes"):
        export(tmp_path / "plain", "coco", tmp_path / "out")
    gone = next((truth / "passes" / "mask").iterdir())
    gone.rename(truth / "gone")
    with pytest.raises(RequestError, match="mimegen verify --repair"):
        export(truth, "webdataset", tmp_path / "out")
    with pytest.raises(RequestError, match="mimegen verify --repair"):
        export(truth, "coco", tmp_path / "out")
    assert not (tmp_path / "out").exists()
