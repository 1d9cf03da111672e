"""Iterates an export with webdataset: load_webdataset.py FOLDER."""

import hashlib
import importlib.metadata
import io
import json
import sys
import zipfile
from pathlib import Path

import webdataset

shards = sorted(str(path) for path in Path(sys.argv[1]).glob("*.tar"))
samples = list(webdataset.WebDataset(shards, shardshuffle=False))
rows = [json.loads(sample["json"]) for sample in samples]
print(json.dumps({
    "version": importlib.metadata.version("webdataset"), "samples": len(samples),
    "keys": sorted({key for sample in samples for key in sample if key[:2] != "__"}),
    "whole": all(hashlib.sha256(sample["mp4"]).hexdigest() == row["sha256"]
                 for sample, row in zip(samples, rows, strict=True)),
    "files": {key: len(zipfile.ZipFile(io.BytesIO(value)).namelist())
              for key, value in samples[0].items() if key.endswith(".zip")}}))
