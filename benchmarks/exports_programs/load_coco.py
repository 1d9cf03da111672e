"""Evaluates a copy of an export's truth with pycocotools: load_coco.py annotations/FILE.json."""

import contextlib
import importlib.metadata
import io
import json
import sys
from pathlib import Path

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

with contextlib.redirect_stdout(io.StringIO()):
    truth = COCO(sys.argv[1])
    entries = truth.loadAnns(truth.getAnnIds())
    kinds = ["keypoints", "bbox"] + ["segm"] * ("segmentation" in entries[0])
    precision, alone = {}, {}
    for kind in kinds:
        told = [dict(one, score=1.0) for one in json.loads(json.dumps(entries))]
        if kind != "segm":
            told = [{key: value for key, value in one.items() if key != "segmentation"}
                    for one in told]
        found = COCOeval(truth, truth.loadRes(told), kind)
        found.evaluate()
        found.accumulate()
        found.summarize()
        precision[kind] = float(found.stats[0])
    masks = [truth.annToMask(one) for one in entries] if "segm" in kinds else []
pictures = [Path(sys.argv[1]).parents[1] / one["file_name"] for one in truth.dataset["images"]]
print(json.dumps({
    "version": importlib.metadata.version("pycocotools"), "precision": precision,
    "pictures": len(pictures), "there": sum(one.is_file() for one in pictures),
    "persons": len(entries),
    "areas_agree": [int(mask.sum()) for mask in masks] == [one["area"] for one in entries],
    "names_agree": len({one["id"] for one in entries}) == len(entries)}))
