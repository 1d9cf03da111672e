"""Loads an export with datasets: load_huggingface.py FOLDER; prints what it found as JSON."""

import json
import sys
from pathlib import Path

import datasets

loaded = datasets.load_dataset(sys.argv[1])
rows = [row for split in loaded.values()
        for row in split.cast_column("video", datasets.Video(decode=False))]
clips = [Path(row["video"]["path"]) for row in rows]
print(json.dumps({
    "version": datasets.__version__, "rows": len(rows), "splits": sorted(loaded),
    "is_video": isinstance(next(iter(loaded.values())).features["video"], datasets.Video),
    "clips": sorted({clip.name for clip in clips if clip.stat().st_size}),
    "labels": sorted({row["labels"][0] for row in rows})}))
