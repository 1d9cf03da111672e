"""Validates and reads an export with mlcroissant: load_croissant.py croissant.json."""

import hashlib
import importlib.metadata
import json
import sys

import mlcroissant

dataset = mlcroissant.Dataset(sys.argv[1])
issues = dataset.metadata.ctx.issues
rows = list(dataset.records("records"))
print(json.dumps({
    "version": importlib.metadata.version("mlcroissant"), "rows": len(rows),
    "errors": sorted(issues.errors),
    "warnings": sorted(issues.warnings),
    "labels": sorted({row["records/labels"][0].decode() for row in rows}),
    "clips": {row["records/file_name"].decode(): hashlib.sha256(row["records/video"]).hexdigest()
              for row in rows}}))
